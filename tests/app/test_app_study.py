"""A study opens in the dashboard: its data, its measure and its rules, on this machine alone."""

import json
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("streamlit", reason="streamlit is not installed")


import retrieval_report as rr
from made_pages import agrees, dashboard, drawn, table, words
from made_reports import made_rankings
from retrieval_report.study import server
from retrieval_report.study.server import START, asked_of_dashboard
from text import plain

RANKINGS = made_rankings(("coarse", "fine", "middle"))
QUERIES = (
    RANKINGS.select("query")
    .unique(maintain_order=True)
    .with_columns(label=pl.Series(list("ababab")))
)


def study(**options: Any) -> rr.Study:
    return rr.Study(RANKINGS, "ap@2, rr@3", queries=QUERIES, shuffles=7, seed=3, **options)


def test_the_page_shows_the_numbers_of_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    rules: Any = {"relevant_from": 1.0, "no_relevant": "one", "correction": "holm"}
    asked: Any = {"baseline": "fine", "margin": 0.5}
    made = study(average="macro", **asked, **rules)
    paths = {}
    for name, frame in made.frames.items():
        paths[name] = str(tmp_path / f"{name}.parquet")
        frame.write_parquet(paths[name])
    about = {"name": "my study", **asked_of_dashboard(made)}
    monkeypatch.setenv(
        START, json.dumps({**paths, "rankings": [paths["rankings"]], "judgements": None, **about})
    )
    page = drawn(dashboard().run())
    assert plain(made.decision) in words(page)
    for column in ("expected", "naive"):
        here = made.at("ap@2").summary.filter(policy=column)
        shown = table(page, 1).select("model", column)
        assert dict(shown.iter_rows()) == dict(here.select("model", "value").iter_rows())
    assert page.selectbox(key="metric").value == "ap"
    assert page.selectbox(key="given_average").value == "macro"
    assert page.selectbox(key="given_correction").value == "holm"
    assert page.number_input(key="given_seed").value == 3
    # Other data do not inherit what was said of the study.
    page = drawn(page.selectbox(key="open").set_value("docs").run())
    assert page.selectbox(key="average").value == "micro"
    # This sample begins with its usual measure, and the baseline and the margin of `demo`.
    assert plain("Ship wordllama-float16: no worse than wordllama-float32 (margin 0.02") in words(
        page
    )


def test_a_server_answers_and_ends_with_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    opened: list[str] = []
    monkeypatch.setattr(server.webbrowser, "open", opened.append)  # type: ignore[attr-defined]
    costs = {"coarse": 8, "fine": 64}
    with study(costs=costs).models("fine", "coarse").dashboard(name="two models") as running:
        assert running.address.startswith("http://127.0.0.1:")
        assert repr(running) == f"Dashboard at {running.address}"
        assert opened == [running.address]
        with urllib.request.build_opener().open(running.address, timeout=30) as answer:
            assert answer.status == 200
        (folder,) = tmp_path.iterdir()
        assert pl.read_parquet(folder / "rankings.parquet")["model"].unique().sort().to_list() == [
            "coarse",
            "fine",
        ]
        assert dict(pl.read_parquet(folder / "costs.parquet").rows()) == costs
    assert list(tmp_path.iterdir()) == []
    assert repr(running) == "Dashboard, ended"
    running.stop()
    with pytest.raises(OSError, match="refused"):
        urllib.request.build_opener().open(running.address, timeout=30)


def test_a_server_that_does_not_start_is_said_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    script = tmp_path / "fails.py"
    script.write_text("raise SystemExit(3)", encoding="utf-8")
    files = tmp_path / "files"
    files.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(files))
    monkeypatch.setattr(server, "application", lambda: script)
    with pytest.raises(rr.OutputError, match="did not start"):
        study().dashboard(browser=False)
    assert list(files.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"decimals": 1}, "decimals=1"),
        ({"truncated": {"fine": "no", "coarse": "no", "middle": "no"}}, "truncated="),
    ],
)
def test_what_the_dashboard_cannot_show_is_refused(options: dict[str, Any], said: str):
    with pytest.raises(rr.ParameterError, match=f"dashboard: there is no control for {said}"):
        study(**options).dashboard()
    with pytest.raises(rr.ParameterError, match="no control for ap"):
        rr.Study(RANKINGS, "ap(denominator=k)@3").dashboard()


def test_judges_seeds_data_sets_and_clusters_come_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    runs = made_rankings(("coarse", "fine"))
    rankings = pl.concat([runs.with_columns(seed=pl.lit(seed)) for seed in (1, 2)])
    rankings = rankings.with_columns(corpus=pl.col("query").cast(pl.String))
    judged = rankings.select("query", "item", "relevance").unique(["query", "item"])
    rankings = rankings.drop("relevance")
    other = judged.with_columns(relevance=1 - pl.col("relevance").clip(0, 1))
    files = {"rankings": rankings, "human": judged, "machine": other}
    paths = {name: str(tmp_path / f"{name}.parquet") for name in files}
    for name, frame in files.items():
        frame.write_parquet(paths[name])
    how: Any = {"replicate": "seed", "dataset": "corpus"}
    same = rr.Study(rankings, "ndcg@10", judgements={"human": judged, "machine": other}, **how)
    opened = {
        "name": "mine",
        "rankings": [paths["rankings"]],
        "judgements": {name: paths[name] for name in ("human", "machine")},
        **how,
    }
    monkeypatch.setenv(START, json.dumps(opened))
    page = drawn(dashboard().run())
    shown = table(page, 1)
    assert shown["source"].to_list() == [
        "tie order",
        "queries",
        "both",
        "judge",
        "seed",
        "data set",
    ]
    agrees(shown, same.reversals, "verdict")
