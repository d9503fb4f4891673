"""Embeddings in every format against brute force, FAISS and sentence-transformers."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from polars.testing import assert_frame_equal

import retrieval_report as rr
from retrieval_report.codes import nearest
from retrieval_report.codes.formats import parse_format

Array = NDArray[Any]
FORMATS = (
    "float32", "float16", "bfloat16", "int8", "int4", "binary", "SQ8", "SQ4", "SQfp16", "SQbf16",
    "truncate:3", "digits:1", "digits:0+truncate:5", "bfloat16+upcast", "binary+truncate:5",
    "int8+truncate:4+digits:2", "float16+truncate:4",
)  # fmt: skip
SIMILARITIES = ("cosine", "inner_product")


def on_grid(seed: int, rows: int, width: int) -> Array:
    """Vectors of few values, none zero, so that whole rows repeat and scores tie."""
    values = np.random.default_rng(seed).integers(-3, 4, (rows, width)) / 8
    values[:, 0] = np.where(values[:, 0] == 0, 0.5, values[:, 0])
    return np.asarray(values, np.float32)


def single(values: Any) -> Array:
    return np.asarray(values, np.float32).astype(float)


def half(values: Any) -> Array:
    return np.asarray(values, np.float16).astype(float)


def brain(values: Any) -> Array:
    """bfloat16 by its definition: eight significant bits of a float32, halves to even."""
    mantissa, exponent = np.frexp(single(values))
    return np.asarray(np.ldexp(np.rint(mantissa * 256) / 256, exponent))


def steps(vectors: Array, ranges: Array, bits: int) -> Array:
    """Whole numbers as sentence-transformers' `quantize_embeddings` documents them, value by
    value.
    """
    low, high = ranges.min(axis=0), ranges.max(axis=0)
    codes = np.empty(vectors.shape)
    for row, column in np.ndindex(*vectors.shape):
        step = np.float32((high[column] - low[column]) / np.float32(2**bits - 1)) or np.float32(1)
        level = math.floor(np.float32(vectors[row, column] - low[column]) / step)
        codes[row, column] = min(max(level, 0), 2**bits - 1) - 2 ** (bits - 1)
    return codes


def middles(vectors: Array, ranges: Array, bits: int) -> Array:
    """What FAISS's scalar quantizer decodes its codes to."""
    low, width = ranges.min(axis=0), ranges.max(axis=0) - ranges.min(axis=0)
    share = (vectors - low) / np.where(width == 0, np.float32(1), width)
    levels = np.float32(2**bits - 1)
    return single(
        low + (np.floor(np.clip(share, 0, 1) * levels) + np.float32(0.5)) / levels * width
    )


def directions(vectors: Array) -> Array:
    return np.array([[x / (math.sqrt(math.fsum(row * row)) or 1) for x in row] for row in vectors])


def brute_force(queries: Array, items: Array, text: str, similarity: str) -> Array:
    """The score of every pair, or minus the Hamming distance."""
    words = dict(word.partition(":")[::2] for word in text.split("+"))
    kept = int(words.pop("truncate", queries.shape[1]))
    digits, upcast = words.pop("digits", None), words.pop("upcast", None) is not None
    storage = next(iter(words), "float32")
    queries, items = queries[:, :kept], items[:, :kept]
    if storage == "binary":
        differ = np.array([[(q > 0) ^ (i > 0) for i in items] for q in queries])
        return np.asarray(-differ.sum(axis=2))
    if similarity == "cosine":
        queries, items = (directions(vectors.astype(float)) for vectors in (queries, items))
    queries, items = np.asarray(queries, np.float32), np.asarray(items, np.float32)
    stored = {
        "float32": (single, single), "float16": (half, half), "bfloat16": (brain, brain),
        "SQfp16": (single, half), "SQbf16": (single, brain),
        "SQ8": (single, lambda x: middles(x, items, 8)),
        "SQ4": (single, lambda x: middles(x, items, 4)),
        "int8": (lambda x: steps(x, items, 8),) * 2, "int4": (lambda x: steps(x, items, 4),) * 2,
    }  # fmt: skip
    one, other = (encode(x) for encode, x in zip(stored[storage], (queries, items), strict=True))
    of_codes = storage.startswith("int") and similarity == "cosine"
    scores = np.array([[math.fsum(q * i) for i in other] for q in one])
    if of_codes:
        norms = [np.sqrt((codes**2).sum(axis=1)) for codes in (one, other)]
        scores /= np.where(np.outer(*norms) == 0, 1, np.outer(*norms))
    if digits is not None:
        return np.round(scores, int(digits))
    if upcast or of_codes or storage.startswith(("SQ", "float32")):
        return single(scores)
    return {"float16": half, "bfloat16": brain}.get(storage, np.asarray)(scores)


def lists(scores: Array, depth: int) -> list[list[tuple[int, float]]]:
    """The nearest items of every query, and all that tie with the last: the order of the items
    inside ties.
    """
    found = []
    for row in scores:
        last = sorted(row, reverse=True)[min(depth, len(row)) - 1]
        order = sorted(range(len(row)), key=lambda item: (-row[item], item))
        found.append([(item, row[item]) for item in order if row[item] >= last])
    return found


def searched(runs: Any, model: str) -> list[list[tuple[int, float]]]:
    rows = runs.rankings.filter(model=model)
    score = pl.col("score") if "score" in rows.columns else -pl.col("distance")
    return [
        list(part.select("item", score).iter_rows())
        for part in rows.partition_by("query", maintain_order=True)
    ]


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("text", FORMATS)
def test_every_format_equals_brute_force(text: str, similarity: str):
    for rows, count, width, depth in ((9, 60, 6, 7), (1, 1, 5, 3), (4, 9, 7, 20)):
        queries, items = on_grid(rows, rows, width), on_grid(1, count, width)
        runs = rr.from_embeddings(queries, items, [text], depth=depth, similarity=similarity)
        expected = lists(brute_force(queries, items, text, similarity), depth)
        assert searched(runs, text) == expected
        assert runs.truncated == ("no" if depth >= count else "between_ties")


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("order", ["as drawn", "farthest first", "nearest first"])
def test_results_do_not_depend_on_the_size_of_blocks(
    monkeypatch: pytest.MonkeyPatch, order: str, similarity: str
):
    rng = np.random.default_rng(5)
    queries, items = rng.normal(size=(7, 40)), rng.normal(size=(300, 40))
    items = np.concatenate([items, items[:50]])  # ties of float32
    if order != "as drawn":
        near = np.argsort(items @ queries[0])
        items = items[near if order == "farthest first" else near[::-1]]
    asked: Any = {"formats": FORMATS, "depth": 11, "similarity": similarity}
    whole = rr.from_embeddings(queries, items, **asked).rankings
    for name, size in {"QUERIES": 3, "ITEMS": 13, "PAIRS": 5}.items():
        monkeypatch.setattr(nearest, f"{name}_AT_ONCE", size)
    monkeypatch.setattr(nearest, "SPARE", 40)
    assert rr.from_embeddings(queries, items, **asked).rankings.equals(whole)


def test_equal_vectors_tie_wherever_they_stand():
    rng = np.random.default_rng(3)
    queries, one = rng.normal(size=(20, 333)), rng.normal(size=(1, 333))
    items = np.concatenate([rng.normal(size=(91, 333)), one, rng.normal(size=(78, 333)), one])
    rows = rr.from_embeddings(queries, items, ["float32", "int8"], depth=200).rankings
    twins = rows.filter(pl.col("item").is_in([91, 170])).group_by("model", "query")
    assert twins.agg(pl.n_unique("score"))["score"].to_list() == [1] * 40


def test_whole_numbers_beyond_single_precision_are_exact():
    rng = np.random.default_rng(8)
    queries, items = (rng.choice([-1.0, 1.0], (rows, 2000)) for rows in (3, 50))
    items[10] = items[20] = queries[0]
    runs = rr.from_embeddings(queries, items, ["int8"], depth=5, similarity="inner_product")
    expected = lists(brute_force(queries, items, "int8", "inner_product"), 5)
    assert searched(runs, "int8") == expected
    assert max(score for found in expected for _, score in found) > 2**24


def test_costs_are_bytes_per_vector():
    vectors = on_grid(4, 3, 130)
    formats = {"full": "float32", "half": "float16", "bits": "binary", "short": "int4+truncate:63"}
    runs = rr.from_embeddings(vectors, vectors, formats)
    sizes = {"full": 520, "half": 260, "bits": 17, "short": 32}
    assert runs.costs is not None
    assert runs.costs.to_dict(as_series=False) == {
        "model": list(sizes),
        "bytes per vector": list(sizes.values()),
    }
    assert runs.rankings["model"].unique(maintain_order=True).to_list() == list(sizes)


def test_a_study_takes_ends_and_costs_unless_told_otherwise():
    vectors = on_grid(5, 60, 8)
    labels = vectors.argmax(axis=1)  # which near ones share
    found = rr.from_embeddings(
        vectors[:20], vectors[20:], "float32, binary", depth=10,
        query_labels=labels[:20], item_labels=labels[20:],
    )  # fmt: skip
    study = rr.Study(found, "precision@5", baseline="float32", margin=0.9)
    assert study.summary["truncated_share"].max() == 0
    assert dict(study.costs.filter(policy="expected").select("model", "amount").rows()) == {
        "float32": 32.0,
        "binary": 1.0,
    }
    cut = rr.Study(found, "precision@10", truncated="within_tie", costs={"float32": 5})
    assert cut.summary.filter(pl.col("truncated_share") > 0).height
    assert cut.costs["amount"].unique().to_list() == [5.0]


@pytest.mark.parametrize("kind", [np.float64, np.float16, np.int8, np.bool_, list])
def test_numbers_of_any_type_are_read(kind: Any):
    values = np.random.default_rng(9).integers(0, 2, (12, 6))
    values[:, 0] = 1
    vectors = values.tolist() if kind is list else values.astype(kind)
    expected = rr.from_embeddings(values.astype(np.float32), values.astype(np.float32)).rankings
    assert rr.from_embeddings(vectors, vectors).rankings.equals(expected)


def test_faiss_finds_the_same():
    faiss = pytest.importorskip("faiss")
    rng = np.random.default_rng(11)
    queries, items = (rng.normal(size=(rows, 64)).astype(np.float32) for rows in (8, 500))
    # With AVX512-BF16, FAISS 1.15 rounds the queries of SQbf16 as well: scores differ by 0.3 %.
    queries = brain(queries).astype(np.float32)
    kinds = faiss.ScalarQuantizer
    indexes = {
        "float32": faiss.IndexFlatIP(64),
        **{
            name: faiss.IndexScalarQuantizer(64, kind, faiss.METRIC_INNER_PRODUCT)
            for name, kind in {
                "SQ8": kinds.QT_8bit, "SQ4": kinds.QT_4bit, "SQfp16": kinds.QT_fp16,
                "SQbf16": kinds.QT_bf16,
            }.items()
        },
    }  # fmt: skip
    runs = rr.from_embeddings(queries, items, [*indexes], depth=50, similarity="inner_product")
    for name, index in indexes.items():
        index.train(items)
        index.add(items)
        scores, _ = index.search(queries, 50)
        ours = [[score for _, score in found] for found in searched(runs, name)]
        np.testing.assert_allclose(ours, scores, rtol=2e-5, err_msg=name)
    bits = [np.packbits(vectors > 0, axis=1) for vectors in (queries, items)]
    flat = faiss.IndexBinaryFlat(64)
    flat.add(bits[1])
    distances, _ = flat.search(bits[0], 50)
    found = searched(rr.from_embeddings(queries, items, ["binary"], depth=50), "binary")
    assert [[-score for _, score in row[:50]] for row in found] == distances.tolist()


def test_calibration_sets_the_ranges_and_values_outside_are_clipped():
    queries, items, sample = on_grid(20, 4, 6) * 3, on_grid(21, 30, 6) * 3, on_grid(22, 50, 6)
    codes = [steps(vectors, sample, 8) for vectors in (queries, items)]
    runs = rr.from_embeddings(
        queries, items, ["int8"], depth=5, similarity="inner_product", calibration=sample
    )
    assert searched(runs, "int8") == lists(codes[0] @ codes[1].T, 5)
    assert {codes[1].min(), codes[1].max()} == {-128, 127}


def test_ties_of_too_many_rows_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(nearest, "MOST_ROWS", 100)
    vectors = on_grid(31, 40, 4)
    with pytest.raises(rr.DataError, match=r"format 'digits:0': .* rows for the first 40 queries"):
        rr.from_embeddings(vectors, vectors, ["digits:0"], depth=2)


@pytest.mark.parametrize(
    ("text", "storage"),
    [("fp32", "float32"), ("bf16+truncate:64", "bfloat16"), ("ubinary", "binary")],
)
def test_short_names_of_formats(text: str, storage: str):
    assert parse_format(text).storage == storage


def test_row_115_packed_bits_are_not_taken_for_numbers():
    bits = np.random.default_rng(0).normal(size=(20, 64)) > 0
    packed = np.packbits(bits, axis=1)
    relevant: Any = {"query_labels": [0] * 20, "item_labels": [0] * 20}
    with pytest.raises(rr.DataError, match=r"queries: uint8 values .* unpack packed bits"):
        rr.from_embeddings(packed, packed, ["binary"], **relevant)
    unpacked = np.unpackbits(packed, axis=1)
    from_bits = rr.from_embeddings(unpacked, unpacked, ["binary"], **relevant)
    whole = rr.from_embeddings(bits * 2.0 - 1, bits * 2.0 - 1, ["binary"], **relevant)
    assert_frame_equal(from_bits.rankings, whole.rankings)


def test_quantised_vectors_are_not_quantised_again():
    values = np.random.default_rng(0).normal(size=(20, 64)).round(2)
    relevant: Any = {"query_labels": [0] * 20, "item_labels": [0] * 20}
    codes = (values * 30).astype(np.int8)
    for name in ("int8", "binary"):
        with pytest.raises(
            rr.DataError, match=r"queries: int8 values .* whether|quantise them again"
        ):
            rr.from_embeddings(codes, codes, ["float32", name], **relevant)
    assert rr.from_embeddings(codes, codes, "float32", **relevant).rankings.height


def test_formats_have_one_order_whatever_others_are_beside_them():
    values = np.random.default_rng(0).normal(size=(20, 16))
    relevant: Any = {"query_labels": [0] * 20, "item_labels": [0] * 20}
    alone = rr.from_embeddings(values, values, "float32", **relevant).rankings
    both = rr.from_embeddings(values, values, ["float32", "binary"], **relevant).rankings
    assert both.filter(model="float32")["score"].equals(alone["score"])
    bits = both.filter(model="binary")["score"]
    assert (bits.min(), bits.max()) >= (0, 16)  # of 16, how many are equal


def test_row_115_a_dictionary_of_vectors_is_told_what_to_pass():
    with pytest.raises(rr.DataError, match="pass the original vectors once, and name the formats"):
        rr.from_embeddings({"float32": [[1.0]]}, [[1.0]], query_labels=[0], item_labels=[0])


def test_arrays_of_bfloat16_are_read_as_numbers():
    """What JAX returns is a NumPy array of a type that NumPy itself lacks."""
    brain = pytest.importorskip("ml_dtypes", reason="it comes with JAX").bfloat16
    queries, items = on_grid(1, 4, 6), on_grid(2, 20, 6)  # eighths, which bfloat16 holds
    labels: Any = {"query_labels": [0, 1, 0, 1], "item_labels": [0, 1] * 10}
    found = rr.from_embeddings(queries.astype(brain), items.astype(brain), ["float32"], **labels)
    wanted = rr.from_embeddings(queries, items, ["float32"], **labels)
    assert_frame_equal(found.rankings, wanted.rankings)
    distances, indices = np.array([[1, 2]], brain), np.array([[0, 1]])
    lists = rr.from_search((distances, indices), query_labels=[0], item_labels=[0, 1]).rankings
    assert lists["distance"].to_list() == [1.0, 2.0]
