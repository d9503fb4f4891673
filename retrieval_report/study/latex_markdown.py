"""Write the summary as a LaTeX or Markdown table for a paper or README, with marks of significance."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import polars as pl

from retrieval_report.comparison.verdicts import (
    CHECK,
    CUT,
    DEPENDS,
    NOT_OVER_RUNS,
    SIGNIFICANT,
    is_significant,
)
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.checks import check_choice
from retrieval_report.engines.check_scores import at_measure, board
from retrieval_report.metrics.parsing import measure_texts
from retrieval_report.study.caveats import POOLED, any_cut, named_tests
from retrieval_report.study.terminal import EMPTY_STATE, mean_text, visible
from retrieval_report.writing.names import unlinked
from retrieval_report.writing.numbers import column_decimals

if TYPE_CHECKING:
    from retrieval_report.study.contents import Report
    from retrieval_report.study.study import Study

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
    "±": r"$\pm$",
}
NOTE = (
    "Expected mean over all orders inside ties ± its exact standard deviation under random tie "
    "order; highest in bold. "
    "*: significantly below the highest{tested}. ~: whether it is below the highest depends on tie "
    "order{missing}."
)
OPEN = (
    " Where items may be missing from the lists, the mean is an estimate, and brackets hold its "
    "lowest and highest possible value."
)
UNCHECKED = " ?: no verdict, and never the highest, because its data look wrong."

Write = Callable[[str], str]


def markdown_table(study: Study | Report) -> str:
    r"""Lay the summary out as a Markdown table: models down, measures across, the note below.

    Names are escaped, so that no pipe, backtick or tag in a name acts as Markdown.
    """
    heading, *rows = _rows(study, markdown_text, str, "**{}**")
    for first in rows[:1]:
        if "**" in first[1]:  # it has the highest mean, and its data look right
            first[0] = f"**{first[0]}**"
    table = [heading, ["---", *["---:"] * (len(heading) - 1)], *rows]
    lines = [f"| {' | '.join(cells)} |" for cells in table]
    return "\n".join([*lines, "", markdown_text(_note(study), None), ""])


def latex_table(study: Study | Report) -> str:
    """Lay the summary out as a LaTeX table (packages
    booktabs and textcomp); the note is its caption.
    """
    table = _rows(study, _latex, _latex, r"\textbf{{{}}}")
    heading, *rows = (" & ".join(cells) + r" \\" for cells in table)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(_note(study), None)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(table[0]) - 1)}}}",
        r"\toprule",
        heading,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


def _rows(study: Study | Report, name: Write, cell: Write, bold: str) -> list[list[str]]:
    """Return the heading, with measures in the requested order, and the models by the headline
    measure, highest first; what writes names, means, and the highest means, is given.
    """
    if study.summary.height:
        check_choice("policies", "expected", study.summary["policy"].unique().sort().to_list())
    expected = study.summary.filter(policy="expected")
    measures = expected.select("metric", "cutoff").unique(maintain_order=True).rows()
    columns = [_column(study, at_measure(*measure), cell, bold) for measure in measures]
    return [
        ["model", *map(name, measure_texts(measures))],
        *(
            [name(model), *(column.get(model, EMPTY_STATE) for column in columns)]
            for model in board(expected.filter(at_measure(study.metric, study.cutoff)))["model"]
        ),
    ]


def _column(study: Study | Report, of_measure: pl.Expr, cell: Write, bold: str) -> dict[str, str]:
    """Return the mean of every model with its marks, the highest bold."""
    rows = study.summary.filter(of_measure, policy="expected")
    suspects = study.health.filter("serious")["model"].unique().to_list()
    sound = rows.remove(pl.col("model").is_in(suspects))
    best = set(sound.filter(value=pl.max("value"))["model"])
    pairs = {
        frozenset((row["model_a"], row["model_b"])): row
        for row in study.flips.filter(of_measure).iter_rows(named=True)
    }
    cells, digits = {}, column_decimals(rows["value"])
    for row in rows.iter_rows(named=True):
        name, mean = row["model"], mean_text(row, digits)
        against = [
            pairs[pair] for runner_up in best if (pair := frozenset((runner_up, name))) in pairs
        ]
        # ``health`` names the runs of a model over seeds, but pairs name the model.
        unsure = name in suspects or any(row["verdict"] == CHECK for row in against)
        marks = "?" if unsure else _marks(against)
        cells[name] = bold.format(cell(mean)) if name in best else cell(mean + marks)
    return cells


def _marks(against: list[Named]) -> str:
    """Say whether a model is significantly below the
    highest, and whether that depends on tie order.
    """
    tested = [
        row["family_p"] for row in against if row["family_p"] is not None
    ]  # of many models not every pair is
    below = bool(tested) and all(is_significant(p) for p in tested)
    below &= all(row["verdict"] != NOT_OVER_RUNS for row in against)  # nor over runs
    return "*" * below + "~" * any(row["verdict"] in (CUT, DEPENDS) for row in against)


def _note(study: Study | Report) -> str:
    pooled = study.summary["pooled"].any()
    tests = named_tests(study.comparison)
    note = NOTE.format(
        tested=f" ({SIGNIFICANT}; {tests})" if tests else "",
        missing=" or on missing items" if (study.flips["verdict"] == CUT).any() else "",
    )
    note += UNCHECKED if study.health["serious"].any() else ""
    note += OPEN if pooled or any_cut(study.summary) else ""
    return f"{note} {POOLED}" if pooled else note


def markdown_text(text: str, width: int | None = NAME_WIDTH) -> str:
    """Escape text for Markdown, and shorten it."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&!])", r"\\\1", unlinked(visible(text, width)))


def _latex(text: str, width: int | None = NAME_WIDTH) -> str:
    return "".join(LATEX.get(character, character) for character in visible(text, width))
