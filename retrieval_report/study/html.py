"""Render the report as one self-contained HTML file
that needs no network, no other file and no eval.
"""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import fields

from retrieval_report.contracts.errors import ParameterError
from retrieval_report.metrics.parsing import parse_metric
from retrieval_report.study.by_cutoff import cutoffs_sentence
from retrieval_report.study.caveats import (
    OPPOSITE,
    health_sentences,
    joined_hints,
    more_findings,
    naive_ties,
    named_tests,
    not_audited,
    split_findings,
    winner_sentences,
)
from retrieval_report.study.contents import Report
from retrieval_report.study.pictures import Picture
from retrieval_report.study.questions import MOST_AUDITED
from retrieval_report.study.tables import report_tables
from retrieval_report.study.template_files import asset, environment

HINTS = 4  # hints that are shown; more are folded away


def render_html(
    report: Report, pictures: Sequence[Picture], *, timestamp: str | None = None
) -> str:
    """Render the page.

    Parameters
    ----------
    report
        The report to show.
    pictures
        The charts, in order.
    timestamp
        Shown as it is, if given.
    """
    # Text marked as safe in the template is our own, Vega's, or escaped JSON; Jinja escapes
    # everything else.
    scripts = {"charts": vega_bundle() if pictures else "", "behaviour": asset("report.js")}
    style = asset("report.css")
    # A policy that allows exactly this page's scripts and style, and no requests.
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts.values() if script)
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'sha256-{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    audit = report.audit_at_headline
    means = report.summary.filter(report.at_headline, policy="expected")
    is_one = len(report.parameters.get("metrics", ())) == 1
    winners = winner_sentences(audit, means, "" if is_one else report.measure)
    hints = joined_hints(report.hints)
    health, more_health = split_findings(health_sentences(report.health))
    wrong = set(audit.filter(same_winner=False)["system"]) if audit.height else set[str]()
    # Of the two whose numbers `printed` has; otherwise those that do are named.
    misleading = not wrong.isdisjoint(OPPOSITE)
    return (
        environment()
        .get_template("report.html")
        .render(
            report=report,
            pictures=pictures,
            health=health,
            more_health=more_health,
            more_findings=more_findings(more_health),
            winners=winners,
            depths=cutoffs_sentence(report.by_cutoff),
            not_audited=not_audited(report.parameters),
            misleading=misleading,
            accidents=() if misleading and report.printed else winners[: bool(wrong)],
            most_audited=MOST_AUDITED,
            tables=report_tables(report),
            hints=hints[:HINTS],
            more_hints=hints[HINTS:],
            methods=describe_metrics(report.parameters.get("metrics", ())),
            ties=naive_ties(
                report.parameters.get("like"), report.parameters.get("naive_order", "row")
            ),
            tests=named_tests(report.comparison),
            timestamp=timestamp,
            policy=policy,
            style=style,
            scripts=scripts,
        )
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def vega_bundle() -> str:
    """Return a script that defines ``window.embedChart`` and nothing else: Vega, Vega-Lite and
    Vega-Embed, which ``docs/make_vega.py`` made.
    """
    return asset("vega.js")


def describe_metrics(measures: Iterable[str]) -> list[tuple[str, str, str, str]]:
    """Return name, formula, divisor and parameters of each metric of measures such as
    ``ap(denominator=min)@10`` once; one whose gain or discount is a function has no text
    to be read.

    >>> describe_metrics(["ap(denominator=min)@10"])[0][2]
    'min(k, R)'
    """
    methods = []
    for text in dict.fromkeys(measure.rpartition("@")[0] for measure in measures):
        with suppress(ParameterError):
            metric, _ = parse_metric(text)
            values = {part.name: getattr(metric, part.name) for part in fields(metric)}
            values_text = ", ".join(f"{name} = {value}" for name, value in values.items())
            formula = metric.formula
            divisor = formula.divided_by(values.get(formula.parameter))
            methods.append((str(metric), formula.total, divisor, values_text or "–"))
    return methods
