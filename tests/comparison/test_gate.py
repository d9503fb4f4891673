"""The gate: what passes, what fails, what is not decided, and what is refused."""

import json
import shutil
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import Result

import retrieval_report as rr
from commands import run
from made_scores import bounded_scores
from retrieval_report.study.junit import junit_xml, markdown_summary

QUERIES, ITEMS = 160, 12


def ranking(
    shift: float = 0.0, seed: int = 0, decimals: int = 6, queries: int = QUERIES
) -> pl.DataFrame:
    """Lists whose relevant items, the first three, lie nearer; ``shift`` moves them away."""
    generator = np.random.default_rng(seed)
    distance = generator.random((QUERIES, ITEMS))
    distance[:, :3] -= 0.3 - shift
    return pl.DataFrame(
        {
            "query": [f"q{query:02}" for query in range(queries) for _ in range(ITEMS)],
            "item": [f"d{item:02}" for _ in range(queries) for item in range(ITEMS)],
            "distance": np.round(distance[:queries], decimals).ravel(),
        }
    )


JUDGEMENTS = pl.DataFrame(
    {
        "query": [f"q{query:02}" for query in range(QUERIES) for _ in range(4)],
        "item": [f"d{item:02}" for _ in range(QUERIES) for item in range(4)],
        "relevance": [1, 1, 1, 0] * QUERIES,
    }
)


def held(
    candidate: pl.DataFrame, baseline: pl.DataFrame | None = None, **settings: Any
) -> rr.stats.Gate:
    asked = {"measure": "ndcg@5", "margin": 0.02, "judgements": JUDGEMENTS, **settings}
    return rr.gate(ranking() if baseline is None else baseline, candidate, **asked)


def near(seed: int) -> pl.DataFrame:
    """The baseline with a little noise."""
    noise = np.random.default_rng(seed).normal(0, 0.002, QUERIES * ITEMS)
    return ranking().with_columns(pl.col("distance") + pl.Series(noise))


def test_the_same_run_passes_and_a_shifted_one_fails():
    assert held(ranking()).exit_code == 0
    assert held(near(1)).status == "passed"
    worse = held(ranking(0.3))
    assert (worse.status, worse.exit_code) == ("failed", 1)
    assert worse.difference is not None
    assert worse.difference < -0.02
    unclear = held(ranking(seed=5), margin=0.001)
    assert (unclear.status, unclear.exit_code) == ("not decided", 3)
    needed = f"about {unclear.queries_needed} queries would decide it if nothing is lost"
    assert needed in unclear.line()
    assert f"| {needed}" in markdown_summary(unclear)
    loss = -(held(ranking(0.02)).difference or 0)
    beyond = held(ranking(0.02), margin=0.9 * loss)
    assert beyond.status == "not decided"
    words = "with enough queries it would fail if the loss is the one observed"
    for text in (beyond.line(), markdown_summary(beyond), junit_xml(beyond)):
        assert words in text  # whole: the condition stands at its end
    assert needed in junit_xml(unclear)
    ahead = held(ranking(seed=2), ranking(0.005, seed=3), margin=0.001)
    gain = f"{ahead.queries_if_observed} would if the gain is the one observed"
    assert f"decide it if nothing is lost, and about {gain}" in ahead.line()
    assert "observed" not in replace(ahead, difference=1e-18).line()  # rounding is no gain


def test_the_numbers_are_those_of_no_worse():
    found = held(ranking(0.02, seed=3))
    runs = pl.concat(
        frame.with_columns(model=pl.lit(name))
        for name, frame in (("a", ranking()), ("b", ranking(0.02, seed=3)))
    )
    scores = rr.evaluate(runs, judgements=JUDGEMENTS, metrics="ndcg@5", policies="expected")
    row = rr.stats.no_worse(scores, baseline="a", margin=0.02).row(0, named=True)
    for name in (
        "difference",
        "bound_low",
        "no_worse_p",
        "worse_p",
        "detectable",
        "queries_needed",
        "queries",
    ):
        assert getattr(found, name) == row[name]


def test_the_worst_tie_order_is_stricter():
    tied = ranking(decimals=1)
    assert held(tied, tied).status == "passed"
    worst = held(tied, tied, tie_order="worst")
    assert worst.status == "failed"
    assert "in the worst tie order of candidate is 0." in worst.line()
    assert ", in the best of baseline 0." in worst.line()
    assert held(ranking(), tie_order="worst").status == "passed"  # without ties there is one order


def lacking(query: str) -> pl.DataFrame:
    return ranking().filter(pl.col("query") != query)


@pytest.mark.filterwarnings("ignore:.*none of the.*:retrieval_report.RetrievalReportWarning")
def test_judgements_that_fit_nothing_certify_nothing():
    strange = JUDGEMENTS.with_columns(item="x" + pl.col("item"))
    with pytest.raises(rr.DataError, match="no query scores above 0 for baseline, because none of"):
        held(ranking(), judgements=strange)


def test_a_baseline_whose_ids_are_shifted_is_told_so_as_by_other_commands():
    items = np.random.default_rng(0).integers(10_000, 15_000, 600)
    lists = pl.DataFrame({"query": np.repeat(np.arange(60), 10), "item": items})
    lists = lists.with_columns(score=pl.Series([*range(10, 0, -1)] * 60)).unique(["query", "item"])
    judged = lists.filter(pl.col("score") > 7).select("query", "item", relevance=1)
    shifted = lists.with_columns(pl.col("item") + 1)
    with pytest.raises(rr.DataError, match="the ids of items of baseline are shifted in"):
        held(lists, shifted, judgements=judged)


def test_a_part_of_the_queries_is_not_certified(monkeypatch: pytest.MonkeyPatch):
    """In the worst order of a cut list nothing may bound a score: such queries are no fewer
    queries.
    """
    scores = bounded_scores(
        {name: ([0.5] * 9, [0.5] * 9, [0.4] * 9, [0.6] * 9) for name in ("baseline", "candidate")}
    )
    odd = (pl.col("query") == "q00001") & (pl.col("model") == "candidate")
    cut = scores.with_columns(
        pl.when(~odd | (pl.col("policy") != "worst")).then("value").alias("value")
    )

    def decided(scores: pl.DataFrame, tie_order: str = "expected"):
        monkeypatch.setattr("retrieval_report.comparison.gate.evaluate", lambda *_, **__: scores)
        return held(ranking(), margin=0.5, tie_order=tie_order)

    assert decided(scores, "worst").status == "passed"
    found = decided(cut, "worst")
    assert (found.status, found.exit_code, found.no_worse_p) == ("lists are cut", 3, None)
    skipped = scores.with_columns(pl.when(~odd).then("value").alias("value"))
    with pytest.raises(rr.DataError, match="1 of 9 queries have no expected score for both runs"):
        decided(skipped)


def lists_of(depth: int, relevant: int, queries: int = 60) -> pl.DataFrame:
    """Lists of so many items at distances 0, 1, 2 …, of which the first are relevant."""
    ranks = list(range(depth))
    return pl.DataFrame(
        {
            "query": [f"q{query:02}" for query in range(queries) for _ in ranks],
            "item": [f"q{query:02}d{rank}" for query in range(queries) for rank in ranks],
            "distance": ranks * queries,
            "relevance": [int(rank < relevant) for rank in ranks] * queries,
        }
    )


@pytest.mark.filterwarnings("ignore:all items tie:retrieval_report.RetrievalReportWarning")
def test_cut_lists_are_not_certified_by_their_estimate():
    """The candidate's ten items tie at the end of its list; whole, it puts forty others into that
    tie.
    """
    rank = pl.col("distance")
    whole = lists_of(50, 10).with_columns(
        distance=pl.when(rank.is_in([8, 9])).then(rank + 41).otherwise(rank)
    )
    tied = whole.with_columns(distance=0)
    top = tied.filter(relevance=1)
    truth = pl.DataFrame({"query": whole["query"].unique().sort(), "n_relevant": 10})
    asked: Any = {"measure": "precision@10", "margin": 0.05, "queries": truth}
    with pytest.warns(rr.RetrievalReportWarning, match="all items tie in 60 of the 60 lists of c"):
        failed = rr.gate(whole, tied, truncated="no", **asked)
    assert failed.status == "failed"
    assert failed.difference == pytest.approx(0.2 - 0.8)
    found = rr.gate(whole, top, truncated="within_tie", **asked)
    assert (found.candidate_value, found.status, found.exit_code) == (1.0, "lists are cut", 3)
    assert found.bound_low is not None
    assert found.bound_low <= 0.2 - 0.8
    assert found.line().startswith("lists are cut: precision@10 of candidate is 1.0000")
    assert found.as_dict()["exit_code"] == 3
    assert ET.fromstring(junit_xml(found)).find(".//failure").attrib["type"] == "lists are cut"  # type: ignore[union-attr]
    assert markdown_summary(found).startswith("**lists are cut**")
    assert 'pass truncated="no"; ' in found.line().replace("'", '"')  # the cure comes first
    deep = whole.filter(rank < 20)  # ten of fifty ranks may follow, with two relevant items
    turned = deep.with_columns(distance=rank.replace({0: 1, 1: 0}))
    wide = rr.gate(
        deep, turned, truncated="within_tie", **{**asked, "measure": "ap@30", "margin": 0.3}
    )
    assert (wide.status, wide.items_missing) == ("passed", True)
    assert "] whatever the lists leave out; 60 queries" in wide.line()


def test_an_unknown_r_is_not_certified():
    """Of three relevant items that both runs retrieve the candidate has more among its first
    three.
    """
    far = lists_of(10, 3).with_columns(distance=(pl.col("distance") + 9) % 10)
    asked: Any = {"margin": 0.05, "truncated": "within_tie"}
    found = rr.gate(far, lists_of(10, 3), measure="recall@3", **asked)
    assert found.difference is not None
    assert found.difference > 0.3
    assert (found.status, found.exit_code) == ("R is not known", 3)
    assert (
        "relevant items that neither run retrieved could change it; pass judgements" in found.line()
    )
    assert (
        rr.gate(far, lists_of(10, 3), measure="precision@3", **asked).status == "passed"
    )  # R divides nothing


def test_queries_that_neither_answers_count_where_asked():
    short = lacking("q07")
    assert held(short, short, missing_query="zero").queries == 160
    assert held(short, short, missing_query="skip").queries == 159
    assert held(short, missing_query="zero").queries == 160  # or one of both
    assert held(ranking(), short, missing_query="skip").queries == 159
    with pytest.raises(rr.KeyMismatchError, match=r"^1 of 160 queries have no rows of any model, "):
        held(short, short)
    half = short.filter(pl.col("query") < "q5")
    with pytest.raises(rr.DataError, match=r"^nothing is tested: .* have no list from baseline"):
        held(half, half, missing_query="zero")


def test_one_query_decides_nothing():
    one = ranking(queries=1)
    found = rr.gate(one, one, measure="rr", margin=0.1, judgements=JUDGEMENTS.filter(query="q00"))
    assert (found.status, found.same_lists, found.items_missing) == ("passed", True, False)
    assert "1 query, margin 0.1; the lists of both runs are the same" in found.line()
    short = ranking().filter(pl.col("distance").rank().over("query") <= 2)
    cut = held(short, short, measure="ap", truncated="within_tie")
    assert (cut.status, cut.exit_code) == ("lists are cut", 3)  # missing items may differ
    other = one.with_columns(distance=-pl.col("distance"))
    found = rr.gate(
        one, other, measures="rr", margin=0.1, judgements=JUDGEMENTS.filter(query="q00")
    )
    assert (found.status, found.bound_low) == ("not decided", None)
    assert "1 query, margin 0.1" in found.line()
    assert "–" in markdown_summary(found)


def test_junit_counts_what_did_not_pass_and_holds_any_name():
    passed = held(ranking(), names=("old <&>", 'new "\x1b[31m"'))
    suite = ET.fromstring(junit_xml(passed))
    assert suite.attrib == {"tests": "1", "failures": "0"}
    assert suite.find(".//failure") is None
    failed = ET.fromstring(junit_xml(held(ranking(0.3))))
    failure = failed.find(".//failure")
    assert failure is not None
    assert failure.attrib["type"] == "failed"


def test_markdown_keeps_names_harmless():
    text = markdown_summary(held(ranking(), names=("a|b", "<img>")))
    assert "a|b" not in text
    assert "<img>" not in text
    assert text.startswith("**passed**")
    assert "| p (no worse) | no worse below 0.05 | 0 |" in text
    assert "| queries | compared | 160 |" in text


@pytest.fixture
def files(tmp_path: Path):
    for name, frame in (
        ("base", ranking()),
        ("same", near(2)),
        ("worse", ranking(0.3)),
        ("other", ranking(seed=5)),
    ):
        frame.write_csv(tmp_path / f"{name}.csv")
    JUDGEMENTS.write_csv(tmp_path / "qrels.csv")
    return tmp_path


def gate_of(
    files: Path, candidate: str, *more: object, margin: str = "0.02", code: int = 0
) -> Result:
    asked = f"gate {files}/base.csv {files / candidate} --judgements {files}/qrels.csv"
    return run(f"{asked} --measure ndcg@5 --margin {margin}", *more, code=code)


@pytest.mark.parametrize(
    ("candidate", "margin", "code", "word"),
    [
        ("same.csv", "0.02", 0, "passed"),
        ("worse.csv", "0.02", 1, "failed"),
        ("none.csv", "0.02", 2, "none.csv"),
        ("other.csv", "0.001", 3, "not decided"),
    ],
)
def test_the_exit_code_is_the_answer(
    files: Path, candidate: str, margin: str, code: int, word: str
):
    result = gate_of(files, candidate, margin=margin, code=code)
    if code == 2:
        assert result.stdout == ""
        assert word in result.stderr
    else:
        assert result.stdout.startswith(f"{word}: ndcg@5 of {Path(candidate).stem} is ")
        assert len(result.stdout.splitlines()) == 1


def test_json_junit_and_markdown(files: Path):
    junit, markdown = files / "junit.xml", files / "gate.md"
    written = "--junit", junit, "--markdown", markdown
    result = gate_of(files, "worse.csv", "--json", *written, code=1)
    told = json.loads(result.stdout)
    assert (told["status"], told["exit_code"], told["candidate"]) == ("failed", 1, "worse")
    assert ET.parse(junit).getroot().attrib["failures"] == "1"
    assert markdown.read_text().startswith("**failed**: ndcg@5 of worse against base")


def test_runs_of_one_name_in_two_folders_are_told_apart(files: Path):
    (files / "new").mkdir()
    shutil.copy(files / "base.csv", files / "new/base.csv")
    told = json.loads(gate_of(files, "new/base.csv", "--json").stdout)
    assert (told["baseline"], told["candidate"]) == (files.name, "new")


@pytest.mark.parametrize("flag", ["--junit", "--markdown"])
def test_no_input_is_written_over(files: Path, flag: str):
    before = (files / "base.csv").read_bytes()
    gate_of(files, "same.csv", flag, files / "base.csv", code=2)
    assert (files / "base.csv").read_bytes() == before
    gate_of(files, "same.csv", "--junit", files / "x", "--markdown", files / "x", code=2)
    assert not (files / "x").exists()


def test_of_margins_by_measure_the_gate_takes_its_own():
    several = {"recall@5": "1 %", "ndcg@5": "5 %"}
    found = held(near(1), margin=several)
    assert found.baseline_value is not None
    assert found.margin == pytest.approx(0.05 * found.baseline_value)
    assert held(near(1), margin="recall@5=0.1, ndcg@5=0.02").margin == 0.02


def test_a_gate_in_a_notebook_is_the_line_of_the_command():
    rows = {"q": {"x": 2.0, "y": 1.0}}
    result = rr.gate(rows, rows, measure="rr@2", margin=0.1, judgements={"q": {"x": 1}})
    assert repr(result) == str(result) == result.line()
