"""The table of conventions: complete, consistent, and each record checked when it is made."""

from collections import Counter

from retrieval_report.metrics.parsing import CATALOGUE, parse_metric
from retrieval_report.systems.conventions import (
    CONVENTIONS,
    LISTS,
    ORDERS,
    Convention,
    conventions,
)


def test_every_record_names_a_metric_and_stands_there_once():
    keys = Counter(
        (record.system, record.version, record.call, record.metric) for record in CONVENTIONS
    )
    assert max(keys.values()) == 1
    for record in CONVENTIONS:
        assert record.metric in CATALOGUE
        assert str(parse_metric(record.definition)[0]) == record.definition
        assert record.order in ORDERS
        assert record.seen in ("judged", "others", "list", "samples")
        assert record.cutoffs in ("any", "whole", "given")
        assert record.positive in ("", "irrelevant", "unretrieved")


def test_rules_are_known_for_lists_for_ap_or_for_arbitrary_orders_only():
    for record in CONVENTIONS:
        assert record.order == "arbitrary" or not record.row_order_up_to
        assert record.order != "threshold" or record.definition == "ap"
        assert record.seen in LISTS or not (record.order == "threshold" or record.positive)
        assert record.order != "middle" or record.metric in ("rr", "hit_rate")
        assert record.seen != "samples" or record.binary


def test_the_frame_has_a_row_for_every_record():
    frame = conventions()
    assert frame.height == len(CONVENTIONS)
    assert frame.columns[:6] == ["system", "version", "metric", "call", "definition", "order"]
    assert frame["system"].n_unique() == 24


def test_a_record_is_told_in_words():
    record = Convention(
        "ap",
        "ap",
        "row",
        "ours",
        "1",
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
    assert Convention("precision", "P", "exact", "ours", "1").differs == ""
