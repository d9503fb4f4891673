"""Convert frames of other libraries to Polars through narwhals; no other library is imported here.

Match ids that are text with ids that are numbers, too: '7' of a text file is 7 of a frame, but
'007' is not. A text file cannot say that an id is a number, so its ids are text. They are treated
as the numbers of another frame only if every one of them is spelt as its number, because then no
two ids can merge.
"""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import is_number, repeated, some
from retrieval_report.contracts.errors import ColumnError, DataError, KeyMismatchError, one_line
from retrieval_report.contracts.wording import in_python
from retrieval_report.reading.names import ID_COLUMNS, KINDS, RANKINGS
from retrieval_report.reading.search_results import as_array

_TEXT_COLUMNS = (*ID_COLUMNS, "metric", "policy")
ODD_DECIMAL = "it holds a decimal that is not a number"
EXACT = 2**53  # from here on, Float64 lacks whole numbers
FLOATS = float | np.floating
_OF_SCORES = ("metric", "policy", "cutoff", "value", "std", "items")


def convert(frame: object, what: str) -> pl.DataFrame:
    """Convert a frame of any library narwhals understands;
    values, column names and row order are kept.

    Parameters
    ----------
    frame : object
        Polars (eager or lazy), pandas, PyArrow, DuckDB, anything else that narwhals or Arrow's
        stream interface supports, or a dict of columns.
    what : str
        Name of the frame in messages, such as "rankings".

    Returns
    -------
    pl.DataFrame
        The columns in order. Categories become text in id columns. A pandas index is ignored; NaN
        in a plain pandas float column stays NaN, since it cannot be distinguished from a computed
        one, while None, ``pd.NA`` and a missing text become null.

    Raises
    ------
    ColumnError
        It is not a frame, or a column holds Python objects or mixed types; unused columns of this
        kind are dropped instead.
    DataError
        A text that is not Unicode (half of a surrogate pair); a lazy frame that cannot be computed.

    Examples
    --------
    >>> convert(
    ...     {"query": ["q1", "q1"], "item": ["a", "b"], "distance": [0.5, 0.5]}, "rankings"
    ... ).shape
    (2, 3)
    >>> convert(["q1"], "rankings")
    Traceback (most recent call last):
    ...
    retrieval_report.ColumnError: rankings: a list is not a frame; pass a Polars, pandas, PyArrow or
    DuckDB frame, or a dict of columns
    """
    converted = frame if isinstance(frame, pl.DataFrame) else _to_polars(frame, what)
    objects = [name for name, dtype in converted.schema.items() if dtype == pl.Object]
    for name in objects:
        if _is_used(name):
            raise ColumnError(_not_usable(what, name, "it holds Python objects"))
    return as_text(converted.drop(objects) if objects else converted, _TEXT_COLUMNS)


def _to_polars(frame: object, what: str) -> pl.DataFrame:
    import narwhals as nw  # takes as long as scoring a thousand rows

    native = nw.to_native(frame, pass_through=True)
    if isinstance(native, pl.DataFrame):
        return native
    if isinstance(native, Mapping):
        return _from_columns(native, what)
    if nw.dependencies.is_pandas_dataframe(native):
        return _from_pandas(native, what)
    try:
        understood = nw.from_native(native)
        if isinstance(understood, nw.LazyFrame):
            understood = understood.collect(backend="polars")
        return understood.to_polars()  # type: ignore[no-any-return]
    except TypeError:
        return _from_arrow(native, what)
    except (pl.exceptions.DuplicateError, nw.exceptions.DuplicateError) as error:
        raise ColumnError(f"{what}: a column name occurs twice: {one_line(error)}") from error
    except (pl.exceptions.PolarsError, nw.exceptions.NarwhalsError, OSError) as error:
        raise DataError(f"{what}: the frame cannot be computed: {one_line(error)}") from error


def _from_arrow(native: object, what: str) -> pl.DataFrame:
    """Return a table from a library that narwhals does not know; a single column is not a table."""
    if hasattr(native, "__arrow_c_stream__"):
        try:
            return pl.DataFrame(native)
        except pl.exceptions.PolarsError:
            pass
    raise ColumnError(_no_frame(native, what)) from None


def _from_columns(columns: Mapping[Any, Any], what: str) -> pl.DataFrame:
    for values in columns.values():
        if not is_column(values):
            raise ColumnError(
                f"{what}: a dict of columns has lists of equal length, not "
                f"{type(values).__name__}; rankings and "
                "judgements may also be {query: {item: number}}"
            )
    lengths = {str(name): len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ColumnError(f"{what}: the columns differ in length: {lengths}")
    return pl.DataFrame(
        convert_columns([(str(name), values) for name, values in columns.items()], what)
    )


def is_column(values: object) -> bool:
    """Return whether this could be a column of a table: a list or array, but not text, a dictionary
    or a table.

    >>> is_column([1, 2]), is_column("ab"), is_column(pl.DataFrame())
    (True, False, False)
    """
    is_scalar = (
        isinstance(values, (str, bytes, Mapping))
        or not hasattr(values, "__len__")
        or hasattr(values, "columns")
    )
    return (
        not is_scalar and getattr(values, "shape", None) != ()
    )  # a zero-dimensional array has no length


def _from_pandas(frame: Any, what: str) -> pl.DataFrame:
    names = [str(name) for name in frame.columns]
    twice = sorted(repeated(names))
    if twice:
        raise ColumnError(f"{what}: the columns {some(twice)} occur twice")
    columns = [(name, frame.iloc[:, index]) for index, name in enumerate(names)]
    return pl.DataFrame(convert_columns(columns, what, _pandas_series))


def _pandas_series(name: str, column: Any) -> pl.Series:
    dtype = column.dtype
    if not len(column) and str(dtype) in ("object", "float64"):  # the type that pandas gives to []
        return pl.Series(name, [], dtype=pl.Null)
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        # pl.from_pandas would turn NaN into null; a copy, so that what was read never changes
        return pl.Series(name, column.to_numpy(copy=True))
    if str(dtype) != "object":
        try:
            return pl.Series(name, pl.from_pandas(column))
        except (ImportError, UnicodeError):
            pass  # no PyArrow, or text it rejects: convert value by value, which finds the bad one
    values = zip(column.tolist(), column.isna().tolist(), strict=True)
    return series(name, [None if absent else value for value, absent in values])


def types_of(values: Iterable[object]) -> tuple[type, ...]:
    """Return the types of values, each once: of a million in 20 ms, where `isinstance` of each
    takes 100 ms.

    >>> types_of([0.5, 0.25])
    (<class 'float'>,)
    """
    return tuple(set(map(type, values)))


def include(types: Iterable[type], *kinds: type) -> bool:
    """Return whether one of these types is one of these kinds.

    >>> include([float, bool], int), include([float], int)
    (True, False)
    """
    return any(issubclass(each, kinds) for each in types)


def series(name: str, values: Any) -> pl.Series:
    """Return a column; whole numbers and fractions in
    one list become Float64 if that holds all of them.
    """
    if not isinstance(values, (list, tuple)):
        tensor = hasattr(values, "__array__") and hasattr(values, "detach")
        values = as_array(values, "column") if tensor else values
        return pl.Series(name, values.copy() if isinstance(values, np.ndarray) else values)
    # Most columns are texts or floats alone, and Polars sees faster whether they are.
    if not isinstance(next((value for value in values if value is not None), None), float | str):
        _refuse_odd_decimals(values)
    try:
        column = pl.Series(name, values)
    except pl.exceptions.PanicException:
        raise ValueError(ODD_DECIMAL) from None
    except TypeError:
        if not all(
            value is None or isinstance(value, FLOATS) or is_number(value) for value in values
        ):
            raise
        floats = [None if value is None else float(value) for value in values]
        column = pl.Series(name, floats, dtype=pl.Float64)
    if column.dtype.is_float():  # that of the first number, which Polars gives to all
        _refuse_mixed_floats(types_of(values))
    if column.dtype == pl.Float64 and not column.is_between(-EXACT, EXACT, "none").all():
        _refuse_odd_decimals(values)  # which may be NaN now
        if include(types_of(values), int, np.integer) and any(
            isinstance(value, int | np.integer) and float(value) != value for value in values
        ):
            raise ValueError(
                "Float64 cannot hold all of its whole numbers, and neighbours would tie"
            )
    return column


def _refuse_mixed_floats(types: Iterable[type]) -> None:
    """Refuse numbers of several precisions."""
    widths = {np.dtype(each).name for each in types if issubclass(each, FLOATS)}
    if len(widths) > 1:
        raise ValueError(f"it mixes {' and '.join(sorted(widths))}, in which 0.1 differs")


def _refuse_odd_decimals(values: Iterable[object]) -> None:
    """Refuse decimals that are NaN or infinite, at which Polars panics."""
    if include(types_of(values), Decimal) and any(
        isinstance(value, Decimal) and not value.is_finite() for value in values
    ):
        raise ValueError(ODD_DECIMAL)


def convert_columns(
    columns: Iterable[tuple[str, object]],
    what: str,
    convert: Callable[[str, object], pl.Series] = series,
) -> list[pl.Series]:
    """Convert column by column, so that a message can name the column and unused ones may fail."""
    converted = []
    for name, values in columns:
        try:
            converted.append(convert(name, values))
        except UnicodeEncodeError as error:
            raise DataError(
                f"{what}: column {name!r}: {error.object[:40]!r} is not Unicode: half a surrogate "
                "pair"
            ) from None
        except Exception as error:  # PyArrow's error classes cannot be named here
            if _is_used(name):
                raise ColumnError(_not_usable(what, name, one_line(error))) from error
    return converted


def _is_used(name: str) -> bool:
    """Return whether a column of this name could be one of ours."""
    return name in _OF_SCORES or any(kind.knows(name) for kind in KINDS.values())


def _not_usable(what: str, name: str, problem: str) -> str:
    is_id = any(name in RANKINGS.columns.get(column, ()) for column in ID_COLUMNS)
    fix = in_python(", for example with .astype(str) or .cast(pl.String)") if is_id else ""
    return f"{what}: column {name!r} cannot be used: {problem}; give it one type first{fix}"


def _no_frame(frame: object, what: str) -> str:
    kind = type(frame).__name__
    if isinstance(frame, list | tuple) and not frame:
        return f"{what}: the {kind} is empty"
    if hasattr(frame, "rankings"):  # Inputs, Study and their like
        if what in ("scores", "summary") and not hasattr(frame, what):
            return (
                f"{what}: {kind} holds none; evaluate(**inputs) makes scores, summarise their means"
            )
        part = what if hasattr(frame, what) else "rankings"
        how = "or unpack it, as in evaluate(**inputs)"
        if what in ("baseline", "candidate"):  # of gate
            how = "and its judgements, queries and truncated by their names"
        return f"{what}: {kind} holds more than {part}; pass its {part} alone, {how}"
    of_search = "from_search makes one of the arrays that a search returns"
    hints = {
        "__array__": "" if what in ("labels", "queries", "judgements") else of_search,
        "encode": "read a file with read_rankings, read_judgements or read_queries",
        "__fspath__": "read a file with read_rankings, read_judgements or read_queries",
    }
    if isinstance(frame, list | tuple) and hasattr(frame[0], "columns"):
        return (
            f"{what}: these are several frames; join them with polars.concat, or name them by model, "
            "as in {'a': frame_a, 'b': frame_b}"
        )
    is_named = isinstance(frame, list | tuple) and hasattr(frame[0], "run")  # of ranx
    is_dictionary = isinstance(frame, list) and isinstance(frame[0], Mapping)
    if is_named or (is_dictionary and what == "rankings"):
        return f"{what}: the runs need names, as in Run(…, name='bm25') or {{'bm25': run, …}}"
    usual = "pass a Polars, pandas, PyArrow or DuckDB frame, or a dict of columns"
    usual += " or of item → label" * (what == "labels")
    hint = next((hint for name, hint in hints.items() if hint and hasattr(frame, name)), usual)
    return f"{what}: a {kind} is not a frame; {hint}"


Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)
# Pattern of whole numbers as they are written; 128 bits hold 38 digits.
SPELT_AS_NUMBER = r"^(0|-?[1-9][0-9]{0,37})$"


def as_text(frame: Frame, names: Iterable[str]) -> Frame:
    """Convert categories among some columns to text,
    because codes of two frames are not comparable.
    """
    dtypes = frame.collect_schema()
    coded = [name for name in names if dtypes.get(name) in (pl.Categorical, pl.Enum)]
    return frame.with_columns(pl.col(coded).cast(pl.String)) if coded else frame


def spelt_otherwise(ids: pl.Series) -> str | None:
    """Return the first text that is not a whole number in its usual spelling, or None.

    >>> spelt_otherwise(pl.Series(["7", "-12", "0"])), spelt_otherwise(pl.Series(["7", "007"]))
    (None, '007')
    """
    odd = ids.filter(~ids.str.contains(SPELT_AS_NUMBER))
    return None if odd.is_empty() else str(odd[0])


def in_kind_of(reference: pl.Series, ids: pl.Series, what: str, other_name: str) -> pl.Series:
    """Return the ids ``ids`` as text or as whole numbers, whichever ``reference`` are; nulls stay,
    and so do ids of another kind, which scoring refuses.

    ``what`` and ``other_name`` are the frames of ``reference`` and ``ids``.
    """
    numbers = reference.dtype.is_integer()
    if numbers == ids.dtype.is_integer() or pl.String not in (reference.dtype, ids.dtype):
        return ids
    odd = spelt_otherwise(ids if numbers else reference)
    if odd is not None:
        location = "" if numbers else f" of the {what}"
        raise KeyMismatchError(
            f"column {reference.name!r} is {reference.dtype} in the {what} and {ids.dtype} in the "
            f"{other_name}, where {odd!r}{location} is not spelt as a number; such ids are never "
            "cast ('007' and '7' would merge): make both text or both whole numbers"
        )
    if not numbers:
        return ids.cast(pl.String)
    return ids.cast(pl.Int128)
