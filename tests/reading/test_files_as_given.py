"""Small text files, each with the rows that are read of it or the message that refuses it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import retrieval_report as rr
from text_files import write

FILES = json.loads((Path(__file__).parents[1] / "data/files.json").read_text(encoding="utf-8"))


def by_name(records: list[list[Any]]):
    return [pytest.param(*record, id=name) for name, *record in records]


@pytest.mark.parametrize(("kind", "name", "text", "error", "message"), by_name(FILES["refused"]))
def test_refused(tmp_path: Path, kind: str, name: str, text: str, error: str, message: str):
    path = write(tmp_path / name, text)
    with pytest.raises(getattr(rr, error)) as caught:
        getattr(rr, f"read_{kind}")(path)
    said = str(caught.value)
    assert said.startswith(str(path))
    assert re.search(".*".join(map(re.escape, message.split(" … "))), said), said


@pytest.mark.parametrize(("kind", "name", "text", "columns", "rows"), by_name(FILES["read"]))
def test_read(
    tmp_path: Path, kind: str, name: str, text: str, columns: list[str], rows: list[list[Any]]
):
    frame = getattr(rr, f"read_{kind}")(write(tmp_path / name, text))
    # As JSON, which tells 1 from 1.0 and from true.
    assert json.dumps(frame.select(columns).rows()) == json.dumps(rows)
