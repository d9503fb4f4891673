"""Uploads are read in memory up to a limit, their names are never paths, and warnings stay with
their session.
"""

import gzip
import io
import threading
import tomllib
from pathlib import Path

import numpy as np
import pytest

import uploads
from cached import columns_of
from made_reports import made_rankings
from records import Upload
from retrieval_report.contracts.errors import FileError
from retrieval_report.contracts.warning import noticed, warn
from text import plain
from uploads import read_tables

RANKINGS = made_rankings(("fine",), queries=2)
CSV = RANKINGS.drop("model").write_csv().encode()


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\lists.csv", "lists.csv"),
        ("a\x00b\n.csv", "ab.csv"),
        ("", "upload"),
        ("x" * 500 + ".csv", "x" * 116 + ".csv"),
    ],
)
def test_row_096_a_name_is_a_label(name: str, label: str):
    assert Upload(name, b"").label == label


def test_texts_of_items_come_from_a_table_of_their_own():
    table = b'item,text,other\n007,seven,x\n7,"a, b",y\n'
    data = read_tables([Upload("lists.csv", CSV)], items=Upload("items.csv", table))
    assert data.items is not None
    assert data.items.rows() == [("007", "seven"), ("7", "a, b")]
    with pytest.raises(FileError, match=r"items\.csv: no column 'text' or 'image' beside 'item'"):
        read_tables([Upload("lists.csv", CSV)], items=Upload("items.csv", b"item,name\na,b\n"))


def test_pictures_of_items_come_with_their_table_and_never_from_the_network():
    table = b"item,image\n007,data:image/png;base64,AAAA\n".replace(
        b"png;base64,AAAA", b"svg+xml;utf8"
    )
    data = read_tables([Upload("lists.csv", CSV)], items=Upload("items.csv", table))
    assert data.items is not None
    assert data.items.rows() == [("007", "data:image/svg+xml;utf8")]
    with pytest.raises(FileError, match="pictures are addresses that begin with data:image/"):
        read_tables(
            [Upload("lists.csv", CSV)],
            items=Upload("items.csv", b"item,image\na,https://x.org/a.png\n"),
        )


def test_row_096_nothing_is_opened_even_where_a_file_of_the_name_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("lists.csv").write_text("query,item,distance,relevance\nsecret,a,1,1\n", encoding="utf-8")
    Path("lists.csv.sha256").write_text("0" * 64, encoding="utf-8")
    data = read_tables([Upload("lists.csv", CSV)])
    assert set(data.frames["rankings"]["query"]) == set(RANKINGS["query"])
    assert data.models == ("lists",)


def test_several_packed_runs_and_their_judgements_are_several_models():
    lines = b"".join(f"q Q0 d{item} 1 {10 - item // 2} tag\n".encode() for item in range(6))
    runs = [
        Upload(f"{name}.run.gz", gzip.compress(lines.replace(b"tag", name.encode())))
        for name in ("one", "two")
    ]
    judgements = Upload("qrels.txt", b"q 0 d1 1\nq 0 d2 0\nq 0 d3 -2\n")
    data = read_tables(runs, judgements, negative="unjudged")
    assert data.models == ("one", "two")
    assert {name: frame.height for name, frame in data.frames.items()} == {
        "rankings": 12,
        "judgements": 2,
    }


LONG = b"query,item,distance,relevance\n" + b"q,a,1,1\n" * 1000


def test_row_094_an_upload_that_unpacks_to_more_than_the_cap_is_refused(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("uploads.MOST_BYTES", 1000)
    with pytest.raises(FileError, match="more than"):
        read_tables([Upload("bomb.csv.gz", gzip.compress(LONG))])


def test_row_094_the_caps_are_those_that_the_settings_and_the_page_name():
    settings = Path(__file__).parents[2] / "app" / ".streamlit" / "config.toml"
    megabytes = tomllib.loads(settings.read_text(encoding="utf-8"))["server"]["maxUploadSize"]
    assert uploads.MOST_BYTES == megabytes * 2**20 == 256 * 2**20
    assert uploads.MOST_MEMORY == 2**30
    assert uploads.MOST_ROWS == 50_000_000


def test_row_095_an_upload_larger_than_the_cap_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("uploads.MOST_BYTES", 1000)
    with pytest.raises(FileError, match="more than"):
        read_tables([Upload("large.csv", LONG)])


def test_row_094_a_parquet_of_many_equal_rows_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("uploads.MOST_ROWS", 10)
    buffer = io.BytesIO()
    RANKINGS.write_parquet(buffer)
    with pytest.raises(FileError, match="16 rows are more than 10"):
        read_tables([Upload("many.parquet", buffer.getvalue())])


@pytest.mark.parametrize("name", ["aborts.parquet", "aborts.arrow"])
def test_an_upload_that_ends_its_reader_is_refused(name: str):
    upload = Upload(name, (Path(__file__).parents[1] / "data" / name).read_bytes())
    with pytest.raises(FileError, match=f"{name}: damaged file.* ended by SIGABRT"):
        read_tables([upload])


def test_columns_that_are_not_read_are_told():
    data = read_tables([Upload("lists.csv", b"query,item,distance,relevance,text\nq,a,1,1,x\n")])
    assert data.notes == ("lists.csv: columns not read: text",)
    run = Upload("bm25.run", b"1 Q0 a 1 2.5 bm25\n1 Q0 b 2 1.5 bm25\n")
    assert read_tables([run], Upload("qrels.txt", b"1 0 a 1\n1 0 b 0\n")).notes == ()


def test_each_thread_hears_its_own_warnings():
    heard: dict[str, list[str]] = {}
    together = threading.Barrier(2)

    def work(name: str):
        with noticed() as notes:
            together.wait()
            warn(name)
            together.wait()
        heard[name] = notes

    threads = [threading.Thread(target=work, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == {"one": ["one"], "two": ["two"]}


def test_plain_text_has_no_mark_that_acts():
    text = "**b** <i> $x$ :material/x: `c` [l](u) # 1. | ~~s~~ http://a.b\n* c"
    escaped = plain(text)
    assert escaped.replace("\\", "").replace("\u2060", "") == text.replace("\n", "n").replace(
        "\\", ""
    )
    for index, letter in enumerate(escaped):
        if letter in "*<>$:`[]()#|~.!_-+":
            assert escaped[index - 1] == "\\"


def test_boxes_offer_our_names_of_arrays_and_numbers_where_no_header_is():
    file = io.BytesIO()
    np.savez(file, D=[[0.1, 0.2]], I=[[7, 8]], extra=1)
    archive = Upload("found.npz", file.getvalue())
    assert columns_of(archive) == ["distance", "item", "extra", "query"]
    assert read_tables([archive]).notes == ("found.npz: columns not read: extra",)
    plain_rows = Upload("rows.csv", b"q1,a,0.5,1\nq1,b,0.25,0\n")
    assert columns_of(plain_rows) == ["1", "2", "3", "4"]
    chosen = {"query": "1", "item": "2", "score": "3", "relevance": "4"}
    assert read_tables([plain_rows], columns=chosen).frames["rankings"].height == 2
    assert columns_of(Upload("years.csv", b"query,item,2020\nq1,a,0.5\n")) == [
        "query",
        "item",
        "2020",
    ]
