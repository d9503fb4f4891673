"""What public functions refuse, and the words in which they do: tests/data/refused.json."""

from __future__ import annotations

import json
import re
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from made_scores import scores_of

MADE: dict[str, Any] = {  # how the file writes what JSON has no form for
    "a frame": pl.DataFrame,
    "a scores": scores_of,
    "a tuple": tuple,
    "pairs": dict,
    "an iterator": iter,
    "a meter": rr.Meter,
    "a study": lambda given: rr.Study(**given),
    "a summary": lambda models: rr.summarise(scores_of(models)),
    "a comparison": lambda models: rr.compare(scores_of(models)),
    **{
        name: partial(np.array, dtype=name)
        for name in ("str", "uint8", "uint64", "int64", "float32")
    },
}


def made(given: dict[str, Any]) -> Any:
    """Return what is written as {"a frame": …}, and dictionaries as they are."""
    [name, *_] = given or [""]
    return MADE[name](given[name]) if name in MADE else given


CASES = json.loads(
    (Path(__file__).parent / "data/refused.json").read_text(encoding="utf-8"), object_hook=made
)


@pytest.mark.parametrize(
    ("function", "given", "error", "message"),
    [
        pytest.param(name, base | more, *said, id=f"{name}: {said[-1]}")
        for name, (base, rows) in CASES.items()
        for more, *said in rows
    ],
)
def test_refused(function: str, given: dict[str, Any], error: str, message: str) -> None:
    with pytest.raises(getattr(rr, error)) as caught:
        attrgetter(function)(rr)(**given)
    said = str(caught.value)
    assert re.search(".*".join(map(re.escape, message.split(" … "))), said), said
