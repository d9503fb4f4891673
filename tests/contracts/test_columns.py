"""Every column is declared once: what functions return, what tables and descriptions say, and what
docstrings name.
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from retrieval_report.contracts.registry import FRAMES, column, describe
from retrieval_report.study.table_columns import TEXTS

RANKINGS = {
    "model": ["a"] * 6 + ["b"] * 6,
    "query": list("pppqqq") * 2,
    "item": list("xyz") * 4,
    "distance": [1.0, 1.0, 2.0, 1.0, 2.0, 2.0, 1.0, 2.0, 3.0, 3.0, 2.0, 1.0],
    "relevance": [1, 0, 0, 0, 1, 0] * 2,
    "weight": [1.0] * 12,
}
JUDGED = {"query": ["p", "q"], "item": ["x", "y"], "relevance": [1, 1]}
QUERIES = {"query": ["p", "q"], "language": ["en", "de"]}
LABELS = {"p": "a", "q": "b"}
WANTED: dict[str, Any] = {"metrics": "precision", "cutoffs": 2}


@pytest.fixture(scope="module")
def returned(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pl.DataFrame]:
    """What every public function that returns a frame returns, by the function's name."""
    data = pl.DataFrame(RANKINGS)
    policies = ("expected", "naive", "shuffled", "best", "worst")
    folder, scores = (
        tmp_path_factory.mktemp("returned"),
        rr.evaluate(data, policies=policies, **WANTED),
    )
    summary = rr.summarise(scores)
    return {
        "evaluate": scores,
        "evaluate_to": pl.read_parquet(rr.evaluate_to(folder / "scores.parquet", data, **WANTED)),
        "shuffled_means": rr.shuffled_means(data, **WANTED),
        "rescored": rr.rescored(
            data, data.filter(model="a"), 2, measures="precision@2", judgements=JUDGED
        ),
        "summarise": summary,
        **of_lists(data, scores, summary, folder),
        **of_models(data, scores, summary),
    }


def of_lists(
    data: pl.DataFrame, scores: pl.DataFrame, summary: pl.DataFrame, folder: Path
) -> dict[str, pl.DataFrame]:
    one: dict[str, Any] = {"model": "a", "query": "p"}
    counts = rr.count_ties(data)
    codes, labels = np.eye(4, dtype=np.uint8), np.array([0, 1, 0, 1])
    similar = rr.lists.ranking_similarity(data.filter(model="a"), data.filter(model="b"))
    return {
        "read_rankings": rr.read_rankings(data),
        "read_judgements": rr.read_judgements(JUDGED),
        "collapse": rr.collapse(data),
        "from_labels": rr.from_labels({"a": JUDGED}),
        "read_queries": rr.read_queries(QUERIES).select(pl.exclude("language")),
        "count_ties": counts,
        "knn": rr.knn(data, dict(zip("xyz", "abb", strict=True)), queries=LABELS).chances,
        "tie_profile": rr.tie_profile(data),
        "tie_hints": rr.tie_hints(data),
        "lists.duplicates": rr.lists.duplicates(data),
        "lists.grading_scale": rr.lists.grading_scale(data),
        "truncated_lists": rr.truncated_lists(data),
        "codes.count_codes": rr.codes.count_codes(
            codes, codes, query_labels=labels, item_labels=labels
        ),
        "codes.count_relevant": rr.codes.count_relevant(labels, labels),
        "codes.evaluate_radius": rr.codes.evaluate_radius(counts, radii=(1,)),
        "codes.radius_scores": rr.codes.radius_scores(counts, radii=(1,)),
        "lists.side_by_side": rr.lists.side_by_side(
            *[rr.lists.ranking_ties(data, **one) for _ in range(2)]
        ),
        "lists.judgement_coverage": rr.lists.judgement_coverage(data, JUDGED),
        "lists.neighbour_judgements": rr.lists.neighbour_judgements(
            np.array([[0.0, 1.0]]), np.array([[0, 1]]), k=1
        ),
        "lists.query_table": rr.lists.query_table(scores),
        "lists.query_weights": rr.lists.query_weights(data, metrics="ndcg"),
        "lists.ranking_similarity": similar.queries,
        "lists.recall_curve": rr.lists.recall_curve(data),
        "lists.ranking_ties": rr.lists.ranking_ties(data, **one),
        "lists.score_distribution": rr.lists.score_distribution(data, metric="rr", cutoff=2, **one),
        "lists.tie_groups": rr.lists.tie_groups(data),
        "lists.ties_at_cutoff": rr.lists.ties_at_cutoff(data, cutoff=1),
    }


def of_models(
    data: pl.DataFrame, scores: pl.DataFrame, summary: pl.DataFrame
) -> dict[str, pl.DataFrame]:
    of_datasets = rr.stats.dataset_scores(scores, QUERIES, "language")
    comparison, report = rr.compare(scores), rr.report.report_contents(data, **WANTED)
    return {
        "compare": comparison,
        "flips": rr.flips(summary, comparison=comparison),
        "leaderboard": rr.leaderboard(scores),
        "audit": rr.audit(data, **WANTED),
        "stats.compare_by": rr.stats.compare_by(scores, QUERIES, "language"),
        "stats.cost_table": rr.stats.cost_table(summary, {"a": 1.0, "b": 2.0}),
        "stats.dataset_scores": of_datasets,
        "stats.dataset_table": rr.stats.dataset_table(of_datasets),
        "stats.deciding_queries": rr.stats.deciding_queries(scores, "a", "b"),
        "stats.estimate": rr.stats.estimate(scores, scores),
        "stats.history": rr.stats.history(scores, "(?P<version>.)"),
        "stats.no_worse": rr.stats.no_worse(scores, baseline="a", margin=0.1),
        "stats.pair_verdicts": rr.stats.pair_verdicts(comparison),
        "stats.replicate_pairs": rr.stats.replicate_pairs(scores, "(?P<model>.)"),
        "stats.replicate_table": rr.stats.replicate_table(scores, "(?P<model>.)"),
        "stats.tie_ranks": rr.stats.tie_ranks(scores),
        "stats.segment_winners": rr.stats.segment_winners(scores, QUERIES, "language"),
        "stats.summarise_by": rr.stats.summarise_by(scores, QUERIES, "language"),
        "systems.conventions": rr.systems.conventions(),
        "systems.evaluate_like": rr.systems.evaluate_like(data, "ranx", **WANTED),
        "report.compare_reports": rr.report.compare_reports(report, report),
    }


FRAME_OF = {function: name for name, frame in FRAMES.items() for function in frame.returned_by}


def function_of(name: str) -> Any:
    group, _, own = name.rpartition(".")
    return getattr(getattr(rr, group) if group else rr, own)


def test_every_public_function_that_returns_a_frame_is_asked(
    returned: dict[str, pl.DataFrame],
) -> None:
    groups = {
        "": rr,
        "codes": rr.codes,
        "lists": rr.lists,
        "stats": rr.stats,
        "systems": rr.systems,
        "report": rr.report,
    }
    frames = set()
    for group, module in groups.items():
        for name in module.__all__:
            value = getattr(module, name)
            if (
                inspect.isfunction(value)
                and inspect.signature(value).return_annotation == "pl.DataFrame"
            ):
                frames.add(f"{group}.{name}".lstrip("."))
    asked = returned.keys()
    assert frames - asked == set()
    assert asked - frames == {"evaluate_to", "knn", "lists.ranking_similarity"}
    assert set(FRAME_OF) == asked


@pytest.mark.parametrize("name", sorted(FRAME_OF))
def test_every_column_that_is_returned_is_declared(
    name: str, returned: dict[str, pl.DataFrame]
) -> None:
    frame = returned[name]
    known = {part.name: part for part in FRAMES[FRAME_OF[name]].columns}
    assert set(frame.columns) <= known.keys()
    lacking = known.keys() - set(frame.columns)
    assert {part for part in lacking if not known[part].optional} == set()
    types = {part: dtype for part, dtype in frame.schema.items() if known[part].dtype is not None}
    assert types == {part: known[part].dtype for part in types}


@pytest.mark.parametrize("name", sorted(FRAME_OF))
def test_the_docstring_of_a_function_names_its_columns(name: str) -> None:
    """Where it does not say whose columns it returns."""
    text = inspect.getdoc(function_of(name)) or ""
    if re.search(r"(olumns of|s of|hat|result of) :func:|with the fields of|The rankings", text):
        return
    named = set(re.findall(r"``(\w+)``", text))
    if name.startswith("lists.tie_break"):  # ``value`` and ``tie_std`` with two endings
        named |= {f"{part}_{end}" for part in ("value", "tie_std") for end in ("before", "after")}
    assert {part.name for part in FRAMES[FRAME_OF[name]].columns if not part.optional} - named - {
        "row"
    } == set()


def test_a_column_has_one_title_everywhere() -> None:
    titles = defaultdict(set)
    for frame in FRAMES.values():
        for part in frame.columns:
            titles[part.name].add(part.title)
            assert part.format in {"text", *TEXTS}
            assert len(part.meaning) > 3
    # What they are the titles of differs: a score or its distribution, a list or a score, a pair or
    # two reports, a number or a share.
    several = {
        "items",
        "order",
        "ties",
        "change",
        "difference",
        "relevant_from",
        "truncated",
        "value",
        "winner",
        "definition",
    }
    assert {name for name, own in titles.items() if len(own) > 1} <= several
    assert (
        column("comparison", "p_tie").title == column("flips", "p_tie").title == "Reversed by ties"
    )


def test_titles_stand_nowhere_else() -> None:
    """No table of titles beside the declarations: nowhere is a name beside its title."""
    root = Path(rr.__file__).parent.parent
    every = {(part.name, part.title) for frame in FRAMES.values() for part in frame.columns}
    known = {
        (name, title) for name, title in every if title.lower() != name
    }  # a heading may be a name with a capital
    for path in [*(root / "app").rglob("*.py"), *(root / "retrieval_report").rglob("*.py")]:
        if path.parent.name != "contracts":
            pairs = set(re.findall(r'"(\w+)": "([^"]+)"', path.read_text(encoding="utf-8")))
            assert pairs & known == set(), path


def test_columns_of_files_are_described() -> None:
    frame = pl.DataFrame({"value": [1.0], "p_tie": [0.5]})
    assert describe({"comparison": frame.select("p_tie")}).row(0)[3].startswith("probability")
