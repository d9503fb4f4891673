"""What public functions refuse, and the words in which they do: tests/data/refused.json."""

import re
from pathlib import Path
from typing import Any

import pytest

import retrieval_report as rr
from data_records import call, read


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("function", "given", "error", "message"),
    [
        pytest.param(name, base | more, *said, id=f"{name}: {said[-1]}")
        for name, (base, rows) in read("refused.json").items()
        for more, *said in rows
    ],
)
def test_refused(function: str, given: dict[str, Any], error: str, message: str):
    with pytest.raises(getattr(rr, error)) as caught:
        call(function, given)
    said = str(caught.value)
    assert re.search(".*".join(map(re.escape, message.split(" … "))), said), said
