"""Numbers are written with as many digits as they need: what differs reads differently."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval_report.contracts.wording import whole_percent
from retrieval_report.writing.numbers import (
    chance_percent,
    column_decimals,
    interval,
    number,
    p_value,
    share,
    size,
    span,
)

SEEN = st.floats(1e-8, 1.0)


@given(SEEN, st.sampled_from([1, -1]))
def test_what_is_not_nothing_does_not_read_so(value: float, sign: int):
    text = size(sign * value)
    assert float(text.replace("−", "-")) != 0
    assert text.startswith("−") == (sign < 0)


@given(st.floats(1e-7, 0.9))
def test_what_is_not_the_same_does_not_read_so(gap: float):
    assert float(size(1 - gap)) < 1
    assert float(number(1 - gap, column_decimals([0.5, 1 - gap]))) < 1 or gap <= 5e-7
    texts = share(1 - gap), chance_percent(1 - gap, 1.0), whole_percent(1 - gap), p_value(1 - gap)
    assert not any(text.endswith((" 1.0000", "100%", "100.0%")) for text in texts)
    texts = share(gap), chance_percent(gap, 1.0), whole_percent(gap), p_value(gap)
    assert not any(text in ("p = 0.0000", "0%", "0.0%") for text in texts)


@given(st.floats(0.0, 1.0), st.floats(1e-7, 0.5))
def test_two_numbers_read_differently_where_they_differ(low: float, gap: float):
    first, second = span(low, low + gap).split(" to ")
    assert first != second
    assert float(second) - float(first) == pytest.approx(gap, rel=1.01)
    assert (
        interval(low, low + gap).strip("[]").split(", ")[0]
        != interval(low, low + gap).strip("[]").split(", ")[1]
    )


@given(st.lists(st.integers(0, 10**6).map(lambda part: part / 10**6), max_size=8))
def test_the_numbers_of_a_column_are_told_apart(values: list[float]):
    places = column_decimals([*values, None])
    assert 4 <= places <= 6
    assert len({number(value, places) for value in values}) == len(set(values))


def test_rounding_is_no_difference():
    assert span(0.1 + 0.2, 0.3) == "0.3000"
    assert size(1e-16, sign="+") == "0.0000"
    assert column_decimals([0.1 + 0.2, 0.3]) == 4


def test_a_terminal_has_its_own_minus():
    assert size(-0.00003, minus="-") == "-0.00003"
    assert interval(-0.042, -0.013, minus="-") == "[-0.042, -0.013]"
