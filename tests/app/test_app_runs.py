"""The dashboard where models are means over runs: models rank, and lists are of runs."""

from collections.abc import Iterable

import polars as pl
import pytest

import retrieval_report as rr
from made_pages import agrees, made_data, numbers, open_page, table, words
from made_reports import made_rankings
from text import plain

MODELS = ["coarse", "fine", "middle"]
RUNS = pl.concat(
    made_rankings(tuple(MODELS)).with_columns(
        model=pl.format("{}-s{}", "model", pl.lit(seed)), distance=pl.col("distance") * (seed + 1)
    )
    for seed in range(2)
)
PATTERN = r"(?P<model>.+)-s\d+"
NAMES = [f"{model}-s{seed}" for model in MODELS for seed in range(2)]


def test_the_overview_speaks_of_models():
    page = open_page("overview", made_data(RUNS, replicate=PATTERN))
    study = rr.Study(RUNS, "ndcg@3", replicate=PATTERN)
    tables = [table(page, number) for number in range(len(page.dataframe))]
    [turning] = [shown for shown in tables if "source" in shown.columns]
    known = study.reversals.drop_nulls("varied")
    assert turning["source"].to_list() == ["tie order", "queries", "both", "seed"]
    agrees(turning, known, "verdict")
    ranked = [shown for shown in tables if "model" in shown.columns]
    assert ranked
    assert all(sorted(shown["model"].to_list()) == MODELS for shown in ranked)


def test_two_models_show_a_list_of_one_run_each():
    page = open_page("pair", made_data(RUNS, replicate=PATTERN), a="fine", b="coarse")
    assert page.selectbox("run_A").options == ["fine-s0", "fine-s1"]
    assert plain("coarse-s0") in words(page)
    page = open_page(
        "pair", made_data(RUNS, replicate=PATTERN), a="fine", b="coarse", run_B="coarse-s1"
    )
    assert plain("coarse-s1") in words(page)


def runs_of(names: Iterable[str]) -> set[str]:
    """Return the first run of each row, whose copies follow."""
    return {name.partition(" = ")[0] for name in names}


def test_queries_and_ties_are_of_runs():
    page = open_page("queries", made_data(RUNS, replicate=PATTERN))
    assert page.selectbox("model").options == NAMES
    assert runs_of(table(page, 0)["model"]) <= set(NAMES)
    page = open_page("ties", made_data(RUNS, replicate=PATTERN), models=["coarse", "middle"])
    shown = runs_of(name for frame in page.dataframe for name in frame.value.get("model", []))
    assert shown
    assert shown <= {name for name in NAMES if not name.startswith("fine")}


@pytest.mark.parametrize("name", ["compare", "thresholds"])
def test_every_other_page_opens(name: str):
    page = open_page(name, made_data(RUNS, replicate=PATTERN))
    assert not page.error
    assert numbers(page) is not None
