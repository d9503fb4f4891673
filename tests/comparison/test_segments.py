"""Segments of the queries: the same tables, other winners, and the correction for many segments."""

from datetime import date

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from made_scores import scores_of
from retrieval_report.comparison.segments import segments_of
from retrieval_report.comparison.significance import holm

LANGUAGES = ["de", "en", "fr"]


def made(seed: int = 0, queries: int = 60, models: int = 3) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Scores in which model m1 leads in German only."""
    generator = np.random.default_rng(seed)
    values = generator.random((models, queries)) * 0.1
    values[0] += 0.1
    values[1, ::3] += 0.3
    scores = scores_of({f"m{row}": values[row] for row in range(models)})
    names = [f"q{number:05}" for number in range(queries)]
    given = pl.DataFrame(
        {"query": names, "language": [LANGUAGES[number % 3] for number in range(queries)]}
    )
    return scores, given


def test_tables_of_a_segment_are_those_of_its_queries():
    scores, queries = made()
    german = scores.join(
        queries.filter(language="de"), on="query", how="semi", maintain_order="left"
    )
    table = rr.stats.summarise_by(scores, queries, "language").filter(segment="de")
    assert table.drop("segment").equals(rr.summarise(german))
    alone = rr.compare(german, correction="holm")
    part = rr.stats.compare_by(scores, queries, "language").filter(segment="de").drop("segment")
    corrected = ["family_p", "bh_p", "family"]
    assert part.drop(corrected).equals(alone.drop(corrected))


def test_pairs_are_corrected_over_all_segments():
    scores, queries = made()
    both = pl.concat([scores, scores.with_columns(cutoff=pl.lit(5, pl.Int64))])
    pairs = rr.stats.compare_by(both, queries, "language")
    for (_,), part in pairs.group_by("cutoff"):
        assert part.height == 9
        assert set(part["family"]) == {9}
        np.testing.assert_allclose(
            part["family_p"].to_numpy(), holm(part["permutation_p"].to_numpy())
        )
    by_t = rr.stats.compare_by(scores, queries, "language", adjust="t")
    np.testing.assert_allclose(by_t["family_p"].to_numpy(), holm(by_t["t_p"].to_numpy()))


def test_a_segment_with_another_winner_is_found():
    scores, queries = made()
    found = rr.stats.segment_winners(scores, queries, "language")
    winners = dict(found.select("segment", "winner").iter_rows())
    assert winners == {"de": "m1", "en": "m0", "fr": "m0"}
    np.testing.assert_allclose(found["segments_p"], holm(found["family_p"].to_numpy()))
    overall = found["overall_winner"][0]
    for segment, verdict in found.select("segment", "verdict").iter_rows():
        assert verdict == ("same winner" if winners[segment] == overall else "other winner")
    row = found.filter(segment="en").row(0, named=True)
    english = scores.join(queries.filter(language="en"), on="query", how="semi")
    means = dict(rr.summarise(english).select("model", "value").iter_rows())
    assert row["value"] == pytest.approx(means["m0"])
    assert row["overall_value"] == pytest.approx(means[row["overall_winner"]])


def test_segments_of_any_kind_of_column_keep_its_order():
    scores = scores_of({"a": [0.1, 0.2, 0.3, 0.4]})
    names = ["q00000", "q00001", "q00002", "q00003"]
    for column, expected in (
        ([10, 9, 10, None], ["9", "10", "(no value)"]),
        ([True, False, True, True], ["false", "true"]),
        (
            [date(2024, 12, 1), date(2023, 1, 1), None, None],
            ["2023-01-01", "2024-12-01", "(no value)"],
        ),
        (["b", "a", "b", "a"], ["a", "b"]),
        (["10", "9", "10", "other"], ["9", "10", "other"]),
    ):
        queries = pl.DataFrame({"query": names, "kind": column}, strict=False)
        parts = segments_of(scores, queries, "kind")
        assert [name for name, _ in parts] == expected
        assert sum(part.height for _, part in parts) == 4
    categories = pl.DataFrame(
        {"query": names, "kind": pl.Series(["z", "a", "z", "a"], dtype=pl.Enum(["z", "a"]))}
    )
    assert [name for name, _ in segments_of(scores, categories, "kind")] == ["z", "a"]


def test_the_winner_of_all_is_that_of_the_average_asked_for():
    """a is better for two queries, and b for the one that has most of the weight."""
    near, far = {"x": 1.0, "y": 2.0, "z": 3.0}, {"z": 1.0, "y": 2.0, "x": 3.0}
    runs = {"a": {"p": near, "q": near, "r": far}, "b": {"p": far, "q": far, "r": near}}
    queries = pl.DataFrame({"query": list("pqr"), "kind": list("stt")})
    judged = {query: {"x": 1} for query in "pqr"}
    rows = [{"model": m, "query": q, "item": i, "distance": d}
            for m, lists in runs.items() for q, row in lists.items() for i, d in row.items()]  # fmt: skip
    weights = pl.DataFrame({"query": list("pqr"), "weight": [1, 1, 9], "kind": list("stt")})
    for average, told, winner in (("micro", queries, "a"), ("weighted", weights, "b")):
        study = rr.Study(pl.DataFrame(rows), "rr", judgements=judged, queries=told, truncated="no")
        study = study.using(by="kind", average=average)
        assert study.winners["winner"].to_list() == [winner]
        assert study.segments["overall_winner"].unique().to_list() == [winner]
