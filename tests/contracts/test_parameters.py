"""Every option and every metric parameter is declared once, and all that speak of them agree."""

import inspect
from dataclasses import fields
from pathlib import Path

import click
import pytest

import retrieval_report as rr
from retrieval_report.cli.settings import SETTINGS
from retrieval_report.contracts.options import PARAMETERS, Options, options_with
from retrieval_report.metrics.parsing import CATALOGUE, parameter_text, parse_metric


def test_every_option_of_evaluate_is_declared():
    names = {part.name for part in fields(Options)}
    assert PARAMETERS.keys() - names == {"metrics", "cutoffs", "average", "like", "correction"}
    assert names <= PARAMETERS.keys()


@pytest.mark.parametrize("name", [name for name, known in PARAMETERS.items() if known.choices])
def test_the_docstring_names_every_choice(name: str):
    documented = {"average": rr.summarise, "correction": rr.compare}.get(name, rr.evaluate)
    text = inspect.getdoc(documented) or ""
    assert [
        choice
        for choice in PARAMETERS[name].choices
        if f'"{choice}"' not in text and f"``{choice}``" not in text
    ] == []


@pytest.mark.parametrize("name", [name for name in SETTINGS if PARAMETERS[name].choices])
def test_every_choice_is_taken_by_function_and_command(name: str):
    for choice in PARAMETERS[name].choices:
        options_with({name: choice})
    with pytest.raises(
        rr.ParameterError,
        match=f"^{name}: 'none of them' is not one of '{PARAMETERS[name].choices[0]}'",
    ):
        options_with({name: "none of them"})
    command = click.Command("any")
    SETTINGS[name](command)
    option = command.params[-1]
    assert isinstance(option, click.Option)
    assert option.help == PARAMETERS[name].meaning
    if name != "policies":  # several of them, with commas
        assert isinstance(option.type, click.Choice)
        assert tuple(option.type.choices) == PARAMETERS[name].choices
        assert option.default == {part.name: part.default for part in fields(Options)}[name]


def test_the_usual_choice_of_a_metric_is_its_default():
    for name, metric in CATALOGUE.items():
        formula = metric.formula
        for parameter in (
            formula.parameter,
            *(("gain", "discount") if name in ("dcg", "ndcg") else ()),
        ):
            if parameter:
                choices, text = parameter_text(name, parameter)
                assert str(parse_metric(f"{name}({parameter}={choices[0]})")[0]) == name
                assert all(f"{choice}: " in text for choice in choices)
                for choice in choices[1:]:
                    assert (
                        str(parse_metric(f"{name}({parameter}={choice})")[0])
                        == f"{name}({parameter}={choice})"
                    )


def row_of_docs(name: str) -> str:
    """A metric as the table in docs/metrics.md has it."""
    formula, other = CATALOGUE[name].formula, {"ap": " (`map`)", "rr": " (`mrr`)"}
    names = f"`{name}`{other.get(name, '')}"
    divisor = formula.divisor
    if not isinstance(divisor, str):
        divisor = "; ".join(f"`{choice}`: {text}" for choice, text in divisor.items())
    return f"| {names} | {formula.total} | {'–' if divisor == '1' else divisor} |"


def test_the_table_of_metrics_in_the_documentation_has_these_formulas():
    text = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    table = text.split("| name | sum", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    assert sorted(table) == sorted(row_of_docs(name) for name in CATALOGUE)
