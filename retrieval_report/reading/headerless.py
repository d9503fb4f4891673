"""Tables without a header: those whose columns their values show, and columns named by number."""

import re
from collections.abc import Sequence
from itertools import groupby

from retrieval_report.contracts.errors import ColumnError
from retrieval_report.contracts.wording import advice, setting
from retrieval_report.reading.names import Choose

# Forms of lines without a header, and what their fields are. MS MARCO writes ``qid pid rank``, and
# ColBERT a score behind it; the rank of an item is its distance.
UNNAMED_FORMS = {
    "ranks": ("query", "item", "distance"),
    "ranks and scores": ("query", "item", "rank", "score"),
    "grades": ("query", "item", "relevance"),
    "no header": ("1", "2", "3"),
}
ITERATIONS = ("0", "Q0", "q0")  # what stands second in TREC's lines
LINES = 50  # by which a form is recognised
_WHOLE = re.compile(r"\d{1,9}")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def unnamed_form(text: str, *, whole: bool) -> str | None:
    r"""Return the form of lines without a header by how a text begins; None for other lines.

    >>> unnamed_form("7\t71\t1\n7\t75\t2\n", whole=True)
    'ranks'
    >>> unnamed_form("7\t71\t1\t9.5\n7\t75\t2\t9.5\n", whole=True)
    'ranks and scores'
    >>> unnamed_form("q1 d1 0.5\nq1 d2 0.25\n", whole=True)
    'no header'
    """
    lines = text.splitlines()[:LINES]
    rows = [line.split() for line in (lines if whole else lines[:-1] or lines) if line.strip()]
    width = len(rows[0]) if rows else 0
    if width not in (3, 4) or any(len(row) != width for row in rows):
        return None
    if not all(map(_NUMBER.fullmatch, [row[-1] for row in rows])):
        return None
    if width == 4:
        zero = all(row[1] in ITERATIONS for row in rows)
        return "ranks and scores" if not zero and _are_ranks(rows) else None
    if _are_ranks(rows):
        return "ranks"
    return "no header"


def _are_ranks(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the third field counts the lines of every query, of which one has several."""
    if not all(_WHOLE.fullmatch(row[2]) for row in rows):
        return False
    lists = [[int(row[2]) for row in lines] for _, lines in groupby(rows, key=lambda row: row[0])]
    consecutive = all(ranks == list(range(ranks[0], ranks[0] + len(ranks))) for ranks in lists)
    return consecutive and {ranks[0] for ranks in lists} <= {0, 1} and max(map(len, lists)) > 1


def chosen_columns(
    choose: Choose, header: list[str], location: str, separator: str
) -> tuple[dict[str, str], bool]:
    """Return the columns that are chosen by their names in the header, or, if this is a row of
    data, by their numbers from 1 on; and whether there is a header.

    Raises
    ------
    ColumnError
        Columns are missing; if the header looks like data, the message says how to name them.
    """
    try:
        return choose(header), True
    except ColumnError:
        if not any(_NUMBER.fullmatch(name.strip()) for name in header):
            raise
    return by_number(choose, header, location, separator), False


def by_number(
    choose: Choose, first: Sequence[str], location: str, separator: str = " "
) -> dict[str, str]:
    """Return the columns that are chosen by their numbers; ``first`` is the first row."""
    begins = repr(separator.join(first)[:80])
    numbers = [str(number + 1) for number in range(len(first))]
    try:
        return choose(numbers)
    except ColumnError as error:
        last = "relevance" if " judgements " in str(error) else "score"
        names = ("query", "item", last)
        if len(first) < len(names):
            raise ColumnError(
                f"{location}: {len(first)} columns, the first line is {begins}; "
                f"expected three, {', '.join(names)}"
                + ("; where all items are relevant, add a 1 to every line" * (last != "score"))
            ) from error
        if first[1] == "all":
            raise ColumnError(
                f"{location}: scores as trec_eval prints them, not rankings; pass the run"
            ) from error
        if len(first) > len(names) and first[1] in ITERATIONS:  # TREC's fields, otherwise separated
            numbers = ["1", "3", "5" if last == "score" and len(first) > 4 else "4"]
        number_by_name = dict(zip(names, numbers, strict=False))
        raise ColumnError(
            f"{location}: no header: the first line is {begins}"
            + advice("; name its columns by number, such as {}", setting("columns", number_by_name))
        ) from error
