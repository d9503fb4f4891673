"""Replicates and data sets in a study: how they are named, what they answer, and where it is shown."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

import retrieval_report as rr
from commands import run

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


def test_a_column_a_pattern_and_a_mapping_are_the_same_replicates():
    study = rr.Study(ROWS, "ndcg@3, rr", replicate="seed")
    assert study.model_names == ["bge", "e5", "gte"]
    names = {name: name.split()[0] for name in study.runs.model_names}
    for other in (PATTERN, names):
        same = rr.Study(NAMED, "ndcg@3, rr", replicate=other)
        assert same.replicates.equals(study.replicates)
        assert same.replicate_pairs.equals(study.replicate_pairs)
    assert study.replicates.equals(rr.stats.replicate_table(study.runs.scores, names))
    assert study.models("bge", "e5").replicates["replicates"].to_list() == [3, 3] * 2
    assert study.runs.models("bge seed=0", "e5 seed=1").replicates.width == 0


def test_data_sets_are_a_column_of_queries_or_rankings():
    study = rr.Study(NAMED, "ndcg@3", queries=SETS, dataset="from")
    assert study.datasets["datasets"].to_list() == [2] * 9
    same = rr.Study(ROWS, "ndcg@3", replicate="seed", dataset="from")
    assert same.datasets["datasets"].to_list() == [2] * 3
    assert same.runs.datasets.equals(study.datasets)
    assert study.dataset_scores.equals(rr.stats.dataset_scores(study.scores, SETS, "from"))
    assert (
        rr.Study(NAMED, "ndcg@3", queries=SETS)
        .using(dataset="from")
        .datasets.equals(study.datasets)
    )


def test_seed_and_data_set_are_rows_of_what_could_turn_it_around():
    study = rr.Study(ROWS, "ndcg@3", replicate="seed", dataset="from")
    seed = row(study, "seed")
    best = study.replicates["model"].to_list()[:2]
    assert [seed["model_a"], seed["model_b"]] == best
    pair = study.replicate_pairs.filter(model_a=best[0], model_b=best[1])
    for name in ("reversal", "family_p", "verdict"):
        assert seed[name] == pair[name].item()
    assert study.reversals.select("model_a", "model_b").unique().row(0) == tuple(best)
    sets = row(study, "data set")
    means = study.dataset_scores.pivot("model", index="dataset", values="value")
    ahead = means[str(sets["model_a"])] - means[str(sets["model_b"])]
    against = int((ahead.to_numpy() < 0).sum())
    assert sets["reversal"] == pytest.approx((against + 0.5) / 3)
    assert (sets["varied"], sets["verdict"]) == (
        f"{against} of 2 data sets against",
        "too few to tell",
    )


def test_the_verdict_says_what_seeds_and_data_sets_turn_round():
    study = rr.Study(ROWS, "ndcg@3", replicate="seed", dataset="from")
    said = study.sentences[1]
    assert said.startswith("The runs of the two are too few to tell what other runs would show.")
    p = row(study, "seed")["family_p"]
    assert ("Over runs and queries together their difference is not significant" in said) == (
        float(str(p)) > 0.05
    )
    assert "Every model is the mean over its runs, 3 of each." in study.sentences
    assert "runs" not in " ".join(rr.Study(NAMED, "ndcg@3").sentences)
    single = rr.Study(NAMED, "ndcg@3", queries=SETS, dataset="from")
    assert "Of 2 data sets, 1 orders these two the other way." in single.sentences[1]


def test_runs_of_one_model_are_one_model():
    study = rr.Study(ROWS.filter(model="bge"), "ndcg@3", replicate="seed")
    assert (study.model_names, study.status) == (["bge"], "single model")
    assert study.reversals.height == 0


def test_scores_of_a_model_are_means_over_its_runs():
    study = rr.Study(ROWS, "ndcg@3, rr", replicate="seed", shuffles=20)
    runs = study.runs.scores.with_columns(model=pl.col("model").str.split(" ").list.first())
    keys = ["model", "query", "metric", "cutoff", "policy"]
    means = runs.group_by(keys).agg(
        pl.mean("value"), std=(pl.col("std") ** 2).sum().sqrt() / pl.len(), runs=pl.len()
    )
    assert means["runs"].unique().to_list() == [3]
    joined = study.scores.join(means, on=keys, nulls_equal=True, suffix="_by_hand")
    assert joined.height == study.scores.height == means.height
    for name in ("value", "std"):
        known = joined.drop_nulls(name)
        assert known[name].to_numpy() == pytest.approx(known[f"{name}_by_hand"].to_numpy())
    assert study.shuffled["value"].mean() == pytest.approx(study.runs.shuffled["value"].mean())


def test_the_chance_of_ties_is_that_of_the_mean_over_runs():
    """Random orders of all runs reverse the means as often as the exact chance says."""
    study = rr.Study(ROWS, "precision@2", replicate="seed", shuffles=2_000)
    wide = study.shuffled.pivot("model", index="draw", values="value")
    for pair in study.comparison.filter(policy="expected").iter_rows(named=True):
        lead = (wide[pair["model_a"]] - wide[pair["model_b"]]) * np.sign(pair["difference"])
        assert pair["p_tie_method"] in ("exact", "convolved")
        assert float((lead < -1e-12).mean()) == pytest.approx(pair["p_tie"], abs=0.03)
    exact = study.distribution
    for model, mean in study.summary.filter(policy="expected").select("model", "value").rows():
        part = exact.filter(model=model)
        assert (part["value"] * part["probability"]).sum() == pytest.approx(mean)


def test_a_difference_of_these_runs_alone_is_not_significant():
    """Seeds move whole runs, so that queries alone would call the difference significant."""
    generator = np.random.default_rng(3)
    rows = []
    for model, shares in (("a", (0.9, 0.2, 0.8, 0.7)), ("b", (0.3, 0.6, 0.2, 0.4))):
        for seed, share in enumerate(shares):
            right = generator.permutation(60) < 60 * share
            rows += [
                {"model": model, "seed": seed, "query": f"q{query}", "item": item, "score": score}
                for query in range(60)
                for item, score in (("a", int(right[query])), ("b", 0.5))
            ]
    given: Any = {"judgements": {f"q{n}": {"a": 1} for n in range(60)}}
    study = rr.Study(pl.DataFrame(rows), "rr@1", replicate="seed", truncated="no", **given)
    pair = study.flips.row(0, named=True)
    assert pair["family_p"] < 0.05 < study.replicate_pairs["family_p"].item()
    assert pair["verdict"] == study.status == "not significant over runs"
    assert "for these runs, but not if other runs are considered." in study.sentences[2]
    assert row(study, "seed")["verdict"] == "depends on the seed"
    chance = float(str(row(study, "seed")["reversal"]))
    assert f"would reverse the two with probability {chance:.4f}" in study.sentences[1]
    ranks = study.leaderboard.select("query_rank_low", "query_rank_high").rows()
    assert ranks == [(1, 2), (1, 2)]


def runs_with(shares: dict[str, tuple[float, ...]], queries: int = 400) -> pl.DataFrame:
    """Runs of one relevant item, first for a share of the queries; those of a model are nested."""
    rows = [
        {"model": model, "seed": seed, "query": f"q{query}", "item": item, "score": score}
        for model, of_runs in shares.items()
        for seed, share in enumerate(of_runs)
        for query in range(queries)
        for item, score in (("a", int(query < share * queries)), ("b", 0.5))
    ]
    return pl.DataFrame(rows)


def test_the_margin_of_models_is_not_one_of_their_runs_until_it_is_asked_for():
    judgements = {f"q{n}": {"a": 1} for n in range(400)}
    frame = runs_with({"large": (1.0, 0.99), "small": (0.99, 0.9875)})
    given: Any = {"judgements": judgements, "truncated": "no"}
    margin: Any = {"baseline": "large", "margin": 0.05, "largest_loss": 0.75}
    study = rr.Study(frame, "rr@1", replicate="seed", **margin, **given)
    assert study.no_worse["largest_loss"].to_list() == [0.75]
    runs = study.runs
    assert (runs.decision, runs.margin_rows.width, runs.chip) == ("", 0, runs.status)
    assert "large" not in runs.contents().command  # a command with largest_loss alone is refused
    with pytest.raises(rr.ParameterError, match="it needs a baseline and a margin"):
        runs.no_worse  # noqa: B018
    first = runs.model_names[0]
    asked = runs.using(**(margin | {"baseline": first})).no_worse
    alone = runs.models(*runs.model_names).scores
    truth = rr.stats.no_worse(alone, baseline=first, margin=0.05, largest_loss=0.75)
    assert asked.select("model", "no_worse_p").equals(truth.select("model", "no_worse_p"))
    assert asked["largest_loss"].to_list() == truth["largest_loss"].to_list()
    assert runs.using(baseline=first, margin=0.05).no_worse["largest_loss"].to_list() == [1.0] * 3


@pytest.mark.parametrize(
    ("runs", "verdict", "first_words"),
    [
        ((0.99, 0.9925, 0.99, 0.99), "no worse", "Ship small: no worse than large (margin 0.02"),
        (
            (0.90, 1.00, 1.00, 1.00),
            "not significant over runs",
            "Keep large for now: small may lose too much",
        ),
        (
            (0.965, 1.0, 1.0, 1.0),
            "not significant over runs",
            "Keep large for now: small may lose too much",
        ),
        ((0.60, 0.61, 0.60, 0.62), "worse", "Keep large: small is worse (margin 0.02 in rr@1)."),
        ((0.995,), "no worse", "Ship small: no worse than large (margin 0.02 in rr@1)."),
    ],
)
def test_a_margin_holds_for_other_runs_too(runs: tuple[float, ...], verdict: str, first_words: str):
    """Where single runs move far, these runs do not show that others lose less than the margin."""
    given: Any = {"judgements": {f"q{n}": {"a": 1} for n in range(400)}}
    large = (1.0, 0.99, 0.995, 0.985)
    frame = runs_with({"large": large, "small": runs})
    study = rr.Study(frame, "rr@1", replicate="seed", truncated="no", **given)
    asked = study.using(baseline="large", margin=0.02)
    found = asked.no_worse.row(0, named=True)
    queries_alone = rr.stats.no_worse(study.scores, baseline="large", margin=0.02).row(
        0, named=True
    )
    assert (found["verdict"], asked.decision[: len(first_words)]) == (verdict, first_words)
    assert found["bound_low"] <= queries_alone["bound_low"]
    assert found["no_worse_p"] >= queries_alone["no_worse_p"]
    assert found["worse_p"] >= queries_alone["worse_p"]
    assert (found["bound_low"] > -0.02) == (verdict == "no worse")
    if verdict == "not significant over runs":
        decided = queries_alone["verdict"] in ("worse", "no worse")
        assert decided or found["queries_needed"] is None  # no number of queries would do
        assert "against large in other runs" in " ".join(asked.sentences)
    if len(runs) > 1:
        ends = one_sample_interval(large, runs)
        assert found["bound_low"] <= ends[0] <= ends[1] <= found["bound_high"]


def one_sample_interval(large: tuple[float, ...], small: tuple[float, ...]) -> tuple[float, float]:
    """SciPy's interval of the difference of the runs' means, 90 %: of the seeds alone."""
    known = scipy_stats.ttest_ind(small, large, equal_var=False).confidence_interval(0.9)
    return float(known.low), float(known.high)


def test_models_with_the_same_runs_are_the_same():
    twin = ROWS.filter(model="gte").with_columns(model=pl.lit("twin"), seed=2 - pl.col("seed"))
    study = rr.Study(pl.concat([ROWS, twin]), "ndcg@3", replicate="seed")
    assert study.identical == (("gte", "twin"),)


def test_a_query_that_a_run_skips_has_no_mean():
    rows = ROWS.filter(
        ~((pl.col("model") == "bge") & (pl.col("seed") == 1) & (pl.col("query") == "q3"))
    )
    study = rr.Study(rows, "ndcg@3", replicate="seed", missing_query="skip", truncated="no")
    value = study.scores.filter(model="bge", policy="expected", query="q3")["value"]
    assert value.null_count() == value.len()
    exact = study.summary.filter(model="bge", policy="expected")
    [known] = study.replicates.filter(model="bge").to_dicts()
    assert exact["queries"].item() == known["queries"] == 9
    assert exact["value"].item() == pytest.approx(known["value"])


@pytest.fixture
def files(tmp_path: Path):
    for (name,), part in NAMED.group_by("model"):
        part.drop("model").write_csv(tmp_path / f"{str(name).replace(' seed=', '-seed')}.csv")
    SETS.write_csv(tmp_path / "queries.tsv", separator="\t")
    return tmp_path


def test_commands_show_models_before_runs(files: Path, tmp_path: Path):
    given: list[Any] = [*sorted(files.glob("*.csv")), "--replicates", r"(?P<model>.+)-seed\d+"]
    shown = run("compare --metrics ndcg@3", *given, "--out", tmp_path / "compared").output
    assert shown.index("a new run of each, after 3 and 3") < shown.index("seed_reversal")
    assert shown.index("seed_reversal") < shown.index("p_tie ")
    assert (tmp_path / "compared" / "replicate_pairs.csv").exists()
    given += ["--queries", files / "queries.tsv", "--out", tmp_path / "board"]
    shown = run("leaderboard --metrics ndcg@3 --dataset from", *given).output
    assert shown.index("replicate_low") < shown.index("tie_ranks")


@pytest.mark.parametrize("form", ["csv", "ndjson"])
def test_files_keep_the_columns_that_name_seeds_and_data_sets(tmp_path: Path, form: str):
    path = tmp_path / f"runs.{form}"
    getattr(ROWS, f"write_{form}")(path)
    study = rr.Study(path, "ndcg@3", replicate="seed", dataset="from")
    same = rr.Study(ROWS, "ndcg@3", replicate="seed", dataset="from")
    assert study.replicate_pairs.equals(same.replicate_pairs)
    assert study.datasets.equals(same.datasets)
