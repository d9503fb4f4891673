"""Check arrays of codes and turn them into the columns that the kernels read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from retrieval_report.contracts.arguments import Array, check_whole
from retrieval_report.contracts.errors import DataError, ParameterError
from retrieval_report.contracts.wording import advice, argument, in_python, setting, with_number
from retrieval_report.kernels.hamming import Words
from retrieval_report.kernels.lists import Bools

CHUNK = (
    1 << 24
)  # values checked at a time, so that checks of a memory-mapped array need little memory
WORD = 64


def as_matrix(values: object, what: str) -> Array:
    """Return a two-dimensional array of numbers, without a copy if it already is one.

    >>> as_matrix([1, 0], "query_codes")
    Traceback (most recent call last):
    retrieval_report.DataError: query_codes: shape (2,); codes have one row each, (n, bits)
    """
    try:
        matrix = np.asarray(values)
    except ValueError as error:  # rows of unequal length
        raise DataError(f"{what}: not an array of codes: {error}") from None
    if matrix.ndim != 2:
        raise DataError(f"{what}: shape {matrix.shape}; codes have one row each, (n, bits)")
    if 0 in matrix.shape:
        raise DataError(f"{what}: empty, shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf":
        raise DataError(f"{what}: {matrix.dtype} values; codes are numbers or booleans")
    return matrix


@dataclass(frozen=True)
class CodeSpace:
    """Properties shared by the codes of queries and items."""

    width: int  # columns of an array of codes
    packed: np.dtype[np.generic] | None  # the type of the words the bits are packed in
    unused: int = 0  # bits of the last word of packed codes

    @classmethod
    def of(cls, queries: Array, bits: int | None) -> CodeSpace:
        """Derive the space from the queries and the number of bits of packed codes."""
        width = queries.shape[1]
        if bits is not None and check_whole("bits", bits, 1) != width:
            packed = _packed_type(queries, bits)
            return cls(width, packed, 8 * width * packed.itemsize - bits)
        return cls(width, None)

    @property
    def reach(self) -> int:
        """Return the largest possible distance, in which padding bits count too."""
        return self.width * (8 * self.packed.itemsize if self.packed else 1)

    @property
    def words(self) -> int:
        """Return the number of words that ``encode`` makes of a code."""
        return -(-self.reach // WORD)

    def encode(self, codes: Array, what: str, offset: int = 0) -> Words:
        """Check codes and lay them out as (words, n); ``offset``
        is the number of their first row, for messages.
        """
        if codes.shape[1] != self.width:
            raise DataError(f"{what}: {codes.shape[1]} columns where query_codes have {self.width}")
        if self.packed and codes.dtype != self.packed:
            raise DataError(
                f"{what}: {codes.dtype} values where query_codes are packed in {self.packed}"
            )
        words = np.empty((self.words, codes.shape[0]), np.uint64)
        step, other_values = max(1, CHUNK // codes.shape[1]), set()
        for start in range(0, codes.shape[0], step):
            rows = codes[start : start + step]
            if not self.packed:
                ones, signs = _read_bits(rows, what, offset + start)
                other_values |= signs
                rows = np.packbits(ones, axis=1)
            elif self.unused:
                self._check_unused(rows[:, -1], what, offset + start)
            words[:, start : start + step] = as_words(rows).T
        if len(other_values) > 1:
            raise DataError(
                f"{what}: holds both -1 and 0; bits are -1 and 1, or 0 and 1 (np.sign gives 0 for "
                "0: use np.where(x >= 0, 1, -1))"
            )
        return words

    def _check_unused(self, last_words: Array, what: str, first: int) -> None:
        """Refuse codes with more bits than ``bits``, which would count: in whatever order bits are
        packed, from the low end, from the high end or as bytes, some of the unused ones are set.
        """
        size = 8 * last_words.dtype.itemsize
        unused = np.arange(size) >= size - self.unused
        in_bytes = np.packbits(unused).view(last_words.dtype)[0]
        masks = in_bytes, (1 << self.unused) - 1, (1 << size) - (1 << (size - self.unused))
        is_set = [(last_words & last_words.dtype.type(mask)) != 0 for mask in masks]
        if all(rows.any() for rows in is_set):
            row = first + max(int(rows.argmax()) for rows in is_set)
            bits = size * self.width - self.unused
            raise DataError(
                f"{what}: row {row} has bits set beyond the first {bits}, the number in {argument('bits')}"
            )


def _packed_type(queries: Array, bits: int) -> np.dtype[np.generic]:
    for dtype in (np.dtype(np.uint8), np.dtype(np.uint64)):
        if queries.dtype == dtype and queries.shape[1] == -(-bits // (8 * dtype.itemsize)):
            return dtype
    raise ParameterError(
        f"bits: {bits} bits do not fit query_codes of {queries.shape[1]} {queries.dtype} columns; "
        f"expected {bits} columns of bits, or packed {-(-bits // 8)} of uint8 or "
        f"{-(-bits // WORD)} of uint64"
        + in_python("; the bytes of int8 are those of .view('uint8')")
        * (queries.dtype == np.int8)
    )


def as_words(rows: Array) -> Words:
    """Return rows of bytes or words as rows of 64-bit words, padded with zeros."""
    if rows.dtype == np.uint64:
        return rows
    words = np.zeros((rows.shape[0], -(-rows.shape[1] // 8)), np.uint64)
    words.view(np.uint8)[:, : rows.shape[1]] = rows
    return words


def _read_bits(rows: Array, what: str, first: int) -> tuple[Bools, set[int]]:
    """Return which bits of some rows are 1, and which of 0 and −1 the others are; ``first`` is the
    number of the first row.
    """
    if rows.dtype == np.bool_:
        return rows, set()
    ones, other_values = rows == 1, {value: np.count_nonzero(rows == value) for value in (0, -1)}
    if np.count_nonzero(ones) + other_values[0] + other_values[-1] == rows.size:
        return ones, {value for value, count in other_values.items() if count}
    unknown = ~np.isin(rows, (-1, 0, 1))
    packed = rows.dtype in (np.uint8, np.uint64)
    hint = advice("; packed codes need {}", setting("bits")) if packed else ""
    raise DataError(f"{what}: {bad_values(rows, unknown, 'neither -1/1 nor 0/1', first)}{hint}")


def bad_values(values: Array, bad: Bools, rule: str, first: int = 0) -> str:
    """Say how many values break a rule, and where the first of them is; ``first`` is the number of
    the first row.

    >>> bad_values(np.array([[0, 3]]), np.array([[False, True]]), "neither 0 nor 1")
    '1 value neither 0 nor 1, first 3 in row 0, column 1'
    """
    row, column = np.argwhere(bad)[0].tolist()
    where = f"row {first + row}, column {column}"
    return f"{with_number(int(bad.sum()), 'value')} {rule}, first {values[row, column]} in {where}"
