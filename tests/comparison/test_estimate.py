"""Few human judgements and many from a machine: estimates, errors, intervals and how
often they hold.
"""

from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from polars.testing import assert_frame_equal
from scipy import stats

import retrieval_report as rr
from made_scores import scores_of
from retrieval_report.comparison.estimate import powered
from retrieval_report.contracts.warning import noticed

Floats = NDArray[np.float64]


def made(seed: int, queries: int = 60, judged: int = 15, models: int = 3) -> tuple[Floats, Floats]:
    """Machine and human scores (models, queries); the human ones are NaN where nobody judged."""
    generator = np.random.default_rng(seed)
    human = generator.beta(2, 3, (models, queries))
    machine = np.clip(0.2 + 0.7 * human + generator.normal(0, 0.1, human.shape), 0, 1)
    human[:, generator.permutation(queries)[judged:]] = np.nan
    return machine, human


def frames(machine: Floats, human: Floats) -> tuple[pl.DataFrame, pl.DataFrame]:
    known = [[None if np.isnan(one) else one for one in row] for row in human.tolist()]
    first, second = (
        scores_of({f"m{row}": values for row, values in enumerate(part)})
        for part in (machine.tolist(), known)
    )
    return first, second.drop_nulls("value")


def by_hand(machine: Floats, human: Floats, confidence: float = 0.95) -> dict[str, float]:
    """One row of numbers from the definitions, without arrays of rows."""
    judged = ~np.isnan(human)
    y, f, more = human[judged], machine[judged], machine[~judged]
    n, rest = y.size, more.size
    slope = np.cov(y, f, ddof=0)[0, 1] / np.var(machine, ddof=1) / (1 + n / rest)
    trust = min(max(slope, 0.0), 1.0)
    rest_of = y - trust * f
    scale = ((rest_of - rest_of.mean()) ** 2).sum() / (n - 2)
    variance = scale / n + trust**2 * np.var(machine, ddof=1) / rest
    of_slope = ((f - f.mean()) ** 2).sum() / (n * (1 + n / rest) * np.var(machine, ddof=1)) ** 2
    variance += scale * (more.mean() - f.mean()) ** 2 * of_slope
    value = trust * more.mean() + (y - trust * f).mean()
    reach = stats.t.ppf(0.5 + confidence / 2, n - 2) * np.sqrt(variance)
    return {
        "value": value,
        "std_error": np.sqrt(variance),
        "ci_low": value - reach,
        "ci_high": value + reach,
        "human_only": y.mean(),
        "machine_only": machine.mean(),
        "lambda": trust,
        "gain": min(np.var(y, ddof=1) / n / variance, (n + rest) / n),
        "queries": n + rest,
        "judged": n,
    }


@pytest.mark.parametrize("seed", range(5))
def test_models_and_pairs_are_those_of_the_formula(seed: int):
    machine, human = made(seed)
    found = rr.stats.estimate(*frames(machine, human), confidence=0.9)
    pairs = [(0, 1), (0, 2), (1, 2)]
    assert found.select("model_a", "model_b").rows() == [
        *((f"m{row}", None) for row in range(3)),
        *((f"m{a}", f"m{b}") for a, b in pairs),
    ]
    rows = [(machine[row], human[row]) for row in range(3)]
    rows += [(machine[a] - machine[b], human[a] - human[b]) for a, b in pairs]
    for row, given in zip(found.to_dicts(), rows, strict=True):
        truth = by_hand(*given, confidence=0.9)
        assert {name: row[name] for name in truth} == pytest.approx(truth, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("judged", [10, 200])
def test_estimate_and_error_are_those_of_ppi_py(seed: int, judged: int):
    ppi = pytest.importorskip("ppi_py", reason="ppi_py, of the extra `peers`, is not installed")
    machine, human = made(seed, queries=5_000, judged=judged, models=1)
    known = ~np.isnan(human[0])
    parts = human[0][known], machine[0][known], machine[0][~known]
    row = rr.stats.estimate(*frames(machine, human)).row(0, named=True)
    # ppi_py tunes λ around another point in each function, which does not change it
    assert row["value"] == pytest.approx(ppi.ppi_mean_pointestimate(*parts).item(), rel=1e-12)
    low, high = ppi.ppi_mean_ci(*parts, alpha=0.05, lam=row["lambda"])
    error = (high - low).item() / 2 / stats.norm.ppf(0.975)
    # what few queries add: two degrees of freedom, and the slope's own error
    f, y = parts[1], parts[0] - row["lambda"] * parts[1]
    added = y.var() * (1 / (judged - 2) - 1 / judged)
    gap = parts[2].mean() - f.mean()
    of_slope = f.var() / judged / ((1 + judged / parts[2].size) * machine.var(ddof=1)) ** 2
    added += y.var() * judged / (judged - 2) * gap**2 * of_slope
    assert row["std_error"] ** 2 == pytest.approx(error**2 + added, rel=2e-3)
    assert judged < 100 or row["std_error"] == pytest.approx(error, rel=0.02)


@pytest.mark.parametrize("judged", range(1, 6))
def test_too_few_human_queries_have_no_interval_or_no_gain(judged: int):
    """With one or two degrees of freedom, gains of 44 and 118 were printed."""
    found = rr.stats.estimate(*frames(*made(0, judged=judged)))
    assert found["judged"].unique().to_list() == [judged]
    assert found["value"].null_count() == 0
    for name, fewest in (("ci_low", 3), ("gain", 5)):
        assert found[name].is_not_null().unique().to_list() == [judged >= fewest]


def test_a_useless_machine_is_not_trusted():
    machine, human = made(8)
    constant = rr.stats.estimate(*frames(np.full_like(machine, 0.5), human))
    against = rr.stats.estimate(*frames(1 - machine, human))
    for found in (constant, against):
        assert set(found["lambda"]) == {0.0}
        assert found["value"].to_list() == pytest.approx(found["human_only"].to_list())
    assert constant["gain"].to_list() == pytest.approx([1.0] * 6)


def test_gaps_are_left_out_model_by_model():
    machine, human = made(10)
    first, second = frames(machine, human)
    mine = pl.col("model") == "m0"
    cut = first.filter(~(mine & pl.col("query").is_in(["q00000", "q00001", "q00002"])))
    found, whole = rr.stats.estimate(cut, second), rr.stats.estimate(first, second)
    assert found["queries"].to_list() == [57, 60, 60, 57, 57, 60]
    others = ~pl.any_horizontal(pl.col("model_a", "model_b") == "m0").fill_null(value=False)
    assert_frame_equal(found.filter(others), whole.filter(others))
    row = found.row(0, named=True)
    assert row["value"] == pytest.approx(by_hand(machine[0, 3:], human[0, 3:])["value"])


def covered(found: dict[str, Floats], truth: float) -> list[float]:
    """How often the intervals by people and machine, and by people alone, hold the truth."""
    ends = ("ci_low", "ci_high"), ("human_low", "human_high")
    return [((found[low] <= truth) & (truth <= found[high])).mean() for low, high in ends]


@pytest.mark.parametrize(("lost", "won"), [(0.02, 0.0), (0.05, 0.03), (0.12, 0.1), (0.0, 0.1)])
def test_intervals_of_differences_of_hits_hold_from_25_queries_on(lost: float, won: float):
    for judged in (25, 50, 100):
        draw = np.random.default_rng(judged)
        luck = draw.random((1_000, 400))
        truth = (luck < won) * 1.0 - (luck > 1 - lost)
        guess = np.where(draw.random(truth.shape) < 0.8, truth, 0.0)
        human = np.where(np.arange(400) < judged, truth, np.nan)
        found = powered(guess, human, 0.95, of_pairs=True)
        assert min(covered(found, won - lost)) >= 0.93 - 2 * np.sqrt(0.07 * 0.93 / 1_000)
        assert (found["ci_high"] - found["ci_low"]).min() > 0


def chosen(machine: Floats, human: Floats, queries: Any) -> list[str]:
    """Warnings where people judged these queries."""
    first, second = frames(machine, human)
    names = [f"q{query:05}" for query in queries]
    with noticed() as notes:
        rr.stats.estimate(first, second.filter(pl.col("query").is_in(names)))
    return notes


@pytest.mark.parametrize("models", [1, 4])
@pytest.mark.parametrize("worst", [True, False])
def test_queries_that_the_machine_scores_otherwise_are_warned_of(models: int, worst: bool):
    machine, human = made(3, queries=300, judged=300, models=models)
    order = machine[models - 1].argsort()
    notes = chosen(machine, human, order[:25] if worst else order[-25:])
    assert len(notes) == 1
    last = models - 1
    means = [f"{machine[last][part].mean():.4f}" for part in (order[:25], order[25:])]
    if worst:
        assert notes[0].startswith(
            "estimate: the 25 queries that people judged can hardly be a random draw: by the "
            f"machine, model 'm{last}' has a mean ap@10 of {means[0]} on them and of {means[1]} "
            "on the 275 others (t-test, p = "
        )
        assert notes[0].endswith("estimates and intervals hold only for a random draw")


def test_no_draw_is_tested_where_people_judged_all_or_one_query():
    machine, human = made(5, judged=60)
    assert chosen(machine, human, range(60)) == []
    assert chosen(machine, human, [int(machine[0].argmax())]) == []
