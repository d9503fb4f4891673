"""ir_measures with our provider: exact means, and its own numbers where nothing ties."""

from typing import Any

import pytest

import retrieval_report as rr

ir_measures: Any = pytest.importorskip("ir_measures", reason="ir_measures is not installed")

TEXTS = [
    *("nDCG@10", "nDCG", "AP(rel=2)", "AP@5", "RR", "RR(rel=2)", "P@5", "P(rel=2)@3", "R@4"),
    *("Rprec", "Bpref", "Success@2", "NumRet(rel=1)"),
    *("nDCG(judged_only=True)@3", "AP(judged_only=True)", "P(judged_only=True)@4"),
]
QRELS = {
    "q1": {"a": 1, "b": 0, "c": 2, "d": 3, "e": 0, "f": 2},
    "q2": {"a": 0, "b": 1, "g": 2},
    "q3": {"a": 1},  # not in the run
}
RUN = {
    "q1": {"a": 6.0, "b": 5.5, "c": 4.0, "x": 3.5, "d": 3.0, "e": 1.0},
    "q2": {"b": 2.0, "a": 1.0, "y": 0.5},
    "q9": {"a": 1.0},  # not judged
}


@pytest.fixture
def provider():
    """Our provider, and ir_measures as it was afterwards."""
    before = list(ir_measures.DefaultPipeline.providers)
    yield rr.systems.register_in_ir_measures()
    ir_measures.DefaultPipeline.providers[:] = before
    ir_measures.providers.registry.pop("retrieval_report", None)


def test_without_ties_the_numbers_are_those_of_pytrec_eval(provider: Any):
    measures = [ir_measures.parse_measure(text) for text in TEXTS]
    ours = provider.calc_aggregate(measures, QRELS, RUN)
    theirs = ir_measures.pytrec_eval.calc_aggregate(measures, QRELS, RUN)
    assert ours == pytest.approx(theirs, rel=1e-9)
    assert set(ours) == set(measures)


def test_with_ties_the_default_pipeline_gives_the_exact_mean(provider: Any):
    run = {"q1": dict.fromkeys("ab", 1.0)}
    qrels = {"q1": {"a": 1, "b": 0}}
    assert ir_measures.calc_aggregate([ir_measures.RR, ir_measures.P @ 1], qrels, run) == {
        ir_measures.RR: 0.75,
        ir_measures.P @ 1: 0.5,
    }
    values = list(ir_measures.iter_calc([ir_measures.AP], qrels, run))
    assert [(one.query_id, one.value) for one in values] == [("q1", 0.75)]


def test_what_has_no_counterpart_is_left_to_others(provider: Any):
    assert not provider.supports(ir_measures.infAP)
    # there, a grade that the mapping lacks keeps its value; here it is an error
    assert not provider.supports(ir_measures.nDCG(gains={0: 1, 1: 4}))
    found = ir_measures.calc_aggregate([ir_measures.infAP, ir_measures.RR], QRELS, RUN)
    assert set(found) == {ir_measures.infAP, ir_measures.RR}
    assert rr.systems.register_in_ir_measures() is provider
