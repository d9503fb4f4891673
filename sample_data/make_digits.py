"""Make `sample_data/digits`: one image search, thirteen models whose distances tie differently.

    python sample_data/make_digits.py [FOLDER]

The images are scikit-learn's bundled digits (1797 images of 8 x 8 whole pixels, 0..16). Whole
pixels let nearly every distance be computed exactly, so the files do not depend on the processor's
BLAS; only the eigenvectors behind `pca-sign` and `itq` are floating point, and there just the signs
of projections are kept.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from common import nearest_with_whole_ties, replaced_folder, round_to_bfloat16
from numpy.typing import NDArray
from sklearn.datasets import load_digits

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Distances = NDArray[np.generic]

SEED = 0
QUERIES_PER_DIGIT = 20
DEPTH = 100
CENTROIDS = 100


class Images(NamedTuple):
    """Ids (places in the data set), whole-pixel vectors and digits of the queries and of the
    items.
    """

    query_ids: Integers
    queries: Integers
    query_digits: Integers
    item_ids: Integers
    items: Integers
    item_digits: Integers


def random_numbers() -> np.random.RandomState:
    """Return a fresh generator; RandomState because NumPy promises its stream never changes."""
    return np.random.RandomState(SEED)


def load_images() -> Images:
    """Draw the same number of queries from every digit; all other images are the items searched."""
    pixels, digits = load_digits(return_X_y=True)
    pixels, digits = pixels.astype(np.int64), digits.astype(np.int64)
    random = random_numbers()
    drawn = [
        random.choice(np.flatnonzero(digits == digit), QUERIES_PER_DIGIT, replace=False)
        for digit in range(10)
    ]
    query_ids = np.sort(np.concatenate(drawn))
    item_ids = np.setdiff1d(np.arange(len(digits)), query_ids)
    return Images(
        query_ids,
        pixels[query_ids],
        digits[query_ids],
        item_ids,
        pixels[item_ids],
        digits[item_ids],
    )


def lengths(vectors: Integers) -> Floats:
    """Return the Euclidean length of every vector, as a column."""
    squares: Integers = (vectors**2).sum(axis=1, keepdims=True)
    return np.sqrt(squares.astype(np.float64))


def cosine_float32(images: Images) -> NDArray[np.float32]:
    """1 - cosine, rounded to float32; the dot products are whole numbers, hence exact."""
    products = (images.queries @ images.items.T).astype(np.float32)
    scale = (lengths(images.queries) * lengths(images.items).T).astype(np.float32)
    return np.float32(1) - products / scale


def cosine_bfloat16(images: Images) -> NDArray[np.float32]:
    """1 - similarity, where the unit vectors and the similarity are bfloat16.

    Products of 8-bit significands add up exactly in float64, whatever the order of the sum.
    """
    queries = round_to_bfloat16(images.queries / lengths(images.queries)).astype(np.float64)
    items = round_to_bfloat16(images.items / lengths(images.items)).astype(np.float64)
    return np.float32(1) - round_to_bfloat16(queries @ items.T)


def cosine_int8(images: Images) -> Integers:
    """127**2 - dot product of the unit vectors times 127, rounded to int8: about 127**2 * (1 -
    cosine).

    A whole number; rounding can bring it below 0 for near twins, which no rank minds.
    """
    queries = np.rint(127 * images.queries / lengths(images.queries)).astype(np.int64)
    items = np.rint(127 * images.items / lengths(images.items)).astype(np.int64)
    distances: Integers = 127**2 - queries @ items.T
    return distances


def squared_euclidean(queries: Integers, items: Integers) -> Integers:
    """Return all pairwise squared distances of whole-number vectors, exactly."""
    products = queries @ items.T
    distances: Integers = (
        (queries**2).sum(axis=1, keepdims=True) + (items**2).sum(axis=1) - 2 * products
    )
    return distances


def hamming(query_codes: NDArray[np.bool_], item_codes: NDArray[np.bool_]) -> Integers:
    """Return the number of bits in which two codes differ, for all pairs."""
    return squared_euclidean(query_codes.astype(np.int64), item_codes.astype(np.int64))


def lsh(images: Images, bits: int) -> Integers:
    """Hamming distance of the sides of random hyperplanes through the mean image (Charikar 2002).

    Normals are rounded to thousandths and vectors multiplied by the number of items: whole numbers
    again.
    """
    normals = np.rint(
        1000 * random_numbers().standard_normal((images.items.shape[1], bits))
    ).astype(np.int64)
    count, total = len(images.items), images.items.sum(axis=0)
    query_codes = (count * images.queries - total) @ normals >= 0
    item_codes = (count * images.items - total) @ normals >= 0
    return hamming(query_codes, item_codes)


def principal_components(images: Images, bits: int) -> tuple[Floats, Floats]:
    """Project queries and items on the `bits` main axes of the items, after centring."""
    mean = images.items.mean(axis=0)
    centred = images.items - mean
    _, axes = np.linalg.eigh(centred.T @ centred)
    main_axes = axes[:, ::-1][:, :bits]
    return (images.queries - mean) @ main_axes, centred @ main_axes


def pca_sign(images: Images, bits: int) -> Integers:
    """Hamming distance of the signs of the principal components."""
    queries, items = principal_components(images, bits)
    return hamming(queries >= 0, items >= 0)


def itq_rotation(items: Floats, rounds: int = 50) -> Floats:
    """Rotate the components towards their signs (iterative quantisation, Gong & Lazebnik 2011)."""
    bits = items.shape[1]
    rotation, _ = np.linalg.qr(random_numbers().standard_normal((bits, bits)))
    for _ in range(rounds):
        signs = np.where(items @ rotation >= 0, 1.0, -1.0)
        left, _, right = np.linalg.svd(items.T @ signs)
        rotation = left @ right
    return rotation


def itq(images: Images, bits: int) -> Integers:
    """Hamming distance of the signs of the principal components after the ITQ rotation."""
    queries, items = principal_components(images, bits)
    rotation = itq_rotation(items)
    return hamming(queries @ rotation >= 0, items @ rotation >= 0)


def whole_number_centroids(items: Integers, rounds: int = 20) -> Integers:
    """Run Lloyd's k-means with centroids rounded to whole pixels, so that it is exact."""
    centroids = items[random_numbers().choice(len(items), CENTROIDS, replace=False)]
    for _ in range(rounds):
        nearest = squared_euclidean(items, centroids).argmin(axis=1)
        members = nearest[None, :] == np.arange(CENTROIDS)[:, None]
        counts = members.sum(axis=1, keepdims=True)
        means = np.rint(members.astype(np.int64) @ items / np.maximum(counts, 1)).astype(np.int64)
        centroids = np.where(counts > 0, means, centroids)
    return centroids


def nearest_centroid(images: Images) -> Integers:
    """Squared distance from the query to the centroid of the item's cell: all items of one cell
    tie.

    This is the order in which an inverted-file index visits its cells, without a second look inside
    them.
    """
    centroids = whole_number_centroids(images.items)
    cell = squared_euclidean(images.items, centroids).argmin(axis=1)
    return squared_euclidean(images.queries, centroids)[:, cell]


def all_distances(images: Images) -> dict[str, Distances]:
    """Return the distance matrix (queries x items) of every model, by name."""
    cosine = cosine_float32(images)
    return {
        "cosine-1-digit": np.rint(cosine * 10) / np.float32(10),
        "cosine-2-digits": np.rint(cosine * 100) / np.float32(100),
        "cosine-bfloat16": cosine_bfloat16(images),
        "cosine-float32": cosine,
        "cosine-int8": cosine_int8(images),
        "itq-16": itq(images, 16),
        "itq-32": itq(images, 32),
        "lsh-16": lsh(images, 16),
        "lsh-32": lsh(images, 32),
        "lsh-64": lsh(images, 64),
        "nearest-centroid": nearest_centroid(images),
        "pca-sign-16": pca_sign(images, 16),
        "pca-sign-32": pca_sign(images, 32),
    }


def model_rankings(model: str, distances: Distances, images: Images) -> pl.DataFrame:
    """Return the nearest items of every query as contract rows; whole distances fit float32
    exactly.
    """
    kept = [nearest_with_whole_ties(row, DEPTH) for row in distances]
    query = np.repeat(np.arange(len(kept)), [len(positions) for positions in kept])
    item = np.concatenate(kept)
    return pl.DataFrame(
        {
            "query": images.query_ids[query].astype(np.uint16),
            "item": images.item_ids[item].astype(np.uint16),
            "distance": distances[query, item].astype(np.float32),
            "relevance": (images.query_digits[query] == images.item_digits[item]).astype(np.uint8),
        }
    ).select(pl.lit(model).alias("model"), pl.all())


def query_table(images: Images) -> pl.DataFrame:
    """Return every query with its digit and the number of items of that digit in the whole
    collection.
    """
    per_digit = np.bincount(images.item_digits, minlength=10)
    return pl.DataFrame(
        {
            "query": images.query_ids.astype(np.uint16),
            "label": images.query_digits.astype(np.uint8),
            "n_relevant": per_digit[images.query_digits].astype(np.uint16),
        }
    )


def make_digits(folder: Path) -> None:
    """Write `rankings.parquet` and `queries.parquet` into `folder`, replacing what is there."""
    images = load_images()
    rankings = pl.concat(
        model_rankings(model, distances, images)
        for model, distances in sorted(all_distances(images).items())
    )
    with replaced_folder(folder) as new:
        rankings.write_parquet(new / "rankings.parquet", compression="zstd", compression_level=19)
        query_table(images).write_parquet(
            new / "queries.parquet", compression="zstd", compression_level=19
        )


if __name__ == "__main__":
    make_digits(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "digits")
