"""The formats in which vectors are stored, and how each
encodes them: a table of formats, read by ``from_embeddings``.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval_report.contracts.arguments import Array, Named, quoted
from retrieval_report.contracts.checks import did_you_mean
from retrieval_report.contracts.errors import DataError, ParameterError
from retrieval_report.kernels.lists import Floats

# float32 vectors, or codes of int8.
Singles = NDArray[np.float32]
ROWS_AT_ONCE = 1 << 14


class ScorePrecision(NamedTuple):
    """How scores are rounded, and how far apart two scores may be that round to the same value."""

    rounded: Callable[[Floats], Array]
    relative: float
    absolute: float


class Encoded(NamedTuple):
    """The vectors of queries and items in one format."""

    queries: Array
    items: Array
    cosine: bool = False  # whether products are divided by the lengths of both vectors


class Originals(NamedTuple):
    """Vectors before they are encoded."""

    queries: Singles
    items: Singles
    calibration: Singles  # whose range in each dimension sets the levels of whole-number codes
    cosine: bool


def to_bfloat16(values: Array) -> Singles:
    """Round to the nearest bfloat16, halves to even, and return it as float32.

    >>> to_bfloat16(np.array([1.0, 0.7, 0.9999])).tolist()
    [1.0, 0.69921875, 1.0]
    """
    bits = values.astype(np.float32).view(np.uint32)
    bits += np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return (bits & np.uint32(0xFFFF0000)).view(np.float32)


def to_float16(values: Array) -> Singles:
    """Round to the nearest float16, and return it as float32; too large values become infinite."""
    with np.errstate(over="ignore"):
        return values.astype(np.float16).astype(np.float32)


def to_float32(values: Array) -> Singles:
    """Round to the nearest float32."""
    return values.astype(np.float32, copy=False)


FLOAT32 = ScorePrecision(to_float32, 2**-23, 2**-149)
FLOAT16 = ScorePrecision(to_float16, 2**-10, 2**-24)
BFLOAT16 = ScorePrecision(to_bfloat16, 2**-7, 2**-133)
WHOLE = ScorePrecision(lambda scores: scores.astype(np.int64), 0, 0)


def _rounded_vectors(
    queries: Callable[[Array], Singles], items: Callable[[Array], Singles]
) -> Callable[[Originals], Encoded]:
    return lambda given: Encoded(queries(given.queries), items(given.items))


def _signs(originals: Originals) -> Encoded:
    """Return 1 where a value is above 0, else −1; products are dimensions − 2 · Hamming distance."""
    queries, items = (
        np.where(vectors > 0, np.int8(1), np.int8(-1))
        for vectors in (originals.queries, originals.items)
    )
    return Encoded(queries, items)


def _levels(bits: int) -> Callable[[Originals], Encoded]:
    """Return how sentence-transformers encodes: 2^bits equal steps from the smallest to the largest
    value of each dimension.
    """
    steps_in_range = 2**bits - 1

    def encode(originals: Originals) -> Encoded:
        start, width = _ranges(originals.calibration)
        step = width / np.float32(steps_in_range)
        step = np.where(step == 0, np.float32(1), step)
        queries, items = (
            (
                np.clip(np.floor((vectors - start) / step), 0, steps_in_range) - 2 ** (bits - 1)
            ).astype(np.int8)
            for vectors in (originals.queries, originals.items)
        )
        return Encoded(queries, items, originals.cosine)

    return encode


def _scalar_quantizer(bits: int) -> Callable[[Originals], Encoded]:
    """Return how FAISS's scalar quantizer encodes items, whose steps it decodes to their middles;
    queries stay as they are.
    """
    steps_in_range = np.float32(2**bits - 1)

    def encode(originals: Originals) -> Encoded:
        start, width = _ranges(originals.calibration)
        share = (originals.items - start) / np.where(width == 0, np.float32(1), width)
        code = np.trunc(np.clip(share, 0, 1) * steps_in_range)
        return Encoded(originals.queries, start + (code + np.float32(0.5)) / steps_in_range * width)

    return encode


def _ranges(calibration: Singles) -> tuple[Singles, Singles]:
    """Return the smallest value of each dimension, and how far the largest is from it."""
    start = calibration.min(axis=0)
    return start, calibration.max(axis=0) - start


@dataclass(frozen=True)
class Storage:
    """How one value of a vector is stored."""

    bits: int
    encode: Callable[[Originals], Encoded]
    precision: ScorePrecision  # of scores


STORAGES = {
    "float32": Storage(32, _rounded_vectors(to_float32, to_float32), FLOAT32),
    "float16": Storage(16, _rounded_vectors(to_float16, to_float16), FLOAT16),
    "bfloat16": Storage(16, _rounded_vectors(to_bfloat16, to_bfloat16), BFLOAT16),
    "int8": Storage(8, _levels(8), WHOLE),
    "int4": Storage(4, _levels(4), WHOLE),
    "binary": Storage(1, _signs, WHOLE),
    "SQ8": Storage(8, _scalar_quantizer(8), FLOAT32),
    "SQ4": Storage(4, _scalar_quantizer(4), FLOAT32),
    "SQfp16": Storage(16, _rounded_vectors(to_float32, to_float16), FLOAT32),
    "SQbf16": Storage(16, _rounded_vectors(to_float32, to_bfloat16), FLOAT32),
}
SHORT = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "ubinary": "binary"}
UPCAST = "upcast"
NUMBERED = {"truncate": "dimensions", "digits": "digits"}


@dataclass(frozen=True)
class Format:
    """One format: how vectors are cut and stored, and how their scores are rounded."""

    text: str
    storage: str = "float32"
    dimensions: int | None = None  # None: all of them
    digits: int | None = None  # of scores; None: those of the storage
    upcast: bool = False

    @property
    def is_binary(self) -> bool:
        """Return whether it compares bits, by Hamming distance."""
        return self.storage == "binary"

    def width(self, dimensions: int) -> int:
        """Return how many dimensions it keeps."""
        dimensions_kept = dimensions if self.dimensions is None else self.dimensions
        if dimensions_kept > dimensions:
            raise ParameterError(
                f"formats: {self.text!r} keeps {dimensions_kept} dimensions, and the vectors have {dimensions}"
            )
        return dimensions_kept

    def bytes_of(self, dimensions: int) -> int:
        """Return the size of one vector.

        >>> parse_format("int4+truncate:63").bytes_of(256)
        32
        """
        return -(-self.width(dimensions) * STORAGES[self.storage].bits // 8)

    def encode(self, originals: Originals) -> Encoded:
        """Cut and encode vectors; cosine compares their directions after the cut."""
        dimensions_kept = self.width(originals.items.shape[1])
        queries, items, calibration = (array[:, :dimensions_kept] for array in originals[:3])
        if originals.cosine and not self.is_binary:
            queries, items, calibration = map(unit, (queries, items, calibration))
        originals = Originals(queries, items, calibration, originals.cosine)
        with np.errstate(over="ignore"):
            encoded = STORAGES[self.storage].encode(originals)
        self._check_finite(encoded)
        return encoded

    def precision(self, *, cosine: bool) -> ScorePrecision:
        """Return how scores are rounded."""
        if (digits := self.digits) is not None:
            return ScorePrecision(lambda scores: np.round(scores, digits) + 0.0, 0, 10.0**-digits)
        precision = STORAGES[self.storage].precision
        of_codes = precision is WHOLE and cosine and not self.is_binary
        return FLOAT32 if of_codes or self.upcast else precision

    def _check_finite(self, encoded: Encoded) -> None:
        """Refuse values that the format cannot hold."""
        for what, vectors in (("queries", encoded.queries), ("items", encoded.items)):
            if vectors.dtype.kind == "f" and not np.isfinite(vectors).all():
                row = int(np.argmin(np.isfinite(vectors).all(axis=1)))
                raise DataError(
                    f"{what}: row {row} holds values that are too large for the format "
                    f"{self.text!r}; scale the vectors, or use similarity='cosine'"
                )


def unit(vectors: Singles) -> Singles:
    """Scale every vector to length 1; vectors of zeros stay.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    return scaled(vectors, lengths(vectors))


def scaled(vectors: Array, by: Floats) -> Singles:
    """Divide every vector by a number; vectors of zeros stay."""
    result = np.empty(vectors.shape, np.float32)
    divisors = np.where(by > 0, by, 1.0)[:, None]
    for rows in _slices(len(vectors)):
        result[rows] = vectors[rows] / divisors[rows]
    return result


def lengths(vectors: Array) -> Floats:
    """Return the length of every vector, in double precision."""
    squares = np.empty(len(vectors))
    for rows in _slices(len(vectors)):
        squares[rows] = np.square(vectors[rows], dtype=np.float64).sum(axis=1)
    return np.sqrt(squares)


def _slices(count: int) -> Iterator[slice]:
    """Yield slices of rows, which need little memory in double precision."""
    for start in range(0, count, ROWS_AT_ONCE):
        yield slice(start, start + ROWS_AT_ONCE)


def parse_formats(formats: Any) -> dict[str, Format]:
    """Return formats by the names of their models.

    >>> list(parse_formats(["float32", "binary+truncate:64"]))
    ['float32', 'binary+truncate:64']
    """
    if isinstance(formats, str):
        formats = [part.strip() for part in formats.split(",")]
    texts = formats if isinstance(formats, Mapping) else {text: text for text in formats}
    if not texts:
        raise ParameterError("formats: none given")
    return {name: parse_format(text) for name, text in texts.items()}


def parse_format(text: object) -> Format:
    """Read a format such as ``"int8"`` or ``"binary+truncate:64"``.

    >>> parse_format("int9")
    Traceback (most recent call last):
    retrieval_report.ParameterError: formats: 'int9' is not one of 'float32', 'float16', 'bfloat16',
    'int8', 'int4', 'binary', 'SQ8', 'SQ4', 'SQfp16', 'SQbf16', 'upcast', 'truncate:N', 'digits:N';
    did you mean 'int8'?
    """
    if not isinstance(text, str):
        raise ParameterError(f"formats: {text!r} is not text, such as 'int8'")
    parameters: Named = {}
    for part in text.split("+"):
        field, value = _parsed(part, text)
        if field in parameters:
            raise ParameterError(f"formats: {text!r} names its {field} twice")
        parameters[field] = value
    parsed = replace(Format(text), **parameters)
    if parsed.upcast and parsed.storage not in ("float16", "bfloat16"):
        raise ParameterError(f"formats: {text!r}: only scores of float16 and bfloat16 are upcast")
    if parsed.is_binary and parsed.digits is not None:
        raise ParameterError(f"formats: {text!r}: Hamming distances have no digits to round")
    return parsed


def _parsed(part: str, text: str) -> tuple[str, object]:
    """Return the field that a part of a format sets, and its value."""
    word, colon, number = part.partition(":")
    if word in NUMBERED and colon:
        least = 0 if word == "digits" else 1
        if not (number.isascii() and number.isdigit() and least <= int(number) < 10**6):
            raise ParameterError(
                f"formats: {part!r}: {number!r} is not a whole number from {least} on"
            )
        return NUMBERED[word], int(number)
    if part == UPCAST:
        return UPCAST, True
    storage = SHORT.get(part.lower(), part)
    if storage in STORAGES:
        return "storage", storage
    spellings = [*STORAGES, UPCAST, *(f"{name}:N" for name in NUMBERED)]
    where = "" if part == text else f" in {text!r}"
    raise ParameterError(
        f"formats: {part!r}{where} is not one of {quoted(spellings)}{did_you_mean(part, spellings)}"
    )
