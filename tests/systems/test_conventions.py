"""The table of conventions: complete, consistent, and each record checked when it is made."""

from __future__ import annotations

from collections import Counter

import pytest

from retrieval_report.contracts.errors import ParameterError
from retrieval_report.metrics.parsing import CATALOGUE, parse_metric
from retrieval_report.systems.conventions import (
    CONVENTIONS,
    ORDERS,
    Convention,
    choose,
    conventions,
)


def test_every_record_names_a_metric_and_stands_there_once() -> None:
    keys = Counter(
        (record.system, record.version, record.call, record.metric) for record in CONVENTIONS
    )
    assert max(keys.values()) == 1
    for record in CONVENTIONS:
        assert record.metric in CATALOGUE
        assert str(parse_metric(record.definition)[0]) == record.definition
        assert record.order in ORDERS


def test_the_frame_has_a_row_for_every_record() -> None:
    frame = conventions()
    assert frame.height == len(CONVENTIONS)
    assert frame.columns[:6] == ["system", "version", "metric", "call", "definition", "order"]
    assert frame["system"].n_unique() == 15


def test_systems_are_chosen_by_name_and_own_records_are_taken() -> None:
    own = Convention("rbp(p=0.5)", "rbp", "row", system="ours")
    assert choose([own, "TALR", own])[0] is own
    assert [record.system for record in choose("pytrec_eval")] == ["pytrec_eval"] * 9
    with pytest.raises(ParameterError, match="none given"):
        choose([])


def test_a_record_is_told_in_words() -> None:
    record = Convention(
        "ap",
        "ap",
        "row",
        float32=True,
        binary=True,
        short_lists=False,
        missing_query="skip",
        note="old",
    )
    assert record.words == "rows as received, after rounding to float32"
    assert record.differs == (
        "relevance as 0 or 1; refuses lists shorter than k; queries without rows are left out; old"
    )
    assert Convention("precision(denominator=k)", "P", "exact").differs == ""
    assert Convention("precision(denominator=k)", "P", "exact").definition == "precision"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("order", "rows"),
        ("seen", "all"),
        ("cutoffs", "some"),
        ("positive", "yes"),
        ("definition", "mapp@k"),
    ],
)
def test_a_record_with_an_unknown_rule_is_refused(field: str, value: str) -> None:
    fields = {"definition": "ap", "call": "ap", "order": "row"} | {field: value}
    with pytest.raises(ParameterError):
        Convention(**fields)  # type: ignore[arg-type]


def test_rules_known_for_lists_or_for_ap_only_are_refused_elsewhere() -> None:
    with pytest.raises(ParameterError, match="'threshold' is known for 'ap' only"):
        Convention("rr", "rr", "threshold", seen="list")
    with pytest.raises(ParameterError, match="lists only"):
        Convention("ap", "ap", "threshold")
    with pytest.raises(ParameterError, match="lists only"):
        Convention("ap", "ap", "row", positive="irrelevant")


def test_only_an_arbitrary_order_can_keep_short_lists_as_received() -> None:
    with pytest.raises(
        ParameterError, match="row_order_up_to: only an 'arbitrary' order has it, not 'random'"
    ):
        Convention("rr", "mrr", "random", row_order_up_to=3)
