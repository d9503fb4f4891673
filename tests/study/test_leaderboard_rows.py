"""There is one leaderboard: terminal, notebook, report and commands show the same rows."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import retrieval_report as rr
from retrieval_report.cli import cli
from retrieval_report.study.leaderboard_rows import lead, leaderboard_of
from retrieval_report.study.samples import sample_folder
from retrieval_report.study.tables import report_tables

DOCS = sample_folder() / "docs"
FILES = [str(DOCS / "runs"), "--judgements", str(DOCS / "qrels.txt")]
COLUMNS = ["rank", "model", "expected", "tie_std", "tie_ranks", "query_ranks", "interval"]


@pytest.fixture(scope="module")
def study() -> rr.Study:
    measures = "ndcg@10, ap, precision@10"
    return rr.Study(DOCS / "runs", measures, judgements=DOCS / "qrels.txt", truncated="no")


def cells(text: str) -> list[list[str]]:
    """The rows of the last table in a text."""
    lines = text.rstrip().splitlines()
    first = max(number for number, line in enumerate(lines) if line.startswith("rank "))
    return [re.split(r" {2,}", line.strip()) for line in lines[first : first + 7]]


@pytest.mark.slow
def test_every_face_shows_the_same_cells(study: rr.Study, tmp_path: Path) -> None:
    head, *rows = cells(repr(study))
    assert head == [*COLUMNS, "ap@all", "precision@10"]
    board = study.table()
    assert [row[1] for row in rows] == board["model"].to_list()
    assert [float(row[2]) for row in rows] == pytest.approx(board["ndcg@10"].to_list(), abs=1e-4)
    assert [float(row[7]) for row in rows] == pytest.approx(board["ap@all"].to_list(), abs=1e-4)
    page = re.findall("<t[dh]>(.*?)</t[dh]>", study._repr_html_().rpartition("<table>")[2])
    assert page == [*head, *(cell for row in rows for cell in row)]
    table = report_tables(study.contents())["summary"]
    assert [[cell.text for cell in row] for row in table.rows] == rows
    asked = [*FILES, "--metrics", "ndcg@10,ap,precision@10", "--truncated", "no"]
    for command in ("leaderboard", "report"):
        shown = CliRunner().invoke(cli, [command, *asked, "--out", str(tmp_path / command)])
        assert shown.exit_code == 0, shown.output
        assert cells(shown.output) == [head, *rows]


def test_the_page_has_the_deviations_of_the_terminal_where_r_is_not_known() -> None:
    """Of lists without judgements, R is what the models retrieved, and may be more."""
    rows = rr.read_rankings(DOCS / "runs").join(
        rr.read_judgements(DOCS / "qrels.txt"), on=["query", "item"], how="left"
    )
    unknown = rr.Study(rows.with_columns(pl.col("relevance").fill_null(0)), "ndcg@10")
    assert unknown.summary["pooled"].all()
    head, *shown = cells(repr(unknown))
    table = report_tables(unknown.contents())["summary"]
    column = [one.header for one in table.columns].index("± tie std")
    known = [row[head.index("tie_std")] for row in shown]
    assert [row[column].text.replace("cut", "–") for row in table.rows] == known
    assert any(map(float, [text for text in known if text != "–"]))


def test_readme_shows_what_a_study_prints() -> None:
    measures, qrels = "ndcg@10, ap@10, recall@10", DOCS / "qrels.txt"
    study = rr.Study(DOCS / "runs", measures, judgements=qrels, truncated="between_ties")
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert repr(study) in readme


def test_of_one_model_nothing_is_ranked(study: rr.Study) -> None:
    alone = study.models("bm25")
    head, row = repr(alone).splitlines()[-2:]
    assert head.split() == ["model", "expected", "tie_std", "interval", "ap@all", "precision@10"]
    assert row.startswith("bm25 ")


def test_queries_are_those_that_all_models_have() -> None:
    rows = rr.read_rankings(DOCS / "runs")
    few = rows.filter((rows["model"] != "bm25") | (rows["query"] != rows["query"][0]))
    judgements = rr.read_judgements(DOCS / "qrels.txt")
    how = {"judgements": judgements, "truncated": "no", "missing_query": "skip"}
    fewer = rr.Study(few, "ndcg@10", **how)  # type: ignore[arg-type]
    assert leaderboard_of(fewer)[0]["queries"].unique().to_list() == [149]
    heading = "ndcg@10, 149 queries, 1 left out, without a score of every model"
    assert heading in repr(fewer)


def test_a_study_without_expected_scores_shows_its_means(study: rr.Study) -> None:
    naive = study.under("naive")
    assert "ndcg@10\nmodel" in repr(naive)
    assert "expected" not in repr(naive)
    assert naive._repr_html_().startswith("<table><thead><tr><th>model</th><th>metric</th>")


@pytest.mark.slow
def test_the_lead_is_the_verdict_of_all_models_without_its_p(study: rr.Study) -> None:
    looks = set()
    for names in combinations(study.model_names, 3):
        for measure in ("ndcg@10", "precision@10"):
            three = study.models(*names).at(measure)
            said = lead(three, three.leaderboard)
            whole = three.sentences[: len(said)]
            assert said == [re.sub(r" \(corrected p .*\)", "", sentence) for sentence in whole]
            looks.add(three.status)
    assert looks >= {"depends on tie order", "safe", "not significant"}


def test_the_lead_of_one_model_of_level_ones_and_on_other_queries() -> None:
    rows = {"query": ["p", "p", "q", "q"], "item": [*"abab"], "relevance": [1, 0, 1, 0]}
    first = pl.DataFrame({"model": "a", **rows, "distance": [1, 2, 1, 2]})
    level = first.with_columns(model=pl.lit("b"), distance=pl.Series([3, 4, 1, 2]))
    short = level.filter(query="p").with_columns(model=pl.lit("c"))
    for frame in (first, pl.concat([first, level]), pl.concat([first, short])):
        study = rr.Study(frame, "rr@2", truncated="no", missing_query="skip")
        said = lead(study, study.leaderboard)
        assert said == [*study.sentences[: len(said)]]
