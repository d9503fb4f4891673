"""What a study and the command line estimate from few human judgements and many from a machine."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr
from commands import run
from made_reports import made_rankings

RANKINGS = made_rankings(("coarse", "fine")).drop("relevance")
QUERIES, ITEMS = RANKINGS["query"].unique().sort(), RANKINGS["item"].unique().sort()


def labels(seed: int, queries: Any = QUERIES) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    given = {query: {item: int(generator.integers(0, 4)) for item in ITEMS} for query in QUERIES}
    return rr.read_judgements(given).filter(pl.col("query").is_in(list(queries)))


JUDGES = {"gpt": labels(1), "human": labels(2, QUERIES[:5]), "llama": labels(3)}


def study(**options: Any) -> rr.Study:
    return rr.Study(RANKINGS, "ndcg@3, ap", judgements=JUDGES, truncated="no", **options)


@pytest.mark.parametrize("machine", ["gpt", "llama"])
def test_a_study_estimates_by_its_judges(machine: str):
    scores = [
        rr.evaluate(
            RANKINGS, judgements=JUDGES[name], metrics="ndcg@3, ap", truncated="no",
            policies="expected", unjudged_query="skip" if name == "human" else "error",
        ) for name in (machine, "human")
    ]  # fmt: skip
    found = study().estimate(machine=machine)
    assert_frame_equal(found, rr.stats.estimate(*scores))
    assert found["judged"].max() == 5
    assert found.select("model_a", "model_b", "metric").rows()[:3] == [
        ("coarse", None, "ndcg"), ("fine", None, "ndcg"), ("coarse", "fine", "ndcg"),
    ]  # fmt: skip
    assert (
        study().estimate()["machine_only"][0] == study().estimate("human", "gpt")["machine_only"][0]
    )


def test_the_machine_is_the_judge_of_the_headline_unless_that_is_human():
    assert_frame_equal(study(judge="llama").estimate(), study().estimate(machine="llama"))
    assert_frame_equal(study(judge="human").estimate(), study().estimate(machine="gpt"))


def test_a_narrower_study_estimates_what_it_holds():
    one = study().at("ap").models("fine").estimate()
    whole = study().estimate().filter(metric="ap", model_a="fine")
    assert_frame_equal(one, whole)


def printed(tmp_path: Path, *arguments: object) -> str:
    RANKINGS.write_csv(tmp_path / "runs.csv")
    for name, frame in JUDGES.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    judges = ",".join(f"{name}={tmp_path / name}.csv" for name in JUDGES)
    words = f"estimate {tmp_path}/runs.csv --judgements {judges} --metrics ndcg@3,ap --truncated no"
    return run(words, *arguments).output


def test_the_command_is_the_study(tmp_path: Path):
    assert "coarse" in printed(tmp_path, "--out", tmp_path / "out")
    rows = json.loads(printed(tmp_path, "--judge", "llama", "--json"))["estimates"]
    truth = study().estimate(machine="llama")
    assert [row["value"] for row in rows] == pytest.approx(truth["value"].to_list())
    written = pl.read_csv(tmp_path / "out" / "estimates.csv")
    assert written["value"].to_list() == pytest.approx(study().estimate()["value"].to_list())
