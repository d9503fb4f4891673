"""The verdict on two models, in sentences."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from made_reports import ACCIDENT, lettered
from retrieval_report import compare, evaluate, flips, summarise
from retrieval_report.stats import no_worse
from retrieval_report.study.verdict import margin_sentences, verdict

ASKED: Any = {"metrics": "rr", "cutoffs": 2, "truncated": "no"}
PLACE: Any = {"metric": "rr", "cutoff": 2}


def found(
    rankings: pl.DataFrame, *, policies: Any = ("expected", "naive", "best", "worst")
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The summary, and the pair."""
    scores = evaluate(rankings, policies=policies, **ASKED)
    summary = summarise(scores)
    return summary, flips(summary, comparison=compare(scores, rankings=rankings))


def test_two_numbers_are_written_with_the_digits_that_tell_them_apart():
    summary, pairs = found(ACCIDENT)
    close = pl.when(policy="naive").then(0.50007).otherwise(0.5)
    _, sentences = verdict(summary.with_columns(value=close), pairs, **PLACE)
    naive = next(sentence for sentence in sentences if sentence.startswith("Naive scores"))
    assert naive.endswith("are off by up to 0.00007 (coarse: 0.50007 instead of 0.50000).")


def test_an_accident_that_chance_hardly_ever_repeats_is_a_sentence_and_not_the_verdict():
    """The coarse model's relevant items stand first in all of 400 ties: a random order hardly ever
    does as well.
    """
    queries = [ACCIDENT.with_columns(query=pl.lit(f"q{number:03}")) for number in range(400)]
    summary, rows = found(pl.concat(queries))
    assert rows["p_tie_high"].item() < 1e-4
    status, sentences = verdict(summary, rows, **PLACE)
    assert status == "safe"
    assert sentences[1].startswith("The lead is safe from random tie order, and is significant")
    assert sentences[-1].endswith("coarse would win, purely because of how ties are ordered.")


@pytest.mark.parametrize(
    ("p_tie", "low", "high", "method", "told"),
    [
        (
            0.31,
            0.26,
            0.37,
            "normal",
            "probability from 0.26 to 0.37.",
        ),
        (
            0.3123,
            0.3101,
            0.3144,
            "convolved",
            "probability 0.312 ± 0.003.",
        ),
        (0.0, 0.0, 0.0092, "normal", "probability below 0.010."),
        (0.25, 0.25, 0.25, "exact", "probability 0.2500 (exact)."),
    ],
)
def test_a_chance_is_told_as_surely_as_it_is_known(
    p_tie: float | None, low: float, high: float, method: str, told: str
):
    chance = {"p_tie": p_tie, "p_tie_low": low, "p_tie_high": high, "p_tie_method": method}
    summary, rows = found(ACCIDENT)
    rows = rows.with_columns(pl.lit(value).alias(name) for name, value in chance.items())
    _, sentences = verdict(summary, rows, **PLACE)
    assert sentences[1].endswith(told), sentences


def test_what_was_not_tested_is_not_called_safe():
    many = lettered({"coarse": ["A b c d"] * 12, "fine": ["b A c d"] * 12})
    summary, pairs = found(many)
    for tests, wanted in ((pairs, "safe"), (flips(summary), "safe from tie order")):
        status, sentences = verdict(summary, tests, **PLACE)
        assert status == wanted
        assert ("not tested" in sentences[1]) == (status != "safe")


@pytest.mark.parametrize(
    ("chance", "said"),
    [
        (0.0132, "The lead is rarely reversed by tie order (probability 0.0132), and is "),
        (0.0004, "The lead does not depend on tie order, and is "),
    ],
)
def test_a_chance_of_reversal_that_tables_show_is_named_though_the_lead_is_safe(
    chance: float, said: str
):
    summary, pairs = found(ACCIDENT)
    chances = dict.fromkeys(("p_tie", "p_tie_low", "p_tie_high"), pl.lit(chance))
    settled = {"verdict": pl.lit("safe"), "disagree": pl.lit(""), "p_tie_method": pl.lit("normal")}
    pairs = pairs.with_columns(**chances, **settled, family_p=0.01)
    _, sentences = verdict(summary, pairs, **PLACE)
    assert sentences[1].startswith(said)


def test_all_models_that_only_rare_losses_leave_open_are_named():
    """By Student's t "a" and "b" are no worse (t = 2), though with a power below 0.8; "c" gains and
    loses too much for that.
    """
    spread = np.linspace(-1, 1, 60) * 3**0.5  # of deviation 1
    losses = {"base": 0 * spread, "a": 0.054 * spread - 0.006, "b": 0.077 * spread}
    rows = pl.concat(
        pl.DataFrame(
            {
                "model": name,
                "query": [f"q{query}" for query in range(60)],
                **PLACE,
                "policy": "expected",
                "value": 0.5 + loss,
                "std": 0.0,
                "items": 10,
                "n_relevant": 1,
            }
        )
        for name, loss in {**losses, "c": 0.25 * spread}.items()
    )
    [said] = margin_sentences(no_worse(rows, baseline="base", margin=0.02, largest_loss=1), "rr@2")
    assert said.endswith("against base: they could have missed rare large losses of a and b.")
    surer = no_worse(rows, baseline="base", margin=0.02, largest_loss=0.25)
    verdicts = dict(surer.select("model", "verdict").iter_rows())
    assert verdicts == {"a": "no worse", "b": "no worse", "c": "not decided"}
