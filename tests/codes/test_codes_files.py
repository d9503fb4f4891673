"""Files of codes → counts, scores and means, as the command line runs them."""

import io
import re
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.io import savemat
from scipy.sparse import csr_matrix

from codes_by_hand import classes, random_bits
from commands import run
from retrieval_report import evaluate, summarise
from retrieval_report.cli.code_scores import codes_command
from retrieval_report.cli.codes import WRITTEN
from retrieval_report.codes import count_codes
from retrieval_report.codes.files import load_codes
from retrieval_report.contracts.errors import (
    DataError,
    FileError,
)
from retrieval_report.scoring.radius import evaluate_radius

QUERIES, ITEMS = random_bits(1, 8, 20), random_bits(2, 90, 20)
OWN, OTHER = classes(3, 8), classes(4, 90)


@pytest.fixture
def folder(tmp_path: Path):
    """The queries as an archive, the items as three files of other kinds."""
    np.savez(
        tmp_path / "queries.npz", codes=2 * QUERIES - 1, labels=OWN, ids=[f"q{n}" for n in range(8)]
    )
    np.savez_compressed(tmp_path / "a.npz", codes=ITEMS[:30], labels=OTHER[:30])
    np.save(tmp_path / "b.npy", ITEMS[30:50].astype(bool))
    np.save(tmp_path / "b.labels.npy", OTHER[30:50])
    np.save(tmp_path / "b.ids.npy", np.arange(20))
    np.savez(tmp_path / "c.npz", codes=ITEMS[50:], labels=OTHER[50:])
    return tmp_path


def expected_counts(**options: Any) -> pl.DataFrame:
    ids = [f"q{n}" for n in range(8)]
    return count_codes(
        QUERIES, ITEMS, query_labels=OWN, item_labels=OTHER, query_ids=ids, **options
    )


def items(folder: Path) -> list[Path]:
    return [folder / name for name in ("a.npz", "b.npy", "c.npz")]


def test_files_are_shards(folder: Path):
    result = codes_command(folder / "queries.npz", items(folder))
    counts = expected_counts()
    assert result["counts.parquet"].equals(counts)
    assert (
        result["summary.csv"]
        .drop("orders")
        .equals(summarise(evaluate(counts, policies=("expected", "shuffled", "worst", "best"))))
    )
    assert result["radius.csv"].equals(evaluate_radius(counts))


def test_results_are_written(folder: Path):
    options = f"--model m --metrics ap --cutoffs 5 --out {folder}/out"
    run(f"codes {options}", folder / "queries.npz", *items(folder))
    assert {path.name for path in (folder / "out").iterdir()} == set(WRITTEN)
    assert pl.read_parquet(folder / "out/counts.parquet").equals(expected_counts(model="m"))
    assert pl.read_csv(folder / "out/scores.csv").height == 8 * 4


def test_counts_of_the_nearest_keep_r(folder: Path):
    result = codes_command(folder / "queries.npz", items(folder), cutoffs=(1, 5), depth=5)
    whole = summarise(
        evaluate(
            expected_counts(), cutoffs=(1, 5), policies=("expected", "shuffled", "worst", "best")
        )
    )
    assert result["counts.parquet"].equals(expected_counts(depth=5))
    assert result["summary.csv"].drop("orders").equals(whole)
    assert "radius.csv" not in result


def test_r_leaves_the_query_out_where_the_counts_do(folder: Path):
    ids = [f"i{n}" for n in range(90)]
    np.savez(folder / "all.npz", codes=ITEMS, labels=OTHER, ids=ids)
    np.savez(folder / "some.npz", codes=ITEMS[:8], labels=OTHER[:8], ids=ids[:8])
    near = codes_command(
        folder / "some.npz", [folder / "all.npz"], cutoffs=3, depth=3, exclude_self=True
    )
    whole = codes_command(folder / "some.npz", [folder / "all.npz"], cutoffs=3, exclude_self=True)
    assert near["summary.csv"].equals(whole["summary.csv"])


def test_r_counts_from_the_level_of_the_metrics(folder: Path):
    generator = np.random.default_rng(0)
    for name, codes in (("tagged", QUERIES), ("tags", ITEMS)):
        labels = generator.random((len(codes), 4)) < 0.5
        np.savez(folder / f"{name}.npz", codes=codes, labels=labels)
    near, whole = (
        codes_command(
            folder / "tagged.npz",
            [folder / "tags.npz"],
            metrics="recall(rel=2)@5",
            relevance="shared",
            depth=depth,
        )
        for depth in (5, None)
    )
    assert near["summary.csv"].equals(whole["summary.csv"])


def test_packed_codes_tell_their_bits(folder: Path):
    np.savez(folder / "packed.npz", codes=np.packbits(QUERIES, axis=1), labels=OWN, bits=20)
    np.save(folder / "db.npy", np.packbits(ITEMS, axis=1))
    np.save(folder / "db.labels.npy", OTHER)
    counts = codes_command(folder / "packed.npz", [folder / "db.npy"])["counts.parquet"]
    assert counts.drop("query").equals(expected_counts().drop("query"))


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_arrays_are_read_when_they_are_needed(folder: Path, order: Any):
    values = np.random.default_rng(3).integers(-9, 9, (50, 7), np.int16)
    np.save(folder / "some.npy", np.asarray(values, order=order))
    rows = load_codes(folder / "some.npy").codes
    assert (len(rows), rows.shape, rows.dtype, rows.ndim) == (50, (50, 7), np.int16, 2)
    for part in (slice(None), slice(0, 0), slice(3, 40), slice(48, 60), slice(60, 70)):
        assert np.array_equal(rows[part], values[part])


def broken(folder: Path, name: str) -> Path:
    path = folder / name
    if name == "cut.npz":
        path.write_bytes((folder / "queries.npz").read_bytes()[:200])
    elif name == "cut.mat":
        savemat(path, {"codes": ITEMS})
        path.write_bytes(path.read_bytes()[:-100])
    elif name == "new.mat":
        path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF")
    elif name == "objects.npz":
        np.savez(path, codes=np.array([None]))
    elif name == "more.npz":
        np.savez(path, codes=ITEMS, extra=ITEMS)
    elif name == "bits.npz":
        np.savez(path, codes=ITEMS, bits=[1, 2])
    return path


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.npz", "no such file"),
        ("cut.npz", "neither .npz nor .npy"),
        ("cut.mat", "damaged MATLAB file: "),
        ("new.mat", "a MATLAB file of version 7.3; save it with -v7"),
        ("objects.npz", "holds Python objects, which are not read"),
        ("more.npz", "holds codes, extra; expected codes"),
        ("bits.npz", "bits is not a whole number"),
    ],
)
def test_broken_files_are_named(folder: Path, name: str, message: str):
    with pytest.raises(FileError, match=f"{name}': {message}"):
        codes_command(folder / "queries.npz", [folder / "a.npz", broken(folder, name)])


@pytest.mark.parametrize("packed", [True, False])
def test_matlab_files_give_the_scores_of_archives(folder: Path, packed: bool):
    np.savez(folder / "all.npz", codes=ITEMS, labels=OTHER)
    np.savez(folder / "q.npz", codes=QUERIES, labels=OWN, ids=[f"q{n}" for n in range(8)])
    path = folder / "codes.mat"
    names = np.array([f"q{n}" for n in range(8)], object)
    both = {"qB": 2.0 * QUERIES - 1, "qL": 1.0 * OWN, "n": names, "rB": ITEMS == 1, "rL": OTHER}
    savemat(path, both | {"history": {"loss": 0.1}}, do_compression=packed)
    found = codes_command(
        path,
        [path],
        query_arrays={"codes": "qB", "labels": "qL", "ids": "n"},
        item_arrays={"codes": "rB", "labels": "rL"},
    )
    for name, frame in codes_command(folder / "q.npz", [folder / "all.npz"]).items():
        assert frame.equals(found[name])


def test_labels_of_matlab_files_may_be_sparse_and_ids_text(tmp_path: Path):
    classes = np.eye(3, dtype=np.int64)[[0, 1, 1, 2]]
    held = {"codes": np.eye(4), "labels": csr_matrix(classes), "ids": ["a", "bcd", "e", "f"]}
    savemat(tmp_path / "a.mat", held | {"bits": 4.0})
    loaded = load_codes(tmp_path / "a.mat")
    assert np.array_equal(loaded.labels, classes)
    assert loaded.ids.tolist() == ["a", "bcd", "e", "f"]
    assert loaded.bits == 4


@pytest.mark.parametrize("name", ["a.npz", "a.mat"])
def test_row_094_archives_that_unpack_to_too_much_are_refused(tmp_path: Path, name: str):
    path = tmp_path / name
    zeros = np.zeros((2000, 1000))
    if name == "a.mat":
        savemat(path, {"codes": zeros}, do_compression=True)
    else:
        np.savez_compressed(path, codes=zeros)
    assert path.stat().st_size < 10**5
    tracemalloc.start()
    with pytest.raises(
        FileError, match=r"unpacks to 160\d{5} bytes, more than 10000000; if that is"
    ):
        load_codes(path, max_bytes=10**7)
    if name == "a.npz":  # SciPy unpacks up to 128 kB at once
        assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()
    assert load_codes(path).codes.shape == (2000, 1000)


@pytest.mark.parametrize("again", ["other/../a.npz", "link.npz"])
def test_a_shard_is_not_counted_twice(folder: Path, again: str):
    (folder / "other").mkdir()
    (folder / "link.npz").symlink_to(folder / "a.npz")
    with pytest.raises(FileError, match=r"\.npz': listed more than once"):
        codes_command(folder / "queries.npz", [folder / "a.npz", f"{folder}/{again}"])


def test_the_shard_at_fault_is_named(folder: Path):
    codes = ITEMS.copy()
    codes[0, 1] = 2
    np.savez(folder / "bad.npz", codes=codes, labels=OTHER)
    found = (
        r"item_codes of shard 1: 1 value neither -1/1 nor 0/1, first 2 in row 0, column 1.*bad.npz"
    )
    with pytest.raises(DataError, match=found):
        codes_command(folder / "queries.npz", [folder / "a.npz", folder / "bad.npz"])


def member(data: bytes, *, method: int = zipfile.ZIP_STORED) -> bytes:
    """An archive whose one member claims to be an array of codes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("codes.npy", data)
    return buffer.getvalue()


def array(shape: str, dtype: str = "<f8") -> bytes:
    """The bytes of an array that declares a shape and holds nothing."""
    header = (
        f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117)
        + b"\n"
    )
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


def changed(data: bytes, measure: int, value: bytes) -> bytes:
    return data[:measure] + value + data[measure + len(value) :]


WHOLE = member(array("(0, 8)"))
DIRECTORY = WHOLE.index(b"PK\x01\x02")
PACKED = member(bytes(5000), method=zipfile.ZIP_DEFLATED)
FOREIGN = {
    "zip version": changed(changed(WHOLE, DIRECTORY + 6, b"\xff\x00"), 4, b"\xff\x00"),
    "encryption": changed(changed(WHOLE, DIRECTORY + 8, b"\x01"), 6, b"\x01"),
    "method": changed(changed(WHOLE, DIRECTORY + 10, b"\x63"), 8, b"\x63"),
    "deflate": changed(PACKED, PACKED.index(b"codes.npy") + 9, b"\xff\xff\xff"),
    "open bracket in the header": member(array("(1, ")),
    "open bracket in an array": array("(1, "),
    "NUL in the header": member(array("(\0)")),
    "10^12 numbers in 192 bytes": member(array("(1000000000000,)")),
    "10^12 numbers": array("(1000000000000,)"),
    "more numbers than 64 bits count": array("(10000000000, 10000000000, 10000000000)"),
    "fewer than none": array("(-1, 8)"),
    "format 9": b"\x93NUMPY\x09\x00" + bytes(100),
    "magic alone": b"\x93NUMPY",
    "no archive": b"PK" + bytes(100),
    "objects": member(array("(1,)", "|O")),
}


@pytest.mark.parametrize("damage", FOREIGN)
def test_foreign_bytes_are_refused_and_never_a_traceback(tmp_path: Path, damage: str):
    path = tmp_path / "codes.npz"
    path.write_bytes(FOREIGN[damage])
    with pytest.raises(FileError, match=re.escape(f"'{path}': ")):
        load_codes(path)


@pytest.mark.parametrize(
    "name", ["../codes.npy", "/etc/codes.npy", "C:\\codes.npy", "codes.npy/../../x"]
)
def test_row_097_members_of_archives_are_never_unpacked(tmp_path: Path, name: str):
    array = io.BytesIO()
    np.save(array, np.ones((2, 8)))
    path = tmp_path / "inside" / "codes.npz"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, array.getvalue())
    with pytest.raises(FileError, match="expected codes, and optionally labels, ids, bits"):
        load_codes(path)
    assert sorted(found.name for found in tmp_path.rglob("*")) == ["codes.npz", "inside"]


@pytest.mark.parametrize("dtype", ["<U0", "|S0", "|V0"])
def test_a_trillion_empty_ids_are_refused(tmp_path: Path, dtype: str):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("codes.npy", array("(2, 4)", "|b1") + bytes(8))
        archive.writestr("ids.npy", array("(1000000000000,)", dtype))
    shard = load_codes(tmp_path / "a.npz")
    with pytest.raises(DataError, match="1000000000000 ids for 2 rows"):
        count_codes(
            shard.codes, shard.codes, query_labels=[0, 1], item_labels=[0, 1], item_ids=shard.ids
        )
