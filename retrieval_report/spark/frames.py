"""Check Spark frames and local frames against the contracts of columns, without computing
anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl
import pyarrow as pa
from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DecimalType

from retrieval_report.contracts.arguments import repeated
from retrieval_report.contracts.columns import Column
from retrieval_report.contracts.errors import ColumnError, ParameterError, one_line
from retrieval_report.reading.frames import to_polars
from retrieval_report.reading.names import KINDS, own_names
from retrieval_report.spark.failures import refusing


def check_frame(frame: object, what: str) -> None:
    """Refuse anything but a Spark frame, of a direct session or of Spark Connect."""
    if not isinstance(frame, DataFrame):
        raise ParameterError(
            f"{what}: a {type(frame).__name__} is not a Spark frame; read it with spark.read"
        )


def chosen(
    frame: DataFrame, contract: Sequence[Column], what: str, also: Sequence[str] = ()
) -> DataFrame:
    """Return the contract's columns under our names, found as in `read_rankings`, and others by
    their exact names.

    Spark treats ``Query`` as ``query`` and cannot distinguish them if both exist, except by
    position.
    """
    given = frame.columns
    wanted = [*(column.name for column in contract), *also]
    twice = sorted(set(wanted) & set(repeated(given)))
    if twice:
        raise ColumnError(f"{what}: the columns {twice} occur twice")
    matched = {name: name for name in wanted if name in given}
    for ours, theirs in own_names(given, KINDS[what], what).items() if what in KINDS else ():
        words = (
            ours == "relevance"
            and frame.schema[given.index(theirs)].dataType.typeName() == "string"
        )
        if (
            ours in wanted and ours not in matched and not words
        ):  # a label in words is not a relevance
            matched[ours] = theirs
    numbered = frame.toDF(*(f"_{location}" for location in range(len(given))))
    held = numbered.select(
        [F.col(f"_{given.index(matched[name])}").alias(name) for name in wanted if name in matched]
    )
    return _whole_ids(held, [column.name for column in contract if column.kind == "id"], what)


def _whole_ids(frame: DataFrame, names: Sequence[str], what: str) -> DataFrame:
    """Return as 64-bit integers the ids that Spark stores as decimals for lack of unsigned
    types.
    """
    for field in frame.schema.fields:
        kind = field.dataType
        if field.name in names and isinstance(kind, DecimalType) and kind.scale == 0:
            column = F.col(field.name)
            above = ~column.between(
                F.lit(-(2**63)).cast("decimal(38,0)"), F.lit(2**63 - 1).cast("decimal(38,0)")
            )
            rule = (
                "an id beyond signed 64 bits, the longest whole numbers of Spark: make the ids text"
            )
            held = refusing(column, above, field.name, rule, what=what, location=where(field.name))
            frame = frame.withColumn(field.name, held.cast("long"))
    return frame


def empty_of(frame: DataFrame, what: str) -> pl.DataFrame:
    """Return a Polars frame with the same columns and no rows, for checks that need no rows."""
    try:
        return pl.DataFrame(pl.from_arrow(to_arrow_schema(frame.schema).empty_table()))
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise ColumnError(f"{what}: a column cannot be used: {one_line(error)}") from error


def typed(frame: DataFrame) -> DataFrame:
    """Return columns in our types: text compared by its bytes, one zero among the floats, grades as
    numbers.
    """
    return frame.select(
        [_typed(field.name, field.dataType.typeName()) for field in frame.schema.fields]
    )


def _typed(name: str, kind: str) -> Expression:
    column = F.col(name)
    if name == "model" or kind in ("string", "char", "varchar"):
        column = column.cast("string")  # whatever its collation was
    elif kind in ("float", "double"):
        column = column + F.lit(0.0).cast(kind)  # −0.0 becomes 0.0
    elif name == "relevance" and (kind == "boolean" or kind.startswith("decimal")):
        column = column.cast("double")
    return column.alias(name)


def where(*names: str) -> Expression:
    """Return an expression that describes a row by its query, item and model, as far as they are
    named.
    """
    parts = [
        F.concat(
            F.lit(f"{name} '"), F.coalesce(F.col(name).cast("string"), F.lit("null")), F.lit("'")
        )
        for name in names
    ]
    return F.concat_ws(", ", *parts)


def on_cluster(
    frame: object,
    session: SparkSession,
    contract: Sequence[Column],
    what: str,
    check: Callable[[pl.DataFrame], pl.DataFrame],
) -> tuple[DataFrame, pl.DataFrame]:
    """Return a Spark frame with the contract's columns, and an empty frame of their types; local
    frames are sent.
    """
    if isinstance(frame, DataFrame):
        frame = chosen(frame, contract, what)
        check(empty_of(frame, what))
        frame = typed(frame)
        return frame, empty_of(frame, what)
    local = check(to_polars(frame, what))
    return sent(session, local, what), local.clear()


def sent(session: SparkSession, local: pl.DataFrame, what: str) -> DataFrame:
    """Send a local frame to the cluster; Spark has no unsigned numbers."""
    wide = [
        name
        for name, dtype in local.schema.items()
        if dtype.is_unsigned_integer() or dtype == pl.Int128
    ]
    try:
        local = local.with_columns(pl.col(wide).cast(pl.Int64))
    except pl.exceptions.InvalidOperationError as error:
        raise ColumnError(
            f"{what}: Spark has no whole numbers of more than 64 bits: {wide}"
        ) from error
    # In one chunk: from a table in several, the Connect client of PySpark 4.0.0 sent wrong rows.
    return session.createDataFrame(local.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest()))


def _spelt(key: str, one: pl.DataType, two: pl.DataType, source: str, what: str) -> Expression:
    """Return a column of text ids that fails on an executor if an id is not written as a 64-bit
    whole number.
    """
    rule = (
        f"{one} in the rankings and {two} in the {what}, where an id is not spelt as a number; "
        "such ids are "
        "never cast ('007' and '7' would merge): make both text or both whole numbers"
    )
    odd = F.col(key).isNotNull() & ~F.col(key).rlike("^(0|-?[1-9][0-9]{0,17})$")
    location = F.concat(F.lit(f"{source}: "), where(key))
    return refusing(F.col(key), odd, key, rule, location=location, error="KeyMismatchError")


def same_ids(
    left: DataFrame, right: DataFrame, other: pl.DataFrame, keys: Sequence[str], what: str
) -> tuple[DataFrame, DataFrame]:
    """Return both frames with the rankings' type of ids; text becomes numbers if it is written like
    them.

    ``other`` is an empty frame with the types of ``right``.
    """
    for key, one in empty_of(left.select(*keys), "rankings").schema.items():
        two = other.schema[key]
        if one.is_integer() and not two.is_integer():
            right = right.withColumn(key, _spelt(key, one, two, what, what).cast("long"))
            left = left.withColumn(key, F.col(key).cast("long"))
        elif two.is_integer() and not one.is_integer():
            left = left.withColumn(key, _spelt(key, one, two, "rankings", what))
            right = right.withColumn(key, F.col(key).cast("string"))
        elif one != two:
            left, right = (
                frame.withColumn(key, F.col(key).cast("long")) for frame in (left, right)
            )
    return left, right
