"""Tables write numbers as the report does."""

import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from made_pages import TIMEOUT


def shown():
    import polars as pl

    from tables import frame_table

    rows = {
        "verdict": ["safe"] * 3,
        "winner": ["a"] * 3,
        "value": [0.5, 0.50002, 0.9],
        "segments_p": [1e-9, 0.04, None],
    }
    frame_table(pl.DataFrame(rows), of="segments", show=" ".join(rows))
    frame_table(
        pl.DataFrame({"model": ["a"], "cut_share": [1 / 3]}),
        of="profile",
        show="model cut_share",
    )
    pairs = pl.DataFrame({"model": ["a"], "relevant_pairs": [20_000.0], "all_pairs": [40_000.5]})
    frame_table(pairs, of="threshold_areas", show=" ".join(pairs.columns))
    ends = {"ci_low": [0.56, 0.57], "ci_high": [0.78912, 0.78913]}
    frame_table(
        pl.DataFrame({"model": ["a", "b"], **ends}), of="board", show="model ci_low ci_high"
    )
    frame_table(pl.DataFrame({"wins": [1]}), of="comparison", show="wins")


def test_small_probabilities_are_not_0_and_shares_have_one_decimal():
    page = AppTest.from_function(shown, default_timeout=TIMEOUT).run()
    pairs, profile, areas, *_ = (element.value for element in page.dataframe)
    assert pairs["segments_p"].dropna().to_list() == ["< 0.0001", "0.0400"]
    assert profile["cut_share"].to_list() == pytest.approx([100 / 3])
    formats = [element.proto.columns for element in page.dataframe]
    assert "%.5f" in formats[0]  # four decimals would show two models as equal
    assert "%.1f%%" in formats[1]
    assert areas["relevant_pairs"].to_list() == [20_000]
    assert ("%d" in formats[2], "%.6g" in formats[2]) == (True, True)  # whole amounts are counts
    assert formats[3].count("%.4f") == 2  # both ends of an interval
    assert (
        '"help": "Number of queries that A wins"' in formats[4]
    )  # not model_a, which no head says


def long_names():
    import polars as pl

    from retrieval_report.study.three_tables import with_copies_folded
    from tables import frame_table

    names = [
        f"anserini-0.6-2019-06-{day}-{run}" for run in ("ql.ax", "bm25.rm3") for day in (18, 28)
    ]
    copies = [None, names[0], None, None]
    rows = pl.DataFrame({"model": names, "expected": [0.5, 0.5, 0.4, 0.3], "copy_of": copies})
    rows = rows.with_columns(naive=pl.col("expected") + pl.Series([0.0, 0.0, 1e-6, 0.0]))
    show = "model expected naive"
    frame_table(with_copies_folded(rows), of="three_scores", show=show, in_full=True)
    pairs = pl.DataFrame({"model_a": names[:2], "model_b": names[2:]})
    frame_table(pairs, of="comparison", show="model_a model_b")


def test_long_names_lose_whole_words_and_differ():
    page = AppTest.from_function(long_names, default_timeout=TIMEOUT).run()
    three, pairs = (element.value for element in page.dataframe)
    assert three["model"].to_list() == [
        "anserini-0.6-2019-06-18-ql.ax = …28…",
        "anserini…6-2019-06-18-bm25.rm3",
        "anserini…6-2019-06-28-bm25.rm3",
    ]
    assert three["names_in_full"].to_list() == [
        "anserini-0.6-2019-06-18-ql.ax = anserini-0.6-2019-06-28-ql.ax",
        "anserini-0.6-2019-06-18-bm25.rm3",
        "anserini-0.6-2019-06-28-bm25.rm3",
    ]
    assert page.dataframe[0].proto.columns.count("%.4f") == 2  # naive has the digits of expected
    assert len({*pairs["model_a"], *pairs["model_b"]}) == 4


def signs():
    import polars as pl

    from tables import frame_table

    small = pl.DataFrame({"model": [*"abcde"], "off_by": [0.0, 0.0044, -0.001, 1e-17, None]})
    frame_table(small, of="three_scores", show="model off_by")
    many = pl.DataFrame({"model": ["a"] * 80, "difference": [0.25, 0.00006] * 40})
    frame_table(many, of="comparison", show="model difference")
    audited = pl.DataFrame({"model": [*"ab"], "z": [-0.6, -0.04]})
    frame_table(audited, of="audit", show="model z")
    frame_table(pl.DataFrame({"item": [*"ab"], "distance": [-4.0, -12.0]}))
    tiny = pl.DataFrame({"model": [*"ab"], "difference": [0.0010021, -7e-7]})
    frame_table(tiny, of="comparison", show="model difference")
    level = pl.DataFrame({"model": [*"ab"], "expected": [0.97268, 0.97262], "off_by": [0.0, 0.01]})
    frame_table(level, of="three_scores", show="model off_by expected")


def test_negative_numbers_have_a_true_minus_and_no_difference_is_shown_as_0():
    page = AppTest.from_function(signs, default_timeout=TIMEOUT).run()
    texts = [
        pa.ipc.open_stream(table.proto.arrow_data.styler.display_values).read_all()
        for table in page.dataframe
    ]
    off_by, differences, z, distances, tiny, level = (
        table.column(1).to_pylist() for table in texts
    )
    assert off_by == ["0.0000", "+0.0044", "−0.0010", "0.0000", "–"]
    assert differences[:2] == ["+0.2500", "+0.00006"]
    assert z == ["−0.6", "0.0"]
    assert distances == ["−4", "−12"]
    assert tiny == ["+0.0010", "−7e−7"]
    assert level == ["0.00000", "+0.01000"]  # the digits of the score
    numbers = page.dataframe[0].value["off_by"].to_list()
    assert numbers[:4] == [0.0, 0.0044, -0.001, 1e-17]  # which the browser sorts


def winners():
    import polars as pl

    from tables import frame_table

    names = ["cosine-int8", "nearest-centroid"]
    rows = pl.DataFrame(
        {"winner": [*names, " or ".join(names), " = ".join(names)], "exact_winner": names[0]}
    )
    frame_table(rows, of="audit", show="winner exact_winner")


def test_two_models_that_may_both_be_best_are_named_whole():
    page = AppTest.from_function(winners, default_timeout=TIMEOUT).run()
    (shown,) = (element.value for element in page.dataframe)
    assert shown["winner"].to_list()[-2:] == [
        "cosine-int8 or nearest-centroid",
        "cosine-int8 = nearest-centroid",
    ]
