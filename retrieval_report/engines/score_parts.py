"""Run a table part by part; a part gives the same results as the whole would for its queries."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import polars as pl

from retrieval_report.contracts.checks import warn_unmatched
from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.contracts.options import NO, Options, is_relevant
from retrieval_report.engines.disk_parts import find_parts
from retrieval_report.engines.disk_tables import Table
from retrieval_report.metrics.parsing import Requests
from retrieval_report.scoring.judged import KNOWS_ALL, KnownOfWhole, counting, frames_beside, judge
from retrieval_report.scoring.judged_dictionaries import judge_dictionaries
from retrieval_report.scoring.known_items import stated_relevant
from retrieval_report.scoring.layout import evidence_of, order_values
from retrieval_report.scoring.run import doubtful_lists, score_runs, start, warn_of_lists
from retrieval_report.scoring.scorer import ListScores
from retrieval_report.scoring.ties import count_rows
from retrieval_report.scoring.truncation import as_counted, decide, ends_of, gather, surely_cut
from retrieval_report.writing.temporary import Scratch

TELLING = ("model", "relevance", "mask", "truncated", "n_relevant")  # see `facts_of`
Result = TypeVar("Result")
# Scores a part, given by its number; by its number plus that of all parts, it is scored again.
Work = Callable[[int], ListScores]
Keep = Callable[[Work, Sequence[int]], Work]  # given the rows of all parts too


def score_part(
    rows: object,
    judgements: object,
    queries: object,
    requests: Requests,
    options: Options,
    whole: KnownOfWhole = KNOWS_ALL,
    facts: pl.DataFrame | None = None,
) -> ListScores:
    """Return the scores of one part: all rows, of all models, of some queries.

    Every engine scores by this function. A score depends on the part alone and on ``whole``, which
    holds what the part cannot show: the models, the grades, and whether anything is relevant. So
    however the queries are divided into parts, the scores are equal to the last bit. Of a part
    (``whole.part``), judgements and queries frames are those of its queries, already checked, with
    ids of the rows' types; ``options.truncated`` holds the words decided for the whole (see
    `with_ends`). With the ``facts`` of all rows it need not: how lists end is then decided by
    the part's own lists, where it is to be found out.

    Of a part, the result's ``lists`` have the columns ``unseen``, ``unpooled`` and ``matched``
    (whether any item of the part is judged), for warnings that come once for all parts, and
    ``evidence``, a row of what `evidence_of` returns, if the part's own lists decided.
    """
    judged = None
    if whole is KNOWS_ALL and judgements is not None:
        judged = judge_dictionaries(rows, judgements, queries, requests, options)
    judged = judged or judge(rows, judgements, queries, options, whole)
    evidence = []

    def look() -> pl.DataFrame:
        evidence.append(evidence_of(judged, options))
        return evidence[0]

    decided = options if facts is None else with_ends(options, whole, facts, look)
    runs = start(judged, requests, decided)
    scores = score_runs(runs, requests)
    if not whole.part:
        return scores
    doubts = doubtful_lists(runs[0], requests, judged).select("unseen", "unpooled")
    matched = "judged" not in judged.lists.columns or judged.lists["judged"].sum() > 0
    proofs = [frame.to_struct("evidence") for frame in evidence]
    return replace(scores, lists=scores.lists.with_columns(*doubts, *proofs, matched=matched))


def facts_of(
    rows: pl.DataFrame | pl.LazyFrame,
    judgements: pl.DataFrame | None,
    queries: pl.DataFrame | None,
    options: Options,
) -> pl.LazyFrame:
    """Return what any rows tell of the whole: distinct models, with the word by which counts say
    how their lists end, and relevances, with whether they are relevant.
    """
    rows = rows.lazy() if judgements is None else rows.lazy().drop("relevance", strict=False)
    empty = pl.DataFrame(schema=rows.collect_schema())
    counts = counting(empty, options)
    read = set() if counts is None else set(counts.meta.root_names())
    if read <= {*TELLING} and options.distance_threshold is None:
        # Of few distinct values, the rest is computed once.
        rows = rows.select(name for name in TELLING if name in empty.columns).unique()
    ends = "truncated" if "truncated" in empty.columns else pl.lit(None, pl.String)
    graded = _graded(empty, options)
    if options.distance_threshold is not None:
        near = order_values(empty, options) <= options.distance_threshold
        graded["relevant"] &= near.fill_null(True)
    facts = [rows.select("model", **graded, truncated=ends).unique()]
    if judgements is not None:
        facts.append(judgements.lazy().select(**_graded(judgements, options)).unique())
    elif queries is not None and "n_relevant" in queries.columns:
        stated = stated_relevant(queries, options.relevant_from)
        facts.append(queries.lazy().select(relevant=stated > 0).unique())
    return pl.concat(facts, how="diagonal")


def _graded(empty: pl.DataFrame, options: Options) -> dict[str, pl.Expr]:
    """Return relevances that are finite, above 0 and not masked, null for all others; and whether
    they are relevant.
    """
    grade = pl.lit(None, pl.Float64)
    if "relevance" in empty.columns:
        grade = pl.col("relevance").cast(pl.Float64)
        counts = counting(empty, options)
        some = (grade > 0) & grade.is_finite()
        grade = pl.when(some if counts is None else some & counts).then(grade)
    return {"grade": grade, "relevant": is_relevant(grade, options.relevant_from)}


def known_of(facts: pl.DataFrame) -> KnownOfWhole:
    """Return what a part cannot show, from the facts of all rows."""
    models, grades = (facts[name].drop_nulls().unique().sort() for name in ("model", "grade"))
    return KnownOfWhole(True, tuple(models), tuple(grades), relevant=bool(facts["relevant"].any()))


def with_ends(
    options: Options,
    whole: KnownOfWhole,
    facts: pl.DataFrame,
    evidence: Callable[[], pl.DataFrame],
) -> Options:
    """Return the options with the words decided for all models, from the facts of all rows and, if
    it is needed, the evidence of all parts.
    """
    count_rows = as_counted(facts.drop_nulls("model"))
    decisions = decide(options.truncated, whole.models, count_rows, lambda: gather(evidence()))
    return replace(options, truncated=ends_of(decisions) or options.truncated)


def afresh(work: Work, _: Sequence[int]) -> Work:
    """Keep nothing."""
    return work


def scored_parts(
    table: Table,
    judgements: object,
    queries: object,
    requests: Requests,
    options: Options,
    scratch: Scratch,
    rows_per_part: int,
    keep: Keep = afresh,
) -> Iterator[tuple[int, ListScores]]:
    """Yield the number and the scores of every part; a table of one part is scored directly.
    ``keep`` may change how one is scored.

    How lists end is decided for each part by its own lists, until one shows it for all. Parts that
    decided otherwise than all lists together come once more, at the end: what they were before is
    not valid.
    """
    quiet = replace(options, progress=False)
    frames = frames_beside(judgements, queries, options.repeated_judgements)
    # No rows are scored first, so that wrong arguments are refused before hours of work.
    judged, query_rows = (None if frame is None else frame.clear() for frame in frames)
    nothing = replace(quiet, truncated=NO), KnownOfWhole(part=True)
    score_part(table.empty, judged, query_rows, requests, *nothing)
    if table.rows <= rows_per_part:
        rows = (table.rows,)
        whole_table = keep(lambda _: score_part(table.read(), *frames, requests, options), rows)
        yield from enumerate(_run(whole_table, rows))
        return
    facts = table.collect(lambda rows: facts_of(rows, *frames, options))
    whole = known_of(facts)
    results = sum(len(cutoffs) for _, cutoffs in requests) * len(options.policies)
    results *= max(len(whole.models), 1)
    parts = find_parts(table, scratch, rows_per_part, results)
    beside = [None if frame is None else parts.divide(frame) for frame in frames]
    title = "scoring" if options.progress else ""
    decided = quiet
    lists, evidence, own = {}, {}, {}

    def work(turn: int) -> ListScores:
        number = turn % len(parts.rows)
        judged, query_rows = (None if part is None else part(number) for part in beside)
        return score_part(parts.read(number), judged, query_rows, requests, decided, whole, facts)

    def with_proof(*evidence: pl.DataFrame) -> Options:
        return with_ends(quiet, whole, facts, lambda: pl.concat(evidence))

    scored = keep(work, parts.rows)
    for number, scores in enumerate(_run(scored, parts.rows, title)):
        if "evidence" in scores.lists.columns:
            evidence[number] = scores.lists["evidence"].struct.unnest()
            own[number] = with_proof(evidence[number])
            if surely_cut(evidence[number], whole.models):
                decided = own[number]
        lists[number] = scores.lists.drop("evidence", strict=False)
        yield number, replace(scores, lists=lists[number])
    if decided is quiet and evidence:
        decided = with_proof(*evidence.values())
    wrong = [number for number, options in own.items() if options != decided]
    again = _run(
        lambda turn: scored(len(parts.rows) + wrong[turn]),
        [parts.rows[number] for number in wrong],
        title,
    )
    for number, scores in zip(wrong, again, strict=True):
        lists[number] = scores.lists
        yield number, scores
    all_lists = pl.concat(lists.values())
    warn_of_lists(all_lists, requests)
    if frames[0] is not None and not all_lists["matched"].any():
        warn_unmatched(table.rows, table.collect(lambda rows: rows.head(1)), frames[0])


def counted_parts(table: Table, scratch: Scratch, rows_per_part: int) -> Iterator[pl.DataFrame]:
    """Yield the counts of every part."""
    count_rows(table.empty)  # refuses columns that are missing
    if table.rows <= rows_per_part:
        yield from _run(lambda _: count_rows(table.read()), (table.rows,))
        return
    parts = find_parts(table, scratch, rows_per_part, 1)
    models = table.collect(lambda rows: rows.select("model").unique())["model"].n_unique()
    yield from _run(lambda number: count_rows(parts.read(number), models), parts.rows)


def _run(work: Callable[[int], Result], parts: Sequence[int], title: str = "") -> Iterator[Result]:
    """Yield the results of all parts, with a progress bar if it has a title."""
    from tqdm import tqdm

    with tqdm(total=sum(parts), desc=title, unit="row", unit_scale=True, disable=not title) as bar:
        for number, rows in enumerate(parts):
            try:
                result = work(number)
            except RetrievalReportError as error:
                if len(parts) > 1:
                    error.add_note(f"Counted within part {number + 1} of {len(parts)}.")
                raise
            yield result
            bar.update(rows)
