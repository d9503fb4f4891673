"""The fast reader of plain TREC files gives the same result as the general one."""

import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.reading import sources, trec
from retrieval_report.reading.names import JUDGEMENTS, RANKINGS, match_columns
from retrieval_report.reading.printed_ranks import without_agreeing_ranks
from retrieval_report.reading.sources import SMALL_CHUNK, Source
from retrieval_report.reading.trec import QRELS_FIELDS, RUN_FIELDS

IDS = st.text(st.characters(exclude_categories=["Cs", "Zs", "Cc"]), min_size=1, max_size=5)
ODD_IDS = st.sampled_from(
    ["#q", "q#1", '"q', 'a"b', "a,b", "x\x00y", "x\x0cy", "é", "\xa0", "-", "7", "007"]
)
SCORES = st.one_of(
    st.floats().map(repr),
    st.integers(-5, 5).map(str),
    st.integers(2**52, 2**70).map(str),
    st.sampled_from(
        [
            "NA",
            "inf",
            "-Infinity",
            "1e400",
            "1e-400",
            "+.5",
            "5.",
            "0x1",
            "1_0",
            "3,5",
            "--1",
            "null",
            "1d3",
        ]
    ),
)
MARKS = st.sampled_from([" "] * 40 + ["\t"] * 3 + ["  ", " \t", "\r", "\x0b", "\u2003"])
ENDS = st.sampled_from(
    ["\n"] * 20
    + ["\r\n", " \n", "\n\n", "\n# a comment\n", "\n \n", "\n ", " extra\n", " 1 2\n", ""]
)


@st.composite
def files(draw: st.DrawFn, fields: int) -> bytes:
    """A file of lines that are seldom odd, with spaces throughout or with tabs."""
    mark = draw(st.sampled_from([st.just(" "), st.just("\t"), MARKS]))
    end = draw(st.sampled_from([st.just("\n"), ENDS]))
    ids = draw(st.sampled_from([st.sampled_from("abc"), IDS, st.one_of(IDS, ODD_IDS)]))
    number = draw(
        st.sampled_from([st.integers(-9, 99).map(str), st.floats(-9, 9).map(repr), SCORES])
    )
    text = draw(st.sampled_from(["", "", "", "\ufeff", " ", "\n", "# x\n"]))
    for _ in range(draw(st.integers(1, 6))):
        values = [draw(number if field in (3, 4) else ids) for field in range(fields)]
        dropped = draw(st.sampled_from([0] * 20 + [1]))
        text += "".join(value + draw(mark) for value in values[dropped:-1]) + values[-1] + draw(end)
    content = text.encode()
    broken = draw(st.sampled_from([False] * 20 + [True]))
    return content.replace(b"a", b"\xff", 1) if broken else content


def result(content: bytes, fields: tuple[str, ...], columns: dict[str, str] | None, *, plain: bool):
    """What reading gives: the frame or the error, and the warnings."""
    kind = RANKINGS if fields == RUN_FIELDS else JUDGEMENTS
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if not plain:
            patch.setattr(trec, "_read_plain", lambda *given: None)
        # Blocks and the lines by which numbers are recognised are some of the file.
        patch.setattr(sources, "CHUNK", len(content) // 3 + 1)
        head = content[: max(content.find(b"\n") + 1, len(content) // 2)]
        patch.setattr(Source, "head", lambda _, size=None: head[:size])
        try:
            source = Source(Path("made.txt"), content)
            frame = trec.read_trec(
                source,
                lambda found: match_columns(found, kind, columns, "made.txt"),
                fields=fields,
            )
            if kind.ranked:  # until then ranks are text or numbers
                frame = without_agreeing_ranks(frame)
            outcome: Any = (frame.schema, frame.rows())
        except RetrievalReportError as error:
            outcome = (type(error), str(error))
    return repr(outcome), [str(warning.message) for warning in caught]


COLUMNS = st.sampled_from([None, {"item": "score", "score": "score"}])


@given(files(6), COLUMNS)
@example(b"q Q0 a 1 0.5 t\nq Q0 b 2 0.4 t u\n", None)
@example(b"q Q0 a 1 0.5 t\nq Q0 b 2 0.4\n", None)
@example(b"q Q0 a 1 0.5 t u\nq Q0 b 2 0.4\n", None)
@example(b"q  a 1 0.5 t\n", None)
@example(b"q Q0 a 1 0.5 t\r\n", None)
@example(b"q Q0 a 1 9007199254740993.0 t\nq Q0 b 1 9007199254740993 t\n", None)
@example(b"q Q0 a 1 0.5 t\nq Q0 b 1 9007199254740993 t\n", None)
@example(b"q Q0 a 1 1 t\nq Q0 b 1 0.5 u\n", None)
@example(b"q Q0 a 1 1 t\nq Q0 b 1 1e400 t\n", None)
@example(b"q Q0 a 1 0.5 t\nq Q0 b 2 00.5 t\n", {"item": "score", "score": "score"})
def test_runs_are_read_alike(content: bytes, columns: dict[str, str] | None):
    assert result(content, RUN_FIELDS, columns, plain=True) == result(
        content, RUN_FIELDS, columns, plain=False
    )


@given(files(4))
@example(b"q 0 a 1 t\nq 0 a\n")
def test_judgements_are_read_alike(content: bytes):
    assert result(content, QRELS_FIELDS, None, plain=True) == result(
        content, QRELS_FIELDS, None, plain=False
    )


@pytest.mark.parametrize(
    "odd", [b"q  Q0 a 1 0.5 t\n", b"q Q0 a\t1 0.5 t\n", b"\n", b"#\n", b"q Q0 \xc3 1 0.5 t\n"]
)
@pytest.mark.parametrize("far", [0, 1, 2])
def test_what_is_odd_is_seen_wherever_it_stands(odd: bytes, far: int):
    line = b"q Q0 abc 1 0.5 t\n"
    before = line * (far * (SMALL_CHUNK // len(line)))
    for shift in (b"", b"longer "):
        content = shift.replace(b" ", b" Q0 x 1 2.5 t\n") + before + odd + line
        one, other = (result(content, RUN_FIELDS, None, plain=plain) for plain in (True, False))
        assert one == other


def test_plain_files_take_the_faster_way():
    def choose(found: Any):
        return match_columns(found, RANKINGS, None, "a")

    for content in (
        b"q Q0 a 1 0.5 t\n",
        b"q\tQ0\ta\t1\t7\tt\nq\tQ0\tb\t2\t6\tt",
        "q Q0 é 1 .5 t\n".encode(),
    ):
        source = Source(Path("a"), content)
        assert trec._read_plain(source, RUN_FIELDS, choose(RUN_FIELDS)) is not None
        assert trec.read_trec(source, choose, fields=RUN_FIELDS).height == content.count(b"Q0")
