"""Every column is declared once: what functions return, what tables and descriptions say, and what
docstrings name.
"""

import inspect
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from public_calls import CALLS, COMPARISON, FRAME, JUDGEMENTS, OUT, SCORES
from retrieval_report.contracts.registry import FRAMES, column, describe
from retrieval_report.study.table_columns import TEXTS

WANTED: dict[str, Any] = {"metrics": "precision", "cutoffs": 2}
ARGUMENTS = {call[0]: call[1:] for call in reversed(CALLS.values())}  # the first call of a function


def others() -> dict[str, pl.DataFrame]:
    """What those functions return that are called nowhere else with everything."""
    codes, labels = np.eye(4, dtype=np.uint8), np.array([0, 1, 0, 1])
    counts, report = rr.count_ties(FRAME), rr.report.report_contents(FRAME, **WANTED)
    one = FRAME.filter(model="a")
    return {
        "rescored": rr.rescored(FRAME, one, 1, measures="precision@2", judgements=JUDGEMENTS),
        "lists.grading_scale": rr.lists.grading_scale(FRAME),
        "codes.count_codes": rr.codes.count_codes(
            codes, codes, query_labels=labels, item_labels=labels
        ),
        "codes.count_relevant": rr.codes.count_relevant(labels, labels),
        "codes.evaluate_radius": rr.codes.evaluate_radius(counts, radii=(1,)),
        "codes.radius_scores": rr.codes.radius_scores(counts, radii=(1,)),
        "lists.neighbour_judgements": rr.lists.neighbour_judgements([[0.0, 1.0]], [[0, 1]], k=1),
        "lists.query_weights": rr.lists.query_weights(
            FRAME.with_columns(weight=1.0), metrics="ndcg"
        ),
        "stats.history": rr.stats.history(SCORES, "(?P<version>.)"),
        "stats.pair_verdicts": rr.stats.pair_verdicts(COMPARISON),
        "systems.conventions": rr.systems.conventions(),
        "systems.evaluate_like": rr.systems.evaluate_like(FRAME, "ranx", **WANTED),
        "report.compare_reports": rr.report.compare_reports(report, report),
    }


@pytest.fixture(scope="module")
def returned(tmp_path_factory: pytest.TempPathFactory):
    """What every public function that returns a frame returns, by the function's name."""
    path = tmp_path_factory.mktemp("returned") / "scores.parquet"
    found: dict[str, Any] = others()
    for name in FRAME_OF.keys() - found.keys():
        given, named = ARGUMENTS[function_of(name)]
        values = [path if value is OUT else value for value in given]
        found[name] = function_of(name)(*values, **named)
    found["evaluate_to"] = pl.read_parquet(path)
    found["knn"] = found["knn"].chances
    found["lists.ranking_similarity"] = found["lists.ranking_similarity"].queries
    return found


FRAME_OF = {function: name for name, frame in FRAMES.items() for function in frame.returned_by}


def function_of(name: str):
    group, _, own = name.rpartition(".")
    return getattr(getattr(rr, group) if group else rr, own)


def test_every_public_function_that_returns_a_frame_is_asked(
    returned: dict[str, pl.DataFrame],
):
    groups = {
        "": rr,
        "codes": rr.codes,
        "lists": rr.lists,
        "stats": rr.stats,
        "systems": rr.systems,
        "report": rr.report,
    }
    frames = set()
    for group, module in groups.items():
        for name in module.__all__:
            value = getattr(module, name)
            if (
                inspect.isfunction(value)
                and inspect.signature(value).return_annotation == "pl.DataFrame"
            ):
                frames.add(f"{group}.{name}".lstrip("."))
    asked = returned.keys()
    assert frames - asked == set()
    assert asked - frames == {"evaluate_to", "knn", "lists.ranking_similarity"}
    assert set(FRAME_OF) == asked


@pytest.mark.parametrize("name", sorted(FRAME_OF))
def test_every_column_that_is_returned_is_declared(name: str, returned: dict[str, pl.DataFrame]):
    frame = returned[name]
    known = {part.name: part for part in FRAMES[FRAME_OF[name]].columns}
    assert set(frame.columns) <= known.keys()
    lacking = known.keys() - set(frame.columns)
    assert {part for part in lacking if not known[part].optional} == set()
    types = {part: dtype for part, dtype in frame.schema.items() if known[part].dtype is not None}
    assert types == {part: known[part].dtype for part in types}


@pytest.mark.parametrize("name", sorted(FRAME_OF))
def test_the_docstring_of_a_function_names_its_columns(name: str):
    """Where it does not say whose columns it returns."""
    text = inspect.getdoc(function_of(name)) or ""
    if re.search(r"(olumns of|s of|hat|result of) :func:|with the fields of|The rankings", text):
        return
    named = set(re.findall(r"``(\w+)``", text))
    if name.startswith("lists.tie_break"):  # ``value`` and ``tie_std`` with two endings
        named |= {f"{part}_{end}" for part in ("value", "tie_std") for end in ("before", "after")}
    assert {part.name for part in FRAMES[FRAME_OF[name]].columns if not part.optional} - named - {
        "row"
    } == set()


def test_a_column_has_one_title_everywhere():
    titles = defaultdict(set)
    for frame in FRAMES.values():
        for part in frame.columns:
            titles[part.name].add(part.title)
            assert part.format in {"text", *TEXTS}
            assert len(part.meaning) > 3
    # What they are the titles of differs: a score or its distribution, a list or a score, a pair or
    # two reports, a number or a share.
    several = {
        "items",
        "order",
        "ties",
        "change",
        "difference",
        "relevant_from",
        "truncated",
        "value",
        "winner",
        "definition",
    }
    assert {name for name, own in titles.items() if len(own) > 1} <= several
    assert (
        column("comparison", "p_tie").title == column("flips", "p_tie").title == "Reversed by ties"
    )


def test_titles_stand_nowhere_else():
    """No table of titles beside the declarations: nowhere is a name beside its title."""
    root = Path(rr.__file__).parent.parent
    every = {(part.name, part.title) for frame in FRAMES.values() for part in frame.columns}
    known = {
        (name, title) for name, title in every if title.lower() != name
    }  # a heading may be a name with a capital
    for path in [*(root / "app").rglob("*.py"), *(root / "retrieval_report").rglob("*.py")]:
        if path.parent.name != "contracts":
            pairs = set(re.findall(r'"(\w+)": "([^"]+)"', path.read_text(encoding="utf-8")))
            assert pairs & known == set(), path


def test_columns_of_files_are_described():
    frame = pl.DataFrame({"value": [1.0], "p_tie": [0.5]})
    assert describe({"comparison": frame.select("p_tie")}).row(0)[3].startswith("probability")
