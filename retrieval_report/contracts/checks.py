"""Building blocks of checks: refuse bad rows, repeated
keys and unknown words, with messages of one form.
"""

import difflib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import polars as pl

from retrieval_report.contracts.arguments import quoted
from retrieval_report.contracts.errors import ColumnError, DataError, ParameterError
from retrieval_report.contracts.warning import warn
from retrieval_report.contracts.wording import advice, column_name, in_python, setting, with_number

LONGEST_WORD = 80  # characters that are compared with the choices
ROWS_AT_A_TIME = (
    2**15
)  # rows whose ids are joined at a time; more would not stay in the processor's cache


def check_choice(name: str, value: object, choices: Sequence[str], hint: str = "") -> None:
    """Raise a ParameterError unless ``value`` is one of ``choices``; a hint ends it if
    none is near.

    >>> check_choice("average", "mikro", ("micro", "macro"))
    Traceback (most recent call last):
    retrieval_report.ParameterError: average: 'mikro' is not one of 'micro', 'macro'; did you mean
    'micro'?
    """
    if isinstance(value, str) and value in choices:
        return
    # A frame in the place of a name would fill the screen.
    is_short = isinstance(value, str) or len(repr(value)) <= LONGEST_WORD
    shown = repr(value) if is_short else f"a {type(value).__name__}"
    near = did_you_mean(value, choices) or hint
    raise ParameterError(f"{name}: {shown} is not one of {quoted(choices)}{near}")


def did_you_mean(
    value: object, choices: Iterable[str], meant: Mapping[str, str] | None = None
) -> str:
    """Return the end of a message about an unknown word: the nearest choice, if one is near, or
    what is ``meant`` by it.

    >>> did_you_mean("ngcd", ["ndcg", "rr"]), did_you_mean("bleu", ["ndcg", "rr"])
    ("; did you mean 'ndcg'?", '')
    """
    if not isinstance(value, str):
        return ""
    word = value[:LONGEST_WORD].lower()
    spellings = list(choices)
    same_letters = [choice for choice in spellings if sorted(choice.lower()) == sorted(word)]
    close = same_letters or difflib.get_close_matches(word, spellings, n=1)
    return f"; did you mean {(meant or {}).get(close[0], close[0])!r}?" if close else ""


def _where(frame: pl.DataFrame, bad: pl.Expr) -> tuple[int, str]:
    """Return how many rows are bad, and a description of where the first one is: by its index in
    the frame for those who have it, else by its number among the rows of its model, as an editor
    counts the lines of a run.
    """
    number = pl.int_range(1, pl.len() + 1)
    number = number.over("model") if "model" in frame.columns else number
    rows = frame.with_row_index("__row").with_columns(__number=number).filter(bad)
    first = rows.row(0, named=True)
    row = in_python(f"row {first['__row']}", f"row {first['__number']}, counted from 1")
    parts = [f"{name} {first[name]!r}" for name in ("query", "item") if name in first]
    if not parts:
        where = f"of model {first['model']!r}" if "model" in first else f"in {row}"
        return rows.height, f"first {where}"
    where = ", ".join(parts)
    if "model" in first:
        where += f" of model {first['model']!r}"
        row = in_python(row, f"{row} in this model")
    return rows.height, f"first in {where} ({row})"


def refuse(
    frame: pl.DataFrame,
    bad: pl.Expr,
    column: str,
    rule: str,
    hint: str | Callable[[], str] = "",
    *,
    what: str = "rankings",
) -> None:
    """Raise a DataError if any row is bad; a hint that is a function is written then."""
    if not frame.select(bad.any()).item():
        return
    rows, location = _where(frame, bad)
    source = "" if what == "rankings" else f"{what}: "
    advice = hint if isinstance(hint, str) else hint()
    name = column_name(column, what)
    raise DataError(f"{source}column {name!r}: {rows} {rule}, {location}{advice}")


def no_repeats(rows: pl.DataFrame) -> bool:
    """Return whether all rows differ; usually their hashes do."""
    return rows.hash_rows().n_unique() == rows.height or rows.n_unique() == rows.height


MOST_GRADES = 4  # of one item that a message names


def check_grades(judgements: pl.DataFrame) -> None:
    """Raise a DataError if an item of a query has two grades."""
    keys = ["query", "item"]
    if no_repeats(judgements.select(keys)):
        return
    odd = judgements.filter(pl.struct(keys).is_duplicated())
    query, item = odd.select(keys).row(0)
    grades = odd.filter(query=query, item=item)["relevance"]
    cure = advice("; {} decides", setting("repeated_judgements", "highest", "mean"))
    if only := _only_item(judgements):
        cure = f"; {only}"
    elif 2 * judgements["item"].n_unique() < judgements["relevance"].n_unique():
        cure = "; there are more grades than items: are the two columns swapped?"
    shown = [f"{grade:g}" for grade in grades[:MOST_GRADES]]
    if len(grades) > MOST_GRADES:
        shown.append(f"{len(grades) - MOST_GRADES} more")
    raise DataError(
        f"judgements: {with_number(odd.n_unique(keys), 'item')} with different grades in one "
        f"query, first item {item!r} of query {query!r}: {' and '.join(shown)}{cure}"
    )


def _only_item(rows: pl.DataFrame) -> str:
    """Ask for the column of items where several queries have one and the same; otherwise empty."""
    if rows["item"].n_unique() > 1 or rows["query"].n_unique() == 1:
        return ""
    item = rows["item"][0]
    return f"no row has another item than {item!r}: is another column that of the items?"


def check_unique(frame: pl.DataFrame, keys: Sequence[str], what: str) -> None:
    """Raise a DataError if two rows have the same keys."""
    if no_repeats(frame.select(keys)):
        return
    number, location = _where(frame, ~pl.struct(keys).is_first_distinct())
    repeated = "1 row repeats" if number == 1 else f"{number} rows repeat"
    collapsed = setting("group", ..., function="collapse")
    of_runs = setting("replicate", ..., function="Study")
    cure = "keep one row of each" + in_python(f", e.g. with .unique({list(keys)!r})")
    if what == "rankings":
        # One row of each would merge two systems in silence, unless their values agree.
        values = [name for name in ("distance", "score") if name in frame.columns]
        same = values and frame.n_unique([*keys, *values]) == frame.n_unique(keys)
        cure = f"the rows are identical: {cure}; " if same else ""
        cure += "repeated items push scores above 1; do they belong to several models or "
        cure += "runs? Then a column 'model' must tell them apart"
        cure += advice(", or the column of their seeds ({})", of_runs)
        cure += advice("; if they are chunks of documents, collapse them ({})", collapsed)
        cure = _only_item(frame) or cure
    raise DataError(f"{what}: {repeated} another's {', '.join(keys)}; {location}; {cure}")


def check_costs(costs: pl.DataFrame, what: str = "costs") -> list[str]:
    """Return the kinds of cost, which are the columns of numbers; refuse a model with two rows, and
    costs that are negative or not finite.
    """
    kinds = [name for name, dtype in costs.schema.items() if dtype.is_numeric() and name != "model"]
    if not kinds:
        raise ColumnError(f"{what}: no column of numbers beside 'model'")
    check_unique(costs, ("model",), what)
    for kind in kinds:
        good = pl.col(kind).cast(pl.Float64).is_between(0, math.inf, closed="left")
        refuse(costs, ~good, kind, "negative or not a finite number", what=what)
    return kinds


def check_agreement(frame: pl.DataFrame) -> None:
    """Raise a DataError if two models have different relevances of the same item of a query."""
    odd = frame.filter(pl.col("relevance").cast(pl.Float64).n_unique().over("query", "item") > 1)
    if odd.is_empty():
        return
    query, item = odd.select("query", "item").row(0)
    same = odd.filter(query=query, item=item).unique("relevance", maintain_order=True)
    words = (f"{grade:g} in model {model!r}" for model, grade in same["model", "relevance"].rows())
    raise DataError(
        f"column 'relevance': models disagree about {odd.n_unique(['query', 'item'])} items, first "
        f"item {item!r} of query {query!r}: {', '.join(words)}; give one set of judgements"
    )


def warn_merging(frame: pl.DataFrame, name: str, what: str) -> None:
    """Warn if ids differ only by surrounding blanks or
    Unicode form, since joins elsewhere may merge them.
    """
    ids = frame[name]
    if ids.dtype != pl.String:
        return
    # Whether all are ASCII without blanks is seen in a third of the time that their forms take.
    texts = (
        part.to_series().str.join("").item() or ""
        for part in ids.to_frame().iter_slices(ROWS_AT_A_TIME)
    )
    if all(text.isascii() and " " not in text and "\t" not in text for text in texts):
        return
    unique = ids.unique()
    forms = {"strip()": unique.str.strip_chars(), "Unicode NFC": unique.str.normalize("NFC")}
    for form, changed in forms.items():
        merged = unique.len() - changed.n_unique()
        if merged:
            like = unique.filter(changed == changed.filter(changed.is_duplicated())[0]).sort()
            warn(
                f"{what}: column {name!r}: {merged} ids differ only by what {form} would remove, "
                f"such as {like[0]!r} and {like[1]!r}"
            )


def warn_unmatched(items: int, rankings: pl.DataFrame, judgements: pl.DataFrame) -> None:
    """Warn that none of so many retrieved items is judged, because ids from two sources often
    differ in form ('7' and '007'). ``rankings`` shows one of them.
    """
    if rankings.height and judgements.height:
        warn(
            f"judgements: none of the {items} retrieved items is judged; the rankings "
            f"have items like {rankings['item'][0]!r}, the judgements like "
            f"{judgements['item'][0]!r} (query {judgements['query'][0]!r})"
        )
