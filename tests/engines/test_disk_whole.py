"""`evaluate` and `count_ties` of paths and lazy frames: part by part, and yet what a frame in
memory gives.
"""

import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from retrieval_report import (
    ColumnError,
    DataError,
    FileError,
    OutputError,
    ParameterError,
    count_ties,
    evaluate,
    evaluate_to,
    read_judgements,
    read_rankings,
)
from retrieval_report.engines import disk, disk_parts, score_parts
from stored_frames import FEW, POLICIES, made, written

PARTS = 85  # rows: the frames below are some four parts


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(disk, "ROWS_PER_PART", PARTS)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))


def leftovers(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "temporary").iterdir())


def same(rankings: Any, whole: pl.DataFrame, *others: Any, **options: Any):
    """Equal to the last bit, in the same order."""
    options = {"policies": POLICIES, **FEW, **options}
    scores, counts = evaluate(whole, **options), None
    if "judgements" not in options:
        counts = count_ties(whole)
    for given in (rankings, *others):
        assert_frame_equal(evaluate(given, **options), scores, check_exact=True)
        if counts is not None:
            assert_frame_equal(count_ties(given), counts, check_exact=True)


@pytest.fixture
def source(tmp_path: Path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


@pytest.mark.parametrize(("text", "order"), [(True, "grouped"), (False, "scattered")])
def test_one_file(tmp_path: Path, source: Path, text: bool, order: str):
    frame = made(text=text)
    frame = frame.sample(fraction=1.0, shuffle=True, seed=1) if order == "scattered" else frame
    assert frame.height > 4 * PARTS
    file = written(source, [frame]) / "part-0.parquet"
    others = (str(file), [file], source, str(source / "*.parquet"))
    same(file, frame, *(others if text else ()))
    assert leftovers(tmp_path) == []


def test_shards_of_the_items(source: Path):
    frame = made()
    shards = [frame.filter(pl.col("item").cast(pl.Int64) % 3 == shard) for shard in range(3)]
    written(source, shards)
    same(source, pl.concat(shards))
    for order in ("item", "item_descending"):
        same(sorted(source.iterdir()), pl.concat(shards), naive_order=order)
    nameless = [shard.filter(model="m0").drop("model") for shard in shards]
    written(source, nameless)
    same(pl.scan_parquet(source / "*.parquet"), pl.concat(nameless))


def test_counts(source: Path):
    counts = pl.concat([count_ties(made()), count_ties(made())])
    written(source, counts.iter_slices(70))
    for rankings in (source, counts.lazy()):
        same(rankings, counts, policies=("expected", "best"))


@pytest.mark.parametrize("text", [True, False])
def test_a_lazy_frame_is_computed_once(tmp_path: Path, text: bool):
    frame = made(text=text).sample(fraction=1.0, shuffle=True, seed=2)
    seen: list[int] = []

    def count(rows: pl.DataFrame):
        seen.append(rows.height)
        return rows

    plan = (
        frame.lazy()
        .map_batches(count, schema=frame.schema, streamable=True)
        .with_columns(more=pl.lit("unused"))
    )
    evaluate(plan, **FEW)
    assert sum(seen) == frame.height
    same(plan, frame)
    assert leftovers(tmp_path) == []


def test_a_lazy_frame_goes_to_a_temporary_folder(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    with pytest.raises(OutputError, match="cannot make a temporary folder: No such file"):
        evaluate(made().lazy(), **FEW)


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object, **__: object):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.LazyFrame, "sink_parquet", full)
    with pytest.raises(DataError, match=r"the frame cannot be computed: .*No space left"):
        evaluate(made().lazy(), **FEW)
    assert leftovers(tmp_path) == []


BAD: list[tuple[str, Callable[[pl.DataFrame], pl.DataFrame]]] = [
    ("no rows", lambda frame: frame.clear()),
    ("a column less", lambda frame: frame.drop("item")),
    ("text for numbers", lambda frame: frame.with_columns(pl.col("distance").cast(pl.String))),
    ("two orders", lambda frame: frame.with_columns(score=pl.col("distance"))),
]


@pytest.mark.parametrize("change", [change for _, change in BAD], ids=[name for name, _ in BAD])
@pytest.mark.parametrize("queries", [3, 23], ids=["small", "large"])
def test_columns_are_refused_in_the_same_words(
    change: Callable[[pl.DataFrame], pl.DataFrame], queries: int
):
    frame = change(made(queries=queries))
    for compute in (evaluate, count_ties):
        results = []
        for rankings in (frame, frame.lazy()):
            try:
                results.append(compute(rankings).to_dicts())
            except ColumnError as error:
                results.append([{"error": str(error)}])
        assert results[0] == results[1]


def test_bad_rows_are_found_in_any_part(source: Path):
    frame = made().with_row_index("n").with_columns(
        distance=pl.when(pl.col("n") != 200).then(pl.col("distance"))
    ).drop("n")  # fmt: skip
    message = r"column 'distance': 1 null, first in query '.*', item '.*' of model 'm\d'"
    written(source, frame.iter_slices(100))
    for compute in (partial(evaluate, truncated="no"), count_ties):
        for rankings in (frame, frame.lazy(), source):
            with pytest.raises(DataError, match=message) as caught:
                compute(rankings)
        assert "Counted within part" in caught.value.__notes__[0]


def test_what_is_no_table(tmp_path: Path, source: Path):
    for compute in (evaluate, count_ties):
        with pytest.raises(FileError, match="absent"):
            compute(tmp_path / "absent.parquet")
        with pytest.raises(FileError, match="the folder has no file"):
            compute(source)
        with pytest.raises(ColumnError, match="the list is empty"):
            compute([])
        rows = made().head(2).with_columns(relevance=pl.lit(1, pl.Int64))
        assert_frame_equal(compute(rows.to_dicts()), compute(rows))
    made().write_csv(source / "rankings.csv")
    with pytest.raises(FileError, match=r"is csv; only Parquet and Arrow files .* read_rankings"):
        evaluate_to(tmp_path / "scores.parquet", source)


def test_files_of_text_are_scored_as_a_study_reads_them(tmp_path: Path, source: Path):
    """`rr.evaluate("runs", judgements="qrels.txt")` is as good as the same Study."""
    judgements = tmp_path / "qrels.txt"
    judgements.write_text("q 0 a 1\nq 0 b 0\n", encoding="utf-8")
    for name in ("first", "second"):
        text = "".join(f"q Q0 {item} 1 0.5 {name}\n" for item in "ab")
        (source / f"{name}.run").write_text(text, encoding="utf-8")
    in_memory = evaluate(read_rankings(source), judgements=read_judgements(judgements))
    assert in_memory["model"].unique().sort().to_list() == ["first", "second"]
    for rankings in (source, f"{source}/*.run", [*source.iterdir()]):
        assert_frame_equal(
            evaluate(rankings, judgements=judgements), in_memory, check_row_order=False
        )


def test_arguments_are_checked_before_rows_are_read(source: Path):
    for rankings in (made().lazy(), source / "absent.parquet"):
        with pytest.raises(ParameterError, match="policies"):
            evaluate(rankings, policies="naiv")
        with pytest.raises(ParameterError, match="measures"):
            evaluate(rankings, metrics="ndgc")


def test_an_interrupted_run_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object):
        raise KeyboardInterrupt

    out = tmp_path / "disk.parquet"
    out.write_text("older")
    monkeypatch.setattr(score_parts, "score_runs", interrupted)
    monkeypatch.setattr(score_parts, "count_rows", interrupted)
    complete: Any = {"truncated": "no"}
    runs: list[Callable[[object], object]] = [partial(evaluate, **complete), count_ties]
    runs.append(partial(evaluate_to, out, **complete))
    for run in runs:
        with pytest.raises(KeyboardInterrupt):
            run(made().lazy())
    assert leftovers(tmp_path) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["disk.parquet", "temporary"]
    assert out.read_text() == "older"


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch):
    """How many rows each part had."""
    seen: dict[str, list[int]] = {"judge": [], "count_rows": []}

    def watch(name: str):
        whole = getattr(score_parts, name)

        def watched(rows: pl.DataFrame, *others: object) -> object:
            seen[name].append(rows.height)
            return whole(rows, *others)

        monkeypatch.setattr(score_parts, name, watched)

    watch("judge")
    watch("count_rows")
    return seen


def test_no_more_than_a_part_is_in_memory(source: Path, sizes: dict[str, list[int]]):
    frame = made(queries=46).sample(fraction=1.0, shuffle=True, seed=1)
    evaluate(written(source, [frame]), **FEW)
    count_ties(frame.lazy())
    longest = frame.group_by("query").len()["len"].max()
    assert isinstance(longest, int)
    for own in sizes.values():
        assert sum(own) >= frame.height
        assert max(own) <= PARTS + 2 * longest  # a hash fills parts unevenly
    assert leftovers(source.parent) == []


GROUPED: dict[str, Callable[[pl.DataFrame], list[pl.DataFrame]]] = {
    "by query": lambda frame: [frame.sort("query", maintain_order=True)],
    "by model": lambda frame: [frame],
    "a file per model": lambda frame: frame.partition_by("model"),
    "without names": lambda frame: [part.drop("model") for part in frame.partition_by("model")],
}


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize("layout", GROUPED)
def test_rows_of_a_query_that_stand_together_are_read_in_place(
    source: Path,
    sizes: dict[str, list[int]],
    monkeypatch: pytest.MonkeyPatch,
    layout: str,
    text: bool,
):
    monkeypatch.setattr(disk_parts, "LOOK_ROWS", 50)  # a query may go on in the next look
    monkeypatch.setattr(disk_parts, "LEAST_RUN", 2)
    monkeypatch.setattr(disk_parts, "LEAST_RANGE", 10)
    monkeypatch.setattr(disk_parts, "copied_parts", None)
    frames = GROUPED[layout](made(text=text, queries=46))
    written(source, frames)
    rankings = sorted(source.iterdir())
    judged = pl.concat(frames).select("query", "item", "relevance").unique(["query", "item"])
    more = judged.head(1).with_columns(query=pl.lit("900", judged.schema["query"]))
    judged = pl.concat([judged, more])  # a query that no model answers
    whole = pl.concat(
        frame.with_columns(model=pl.lit(path.stem)) if layout == "without names" else frame
        for frame, path in zip(frames, rankings, strict=True)
    )
    same(rankings, whole)
    same(rankings, whole, judgements=judged.with_columns(pl.col("query").cast(pl.String)))
    longest = whole.group_by("query").len()["len"].max()
    assert isinstance(longest, int)
    parts = [rows for rows in sizes["judge"] if 0 < rows < whole.height]
    assert len(parts) >= 8
    assert max(parts) <= PARTS + longest


def test_a_warning_comes_once_and_points_at_the_caller(source: Path):
    written(source, [made(models=1).with_columns(relevance=0)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        evaluate(source)
    assert any("no query has a relevant item" in str(warning.message) for warning in caught)
    assert len({str(warning.message) for warning in caught}) == len(caught)
    assert {warning.filename for warning in caught} == {__file__}
