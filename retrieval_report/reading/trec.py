"""Read TREC run and qrels files: fields separated by
blanks and tabs, in a fixed order, without a header.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import polars as pl

from retrieval_report.contracts.errors import FileError, one_line
from retrieval_report.contracts.warning import warn
from retrieval_report.contracts.wording import with_number
from retrieval_report.reading.csv_files import undecodable
from retrieval_report.reading.headerless import by_number
from retrieval_report.reading.names import Choose, under_our_names
from retrieval_report.reading.numbers import TextTable, is_large, number_types, parse_values
from retrieval_report.reading.sources import BOM, Source

RUN_FIELDS = ("query", "iteration", "item", "rank", "score", "tag")
QRELS_FIELDS = ("query", "iteration", "item", "relevance")

# The blanks of C's isspace: Unicode blanks belong to ids.
_BLANKS = (b" ", b"\t", b"\r", b"\x0b", b"\x0c")
OTHER_MARKS = {";": "semicolons", ",": "commas", "|": "bars"}
_SOME_BLANKS = r"[ \t\r\x0b\x0c]+"


def read_trec(source: Source, choose: Choose, *, fields: Sequence[str]) -> pl.DataFrame:
    """Read a run (`RUN_FIELDS`) or qrels (`QRELS_FIELDS`).

    As in trec_eval, blank lines and lines that begin with ``#`` are skipped, a ``#`` inside an id
    belongs to the id, and text after the tag of a run is ignored, with a warning since it may come
    from an id with a blank.

    Raises
    ------
    FileError
        A line has too few fields (or too many, in qrels); bytes are not UTF-8; there is no line at
        all.
    """
    if fields[0] == "1":  # they have no names, so that the caller has to say which are which
        first = source.head().removeprefix(BOM).decode("utf-8", "replace").split("\n", 1)[0]
        matched = by_number(choose, first.split(), str(source.path))
    else:
        matched = choose(fields)
    return parse_values(_read_plain(source, fields, matched) or _read_any(source, fields, matched))


def _read_any(source: Source, fields: Sequence[str], matched: Mapping[str, str]) -> TextTable:
    """Read whatever trec_eval would read, and say what is wrong with the rest."""
    lines = _split(source, fields)
    if lines.is_empty():
        raise FileError(f"{source.path}: holds only blank lines and comments")
    _check_widths(lines, source, fields)
    numbers = lines["line"]
    return TextTable(
        str(source.path), lines.select(under_our_names(matched)), lambda row: int(numbers[row])
    )


def _read_plain(
    source: Source, fields: Sequence[str], matched: Mapping[str, str]
) -> TextTable | None:
    """Read a file of lines that all have these fields with one mark between them, as most have;
    None of any other. Numbers that are spelt as those of the first lines are no longer text.

    The parser of CSV takes a fifth of the time that a regular expression takes.
    """
    head = source.head()
    mark = re.search(rb"[ \t]", head)
    if mark is None or head.startswith(BOM):
        return None
    parse = partial(_parse_plain, mark[0], fields, matched)
    try:
        numbers = number_types(parse(head[: head.rfind(b"\n") + 1], {}))
    except UNLIKE:
        return None
    texts = {field for name, field in matched.items() if name not in numbers}
    number_fields = {matched[name]: numbers[name] for name in numbers if matched[name] not in texts}
    for types in (number_fields, {}):
        try:
            # The text of one block makes room for the next; all at once would be the peak of memory.
            table = pl.concat(parse(block, types) for block in source.blocks())
        except UNLIKE:
            continue
        return TextTable(str(source.path), table, lambda row: row + 1)
    return None


# Too many fields, other bytes than UTF-8 and text in the place of a number are errors of Polars, too.
UNLIKE = (pl.exceptions.PolarsError, OSError)


def _parse_plain(
    mark: bytes,
    fields: Sequence[str],
    matched: Mapping[str, str],
    block: bytes,
    numbers: Mapping[str, type[pl.DataType]],
) -> pl.DataFrame:
    """Return what is read of whole lines with one mark between the fields: some as numbers, others
    as text. Raise where another mark, a comment or an empty field makes a line unlike the others,
    and for numbers that only their text tells apart.
    """
    unlike = pl.exceptions.ShapeError("lines are unlike")
    if any(blank in block for blank in _BLANKS if blank != mark):
        raise unlike
    schema: dict[str, type[pl.DataType]] = dict.fromkeys(fields, pl.String)
    schema |= numbers
    # Two marks, or a line that is too short, leave a field empty.
    odd = pl.any_horizontal(pl.all().is_null())
    if schema[fields[0]] == pl.String:
        odd |= pl.col(fields[0]).str.starts_with("#")
    rows = pl.scan_csv(
        block,
        separator=mark.decode(),
        has_header=False,
        quote_char=None,
        schema=schema,
        glob=False,
    )
    table = rows.select(*under_our_names(matched), odd=odd).collect()
    floats = (column for column in table if column.dtype == pl.Float64)
    if table.is_empty() or table["odd"].any() or any(is_large(each).any() for each in floats):
        raise unlike
    if "model" in table.columns and table["model"].n_unique() == 1:
        table = table.with_columns(model=pl.lit(table["model"][0]))  # one text for all rows
    return table.drop("odd")


def _split(source: Source, fields: Sequence[str]) -> pl.DataFrame:
    """Split every line that is neither blank nor a comment into named fields, and what follows
    them into `extra`.
    """
    content = source.content
    if source.head(len(BOM)) == BOM:
        content = source.read().removeprefix(BOM)
    text = pl.col("text")
    split = text.str.splitn(" ", len(fields) + 1).struct.rename_fields([*fields, "extra"])
    try:
        return (
            pl.scan_lines(
                content, name="text", row_index_name="line", row_index_offset=1, glob=False
            )
            .with_columns(text.str.replace_all(_SOME_BLANKS, " ").str.strip_chars(" "))
            .filter(text != "", ~text.str.starts_with("#"))
            .with_columns(fields=split, width=text.str.count_matches(" ") + 1)
            .unnest("fields")
            .collect()
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileError(undecodable(source) or f"{source.path}: {one_line(error)}") from error


def _check_widths(lines: pl.DataFrame, source: Source, fields: Sequence[str]) -> None:
    """Refuse lines of too few fields, and of too many in qrels; warn of what follows a run's."""
    width = pl.col("width")
    long = lines.filter(width > len(fields))
    bad = lines.filter(width < len(fields) if fields == RUN_FIELDS else width != len(fields))
    if bad.height:
        line, count, text = bad.select("line", "width", "text").row(0)
        marks = Counter(text)
        between = (name for mark, name in OTHER_MARKS.items() if marks[mark] >= 2)
        cure = "".join(f"; put blanks in the place of its {name}" for name in [*between][:1])
        raise FileError(
            f"{source.path}, line {line}: {with_number(count, 'field')}, expected "
            f"{len(fields)} ({' '.join(fields)}) ({with_number(bad.height, 'such line')}): "
            f"{text[:80]!r}{cure}"
        )
    if long.height:
        line, text = long.select("line", "extra").row(0)
        warn(
            f"{source.path}, line {line}: more than {len(fields)} fields "
            f"({with_number(long.height, 'such line')}); {text[:40]!r} is ignored, as "
            "trec_eval does. Only if an id holds a blank is the line misread: put another "
            "character in its place"
        )
