"""There is one leaderboard: terminal, notebook, report and commands show the same rows."""

import re
from pathlib import Path

import polars as pl
import pytest

import retrieval_report as rr
from commands import run
from made_reports import lettered
from retrieval_report.study.leaderboard_rows import leaderboard_of
from retrieval_report.study.samples import sample_folder
from retrieval_report.study.table_columns import column_of
from retrieval_report.study.tables import report_tables
from retrieval_report.study.three_tables import three_rows

DOCS = sample_folder() / "docs"
FILES = [str(DOCS / "runs"), "--judgements", str(DOCS / "qrels.txt")]
COLUMNS = ["rank", "model", "expected", "tie_ranks", "query_ranks", "interval"]


@pytest.fixture(scope="module")
def study():
    measures = "ndcg@10, ap, precision@10"
    return rr.Study(DOCS / "runs", measures, judgements=DOCS / "qrels.txt", truncated="no")


def cells(text: str) -> list[list[str]]:
    """The heading and the rows of all 12 models in the last table in a text."""
    lines = text.rstrip().splitlines()
    first = max(number for number, line in enumerate(lines) if line.startswith("rank "))
    return [re.split(r" {2,}", line.strip()) for line in lines[first : first + 13]]


@pytest.mark.slow
def test_every_face_shows_the_same_cells(study: rr.Study):
    head, *rows = cells(repr(study))
    assert head == [*COLUMNS, "ap@all", "precision@10"]
    board = study.table()
    assert [row[1] for row in rows] == board["model"].to_list()
    assert [float(row[2]) for row in rows] == pytest.approx(board["ndcg@10"].to_list(), abs=1e-4)
    assert [float(row[6]) for row in rows] == pytest.approx(board["ap@all"].to_list(), abs=1e-4)
    three = study.at("ndcg@10").three_scores
    table = report_tables(study.contents())["summary"]
    whole = [[cell.text for cell in row] for row in table.rows]  # with what stands above elsewhere
    ranges = [tuple(map(float, row[3].split(" – "))) for row in whole]
    for name, ends in zip(("order_low", "order_high"), zip(*ranges, strict=True), strict=True):
        assert ends == pytest.approx(three[name].to_list(), abs=1e-4)
    assert [float(row[4]) for row in whole] == pytest.approx(three["naive"].to_list(), abs=1e-4)
    page = re.findall("<t[dh]>(.*?)</t[dh]>", study._repr_html_().rpartition("<table ")[2])
    assert page == [*head, *(cell for row in rows for cell in row)]
    assert [[*row[:3], *row[5:]] for row in whole] == rows
    asked = "leaderboard --metrics ndcg@10,ap,precision@10 --truncated no"
    shown = run(asked, *FILES)
    assert cells(shown.output) == [head, *rows]


def test_where_nothing_ties_one_sentence_stands_for_three_equal_columns():
    rows = rr.read_rankings(DOCS / "runs").filter(pl.col("model").is_in(["bm25", "wordllama-int8"]))
    place = pl.int_range(pl.len()).over("model", "query")
    untied = rr.Study(
        rows.with_columns(score=-place), judgements=DOCS / "qrels.txt", truncated="no"
    )
    said = "ndcg@10: bm25 wins exactly and by the naive order; no order of ties puts another model ahead."
    assert f"{said}\n\nWhat could turn" in repr(untied)
    assert "three-scores" not in report_tables(untied.contents())


def test_copies_share_a_row():
    rows = rr.read_rankings(DOCS / "runs")
    names = ("06-18", "06-28", "09-01")
    copies = [rows.filter(model="bm25").with_columns(model=pl.lit(name)) for name in names]
    study = rr.Study(
        pl.concat([*copies, rows.filter(model="wordllama-int8")]),
        "ndcg@10",
        judgements=DOCS / "qrels.txt",
        truncated="no",
    )
    assert study.three_scores["copy_of"].to_list() == [None, "06-18", "06-18", None]
    folded = leaderboard_of(study)[0]
    assert folded["model"].to_list() == ["06-18 = 06-28 = 09-01", "wordllama-int8"]
    assert folded["rank"].to_list() == [1, 4]
    assert folded["tie_ranks"].to_list() == ["1–2", "2–4"]  # of one model, not 1–4 of three
    assert folded["query_ranks"].to_list() == ["1–2", "1–4"]
    three = three_rows(study.three_scores, ("ndcg", 10))
    drawn = study.three_scores.filter(pl.col("model") != "wordllama-int8")
    for name in ("shuffled", "shuffled_std", "first_order", "shuffled_rank"):
        assert drawn[name].n_unique() == 1, name  # drawn once, as one model
    assert drawn["shuffled_rank"][0] == three["shuffled_rank"][0]
    table = report_tables(study.contents())["three-scores"]
    assert [row[0].text for row in table.rows] == folded["model"].to_list()


README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_readme_shows_what_a_study_prints():
    judgements = DOCS / "qrels.txt"
    study = rr.Study(DOCS / "runs", "ndcg@10", judgements=judgements, truncated="between_ties")
    some = ("float16", "bfloat16", "float32", "int8", "binary-256")
    printed = repr(study.models(*(f"wordllama-{name}" for name in some)))
    [shown] = [part for part in README.split("```text\n") if part.startswith("wordllama")]
    first, rest = shown.split("\n…\n", 1)
    assert rest.startswith("```")
    assert printed.startswith(first)
    assert len(first.splitlines()) > 10


def test_readme_shows_what_mteb_and_sentence_transformers_print():
    judgements = DOCS / "qrels.txt"
    study = rr.Study(DOCS / "runs", "rr@10", judgements=judgements, truncated="between_ties")
    prints = {(row["system"], row["model"]): row["prints"] for row in study.audit.to_dicts()}
    rows = [line.split("|") for line in README.splitlines() if re.match(r"\| \S+ \| \.\d{4}", line)]
    assert len(rows) == 5
    for row in rows:
        model, mteb, sentence_transformers, exact, one = (cell.strip() for cell in row[1:-1])
        three = study.three_scores.filter(model=model).row(0, named=True)
        assert float(mteb) == pytest.approx(prints["mteb", model], abs=5.01e-5)
        shown = float(sentence_transformers)
        assert shown == pytest.approx(prints["sentence-transformers", model], abs=5.01e-5)
        value, _, deviation = exact.partition(" ± ")
        assert float(value) == pytest.approx(three["expected"], abs=5.01e-5)
        assert float(deviation or 0) == pytest.approx(three["tie_std"], abs=5.01e-5)
        ends = [float(end) for end in one.split("–")]
        within = [three["order_low"], three["order_high"]]
        assert [ends[0], ends[-1]] == pytest.approx(within, abs=5.01e-5)
    assert [row[1].strip() for row in rows if float(row[2]) > 0.88] == ["wordllama-2-digits"]
    assert max(rows, key=lambda row: float(row[3]))[1].strip() == "wordllama-float32"


def test_of_one_model_nothing_is_ranked(study: rr.Study):
    alone = study.models("bm25")
    head, row = repr(alone).splitlines()[-2:]
    columns = "model expected interval ap@all precision@10"
    assert head.split() == columns.split()
    assert row.startswith("bm25 ")


def test_a_study_without_expected_scores_shows_its_means(study: rr.Study):
    naive = study.under("naive")
    assert "ndcg@10\nmodel" in repr(naive)
    assert "expected" not in repr(naive)
    assert re.match("<table [^>]*><thead><tr><th>model</th><th>metric</th>", naive._repr_html_())


def test_ranks_by_ties_say_that_they_hold_what_may_be_missing():
    rows = {"query": ["q"] * 3, "item": list("abc"), "relevance": [1, 0, 1]}
    lists = {
        "a": pl.DataFrame({**rows, "distance": [1, 2, 2]}),
        "b": pl.DataFrame({**rows, "distance": [2, 1, 3]}),
    }
    said = "Where lists may be cut, ranks by ties hold whatever items are missing."
    for cut, is_said in (({"a": "within_tie", "b": "no"}, True), ("no", False)):
        study = rr.Study(lists, "precision@2", truncated=cut, shuffles=2)
        assert (said in leaderboard_of(study)[2]) == is_said


def test_every_column_of_the_leaderboard_can_be_shown(study: rr.Study):
    """A column that was added to `leaderboard` once stopped the report with a KeyError."""
    ranks = study.headline.leaderboard
    rows = leaderboard_of(study)[0]
    assert {*ranks.columns} <= {*rows.columns, "policy"}
    assert [column_of("summary", name).header for name in ranks.columns if name != "policy"]


def test_a_model_without_a_rank_stands_below_those_that_have_one_and_a_note_says_why():
    """Its score may be the higher one, as of a model that lacks some lists."""
    rows = lettered({"whole": ["b A c"] * 40, "tied": ["Ab c"] * 40, "part": ["A b c"] * 35})
    judged = rows.filter(model="whole").select("query", "item", "relevance")
    study = rr.Study(rows.drop("relevance"), "rr@3", judgements=judged, truncated="no")
    board, _, note = leaderboard_of(study)
    models = board["model"].to_list()
    assert models == study.leaderboard["model"].to_list() == ["tied", "whole", "part"]
    assert models == three_rows(study.three_scores, study.measures[0])["model"].to_list()
    assert board["rank"].to_list() == [1, 2, None]
    assert board["expected"][2] > board["expected"][0]
    assert note == "No rank (–): see “Check your data”."
    assert study.verdict[0].startswith("Check your data")
    sound = study.models("whole", "tied")
    assert "No rank" not in leaderboard_of(sound)[2]


def test_models_that_are_level_in_every_order_share_their_rank():
    first, second, third = "H x y z", "x H y z", "x y H z"
    lists = {"best": [first] * 2, "left": [first, second], "right": [second, first]}
    lists |= {"twin": lists["right"], "last": [second, third]}
    rows = lettered({model: 3 * letters for model, letters in lists.items()})
    study = rr.Study(rows, "rr@4", truncated="no")
    board, _, _ = leaderboard_of(study)
    assert board.select("model", "rank", "tie_ranks").rows() == [
        ("best", 1, "1"),
        ("left", 2, "2"),
        ("right = twin", 2, "2"),
        ("last", 5, "5"),
    ]
    # whether other queries tell them apart is another question
    assert board["query_ranks"][1] == "1–5"
    tables = report_tables(study.contents()).values()
    every = next(table for table in tables if table.question.caption == "Every measure")
    ranks = [column.header for column in every.columns].index("Ranks by ties, 95%")
    assert [row[ranks].text for row in every.rows] == ["1", "2", "2", "2", "5"]
