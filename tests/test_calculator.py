"""The calculator of the site, in a browser, beside the package and the golden cases."""

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import retrieval_report as rr

pytestmark = pytest.mark.browser
DOCS = Path(rr.__file__).parents[1] / "docs"
KINDS = {"printed": "naive", "exact": "expected", "lowest": "worst", "highest": "best"}
SCORE = """([run, judgements, k]) =>
    rankedResults.scoreRun(rankedResults.read(run, "run"), rankedResults.read(judgements, "judgements"), k)"""


@pytest.fixture(scope="module")
def calculator(browser: Any):
    """The part of the page, without the site around it, as a file."""
    page = browser.new_page()
    page.goto((DOCS / "calculator.html").as_uri())
    yield page
    page.close()


def field(page: Any, name: str):
    return page.locator(f'[data-field="{name}"]')


def scores(rows: pl.DataFrame, judgements: pl.DataFrame, k: int) -> dict[tuple[str, str], float]:
    """Means over queries by the package, of trec_eval's order for the printed ones."""
    means = rr.summarise(
        rr.evaluate(
            rows.sort("item", descending=True),
            judgements=judgements,
            metrics=[f"{name}@{k}" for name in ("ndcg", "precision", "recall")],
            policies=tuple(KINDS.values()),
            truncated="no",
        )
    )
    found = means.select("metric", "policy", "value").rows()
    return {(metric, policy): value for metric, policy, value in found}


def test_the_sample_is_scored_as_the_package_scores_it(calculator: Any):
    texts = {name: field(calculator, name).input_value() for name in ("a", "b", "judgements")}
    frames = {
        name: pl.DataFrame(
            [line.split() for line in text.splitlines()],
            schema=["query", "item", "score"],
            orient="row",
        ).with_columns(pl.col("score").cast(pl.Int64))
        for name, text in texts.items()
    }
    judgements = frames["judgements"].rename({"score": "relevance"})
    for number, name in enumerate("ab"):
        wanted = scores(frames[name], judgements, 3)
        shown = calculator.locator("td[data-value]").evaluate_all(
            "cells => cells.map(cell => cell.dataset.value.split(' '))"
        )
        for metric, run, kind, value in shown:
            if int(run) == number:
                assert float(value) == pytest.approx(wanted[metric, KINDS[kind]], abs=1e-9)
    assert field(calculator, "verdict").inner_text() == (
        "nDCG@3: printed, grader A leads, 0.9834 to 0.8953; averaged over all orders of ties, "
        "grader B leads, 0.9187 to 0.8162. Tie order alone can make either of them win."
    )


def test_drawn_runs_are_scored_as_the_package_scores_them(calculator: Any):
    for seed in range(20):
        draw = random.Random(seed)
        judged = [
            (f"q{query}", f"d{item:02}", draw.choice((0, 0, 1, 2, 3)))
            for query in range(5)
            for item in draw.sample(range(30), 12)
        ]
        rows = [
            (f"q{query}", f"d{item:02}", draw.randrange(6))
            for query in range(4)
            for item in draw.sample(range(30), 15)
        ]
        k = draw.choice((1, 3, 10, 40))
        run = "".join(f"{query} Q0 {item} 1 {score} tag\n" for query, item, score in rows)
        qrels = "".join(f"{query} 0 {item} {grade}\n" for query, item, grade in judged)
        found = calculator.evaluate(SCORE, [run, qrels, k])
        wanted = scores(
            pl.DataFrame(rows, schema=["query", "item", "score"], orient="row"),
            pl.DataFrame(judged, schema=["query", "item", "relevance"], orient="row"),
            k,
        )
        assert found["missing"] == 1
        for (metric, policy), value in wanted.items():
            kind = next(name for name, meant in KINDS.items() if meant == policy)
            assert found["measures"][metric][kind] == pytest.approx(value, abs=1e-9)


def test_what_cannot_be_read_is_named(calculator: Any):
    box = field(calculator, "a")
    before = box.input_value()
    for text, said in (
        ("q1 d1 x", "grader A, line 1: “x” is not a number"),
        ("q1 d1 1\nq1 d1 2", "grader A, line 2: item d1 is there twice for query q1"),
        ("q1 d1 1\nq1 d1", "grader A, line 2: 2 columns, where the lines before have 3"),
        ("a b c d e", "grader A, line 1: 5 columns"),
        ("", "grader A: the run is empty"),
        ('{"q1": ', "JSON:"),
    ):
        box.fill(text)
        calculator.wait_for_function(
            "said => document.querySelector('[data-field=verdict]').innerText.includes(said)",
            arg=said,
        )
    box.fill(before)


def test_a_file_is_taken_and_named(calculator: Any, tmp_path: Path):
    file = tmp_path / "bm25.run"
    file.write_text("".join(f"q1 Q0 d{n} 1 {n % 3} tag\n" for n in range(9_000)), encoding="utf-8")
    field(calculator, "file-b").set_input_files(str(file))
    calculator.wait_for_function(
        "() => document.querySelector('[data-field=\"name-b\"]').value === 'bm25'"
    )
    assert "9001 lines of bm25.run" in field(calculator, "b").input_value()
    calculator.wait_for_function(
        "() => document.querySelector('[data-field=table]').innerText.includes('bm25')"
    )
    assert field(calculator, "verdict").inner_text() == (
        "nDCG@3: grader A leads, 0.8162 to 0.0000, averaged over all orders of ties; as printed, "
        "0.9834 and 0.0000. No order of ties makes the other one win."
    )


def test_the_page_loads_nothing(calculator: Any):
    part = (DOCS / "calculator.html").read_text(encoding="utf-8")
    for word in (
        "http:",
        "https:",
        "src=",
        "href=",
        "fetch(",
        "XMLHttpRequest",
        "import(",
        "innerHTML",
        "eval(",
    ):
        assert word not in part
