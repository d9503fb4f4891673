"""Steps between versions are the pairs of `compare`, corrected for the number of steps."""

import polars as pl
import pytest

import retrieval_report as rr
from retrieval_report.contracts.registry import column
from retrieval_report.stats import history

NAMES = ["run-v2", "run-v10", "run-v9", "other-v1"]


def made(names: list[str] = NAMES, queries: int = 8) -> pl.DataFrame:
    """Scores of models whose lists tie more the later their name comes."""
    rows = [
        {"model": name, "query": query, "item": item, "distance": (item * (query + at)) % (at + 2)}
        for at, name in enumerate(names)
        for query in range(queries)
        for item in range(6)
    ]
    frame = pl.DataFrame(rows).with_columns(relevance=(pl.col("item") < 2).cast(pl.Int64))
    policies = ("expected", "best", "worst")
    return rr.evaluate(frame, metrics="ndcg@3, ap", policies=policies, truncated="no")


def test_versions_are_sorted_by_their_numbers_and_steps_are_those_of_compare():
    scores = made()
    steps = history(scores, r"(?P<model>\w+)-v(?P<version>\d+)")
    order = [("other", "1"), ("run", "2"), ("run", "9"), ("run", "10")]
    for (metric, cutoff), part in steps.group_by("metric", "cutoff", maintain_order=True):
        assert part.select("series", "version").rows() == order
        p = []
        for before, after, row in (("run-v2", "run-v9", 2), ("run-v9", "run-v10", 3)):
            pair = rr.compare(scores.filter(pl.col("model").is_in([before, after])))
            truth = pair.filter(
                pl.col("cutoff").eq_missing(cutoff), metric=metric, policy="expected"
            )
            sign = 1 if truth["model_a"].item() == after else -1
            assert part["difference"][row] == pytest.approx(sign * truth["difference"].item())
            assert part["p_tie"][row] == truth["p_tie"].item()
            p.append(truth["permutation_p"].item())
        holm = [min(1.0, 2 * min(p)), min(1.0, max(2 * min(p), max(p)))]
        shown = sorted(part["step_p"].drop_nulls())
        assert shown == pytest.approx(sorted(holm))
        assert part["difference"].null_count() == 2  # the first version of either model


def test_a_first_version_that_is_the_best_too_is_tested_once():
    scores = made(["v2", "v1", "v3"]).filter(metric="ap")
    last = history(scores, "v(?P<version>.)").row(2, named=True)
    pair = rr.compare(scores.filter(pl.col("model") != "v2"), policies="expected")
    assert last["best"] == "v1"
    assert last["first_p"] == last["best_p"] == pair["permutation_p"].item()


@pytest.mark.parametrize("name", ["since_first", "first_p"])
def test_what_waits_for_a_third_version_says_so(name: str):
    steps = history(made(["v1", "v2", "v3"]), "v(?P<version>.)").filter(metric="ap")
    assert steps[name].is_null().to_list() == [True, True, False]
    assert "; empty " in column("history", name).meaning
