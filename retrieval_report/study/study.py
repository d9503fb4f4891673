"""`Study`: a comparison of models as an object that computes every answer once."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

import polars as pl

from retrieval_report.engines.check_scores import at_measure
from retrieval_report.metrics.parsing import measure_text
from retrieval_report.study.answers import Answers
from retrieval_report.study.caveats import naive_ties, notices, uneven_lengths
from retrieval_report.study.contents import PageOptions, Report, report_of
from retrieval_report.study.latex_markdown import Means, latex_table, markdown_table
from retrieval_report.study.plots import Plots
from retrieval_report.study.server import Dashboard, asked_of_dashboard, serve
from retrieval_report.study.terminal import frame_table, visible
from retrieval_report.study.verdict import verdict
from retrieval_report.study.write import write_report
from retrieval_report.writing.files import check_writable_folder


class Study(Answers):
    """A comparison of models: their rankings, how to score them, and every answer, each computed
    once on first use.

    A study never changes and may be used from several threads. `at`, `models`, `where` and `pair`
    return narrower studies that share computed results, because the scores of a list do not depend
    on other lists.

    Parameters
    ----------
    rankings
        The result of :func:`from_search`, or anything that :func:`read_rankings` accepts: a
        dictionary of model → search results, one long frame, or paths.
    measures
        Text such as ``"ndcg@10, ap"``, or a sequence of texts and records; the first is the
        headline. Measures without a cutoff use ``cutoffs``, by default the whole list. By default
        ndcg@10, precision@10, recall@10 and ap.
    judgements, queries
        Anything that :func:`read_judgements` and :func:`read_queries` accept.
    like
        A system whose definitions and tie order are used, such as "trec_eval"; see
        :func:`evaluate_like`.
    average
        One of {"micro", "macro", "weighted"}, as for :func:`summarise`.
    by
        A column of the queries; `segments` shows which of its values change the winner.
    baseline, margin
        `no_worse` shows which models are no worse than the baseline by the margin.
    costs
        A cost for every model; `costs` shows which models are worth theirs; see :func:`cost_table`.
    correction
        How p-values allow for the number of pairs, everywhere: "max-t", "holm", "tukey" or "bh";
        see :func:`compare`.
    letters
        Whether the leaderboard (`board`) has letters; see :func:`leaderboard`.
    **options
        All other options of :func:`evaluate` except ``policies``, all of which a study uses; and
        ``columns`` and ``name_by`` of :func:`read_rankings`.

    Raises
    ------
    RetrievalReportError
        Immediately for arguments and columns; for values in the data when they are first scored.

    Examples
    --------
    >>> study = Study(
    ...     {
    ...         "coarse": {"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"a": 2, "b": 2, "c": 1}},
    ...         "fine": {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"a": 1, "b": 3, "c": 2}},
    ...     },
    ...     "rr@3, ap@3",
    ...     judgements={"q1": {"a": 1}, "q2": {"b": 1}},
    ... )
    >>> study.table().rows()
    [('fine', 1.0, 1.0), ('coarse', 0.6805555555555556, 0.6805555555555556)]
    >>> pair = study.at("rr@3").compare("fine", "coarse").filter(policy="expected")
    >>> pair.select("model_a", "model_b", pl.col("difference").round(4)).row(0)
    ('fine', 'coarse', 0.3194)
    """

    @property
    def verdict(self) -> tuple[str, ...]:
        """Sentences on what the headline measure says about the models, followed by `notices`."""
        return (*self.sentences, *self.notices)

    @property
    def notices(self) -> tuple[str, ...]:
        """A line to read after the verdict if its measure is an estimate: lists may be cut, or R is
        not known.
        """
        here = self.at(self.measure)

        def make() -> tuple[str, ...]:
            estimate = notices(here.summary, here.truncation, measure=self.measures[0])
            return (*estimate, *uneven_lengths(here.scores, here.measures))

        return self._once("notices", make)

    @property
    def status(self) -> str:
        """The verdict in a word: one of those of :func:`flips`, "single model" or "no score"."""
        return self._said[0]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict without `notices`."""
        return self._said[1]

    @property
    def _said(self) -> tuple[str, tuple[str, ...]]:
        return self._once("verdict", self._say)

    def _say(self) -> tuple[str, tuple[str, ...]]:
        metric, cutoff = self.measures[0]
        here = self.at(self.measure)
        # For other measures only the expected winner is named, so their random orders are not
        # needed.
        others = self.under("expected").summary.join(
            here.summary,
            on=["metric", "cutoff"],
            how="anti",
            nulls_equal=True,
            maintain_order="left",
        )
        ties = naive_ties(self.like, self.options.naive_order)
        summary = pl.concat([here.summary, others])
        about = summary, here.flips, here.no_worse
        return verdict(*about, metric=metric, cutoff=cutoff, ties=ties, identical=self.identical)

    def table(self) -> pl.DataFrame:
        """Expected scores, with one row per model (best by the headline measure first) and one
        column per measure.
        """
        expected = self.summary.filter(policy="expected")
        labels = expected.select("metric", "cutoff").rows()
        wide = expected.with_columns(
            measure=pl.Series([measure_text(*label) for label in labels], dtype=pl.String)
        ).pivot("measure", index="model", values="value", maintain_order=True)
        names = [measure_text(*measure) for measure in self.measures]
        return wide.select("model", *names).sort(
            names[0], descending=True, nulls_last=True, maintain_order=True
        )

    @property
    def plot(self) -> Plots:
        """The charts of the headline measure: ``study.plot.policies()``; ``dir(study.plot)`` lists
        them.
        """
        return Plots(self)

    def contents(self, **about: Unpack[PageOptions]) -> Report:
        """Return :func:`report_contents` of this study; ``about`` may hold title, headline and
        command.
        """
        wanted: PageOptions = {"headline": self.measure, **about}
        return report_of(self, **wanted)

    def report(
        self,
        folder: str | Path,
        *,
        formats: str | Sequence[str] = ("html", "csv"),
        timestamp: str | None = None,
        raw: bool = False,
        **about: Unpack[PageOptions],
    ) -> Path:
        """Write the report of what is looked at into a folder, as :func:`write_report` does; return
        the folder.
        """
        check_writable_folder(folder)
        write_report(folder, self.contents(**about), formats=formats, timestamp=timestamp, raw=raw)
        return Path(folder)

    def dashboard(
        self, *, name: str = "This study", port: int | None = None, browser: bool = True
    ) -> Dashboard:
        """Open this study's models and queries in the dashboard, with its headline measure and
        settings.

        Parameters
        ----------
        name
            Name of these data in the dashboard.
        port
            Default: one that is free.
        browser
            Whether to open a browser.

        Returns
        -------
        Dashboard
            An object with its ``address`` on this machine and ``stop()``; the dashboard also ends
            with Python.

        Raises
        ------
        RetrievalReportError
            The dashboard has no control for a setting, the port is in use, or Streamlit is not
            installed.
        """
        about = {"name": name, **asked_of_dashboard(self)}
        return serve(self.alone().frames, about, port=port, browser=browser)

    def to_markdown(self) -> str:
        """Return the leaderboard of all measures as a Markdown table."""
        return markdown_table(self._means())

    def to_latex(self) -> str:
        """Return the leaderboard of all measures as a LaTeX table."""
        return latex_table(self._means())

    def _means(self) -> Means:
        return Means(*self.measures[0], self.summary, self.flips, self.comparison)

    def __repr__(self) -> str:
        """Return the verdict and the leaderboard of the headline measure as text."""
        board = self._board()
        return "\n".join(
            [*(visible(line) for line in self.verdict), "", frame_table(board, board.columns)]
        )

    def _repr_html_(self) -> str:
        """Return the same as HTML without scripts and without network."""
        board = self._board()
        head = "".join(f"<th>{html.escape(visible(name))}</th>" for name in board.columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(value))}</td>" for value in row) + "</tr>"
            for row in board.head(50).iter_rows()
        )
        lines = "".join(f"<p>{html.escape(line)}</p>" for line in self.verdict)
        return (
            f"<div>{lines}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        )

    def _board(self) -> pl.DataFrame:
        """Return the leaderboard of the headline measure, best first."""
        here = self.summary.filter(at_measure(*self.measures[0]))
        naive = here.filter(policy="naive").select("model", naive="value")
        board = (
            here.filter(policy="expected")
            .rename({"value": "expected"})
            .join(naive, on="model", how="left")
        )
        board = board.select("model", "expected", "tie_std", "naive", "lowest", "highest")
        return board.sort("expected", descending=True, nulls_last=True)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if isinstance(value, float) else visible(str(value), 60)
