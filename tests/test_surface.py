"""The public names: one list of them, documented, complete for type checkers; options without a
second spelling.
"""

import ast
import inspect
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import pytest

import retrieval_report as rr
from retrieval_report.comparison.pairs import ComparisonOptions
from retrieval_report.contracts.options import AuditOptions, EvaluateOptions, LikeOptions, Options
from retrieval_report.engines.summary import SummaryOptions
from retrieval_report.study.reports import ReportOptions

GROUPS = [rr.charts, rr.codes, rr.expr, rr.lists, rr.report, rr.stats, rr.systems]
NAMES = [
    name
    for name in dir(rr)
    if not isinstance(getattr(rr, name), ModuleType) and name != "__version__"
]


def public() -> list[tuple[str, Any]]:
    """Every public class and function by its full name."""
    own = [(f"rr.{name}", getattr(rr, name)) for name in NAMES]
    return own + [
        (f"{group.__name__}.{name}", getattr(group, name))
        for group in GROUPS
        for name in group.__all__
    ]


def test_what_a_newcomer_sees_is_short_and_loads():
    assert len(NAMES) <= 53
    assert [name for name in dir(rr) if isinstance(getattr(rr, name), ModuleType)] == (
        [group.__name__.rpartition(".")[2] for group in GROUPS]
    )
    assert dir(rr) == rr.__all__ == sorted(rr.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'evalute'"):
        rr.evalute  # type: ignore[attr-defined]  # noqa: B018


def test_type_checkers_see_the_names_that_python_sees():
    stub = ast.parse(Path(rr.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes = {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    groups = dict.fromkeys(
        (group.__name__.rpartition(".")[2] for group in GROUPS), "retrieval_report"
    )
    assert homes == {**vars(rr)["_HOMES"], **groups}


def test_a_name_has_one_home_and_a_docstring():
    found: dict[int, list[str]] = {}
    for name, value in public():
        if isinstance(value, type) or inspect.isfunction(value):
            assert inspect.getdoc(value), name
            found.setdefault(id(value), []).append(name)
    again = [
        ["rr.read_report", "retrieval_report.report.read_report"],
        ["rr.write_report", "retrieval_report.report.write_report"],
    ]
    assert [names for names in found.values() if len(names) > 1] == again
    for group in (rr.codes, rr.lists, rr.stats, rr.systems):
        functions = [name for name in group.__all__ if inspect.isfunction(getattr(group, name))]
        assert [name for name in functions if f":func:`{name}`" not in str(group.__doc__)] == []


@pytest.mark.parametrize(
    ("name", "value"), public(), ids=lambda one: one if isinstance(one, str) else ""
)
def test_no_public_function_takes_just_anything(name: str, value: object):
    methods = (
        [part for part in vars(value).values() if inspect.isfunction(part)]
        if isinstance(value, type)
        else [value]
    )
    for function in methods:
        if inspect.isfunction(function) and function.__module__.startswith("retrieval_report"):
            anything = [
                part
                for part in inspect.signature(function).parameters.values()
                if part.kind is part.VAR_KEYWORD
            ]
            assert (
                all("Unpack" in str(part.annotation) for part in anything)
                or function.__name__ == "where"
            ), name


def keywords(function: Callable[..., object]) -> dict[str, Any]:
    hints = get_type_hints(function)
    parameters = inspect.signature(function).parameters.values()
    return {part.name: hints[part.name] for part in parameters if part.kind is part.KEYWORD_ONLY}


def test_options_are_those_of_evaluate_in_every_spelling():
    asked = keywords(rr.evaluate)
    data = {"judgements", "queries", "measures", "metrics", "cutoffs"}
    assert asked == get_type_hints(EvaluateOptions) | {name: asked[name] for name in data}
    defaults = {
        name: part.default for name, part in inspect.signature(rr.evaluate).parameters.items()
    }
    assert {part.name: part.default for part in fields(Options)} == {
        name: defaults[name] for name in asked.keys() - data
    }


@pytest.mark.parametrize(("function", "options", "own"), [
    (rr.summarise, SummaryOptions, {"queries"}),
    (rr.compare, ComparisonOptions, {"queries"}),
    (rr.report.report_contents, ReportOptions, set()),
    (rr.audit, AuditOptions, {"judgements", "queries", "measures", "metrics", "cutoffs", "systems"}),
    (rr.systems.evaluate_like, LikeOptions,
     {"judgements", "queries", "measures", "metrics", "cutoffs", "policies", "seed"}),
])  # fmt: skip
def test_options_that_are_passed_on_are_those_of_the_function(
    function: Callable[..., object], options: Any, own: set[str]
):
    asked = {name: hint for name, hint in keywords(function).items() if name not in own}
    wanted = get_type_hints(options)
    assert {name: wanted[name] for name in asked} == asked
    behind = get_type_hints(EvaluateOptions) | get_type_hints(ReportOptions)
    assert {name: behind[name] for name in wanted.keys() - asked} == {
        name: wanted[name] for name in wanted.keys() - asked
    }


def test_a_misspelt_option_is_an_error_for_type_checkers_and_at_run_time():
    rows = {"query": ["q"], "item": ["a"], "distance": [1], "relevance": [1]}
    with pytest.raises(TypeError, match="treshold"):
        rr.tie_profile(rows, distance_treshold=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="shufles"):
        rr.shuffled_means(rows, shufles=1)  # type: ignore[call-arg]
    with pytest.raises(rr.ParameterError, match="decimals"):
        rr.truncated_lists(rows, decimals="2")  # type: ignore[arg-type]
