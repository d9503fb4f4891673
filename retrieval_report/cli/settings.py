"""Options that several commands share, and reading the files they name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import click

from retrieval_report.contracts.errors import ColumnError, DataError, FileError, OutputError
from retrieval_report.contracts.registry import column
from retrieval_report.writing.files import check_writable_folder

__all__ = [
    "POLICIES",
    "READING",
    "average_option",
    "check",
    "data_options",
    "explains",
    "given_reading_options",
    "no_rows",
    "options",
    "output_options",
    "read_data",
    "read_judgements",
    "read_queries",
    "results_folder",
    "trust_option",
]

# The arbitrary order others print, the exact mean, and the bounds of what any order can print.
POLICIES = ("naive", "expected", "worst", "best")

Command = TypeVar("Command", bound=Callable[..., Any])


def _split(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if "" in parts[:-1] and any(parts):  # one at the end does no harm
        raise click.BadParameter(f"'{text}' has a comma too many")
    return [part for part in parts if part]


def _names(_context: click.Context, _option: click.Parameter, text: str) -> list[str]:
    return _split(text)


def _metrics(_context: click.Context, _option: click.Parameter, text: str) -> list[str]:
    from retrieval_report.metrics.parsing import split_metrics

    return split_metrics(text)


def _cutoffs(_context: click.Context, _option: click.Parameter, text: str) -> list[int | str]:
    """Whole numbers as numbers; what is none stays text, for `evaluate` to accept ("all") or to refuse."""
    cutoffs: list[int | str] = []
    for part in _split(text):
        try:
            cutoffs.append(int(part))
        except ValueError:
            cutoffs.append(part)
    return cutoffs


def _columns(_context: click.Context, _option: click.Parameter, text: str | None) -> dict[str, str] | None:
    if text is None:
        return None
    columns: dict[str, str] = {}
    for part in _split(text):
        name, equals, column = (piece.strip() for piece in part.partition("="))
        if not (name and equals and column):
            raise click.BadParameter(f"'{part}' is not of the form name=column, such as query=q_id")
        if name in columns:
            raise click.BadParameter(f"'{name}' is given twice")
        columns[name] = column
    return columns


# Names and values are those of `evaluate`, so that both say the same thing.
SETTINGS = {
    "metrics": click.option("--metrics", default="precision,recall,ap,rr,ndcg", show_default=True, callback=_metrics,
                 help="By name, with parameters and a cutoff of their own if wanted: ap(denominator=k)@10."),
    "cutoffs": click.option("--cutoffs", default="1,5,10,all", show_default=True, callback=_cutoffs,
                 help="Depths for the metrics that name none; 'all' is the whole list."),
    "policies": click.option("--policies", default=",".join(POLICIES), show_default=True, callback=_names,
                 help="What to do with the order inside ties: naive, expected, shuffled, worst, best."),
    "shuffles": click.option("--shuffles", type=int, default=100, show_default=True,
                 help="Random orders that policy 'shuffled' draws."),
    "seed": click.option("--seed", type=int, default=0, show_default=True, help="Where those random orders start."),
    "no_relevant": click.option("--no-relevant", type=click.Choice(["zero", "skip", "one", "error"]), default="zero",
                 show_default=True, help="Queries without a relevant item."),
    "missing_query": click.option("--missing-query", type=click.Choice(["zero", "skip", "error"]), default="zero",
                 show_default=True, help="Judged queries that a model did not answer."),
    "unjudged": click.option("--unjudged", type=click.Choice(["non_relevant", "drop", "error"]),
                 help="Retrieved items that nobody judged; default: non_relevant with --judgements, else error."),
    "unjudged_query": click.option("--unjudged-query", type=click.Choice(["error", "skip"]), default="error",
                 show_default=True, help="Queries without judgements."),
    "null_distance": click.option("--null-distance", type=click.Choice(["error", "not_retrieved"]), default="error",
                 show_default=True, help="Rows whose distance is empty."),
    "truncated": click.option("--truncated", type=click.Choice(["auto", "no", "between_ties", "within_tie"]),
                 default="auto", show_default=True,
                 help="Whether lists were cut, as top-k lists are: no, behind a whole tie, or maybe inside the last "
                 "one; auto decides from the data, and says so."),
    "relevant_items": click.option("--relevant-items", type=click.Choice(["pooled", "own", "error"]), default="pooled",
                 show_default=True, help="What is relevant where neither judgements nor n_relevant say it: what any "
                 "model shows, or the model's own list; or refuse."),
    "relevant_from": click.option("--relevant-from", type=float, help="Smallest relevance that counts as relevant."),
    "distance_threshold": click.option("--distance-threshold", type=float, help="Items beyond it are not relevant."),
    "decimals": click.option("--decimals", type=int, help="Round distances to this many decimals first."),
    "naive_order": click.option("--naive-order", type=click.Choice(["row", "item", "item_descending"]), default="row",
                 show_default=True, help="The one order that policy 'naive' takes inside ties."),
}  # fmt: skip


DATA = (
    click.argument("rankings", nargs=-1, required=True),
    click.option("--judgements", metavar="FILE", help="Relevance per query and item, such as TREC qrels."),
    click.option("--queries", metavar="FILE", help="One row per query: label, weight or n_relevant."),
    click.option("--columns", callback=_columns, metavar="NAME=COLUMN,…",
                 help="Columns of RANKINGS: query=q_id,score=sim."),
    click.option("--name-by", type=click.Choice(["tag", "file"]),
                 help="What names a TREC run; default: its tag, or its file where tags of several runs are the same."),
)  # fmt: skip


def options(*names: str) -> Callable[[Command], Command]:
    """Add the named settings to a command, or all of them."""

    def add(command: Command) -> Command:
        for name in reversed(names or tuple(SETTINGS)):
            command = SETTINGS[name](command)
        return command

    return add


average_option = click.option(
    "--average",
    type=click.Choice(["micro", "macro", "weighted"]),
    default="micro",
    show_default=True,
    help="Mean over queries, over labels, or by query weight.",
)


QUESTIONS = (
    click.option("--by", metavar="COLUMN", help="A column of --queries: which of its values change the winner."),
    click.option("--baseline", metavar="MODEL", help="Which models are no worse than this one, by --margin."),
    click.option("--margin", type=float, help="The largest loss against --baseline that would not matter."),
    click.option("--costs", metavar="FILE", help="A table with the columns model and cost, such as bytes per vector."),
)


def question_options(command: Command) -> Command:
    """--by, --baseline, --margin and --costs."""
    for setting in reversed(QUESTIONS):
        command = setting(command)
    return command


def read_costs(path: str | None) -> Any:
    """The table of costs, None where none was named."""
    from retrieval_report.reading.readers import read_costs as read

    return None if path is None else read(path)


def _try_first(context: click.Context, _option: click.Parameter, trusted: bool) -> None:
    from retrieval_report.reading.trial import tried_first

    if not trusted:
        context.with_resource(tried_first())


trust_option = click.option("--trust-files", is_flag=True, expose_value=False, callback=_try_first,
                 help="Read Parquet and Arrow at once; by default another process tries first, for a damaged file "
                 "may end the one that reads it.")  # fmt: skip


def _keep(context: click.Context, option: click.Parameter, value: object) -> None:
    """Keep how judgements and queries are read for the functions that read them."""
    if value is not None:
        context.meta[f"{__name__}.{option.name}"] = value


_kept: dict[str, Any] = {"expose_value": False, "callback": _keep}
_kept_columns: dict[str, Any] = {
    "expose_value": False,
    "callback": lambda context, option, text: _keep(context, option, _columns(context, option, text)),
    "metavar": "NAME=COLUMN,…",
}
# Options of how judgements and queries are read; `read_judgements` and `read_queries` look them up.
READING = (
    click.option("--judgement-columns", **_kept_columns, help="Columns of the judgements: item=docid,relevance=grade."),
    click.option("--query-columns", **_kept_columns, help="Columns of the queries: query=q_id,label=class."),
    click.option("--negative", **_kept, type=click.Choice(["keep", "unjudged"]),
                 help="Judgements below 0: keep them, to be refused, or take them as not judged; default: keep."),
)  # fmt: skip


def _given(name: str) -> Any:
    return click.get_current_context().meta.get(f"{__name__}.{name}")


def given_reading_options() -> list[str]:
    """Those of the reading options that were given."""
    return [
        f"--{name.replace('_', '-')}" for name in ("judgement_columns", "query_columns", "negative") if _given(name)
    ]


def read_judgements(path: str | None) -> Any:
    """The judgements in a file, read as the options say."""
    import retrieval_report as rr

    if path is None:
        return None
    with _columns_named("judgement_columns"):
        return rr.read_judgements(path, columns=_given("judgement_columns"), negative=_given("negative") or "keep")


def read_queries(path: str | None) -> Any:
    """The queries in a file, read as the options say."""
    import retrieval_report as rr

    if path is None:
        return None
    with _columns_named("query_columns"):
        return rr.read_queries(path, columns=_given("query_columns"))


@contextmanager
def _columns_named(option: str) -> Iterator[None]:
    """Name the option that says which column is which; --columns is for the rankings."""
    try:
        yield
    except ColumnError as error:
        raise ColumnError(re.sub(r"\bcolumns=", f"{option}=", str(error))) from error


def data_options(command: Command) -> Command:
    """RANKINGS, --judgements, --queries, the columns of all three, --name-by and --trust-files."""
    for setting in reversed((*DATA, *READING, trust_option)):
        command = setting(command)
    return command


def explains(frame: str, *names: str) -> Callable[[Command], Command]:
    """Say below a command's help what columns of the printed table mean."""

    def add(command: Command) -> Command:
        meanings = [f"{name}: {column(frame, name).meaning}." for name in names]
        command.__doc__ = f"{inspect.getdoc(command)}\n\n{' '.join(meanings)}"
        return command

    return add


def output_options(what: str) -> Callable[[Command], Command]:
    """--out and --raw."""
    out = click.option("--out", metavar="FOLDER", help=f"Write {what} here.")
    raw = click.option("--raw", is_flag=True, help="Do not defuse CSV text that a spreadsheet would run as a formula.")
    return lambda command: out(raw(command))


def results_folder(out: str | None, names: Iterable[str], inputs: Iterable[str | None]) -> Path | None:
    """The folder for results, if they can be written there under these names and none replaces an input."""
    from retrieval_report.reading.sources import find_files

    if out is None:
        return None
    folder = check_writable_folder(out)
    written = {(folder / name).resolve() for name in names}
    for given in inputs:
        files: list[Path] = []
        with suppress(FileError):  # the reader says so in its own words
            files = [] if given is None else find_files(given)
        for file in files:
            if file.resolve() in written:
                raise OutputError(f"cannot write to '{file}': it is one of the files to be read; choose another --out")
    return folder


def read_data(
    rankings: Sequence[str],
    judgements: str | None,
    queries: str | None,
    columns: dict[str, str] | None = None,
    name_by: str | None = None,
) -> dict[str, Any]:
    """The frames that the files hold, by the names that `evaluate` and its like give them."""
    import retrieval_report as rr

    data: dict[str, Any] = {
        "queries": read_queries(queries),
        "rankings": rr.read_rankings(list(rankings), columns=columns, name_by=name_by),
        "judgements": read_judgements(judgements),
    }
    if not data["rankings"].height:  # a function returns an empty frame; a table of nothing helps no reader
        raise no_rows(rankings)
    return data


def no_rows(rankings: Sequence[str]) -> DataError:
    """What is said of files without rows, by every engine."""
    return DataError(f"{', '.join(rankings)}: no rows")


def check(*, metrics: Sequence[str], cutoffs: Sequence[int | str] = ("all",), **settings: Any) -> None:
    """Refuse bad arguments before the time it takes to read the files."""
    from retrieval_report.contracts.options import Options
    from retrieval_report.metrics.parsing import parse_metrics

    parse_metrics(metrics, cutoffs)
    Options(**settings)
