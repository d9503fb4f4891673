"""Any argument of any public function may be given any object: it works, or one of our errors says
why not.
"""

import datetime as dt
import decimal
import inspect
import itertools
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_type_hints

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from public_calls import CALLS, OUT
from retrieval_report.contracts import options

pytestmark = pytest.mark.filterwarnings("ignore")  # odd values may be warned of, too

ODD: tuple[object, ...] = (
    *(-1, 0, 5, 2.5, math.nan, math.inf, 10**400, True, 1j),
    *("", "zz", "a,b", b"x", None, [], ["zz"], [5], [None], (), (1, 2), {1, 2}, range(3)),
    *({}, {"a": 5}, {5: "a"}, {"zz": "q"}, object(), len, rr),
    *(np.array(3), np.array([1.5, 2.0]), np.array([])),
    *(pl.DataFrame(), pl.DataFrame({"x": [1]}), pl.LazyFrame({"x": [1]}), pl.Series([1])),
    *(pl.col("x"), dt.date(2020, 1, 1), decimal.Decimal(1)),
)


# Options that many functions share are tried with every object in `evaluate`, and each argument of
# the others with some objects, every argument with others of them.
STEPS = {
    "evaluate": 2,
    **dict.fromkeys(("write_report", "Study.report"), 60),
    **dict.fromkeys(("audit", "compare", "compare_by", "gate", "leaderboard", "flips"), 20),
}
STEP = 10


def parameters(function: Callable[..., object]) -> list[str]:
    """The names of all parameters, with those of a TypedDict that is unpacked."""
    names = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            unpacked = str(parameter.annotation).removeprefix("Unpack[").removesuffix("]")
            module = sys.modules[function.__module__]
            record = getattr(module, unpacked, getattr(options, unpacked, object))
            names += list(get_type_hints(record))
        else:
            names.append(parameter.name)
    return names


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_any_object_as_any_argument_works_or_is_refused_by_our_errors(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)  # texts are valid names of files
    function, given, named = CALLS[name]
    folders = (tmp_path / f"out-{number}" for number in itertools.count())
    wrong = []
    step = STEPS.get(name, STEP)
    for position, parameter in enumerate(parameters(function)):
        for odd in (*ODD[position % step :: step], iter([1])):
            values = [next(folders) if value is OUT else value for value in given]
            if position < len(values):
                values[position] = odd
                others = named
            else:
                others = {**named, parameter: odd}
            try:
                function(*values, **others)
            except rr.RetrievalReportError:
                pass
            except Exception as error:
                wrong.append(f"{parameter}={odd!r:.40}: {type(error).__name__}: {error!s:.80}")
    assert not wrong, "\n".join(wrong)
