"""Write the summary as a LaTeX or Markdown table for a paper or README, with marks of
significance.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import polars as pl

from retrieval_report.comparison.verdicts import CUT, DEPENDS, SIGNIFICANT, is_significant
from retrieval_report.contracts.arguments import Named
from retrieval_report.engines.check_scores import at_measure, beside
from retrieval_report.metrics.parsing import measure_text
from retrieval_report.study.caveats import any_cut, named_tests, relevant_notice
from retrieval_report.study.terminal import NOTHING, mean_text, visible
from retrieval_report.writing.names import unlinked
from retrieval_report.writing.numbers import column_decimals

NAME_WIDTH = 60
LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}
NOTE = (
    "Expected mean over all orders inside ties ± its exact standard deviation under random tie "
    "order; highest in bold. "
    "*: significantly below the highest{tested}. ~: whether it is below the highest depends on tie "
    "order."
)
OPEN = (
    " Where items may be missing from the lists, the mean is an estimate, and brackets hold its "
    "lowest and highest "
    "possible value."
)


class _Cell(NamedTuple):
    """The mean of a model with its marks, and whether it is the highest by its measure."""

    text: str = NOTHING
    best: bool = False


def markdown_table(study: Any) -> str:
    r"""Lay the summary out as a Markdown table: models down, measures across, the note below.

    Names are escaped, so that no pipe, backtick or tag in a name acts as Markdown.
    """
    measures, models = _layout(study)
    lines = [
        _row(["model", *(markdown_text(name) for name in measures)]),
        _row(["---", *("---:" for _ in measures)]),
    ]
    first = next(iter(models), None)
    for name, cells in models.items():
        shown = [f"**{cell.text}**" if cell.best else cell.text for cell in cells]
        lines.append(
            _row([f"**{markdown_text(name)}**" if name == first else markdown_text(name), *shown])
        )
    return "\n".join([*lines, "", markdown_text(_note(study), None), ""])


def latex_table(study: Any) -> str:
    """Lay the summary out as a LaTeX table (packages booktabs and textcomp); the note is its
    caption.
    """
    measures, models = _layout(study)
    caption = _latex(_note(study), None).replace("±", r"$\pm$")
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\begin{{tabular}}{{l{'r' * len(measures)}}}",
        r"\toprule",
        " & ".join(["model", *(_latex(name) for name in measures)]) + r" \\",
        r"\midrule",
    ]
    for name, cells in models.items():
        shown = [
            cell.text.replace("±", r"$\pm$").replace("~", r"\textasciitilde{}") for cell in cells
        ]
        bold = [
            rf"\textbf{{{text}}}" if cell.best else text
            for cell, text in zip(cells, shown, strict=True)
        ]
        lines.append(" & ".join([_latex(name), *bold]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _layout(study: Any) -> tuple[list[str], dict[str, list[_Cell]]]:
    """Return measures in the requested order, and models by their value of the headline measure,
    highest first.
    """
    expected = study.summary.filter(policy="expected")
    shown = list(expected.select("metric", "cutoff").unique(maintain_order=True).iter_rows())
    columns = {measure: _column(study, *measure) for measure in shown}
    headline = expected.filter(at_measure(study.metric, study.cutoff)).select("model", "value")
    models = beside(expected.select("model").unique(), headline, "model")
    names = models.sort("value", "model", descending=[True, False], nulls_last=True)["model"]
    measures = [measure_text(metric, cutoff) for metric, cutoff in shown]
    return measures, {
        name: [columns[measure].get(name, _Cell()) for measure in shown] for name in names
    }


def _column(study: Any, metric: str, cutoff: int | None) -> dict[str, _Cell]:
    of_measure = at_measure(metric, cutoff)
    rows = study.summary.filter(of_measure, policy="expected")
    best = set(rows.filter(pl.col("value") == pl.max("value"))["model"])
    pairs = {
        frozenset((row["model_a"], row["model_b"])): row
        for row in study.flips.filter(of_measure).iter_rows(named=True)
    }
    cells, digits = {}, column_decimals(rows["value"])
    for row in rows.iter_rows(named=True):
        name = row["model"]
        against = [pairs[pair] for other in best if (pair := frozenset((other, name))) in pairs]
        marks = "" if name in best or row["value"] is None else _marks(against)
        cells[name] = _Cell(mean_text(row, digits) + marks, name in best)
    return cells


def _marks(against: list[Named]) -> str:
    """Say whether a model is significantly below the highest, and whether that depends on tie
    order.
    """
    tested = [
        row["family_p"] for row in against if row["family_p"] is not None
    ]  # of many models not every pair is
    below = bool(tested) and all(is_significant(p) for p in tested)
    return "*" * below + "~" * any(row["verdict"] in (CUT, DEPENDS) for row in against)


def _note(study: Any) -> str:
    doubt, tests = relevant_notice(study.summary), named_tests(study.comparison)
    note = NOTE.format(tested=f" ({SIGNIFICANT}; {tests})" if tests else "")
    return note + OPEN * (any_cut(study.summary) or bool(doubt)) + (f" {doubt}" if doubt else "")


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def markdown_text(text: str, width: int | None = NAME_WIDTH) -> str:
    """Escape text for Markdown, and shorten it."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&!])", r"\\\1", unlinked(visible(text, width, middle=True)))


def _latex(text: str, width: int | None = NAME_WIDTH) -> str:
    shown = visible(text, width, middle=True)
    return "".join(LATEX.get(character, character) for character in shown)
