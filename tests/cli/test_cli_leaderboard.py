"""`retrieval-report leaderboard`: ranks, and what else is asked of models, as `Study` answers
it.
"""

import re
from pathlib import Path

import polars as pl
import pytest

import retrieval_report as rr
from commands import run
from retrieval_report.study.samples import sample_folder

DOCS = sample_folder() / "docs"
ASKED = (
    f"leaderboard {DOCS}/runs --judgements {DOCS}/qrels.txt"
    " --metrics ndcg --cutoffs 10 --truncated between_ties"
)


@pytest.fixture
def files(tmp_path: Path):
    """A table of costs, and queries in two groups."""
    models = rr.read_rankings(DOCS / "runs")["model"].unique().sort()
    queries = rr.read_judgements(DOCS / "qrels.txt")["query"].unique().sort()
    group = pl.Series("group", ["odd", "even"]).gather(
        [number % 2 for number in range(len(queries))]
    )
    pl.DataFrame([queries, group]).write_csv(tmp_path / "queries.csv")
    pl.DataFrame([models, pl.Series("bytes", range(1, len(models) + 1))]).write_csv(
        tmp_path / "costs.csv"
    )
    return {name: str(tmp_path / f"{name}.csv") for name in ("queries", "costs")}


def test_the_leaderboard_begins_with_the_verdict_and_the_three_scores():
    above, _, below = run(ASKED).output.partition("\n\n")
    assert run(ASKED.replace("leaderboard", "compare", 1)).output.startswith(f"{above}\n\n")
    first, second, *rest, depths = above.splitlines()
    assert first.startswith(
        "wordllama-float16 has the highest expected ndcg@10: 0.43505, ahead of wordllama-bfloat16"
    )
    assert second.startswith("The lead depends on tie order: a random one reverses it with prob")
    assert (
        "Its lead over wordllama-float32 and wordllama-2-digits is not safe from tie order." in rest
    )
    winner, names, *_ = below.splitlines()
    assert depths == (
        "By ndcg, the naive order of the models is an accident of ties at cutoffs 1, 3, 5 and 10 "
        "(at cutoff 10 with another winner). By estimates from lists that may be cut, it is an "
        "accident of ties at cutoff 20 (with another winner)."
    )
    assert winner.startswith(
        "ndcg@10: wordllama-float16 wins exactly, wordllama-bfloat16 by the naive order; "
    )
    assert names.split()[:4] == ["model", "expected", "shuffled_range", "naive"]


def test_the_leaderboard_and_every_question_are_those_of_a_study(
    files: dict[str, str], tmp_path: Path
):
    asked = f"--queries {files['queries']} --by group --baseline bm25 --margin 0.02"
    output = run(f"{ASKED} {asked} --costs {files['costs']} --out {tmp_path}/out").output
    study = rr.Study(
        DOCS / "runs", "ndcg@10", judgements=DOCS / "qrels.txt", queries=files["queries"], truncated="between_ties",
        by="group", baseline="bm25", margin=0.02, costs=pl.read_csv(files["costs"]).cast({"bytes": pl.Float64}),
    )  # fmt: skip
    for name, frame in {
        "leaderboard": study.leaderboard, "segments": study.segments, "no_worse": study.no_worse, "costs": study.costs
    }.items():  # fmt: skip
        written = pl.read_csv(tmp_path / "out" / f"{name}.csv", schema=frame.schema)
        assert written.equals(frame.with_columns(pl.col(pl.String).replace("", None)))
        assert f"{name}.csv" in output
    assert "ndcg@10, 150 queries\n" in output
    board = [re.split(r" {2,}", line.strip()) for line in output.splitlines()]
    heading = next(row for row in board if row[0] == "rank")
    second = next(row for row in board if row[:2] == ["2", "wordllama-bfloat16"])
    cells = dict(zip(heading, second, strict=True))
    assert {"shuffled_range", "naive"}.isdisjoint(heading)  # they stand in the table above
    shown = {"expected": "0.43483", "cost_amount": "4", "tie_ranks": "1–4", "query_ranks": "1–7"}
    assert {name: cells[name] for name in shown} == shown
    assert "same winner" in output
    needed = {
        row[4]: row[5:] for row in board if row[4:5] in (["no worse"], ["worse"], ["not decided"])
    }
    assert set(needed["no worse"]) == set(needed["worse"]) == {"–"}
    assert needed["not decided"][0].isdecimal()


def test_means_over_whole_lists_of_unequal_length_say_so_where_they_are_shown(
    tmp_path: Path,
):
    rows = [
        {
            "model": model,
            "query": query,
            "item": item,
            "distance": item,
            "relevance": int(item % 3 == 0),
        }
        for model, length in (("deep", 40), ("short", 9))
        for query in range(4)
        for item in range(length)
    ]
    pl.DataFrame(rows).write_parquet(tmp_path / "rows.parquet")
    said = "ap@all compares lists of unequal length: medians are from 9 items (short) to 40 (deep)."
    for metrics, shown in (("precision@3,ap", True), ("precision@3,ap@5,r_precision", False)):
        for command in ("leaderboard", "evaluate --engine disk"):
            outcome = run(f"{command} {tmp_path}/rows.parquet --metrics {metrics}")
            assert (said in outcome.output) is shown, outcome.output
    assert rr.Study(pl.DataFrame(rows), "ap", truncated="no").verdict[-1] == said
    equal = pl.DataFrame(rows).filter(pl.col("item") < 9)
    assert said[:15] not in " ".join(rr.Study(equal, "ap", truncated="no").verdict)
