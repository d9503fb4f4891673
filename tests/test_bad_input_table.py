"""The table of bad input in the docs is the one that the tests hold."""

from __future__ import annotations

from bad_input_rows import ROWS
from bad_input_table import PAGE, rows_tested, table


def test_every_row_has_a_test() -> None:
    assert sorted(rows_tested()) == list(range(1, len(ROWS) + 1))


def test_the_page_is_the_table_of_the_tests() -> None:
    assert PAGE.read_text(encoding="utf-8") == table(), (
        "run python tests/helpers/bad_input_table.py"
    )
