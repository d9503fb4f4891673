"""Replicates and data sets in a study: how they are named, what they answer, and where it is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

import retrieval_report as rr
from retrieval_report.cli import cli

PATTERN = r"(?P<model>.+) seed=\d+"


def made() -> pl.DataFrame:
    """Rankings of three models by three seeds, in two data sets, with ties."""
    generator = np.random.default_rng(0)
    return pl.DataFrame(
        [
            {
                "model": model,
                "seed": seed,
                "query": f"q{query}",
                "item": f"i{item}",
                "distance": int(generator.integers(0, 4)) + (0 if item == query % 5 else harder),
                "relevance": int(item == query % 5),
                "from": "law" if query < 4 else "news",
            }
            for model, harder in (("bge", 2), ("e5", 1), ("gte", 0))
            for seed in range(3)
            for query in range(10)
            for item in range(6)
        ]
    )


ROWS = made()
NAMED = ROWS.with_columns(model=pl.format("{} seed={}", "model", "seed")).drop("seed", "from")
SETS = ROWS.select("query", pl.col("from")).unique(maintain_order=True)


def row(study: rr.Study, source: str) -> dict[str, object]:
    return study.reversals.row(by_predicate=pl.col("source") == source, named=True)


def test_a_column_a_pattern_and_a_mapping_are_the_same_replicates() -> None:
    study = rr.Study(ROWS, "ndcg@3, rr", replicate="seed")
    names = {name: name.split()[0] for name in study.model_names}
    for other in (PATTERN, names):
        same = rr.Study(NAMED, "ndcg@3, rr", replicate=other)
        assert same.replicates.equals(study.replicates)
        assert same.replicate_pairs.equals(study.replicate_pairs)
    assert study.replicates.equals(rr.stats.replicate_table(study.scores, names))
    assert study.models("bge seed=0", "e5 seed=1").replicates["replicates"].to_list() == [1, 1] * 2


def test_a_question_that_nobody_asked_has_no_columns() -> None:
    study = rr.Study(NAMED, "ndcg@3")
    for frame in (study.replicates, study.replicate_pairs, study.datasets, study.dataset_scores):
        assert frame.width == 0
    assert row(study, "seed")["advice"] == "replicate="
    assert row(study, "data set")["advice"] == "dataset="


def test_data_sets_are_a_column_of_queries_or_rankings() -> None:
    study = rr.Study(NAMED, "ndcg@3", queries=SETS, dataset="from")
    assert study.datasets["datasets"].to_list() == [2] * 9
    same = rr.Study(ROWS, "ndcg@3", replicate="seed", dataset="from")
    assert same.datasets.equals(study.datasets)
    assert study.dataset_scores.equals(rr.stats.dataset_scores(study.scores, SETS, "from"))
    assert (
        rr.Study(NAMED, "ndcg@3", queries=SETS)
        .using(dataset="from")
        .datasets.equals(study.datasets)
    )


def test_seed_and_data_set_are_rows_of_what_could_turn_it_around() -> None:
    study = rr.Study(ROWS, "ndcg@3", replicate="seed", dataset="from")
    seed = row(study, "seed")
    best = study.replicates["model"].to_list()[:2]
    assert [seed["model_a"], seed["model_b"]] == best
    pair = study.replicate_pairs.filter(model_a=best[0], model_b=best[1])
    assert seed["reversal"] == pair["seed_reversal"].item()
    assert seed["verdict"] == pair["verdict"].item()
    sets = row(study, "data set")
    means = study.dataset_scores.pivot("model", index="dataset", values="value")
    ahead = means[str(sets["model_a"])] - means[str(sets["model_b"])]
    agree = np.sign(ahead.to_numpy()).mean()
    assert sets["reversal"] == pytest.approx((1 - agree) / 2)
    assert sets["varied"] == "2 data sets"


@pytest.mark.parametrize(("without", "turned"), [("bge", True), ("e5", False)])
def test_the_verdict_says_what_seeds_and_data_sets_turn_round(without: str, turned: bool) -> None:
    rows = ROWS.filter(pl.col("model") != without)
    study = rr.Study(rows, "ndcg@3", replicate="seed", dataset="from")
    seed, sets = row(study, "seed"), row(study, "data set")
    said = " ".join(study.sentences)
    known = f"{seed['model_a']} is ahead of {seed['model_b']}, but not in "
    assert (known in said) == (float(str(seed["reversal"])) > 0.05)
    assert ("Of 2 data sets, " in said) == (float(str(sets["reversal"])) > 0.05)
    assert (known in said) == turned
    assert "is ahead of" not in " ".join(rr.Study(NAMED, "ndcg@3").sentences)


def test_runs_of_one_model_have_no_seed_to_compare() -> None:
    study = rr.Study(ROWS.filter(model="bge"), "ndcg@3", replicate="seed")
    assert row(study, "seed")["verdict"] == "nothing to compare"


def test_a_report_holds_them(tmp_path: Path) -> None:
    study = rr.Study(ROWS, "ndcg@3", replicate="seed", dataset="from")
    study.report(tmp_path / "out")
    kept = rr.read_report(tmp_path / "out")
    for name in ("replicates", "replicate_pairs", "datasets", "dataset_scores"):
        assert kept.frames[name].equals(getattr(study, name)), name
    assert kept.parameters["replicate"] == "seed"
    assert kept.parameters["dataset"] == "from"
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Models as means over seed" in page
    assert "replicate=&#39;seed&#39;" in page or "replicate='seed'" in page
    given: dict[str, Any] = {"replicate": "seed", "dataset": "from", "formats": "csv"}
    rr.write_report(tmp_path / "again", ROWS, metrics="ndcg@3", **given)
    again = (tmp_path / "again" / "replicates.csv").read_bytes()
    assert again == (tmp_path / "out" / "replicates.csv").read_bytes()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"replicate": "sede"}, "is no column of the rankings"),
        ({"replicate": "(?P<model>x)"}, "fits no model"),
        ({"dataset": "area"}, "dataset: no column 'area' in the queries"),
    ],
)
def test_what_is_not_there_is_refused_at_once(given: dict[str, str], said: str) -> None:
    with pytest.raises(rr.ParameterError, match=said):
        rr.Study(ROWS, "ndcg@3", **given)  # type: ignore[arg-type]


def test_null_replicates_and_shared_queries_are_refused() -> None:
    with pytest.raises(rr.DataError, match="null in the rankings"):
        rr.Study(ROWS.with_columns(seed=None), "ndcg@3", replicate="seed")
    other = pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("web")).otherwise("from")
    with pytest.raises(rr.DataError, match="query 'q0' is in two of the 'from'"):
        rr.Study(ROWS.with_columns(other.alias("from")), "ndcg@3", dataset="from", replicate="seed")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for (name,), part in NAMED.group_by("model"):
        part.drop("model").write_csv(tmp_path / f"{str(name).replace(' seed=', '-seed')}.csv")
    SETS.write_csv(tmp_path / "queries.tsv", separator="\t")
    return tmp_path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_commands_show_models_before_runs(files: Path, tmp_path: Path) -> None:
    given = [*sorted(files.glob("*.csv")), "--metrics", "ndcg@3"]
    given += ["--replicates", r"(?P<model>.+)-seed\d+"]
    result = run("compare", *given, "--out", tmp_path / "compared")
    assert result.exit_code == 0, result.output
    shown = result.output
    assert shown.index("the replicates: 3 of") < shown.index("seed_reversal")
    assert shown.index("seed_reversal") < shown.index("p_tie ")
    assert (tmp_path / "compared" / "replicate_pairs.csv").exists()
    given += ["--queries", files / "queries.tsv", "--dataset", "from"]
    result = run("leaderboard", *given, "--out", tmp_path / "board")
    assert result.exit_code == 0, result.output
    assert result.output.index("replicate_low") < result.output.index("tie_ranks")
    written = {path.stem for path in (tmp_path / "board").iterdir()}
    assert written >= {"leaderboard", "replicates", "replicate_pairs", "datasets", "dataset_scores"}
    result = run("report", *given, "--out", tmp_path / "report")
    assert result.exit_code == 0, result.output
    assert rr.read_report(tmp_path / "report").datasets["datasets"].to_list() == [2] * 9


def test_a_pattern_that_fits_nothing_is_told_as_an_option(files: Path) -> None:
    given = [*sorted(files.glob("*.csv")), "--metrics", "ndcg@3"]
    result = run("compare", *given, "--replicates", "(?P<model>.+)-fold")
    assert result.exit_code == 2
    assert "--replicate: '(?P<model>.+)-fold' fits no model" in result.output


@pytest.mark.parametrize("form", ["csv", "parquet", "ndjson"])
def test_files_keep_the_columns_that_name_seeds_and_data_sets(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"runs.{form}"
    getattr(ROWS, f"write_{form}")(path)
    study = rr.Study(path, "ndcg@3", replicate="seed", dataset="from")
    same = rr.Study(ROWS, "ndcg@3", replicate="seed", dataset="from")
    assert study.replicate_pairs.equals(same.replicate_pairs)
    assert study.datasets.equals(same.datasets)
    parts = {name: own for (name,), own in ROWS.partition_by("model", as_dict=True).items()}
    of_parts = rr.Study(parts, "ndcg@3", replicate="seed", dataset="from")
    assert of_parts.replicate_pairs.equals(same.replicate_pairs)


def test_compare_takes_columns_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    ROWS.write_csv(path)
    asked = [
        "compare",
        str(path),
        "--metrics",
        "ndcg@3",
        "--replicates",
        "seed",
        "--dataset",
        "from",
    ]
    result = CliRunner().invoke(cli, asked)
    assert result.exit_code == 0, result.output
    assert "seed_reversal" in result.output
    assert "2 data sets" in result.output, result.output
    result = CliRunner().invoke(cli, [*asked[:5], "sed"])
    assert result.exit_code == 2
    assert "no column of the rankings" in " ".join(result.output.split()), result.output


def test_the_lead_is_over_another_model_not_over_another_seed_of_the_same() -> None:
    study = rr.Study(ROWS, "ndcg@3", replicate="seed")
    assert study.summary.filter(policy="expected").sort("value")["model"][-2].startswith("bge")
    assert set(study.reversals["model_b"].drop_nulls()) == {"e5 seed=1", "e5"}
    assert "ahead of e5 seed=1" in study.sentences[0]
    alone = rr.Study(ROWS.filter(model="bge"), "ndcg@3", replicate="seed")
    assert "ahead of bge seed=" in alone.sentences[0]
