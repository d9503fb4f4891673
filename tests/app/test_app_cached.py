"""What the dashboard remembers, and when it reads again."""

import os
from pathlib import Path

import polars as pl

from cached import answered, read_files, scored
from made_pages import made_data, open_page, words
from made_reports import made_rankings
from records import Files

ROWS = "query,item,distance,relevance\nq,a,1,{}\nq,b,2,{}\n"


def files(path: Path, **study: object) -> Files:
    return Files("lists", {"rankings": str(path), **study})


def grades(path: Path, **study: object) -> list[float]:
    frame = read_files(files(path, **study)).source.scores
    return frame.filter(policy="expected", metric="ndcg", cutoff=10)["value"].to_list()


def test_a_file_that_changed_within_the_same_size_is_read_again(tmp_path: Path):
    path = tmp_path / "lists.csv"
    path.write_text(ROWS.format(1, 0), encoding="utf-8")
    first = grades(path)
    before = path.stat()
    path.write_text(ROWS.format(0, 1), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert path.stat().st_size == before.st_size
    assert grades(path) != first


def test_a_file_that_grew_at_the_same_moment_is_read_again(tmp_path: Path):
    path = tmp_path / "lists.csv"
    path.write_text(ROWS.format(0, 1), encoding="utf-8")
    first = grades(path)
    before = path.stat()
    path.write_text(ROWS.format(0, 1) + "q,c,0,1\n", encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert grades(path) != first


def test_data_of_one_name_are_told_apart_by_their_content():
    rankings = made_rankings(("coarse", "fine"))
    turned = rankings.with_columns(distance=20 - pl.col("distance"))
    first, second = made_data(rankings), made_data(turned)
    assert first.name == second.name
    scores = [scored(data, data.start)[0].under("expected").scores for data in (first, second)]
    assert not scores[0].equals(scores[1])


def test_frames_are_told_apart_by_all_their_rows():
    data = made_data(made_rankings(("coarse", "fine")))
    frames = [pl.DataFrame({"row": [*range(50), last, *range(50)]}) for last in (1, 2)]
    found = [answered(data, _given_back, {"frame": frame}) for frame in frames]
    assert [frame["row"][50] for frame in found] == [1, 2]


def _given_back(frame: pl.DataFrame, **_: object) -> pl.DataFrame:
    return frame


def test_models_in_the_address_are_those_shown_and_unknown_ones_are_named():
    data = made_data(made_rankings(("coarse", "fine", "middle")))
    page = open_page("overview", data, models=["fine", "nobody"])
    assert page.multiselect(key="models").value == ["fine"]
    assert page.session_state["refused values of the address"].keys() == {"models"}
    assert "fine" in words(page)
    assert "coarse" not in words(page)
    assert "middle" not in words(page)
