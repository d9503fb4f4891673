"""What public functions answer to small data: tests/data/answers.json."""

import re
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from data_records import call, read


def agrees(found: Any, wanted: Any):
    """Columns of a frame, those of the rows "where" …, attributes, list entries, or a value; in
    text … stands for anything.
    """
    if isinstance(found, pl.DataFrame):
        for name, value in wanted.pop("where", {}).items():
            found = found.filter(pl.col(name).eq_missing(pl.lit(value)))
        wanted, found = [*wanted.values()], [found[name].to_list() for name in wanted]
    if isinstance(wanted, dict):
        for name, part in wanted.items():
            own = getattr(found, name)
            agrees(own() if callable(own) else own, part)
    elif isinstance(wanted, list):
        assert len(found) == len(wanted), found
        for one, part in zip(found, wanted, strict=True):
            agrees(one, part)
    elif isinstance(wanted, str):
        assert re.fullmatch(".*".join(map(re.escape, wanted.split("…"))), found, re.DOTALL), found
    elif isinstance(wanted, float):
        assert found == pytest.approx(wanted, rel=1e-10, abs=1e-14)
    else:
        assert found == wanted


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("function", "given", "wanted", "warned"),
    [
        pytest.param(name, base | more, wanted, warned, id=f"{name}: {case}")
        for name, (base, rows) in read("answers.json").items()
        for case, more, wanted, *warned in rows
    ],
)
def test_answer(function: str, given: dict[str, Any], wanted: Any, warned: list[str]):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        agrees(call(function, given), wanted)
    agrees([str(one.message) for one in caught], warned)
