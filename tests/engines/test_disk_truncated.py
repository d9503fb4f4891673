"""Cut lists and pooled R: files scored part by part give the bits that memory gives."""

import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from retrieval_report import (
    RetrievalReportWarning,
    evaluate,
    evaluate_to,
)
from retrieval_report.contracts.options import Options
from retrieval_report.engines import score_parts
from retrieval_report.engines.disk_tables import open_table
from retrieval_report.engines.score_parts import facts_of, known_of
from retrieval_report.scoring import run
from stored_cuts import METRICS, behind_ties, complete, top

POLICIES = ("naive", "expected", "worst", "best", "shuffled")


def both(
    tmp_path: Path, rankings: pl.DataFrame, **options: Any
) -> tuple[pl.DataFrame, list[str], list[str]]:
    """Scores in memory, after they were found equal to those of two engines; and the warnings of
    each.
    """
    rankings.write_parquet(tmp_path / "rankings.parquet")
    asked: Any = {
        "metrics": METRICS,
        "cutoffs": (5, 12, None),
        "shuffles": 3,
        **options,
    }
    policies = [
        policy for policy in POLICIES if policy != "naive" or "count" not in rankings.columns
    ]
    said = []
    frames = []
    for out in (False, True):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default", RetrievalReportWarning)
            if out:
                path = evaluate_to(
                    tmp_path / "scores.parquet",
                    tmp_path / "rankings.parquet",
                    rows_per_part=rankings.height // 4,
                    policies=policies,
                    **asked,
                )
                frames.append(pl.read_parquet(path).sort("model", "query", maintain_order=True))
            else:
                frames.append(evaluate(rankings, policies=policies, **asked))
        said.append([str(warning.message) for warning in caught])
    assert_frame_equal(frames[0], frames[1], check_exact=True)
    return frames[0], said[0], said[1]


LISTS = [
    ("auto", top, 1),
    ("auto", top, 2),
    ("auto", behind_ties, 2),
    ("within_tie", top, 2),
    ("between_ties", behind_ties, 2),
    ("no", top, 2),
]


@pytest.mark.parametrize(
    ("beside", "word", "cut", "models"),
    [
        *(("nothing", *lists) for lists in (LISTS[0], *LISTS[2:])),
        *(("judgements", *lists) for lists in LISTS[1:4:2]),
        ("n_relevant", *LISTS[2]),
        ("own", *LISTS[4]),
    ],
)
def test_parts_give_the_bits_of_the_whole(
    tmp_path: Path, beside: str, word: str, cut: Any, models: int
):
    whole = complete(3, models)
    rankings = cut(whole, 10)
    options: Any = {"truncated": word}
    if beside == "judgements":
        rankings = rankings.drop("relevance")
        options["judgements"] = whole.select("query", "item", "relevance").unique(
            maintain_order=True
        )
    elif beside == "n_relevant":
        number = (
            whole.filter(model="m0")
            .group_by("query")
            .agg(n_relevant=(pl.col("relevance") > 0).sum())
        )
        options["queries"] = number
    elif beside == "own":
        options["relevant_items"] = "own"
    scores, in_memory, by_parts = both(tmp_path, rankings, **options)
    assert in_memory == by_parts
    assert scores["truncated"].any() == (word != "no")
    assert scores["pooled"].any() == (word != "no" and beside in ("nothing", "own"))
    assert scores.filter("truncated")["std"].null_count() == scores["truncated"].sum()


@pytest.mark.parametrize(
    ("spoil", "again"),
    [
        ("nothing", 0),
        ("an item less", 3),  # in one of four parts, which alone shows that lists were cut
        ("one list a part", 4),  # nothing is proven by one list
    ],
)
def test_parts_that_decide_otherwise_than_the_whole_are_scored_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: str, again: int
):
    rankings = complete(5, 1, queries=4 if spoil == "one list a part" else 12).sort(
        "query", maintain_order=True
    )
    if spoil == "an item less":
        rankings = rankings.slice(0, 479)
    scored = []
    score = run.score_runs

    def counted(runs: Any, requests: Any):
        scored.append(runs[0].prepared.decisions.get("m0"))
        return score(runs, requests)

    monkeypatch.setattr(score_parts, "score_runs", counted)
    scores, *_ = both(tmp_path, rankings, truncated="auto")
    words = [decision.truncated for decision in scored if decision is not None]
    assert words[0] == words[-1] == ("within_tie" if spoil == "an item less" else "no")
    assert len(words) == 1 + 4 + again  # in memory, by parts, again
    assert scores["truncated"].any() == (spoil == "an item less")


def test_models_with_other_numbers_of_relevant_items_are_warned_of_once(tmp_path: Path):
    counts = pl.DataFrame(
        [
            (model, f"q{query:02}", 1, 1, query % 3 + (model == "b") * (query % 5))
            for model in "ab"
            for query in range(40)
        ],
        schema=["model", "query", "distance", "relevance", "count"],
        orient="row",
    ).filter(pl.col("count") > 0)
    _, in_memory, by_parts = both(tmp_path, counts, truncated="no", metrics="recall")
    assert sum("counts have no items to pool" in message for message in by_parts) == 1
    assert by_parts == in_memory


@pytest.mark.parametrize("dtype", [pl.Int64, pl.Float32])
def test_a_part_knows_the_grades_of_all_parts(tmp_path: Path, dtype: Any):
    rankings = complete(3, 2).with_columns(
        relevance=pl.when(pl.col("relevance") > 0)
        .then(pl.col("query").rank("dense") % 5 + 1)
        .otherwise(0)
        .cast(dtype)
    )
    table = open_table(rankings, lambda: tmp_path)
    facts = table.collect(lambda rows: facts_of(rows, None, None, Options()))
    assert known_of(facts).grades == (1, 2, 3, 4, 5)
    numbers = pl.DataFrame({"query": rankings["query"].unique(), "n_relevant": 40})
    both(tmp_path, top(rankings, 8), truncated="within_tie", queries=numbers, relevant_from=2)


def test_a_file_without_rows_is_no_model_however_large_the_parts(tmp_path: Path):
    """A model that retrieved nothing for any query is not known in memory, so parts must not know
    it either.
    """
    rows = pl.DataFrame(
        {"query": ["p", "q", "r"], "item": ["a"] * 3, "distance": [1] * 3, "relevance": [1, 0, 1]}
    )
    rows.write_parquet(tmp_path / "full.parquet")
    rows.clear().write_parquet(tmp_path / "none.parquet")
    for size in (2, 100):
        out = evaluate_to(
            tmp_path / "scores.out",
            tmp_path / "*.parquet",
            metrics="rr",
            cutoffs=1,
            policies="naive",
            rows_per_part=size,
        )
        assert pl.read_parquet(out)["model"].to_list() == ["full"] * 3
