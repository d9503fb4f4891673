"""The page Data & export: uploads, what was read and refused, and numbers as files."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest

from made_pages import dashboard, drawn, words
from made_reports import made_rankings
from text import plain, sentence

RANKINGS = made_rankings(("fine",), queries=3)
CSV = RANKINGS.drop("model").write_csv().encode()
NAMED_OTHERWISE = (
    b"topic number,thing,closeness,good\n1,a,0.5,1\n1,b,0.25,0\n2,a,0.5,0\n2,b,0.25,1\n"
)


def opened() -> AppTest:
    """The application at the page of the data."""
    return to_page(dashboard(), "data")


def to_page(test: AppTest, path: str) -> AppTest:
    """The page after a click in the menu; AppTest.switch_page knows pages that are files only."""
    test._page_hash = page_hashes()[path]
    return drawn(test.run())


@cache
def page_hashes() -> dict[str, str]:
    test = dashboard().run()
    return {str(page["url_pathname"]): key for key, page in test._registered_pages.items()}


def upload(test: AppTest, key: str, *files: tuple[str, bytes]) -> AppTest:
    uploads = [(name, content, "application/octet-stream") for name, content in files]
    box: Any = test.file_uploader(key=key)
    box.set_value(uploads if box.accept_multiple_files else uploads[0])
    return drawn(test.run())


def sidebar_data(test: AppTest) -> str:
    return str(test.selectbox(key="open").value)


def rows(test: AppTest) -> dict[str, int]:
    """Rows of the frames that are looked at."""
    facts = test.dataframe[0].value
    return dict(zip(facts["frame"], facts["rows"], strict=True))


def test_warnings_are_shown_whole_beside_the_data_and_folded_on_other_pages():
    whole = made_rankings(("coarse", "fine"), 12).with_columns(pl.col("distance") // 2)
    nothing = whole.with_columns(relevance=0)
    page = upload(opened(), "rankings upload", ("nothing.csv", nothing.write_csv().encode()))
    page = drawn(
        next(button for button in page.button if button.label == "Open these files").click().run()
    )
    said = [box.value for box in page.warning]
    assert any("No query has a relevant item" in text for text in said)
    assert not any("about the data" in part.label for part in page.expander)
    elsewhere = to_page(page, "compare")
    folded = next(part for part in elsewhere.expander if "about the data" in part.label)
    assert folded.label == f"{len(said)} warning{'s' if len(said) > 1 else ''} about the data"
    assert [box.value for box in folded.warning] == said


def test_a_table_is_opened_under_the_name_of_its_file():
    test = upload(opened(), "rankings upload", ("../../etc/fine lists.csv", CSV))
    assert sidebar_data(test) == "docs"  # nothing is opened before it is asked for
    drawn(test.button[0].click().run())
    assert sidebar_data(test) == "upload"
    assert rows(test) == {"rankings": RANKINGS.height}
    assert test.multiselect(key="models").options == ["fine lists"]
    assert test.query_params["open"] == "fine lists.csv"


def test_columns_of_unknown_names_are_asked_for():
    test = upload(opened(), "rankings upload", ("other.csv", NAMED_OTHERWISE))
    said = words(test).replace("\\", "")
    assert said.count("lack query, item") == 1
    assert "when you open the files" not in said  # they are about to be
    assert test.button[0].disabled
    for ours, theirs in (
        ("query", "topic number"),
        ("item", "thing"),
        ("distance", "closeness"),
        ("relevance", "good"),
    ):
        test.selectbox(key=f"column {ours}").set_value(theirs)
    drawn(test.run())
    assert "lack" not in words(test)
    drawn(test.button[0].click().run())
    assert rows(test) == {"rankings": 4}


def test_judgements_alone_wait_for_rankings():
    test = upload(opened(), "judgements upload", ("qrels.txt", b"q 0 a 1\n"))
    assert "Choose a file of rankings, too" in words(test)
    swapped = upload(opened(), "rankings upload", ("qrels.txt", b"q 0 a 1\nq 0 b 0\n"))
    assert "qrels.txt is among the rankings, but holds judgements." in words(swapped)
    assert "lack" not in words(swapped)
    other = upload(
        opened(), "rankings upload", ("a.csv", b"query,item,iteration,points\nq,a,0,1\n")
    )
    assert "lack distance or score" in words(other)


def test_rankings_and_judgements_are_opened_as_soon_as_both_are_there():
    run = b"q Q0 a 1 2.0 mine\nq Q0 b 2 1.0 mine\n"
    test = upload(opened(), "rankings upload", ("mine.run", run))
    assert sidebar_data(test) == "docs"
    drawn(test.button[0].click().run())
    (said,) = (box.value.replace("\\", "") for box in test.error)
    assert "no judgements were given; choose “Judgements (qrels)” above, a table of" in said
    test = upload(test, "judgements upload", ("qrels.txt", b"q 0 a 0\nq 0 b 1\n"))
    assert sidebar_data(test) == "upload"
    assert rows(test) == {"rankings": 2, "judgements": 2}
    drawn(test.selectbox(key="open").set_value("docs").run())
    assert sidebar_data(test) == "docs"  # they are opened once
    test = upload(test, "judgements upload", ("qrels.txt", b"not judgements\n"))
    assert len(test.error) == 1
    assert not drawn(test.run()).error


def test_a_column_called_score_may_be_chosen_as_the_distance():
    content = b"query,item,score,relevance\nq,a,1,1\nq,b,2,0\n"
    test = upload(opened(), "rankings upload", ("mine.csv", content))
    drawn(test.toggle(key="columns by hand").set_value(True).run())
    drawn(test.selectbox(key="column distance").set_value("score").run())
    drawn(test.button[0].click().run())
    assert "query, item, distance" in test.dataframe[0].value["columns"][0]


def test_prose_is_refused_in_few_words():
    test = upload(opened(), "rankings upload", ("note.txt", b"dear all,\nwe meet at noon,\n"))
    (said,) = (box.value.replace("\\", "") for box in test.warning if "note" in box.value)
    assert said.startswith(
        "note.txt: the rankings lack query, item, distance or score; found “dear"
    )
    assert "recognised" not in said
    assert "[" not in said


def test_a_bad_upload_is_refused_in_the_words_of_the_library_and_nothing_is_lost():
    test = upload(opened(), "rankings upload", ("good.csv", CSV))
    drawn(test.button[0].click().run())
    before = rows(test)
    for content, message in (
        (b"query,item,distance,relevance\nq,a,1,1\nq,b,nan,0\n", "column 'distance': 1 NaN"),
        (b"query,item,distance,relevance\nq,a,1\n", "lists.csv, line 2: 3 fields"),
        (b"query,item,distance\nq,a,1\n", "no column 'relevance'"),
    ):
        test = upload(test, "rankings upload", ("lists.csv", content))
        if test.button and test.button[0].label == "Open these files":
            drawn(test.button[0].click().run())
        assert any(text in words(test) for text in (plain(message), sentence(message)))
        assert sidebar_data(test) == "upload"
        assert rows(test) == before
    assert drawn(to_page(test, "overview")).title[0].value.startswith("Overview")


@pytest.mark.slow
def test_row_101_uploads_stay_in_their_session_and_the_report_is_made_on_demand():
    test = upload(opened(), "rankings upload", ("mine.csv", CSV))
    drawn(test.button[0].click().run())
    labels = [button.label for button in test.download_button]
    assert labels == ["Scores, CSV", "Summary, CSV", "Scores, Parquet"]
    assert "These tables are for " in words(test)
    assert "@10; it also holds the usual measures." in words(test)  # of the report
    (button,) = (button for button in test.button if button.label == "Prepare the HTML report")
    drawn(button.click().run())
    to_page(to_page(test, "costs"), "data")
    assert [part.label for part in test.download_button] == [*labels, "Download the report"]
    drawn(test.selectbox(key="cutoff").set_value("5").run())
    assert [part.label for part in test.download_button] == labels
    other = dashboard(open="upload")
    drawn(other.run())
    assert sidebar_data(other) == "docs"
    assert "in the address is not used" in words(other)
    assert "open" not in other.query_params


def started_with(monkeypatch: pytest.MonkeyPatch, path: Path, content: bytes) -> AppTest:
    path.write_bytes(content)
    told = {"rankings": [str(path)], "judgements": None, "queries": None, "columns": None}
    monkeypatch.setenv("RETRIEVAL_REPORT_DASHBOARD", json.dumps(told))
    return opened()


def test_files_of_the_command_line_are_open_and_read_again_once_they_change(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    path = tmp_path / "lists.csv"
    test = started_with(monkeypatch, path, CSV)
    assert sidebar_data(test) == "files"
    assert rows(test) == {"rankings": RANKINGS.height}
    path.write_bytes(CSV + b"query 9,1,1,1\n")
    assert rows(drawn(test.run())) == {"rankings": RANKINGS.height + 1}


def test_label_sets_of_the_command_line_are_ranked_by_grade(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    (tmp_path / "graders").mkdir()
    for name, grades in {"gpt": (3, 3), "llama": (1, 2)}.items():
        lines = [f"q 0 {item} {grade}\n" for item, grade in zip("ab", grades, strict=True)]
        (tmp_path / "graders" / name).write_text("".join(lines))
    (tmp_path / "qrels.txt").write_text("q 0 a 1\nq 0 b -2\n")
    told = {"rankings": [f"{tmp_path}/graders/*"], "judgements": f"{tmp_path}/qrels.txt"}
    options = {"labels_as_rankings": True, "negative": "unjudged", "options": {"truncated": "no"}}
    monkeypatch.setenv("RETRIEVAL_REPORT_DASHBOARD", json.dumps({**told, **options}))
    test = drawn(dashboard().run())
    assert "graders · 2 models · 1 query" in words(test)
    assert "gpt has the highest expected" in words(test)
    assert "could reverse this lead" not in words(test)


def test_files_without_rows_are_told_on_every_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Nothing else is: the verdict on a sample could be taken for that on the files."""
    test = started_with(monkeypatch, tmp_path / "lists.csv", b"query,item,distance,relevance\n")
    for page in ("data", "overview"):
        (said,) = [box.value for box in drawn(to_page(test, page)).error]
        assert plain(f"{tmp_path / 'lists.csv'}: no rows") in said
        assert said.endswith("choose other data in the sidebar.")
        assert not test.title
        assert not test.subheader


def test_where_nothing_can_be_scored_other_data_can_be_opened(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    test = started_with(
        monkeypatch, tmp_path / "lists.csv", b"query,item,distance,relevance\nq,a,nan,1\n"
    )
    assert "1 NaN" in test.error[0].value
    assert "Nothing can be exported until these data are scored" in words(test)
    assert not test.download_button
    assert test.file_uploader(key="rankings upload")
    overview = drawn(to_page(test, "overview"))
    assert (
        overview.title[0].value == f"Overview: {plain('ndcg@10')}"
    )  # shown before anything is scored
    assert "1 NaN" in overview.error[0].value
    assert not overview.subheader


def test_uploaded_data_that_a_reload_lost_are_asked_for_again():
    test = dashboard(open="lists.csv")
    page = drawn(test.run())
    said = next(box.value for box in page.warning if "lists" in box.value).replace("\\", "")
    assert "upload the files again on the page Data & export" in said
    assert "keeps metric, cutoff and rules, not the data" in said


def test_what_no_control_takes_of_the_address_is_said_once():
    test = to_page(dashboard(view="Compare", baseline="nobody"), "compare")
    first, second = sorted(warning.value for warning in test.warning)
    assert first.startswith("baseline: “nobody” in the address is not used")
    assert second.startswith("view: “Compare” in the address is not used: with these data")
    assert not test.query_params
    assert not drawn(test.run()).warning


def about_cutoff(test: AppTest) -> list[str]:
    return [box.value for box in test.warning if "utoff" in box.value.partition(":")[0]]


def test_a_typed_cutoff_that_is_none_leaves_the_last_one_and_is_said_once():
    test = drawn(dashboard(cutoff="20").run())
    for typed in ("abc", "0"):
        box = test.selectbox(key="cutoff")
        box.options.append(typed)  # both as a browser does
        test.query_params["cutoff"] = typed
        drawn(box.set_value(typed).run())
        assert about_cutoff(test) == [
            f"Cutoff k: “{typed}” is not a whole number from 1 on, nor all; 20 still applies."
        ]
        assert test.selectbox(key="cutoff").value == "20"
        assert test.title[0].value == f"Overview: {plain('ndcg@20')}"
        assert not about_cutoff(drawn(test.run()))


def test_a_cutoff_of_the_address_that_is_none_is_said_once():
    test = drawn(dashboard(cutoff="abc").run())
    (said,) = about_cutoff(test)
    assert said.startswith("cutoff: “abc” in the address is not used")
    assert "cutoff" not in test.query_params
    assert test.title[0].value == f"Overview: {plain('ndcg@10')}"
    assert not about_cutoff(drawn(test.run()))
