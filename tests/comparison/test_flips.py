import numpy as np
import polars as pl

from made_scores import bounded_scores
from retrieval_report.comparison.flips import flips
from retrieval_report.comparison.pairs import compare
from retrieval_report.contracts.frames import SUMMARY
from retrieval_report.engines.summary import summarise

Row = dict[str, float | None]


def summary_of(
    models: dict[str, Row], *, metric: str = "ap", cutoff: int | None = 10
) -> pl.DataFrame:
    """A summary from the values of each policy, ``std`` and, with best and worst, the bounds."""
    rows = []
    for model, values in models.items():
        for policy, value in values.items():
            if policy == "std":
                continue
            row: dict[str, object] = dict.fromkeys(SUMMARY)
            row |= {
                "model": model,
                "metric": metric,
                "cutoff": cutoff,
                "policy": policy,
                "value": value,
            }
            row |= {"lowest": values.get("worst"), "highest": values.get("best")}
            rows.append(
                row | {"tie_std": values.get("std") if policy == "expected" else None, "queries": 5}
            )
    return pl.DataFrame(rows, schema=SUMMARY)


def verdict(models: dict[str, Row], **arguments: float) -> str:
    found = flips(summary_of(models), **arguments)["verdict"].item()
    assert isinstance(found, str)
    return found


def test_thresholds_are_held_with_a_tolerance():
    comparison = compare(scores())
    for name, value, wanted in (("p_tie_high", 1 / 20 + 1e-17, "safe"), ("p_tie_high", 0.0501, "depends on tie order"),
                                ("family_p", 0.05 - 1e-17, "not significant"),
                                ("family_p", 0.0499, "safe")):  # fmt: skip
        sure = comparison.with_columns(p_tie_high=0.0, family_p=0.001).with_columns(
            pl.lit(value).alias(name)
        )
        assert flips(summarise(scores()), comparison=sure)["verdict"].unique().to_list() == [wanted]


def scores() -> pl.DataFrame:
    draw = np.random.default_rng(3)
    near, far = draw.random(40), draw.random(40) / 4
    values = {"close": near, "closer": near + 0.001 * draw.normal(size=40), "far": far}
    return bounded_scores(
        {name: (value, value, value - 0.001, value + 0.001) for name, value in values.items()}
    )


def test_a_comparison_tells_what_the_sample_leaves_undecided():
    given = scores().with_columns(pl.col("std") / 1e4)
    summary = summarise(given)
    found = flips(summary, comparison=compare(given, resamples=999))
    assert found["verdict"].to_list() == ["not significant", "safe", "safe"]
    assert flips(summary)["verdict"].to_list() == ["safe from tie order"] * 3
    assert found["p_tie_method"].to_list() == ["normal", "exact", "exact"]
    assert (
        found["family_p"].to_list()
        == compare(given, resamples=999, policies="expected")["family_p"].to_list()
    )
