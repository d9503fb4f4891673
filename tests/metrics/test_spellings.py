"""Measures as other evaluators spell them mean what they mean there."""

import re
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import polars as pl
import pytest
import pytrec_eval

import retrieval_report as rr
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.metrics.parsing import parse_measure, parse_metric
from retrieval_report.metrics.spellings import ELSEWHERE, TABLE

Pair = tuple[pl.DataFrame, pl.DataFrame]  # rankings and judgements
ROWS = [[cell.strip() for cell in line.split("|")] for line in TABLE.strip().splitlines()]
TOOLS = ("here", "ir_measures", "trec_eval, pytrec_eval", "ranx", "scikit-learn", "torchmetrics")


def names(cell: str) -> list[str]:
    return re.findall(r"[^\s,(]+(?:\(.*?\))?", cell)


@pytest.fixture(scope="module")
def untied():
    """Rankings without ties, and judgements of grades 0 to 3, some of items that were not found."""
    draw, rankings, judgements = np.random.default_rng(3), [], []
    for query in range(12):
        items = [f"d{number}" for number in range(40)]
        scores, grades = draw.permutation(40) / 7, draw.choice(4, 40, p=(0.7, 0.15, 0.1, 0.05))
        rankings += [(f"q{query}", *row) for row in zip(items[:30], scores, strict=False)]
        judgements += [
            (f"q{query}", *row) for row in zip(items, grades, strict=True) if draw.random() < 0.9
        ]
    names = ["query", "item"]
    return (
        pl.DataFrame(rankings, schema=[*names, "score"], orient="row"),
        pl.DataFrame(judgements, schema=[*names, "relevance"], orient="row"),
    )


def mean(untied: Pair, measure: object) -> float:
    rankings, judgements = untied
    scores = rr.evaluate(rankings, judgements=judgements, metrics=measure, policies="expected")  # type: ignore[arg-type]
    return float(scores["value"].to_numpy().mean())


def nested(frame: pl.DataFrame) -> dict[str, dict[str, Any]]:
    result: dict[str, dict[str, Any]] = {}
    for query, item, value in frame.rows():
        result.setdefault(query, {})[item] = value
    return result


OF_IR_MEASURES = [name for row in ROWS for name in names(row[1]) if not name.startswith("NumRe")]


@pytest.mark.parametrize("name", OF_IR_MEASURES)
def test_measures_of_ir_measures_have_its_numbers(untied: Pair, name: str):
    deep = name in ("P", "Precision", "R", "Recall", "Success")
    for text in (f"{name}@5",) if deep else (name,):
        measure = ir_measures.parse_measure(text)
        assert parse_metric(text) == parse_metric(measure)
        if name.startswith(("RBP", "ERR", "nDCG(")):  # its providers are not installed
            continue
        theirs = ir_measures.calc_aggregate([measure], nested(untied[1]), nested(untied[0]))
        for spelling in (text, measure):
            assert mean(untied, spelling) == pytest.approx(theirs[measure], rel=1e-6)


def test_cutoffs_of_ir_measures_stand_behind_the_at():
    for measure in (ir_measures.AP @ 7, ir_measures.RR @ 7, ir_measures.nDCG @ 7):
        assert parse_metric(measure)[1] == parse_metric(str(measure))[1] == (7,)
    assert str(parse_metric(ir_measures.nDCG(gains={0: 0, 1: 3}))[0]) == "ndcg(gain=0:0;1:3)"
    assert parse_measure(ir_measures.nDCG @ 10) == parse_measure("ndcg_cut_10") == ("ndcg", 10)


@pytest.mark.parametrize("name", [name for row in ROWS for name in names(row[2])])
def test_measures_of_trec_eval_have_its_numbers(untied: Pair, name: str):
    judge = pytrec_eval.RelevanceEvaluator(nested(untied[1]), {name})
    theirs = [values[name] for values in judge.evaluate(nested(untied[0])).values()]
    assert mean(untied, name) == pytest.approx(np.mean(theirs), rel=1e-6)
    assert parse_metric(re.sub(r"_(\d)", r".\1", name)) == parse_metric(name)


def test_every_spelling_is_that_of_its_row_in_any_case():
    for own, *others in ROWS:
        metric, cutoffs = parse_metric(own)
        for name in names(" ".join(others)):
            for text in {name, name.lower(), name.upper()} if "(" not in name else {name}:
                found, at = parse_metric(text)
                assert found == metric, text
                assert at == cutoffs or re.search(r"_10$", text), text


def test_spellings_with_a_depth():
    for text in ("ndcg_at_10", "nDCG@10", "NDCG.10", "ndcg_cut.10", "n-DCG_10"):
        assert parse_measure(text) == ("ndcg", 10)
    assert parse_measure("rbp.5@3") == ("rbp(p=0.5)", 3)


def test_what_has_no_counterpart_says_why():
    for spelt, why in ELSEWHERE.items():
        for name in spelt.split():
            for text in (name.replace("(None)", ""), *([] if "(" in name else [f"{name}@10"])):
                with pytest.raises(ParameterError, match=re.escape(f"among the metrics: {why}")):
                    parse_metric(text)
    for measure in (ir_measures.IPrec @ 0.1, ir_measures.SetRelP, ir_measures.NumRet):
        with pytest.raises(ParameterError, match="among the metrics"):
            parse_metric(measure)


def test_the_table_of_spellings_in_the_documentation():
    text = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    shown = text.split(f"| {' | '.join(TOOLS)} |\n", 1)[1].split("\n\n", 1)[0].splitlines()[1:]
    assert shown == [
        f"| {' | '.join(', '.join(f'`{name}`' for name in cells(cell)) for cell in row)} |"
        for row in ROWS
    ]


def cells(cell: str) -> list[str]:
    return [part.strip() for part in cell.split(",") if part]


def test_measures_have_one_name_on_every_face_and_metrics_is_another_for_it():
    frame = {"query": ["q", "q"], "item": ["a", "b"], "score": [1, 1], "relevance": [1, 0]}
    one = rr.evaluate(frame, measures="rr@1")
    assert one.equals(rr.evaluate(frame, metrics="rr@1"))
    names: Any = [{"measures": "rr@1"}, {"metrics": "rr@1"}]
    for given in names:
        assert rr.Study(frame, **given).measures == (("rr", 1),)
    for name in ("measures", "measure", "metrics"):
        asked: Any = {name: "rr@1"}
        assert rr.gate(frame, frame, margin=0.1, **asked).measure == "rr@1"
    with pytest.raises(ParameterError, match="measures: given twice"):
        rr.evaluate(frame, measures="rr", metrics="rr")
    for wrong, right in {
        "metric": "measures",
        "measure": "measures",
        "qrels": "judgements",
    }.items():
        asked = {wrong: "rr"}
        with pytest.raises(TypeError, match=f"'{wrong}'; it is called '{right}'"):
            rr.evaluate(frame, **asked)
