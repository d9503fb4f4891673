"""What a scale of few grades costs, and what a finer or a coarser one would do."""

from itertools import permutations, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from commands import run
from retrieval_report.ties.grading_scale import scale_sentence


def graded(seed: int, models: int = 2, queries: int = 6, items: int = 5) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    relevance = generator.integers(0, 2, (queries, items))
    return pl.DataFrame(
        [
            {
                "model": f"m{model}",
                "query": f"q{query}",
                "item": f"i{item}",
                "score": int(generator.integers(0, 4)),
                "relevance": int(relevance[query, item]),
            }
            for model, query, item in product(range(models), range(queries), range(items))
        ]
    )


def reciprocal_ranks(rows: pl.DataFrame) -> list[list[float]]:
    """For every query the reciprocal rank under every order that the scores allow."""
    found = []
    for query in rows.partition_by("query", maintain_order=True):
        pairs = list(zip(query["score"].to_list(), query["relevance"].to_list(), strict=True))
        values = []
        for order in permutations(pairs):
            scores = [score for score, _ in order]
            if scores == sorted(scores, reverse=True):
                ranks = [rank for rank, (_, relevant) in enumerate(order, 1) if relevant]
                values.append(1 / ranks[0] if ranks else 0.0)
        found.append(values)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_gains_are_those_of_all_orders(seed: int):
    frame = graded(seed)
    found = rr.lists.grading_scale(frame, measures="rr@5", truncated="no")
    for row in found.iter_rows(named=True):
        rows = frame.filter(model=row["model"])
        grades = sorted(rows["score"].unique().to_list())
        every = reciprocal_ranks(rows)
        value = float(np.mean([np.mean(values) for values in every]))
        highest = float(np.mean([max(values) for values in every]))
        merged = rows.with_columns(pl.col("score").map_elements(grades.index, pl.Int64) // 2)
        coarser = float(np.mean([np.mean(values) for values in reciprocal_ranks(merged)]))
        assert row["grades"] == len(grades)
        assert row["coarser_grades"] == (len(grades) + 1) // 2
        numbers = [
            row[name] for name in ("value", "highest", "could_gain", "coarser", "scale_gain")
        ]
        wanted = [value, highest, highest - value, coarser, value - coarser]
        assert numbers == pytest.approx(wanted, abs=1e-12)
    assert found["queries"].to_list() == [6, 6]


def test_distances_merge_from_the_nearest_on_and_give_the_same():
    frame = graded(1).with_columns(distance=3 - pl.col("score"))
    four = frame.filter(pl.n_unique("score").over("model") == 4)
    by_score = rr.lists.grading_scale(four.drop("distance"), measures="ap@5", truncated="no")
    by_distance = rr.lists.grading_scale(four.drop("score"), measures="ap@5", truncated="no")
    assert by_score.equals(by_distance)


def test_a_study_of_labels_answers_it(tmp_path: Path):
    human = {f"q{query}": {f"d{item}": int(item < 3) for item in range(8)} for query in range(9)}
    generator = np.random.default_rng(0)
    labels = {
        name: {
            query: {
                item: int(generator.integers(0, 2) + 2 * grade) for item, grade in items.items()
            }
            for query, items in human.items()
        }
        for name in ("gpt", "llama")
    }
    study = rr.Study(rr.from_labels(labels), "ndcg@5, rr", judgements=human, truncated="no")
    scale = study.grading_scale
    assert scale.height == 4
    exact = study.table()
    for row in scale.filter(metric="ndcg").iter_rows(named=True):
        assert row["value"] == exact.filter(model=row["model"])["ndcg@5"].item()
    said = scale_sentence(scale, "ndcg", 5)
    assert said.startswith(f"{exact['model'][0]}, the best by ndcg@5, has 4 grades: a finer scale")

    def write(name: str, held: dict[str, dict[str, int]]):
        rows = [f"{q} 0 {d} {grade}" for q, items in held.items() for d, grade in items.items()]
        (tmp_path / f"{name}.txt").write_text("\n".join([*rows, ""]))
        return str(tmp_path / f"{name}.txt")

    files = [write(name, held) for name, held in labels.items()]
    words = f"--labels-as-rankings --judgements {write('human', human)} --measures ndcg@5,rr"
    printed = run(f"leaderboard {words}", *files)
    assert said in printed.stdout
    assert printed.stdout.count("could_gain") == 1  # by the headline measure alone
    assert printed.stdout.endswith("by every measure, are in the files of --out.\n")
