"""Write the result of a gate for continuous integration, as JUnit XML and Markdown."""

import xml.etree.ElementTree as ET

from retrieval_report.comparison.gate import Gate, advice, interval_name
from retrieval_report.comparison.margins import margin_text
from retrieval_report.study.latex_markdown import markdown_text
from retrieval_report.study.terminal import visible
from retrieval_report.writing.numbers import DECIMALS, chance_text, interval, size

WIDTH = 48  # of the picture, which fits a comment on a telephone


def junit_xml(gate: Gate) -> str:
    """Write the gate as a test report with one test;
    what is not decided is a failure of its own type.

    >>> found = Gate("passed", "old", "new", "rr@10", 0.01, "expected", 0.05, *[None] * 8, None, 0)
    >>> print(junit_xml(found).splitlines()[1])
    <testsuites tests="1" failures="0">
    """
    failures = str(int(gate.status != "passed"))
    suites = ET.Element("testsuites", tests="1", failures=failures)
    suite = ET.SubElement(
        suites, "testsuite", name="retrieval-report gate", tests="1", failures=failures
    )
    name = f"{gate.measure}: {gate.candidate} no worse than {gate.baseline} by {margin_text(gate.margin)}"
    case = ET.SubElement(suite, "testcase", classname="retrieval-report.gate", name=visible(name))
    line = visible(gate.line())
    if gate.status != "passed":
        ET.SubElement(case, "failure", type=gate.status, message=line)
    ET.SubElement(case, "system-out").text = line
    ET.indent(suites)
    return f"{ET.tostring(suites, encoding='utf-8', xml_declaration=True).decode()}\n"


def interval_picture(gate: Gate) -> str:
    """Draw the interval of the difference beside the margin and 0, a line of text for places that
    show no pictures; empty where nothing bounds the difference.

    >>> from dataclasses import replace
    >>> found = Gate("passed", "old", "new", "rr@10", 0.02, "expected", 0.05, *[None] * 8, None, 0)
    >>> found = replace(found, difference=-0.002, bound_low=-0.012, bound_high=0.008)
    >>> print(interval_picture(found))
           -margin            no loss
    ──────────┆───────├────────●─┼───────┤──────────
           -0.020                0
    """
    low, middle, high = gate.bound_low, gate.difference, gate.bound_high
    if low is None or middle is None or high is None:
        return ""
    room = 0.5 * gate.margin
    start = min(-gate.margin, low) - room
    end = max(0.0, high) + room

    def place(value: float) -> int:
        return round((value - start) / (end - start) * (WIDTH - 1))

    line = ["─"] * WIDTH
    marks = (-gate.margin, "┆"), (0.0, "┼"), (low, "├"), (high, "┤"), (middle, "●")
    for value, mark in marks:
        line[place(value)] = mark
    rows = ["", "".join(line), ""]
    for value, *texts in ((-gate.margin, "-margin", f"{-gate.margin:.3f}"), (0.0, "no loss", "0")):
        for row, text in zip((0, 2), texts, strict=True):
            first = min(place(value) - len(text) // 2, WIDTH - len(text))
            gap = 2 if rows[row] else 0
            rows[row] = rows[row].ljust(max(first, len(rows[row]) + gap)) + text
    return "\n".join(rows)


def markdown_summary(gate: Gate) -> str:
    """Write the gate as a short table with a picture, for a comment or a job summary.

    >>> found = Gate("passed", "old", "new", "rr@10", 0.01, "expected", 0.05, *[None] * 8, None, 0)
    >>> print(markdown_summary(found).splitlines()[0])
    **passed**: rr@10 of new against old
    """
    from retrieval_report.study.template_files import environment

    ends = interval(gate.bound_low, gate.bound_high, DECIMALS)
    return (
        environment()
        .get_template("gate.md")
        .render(
            gate=gate,
            between=f"{interval_name(gate.alpha)} {ends}",
            picture=interval_picture(gate),
            advice=advice,
            text=markdown_text,
            size=size,
            margin_text=margin_text,
            chance_text=chance_text,
        )
    )
