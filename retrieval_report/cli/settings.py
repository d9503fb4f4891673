"""Options that several commands share, and functions that read the files they name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from retrieval_report.cli.streams import standard_input
from retrieval_report.contracts.errors import ColumnError, DataError, FileError, OutputError
from retrieval_report.contracts.options import Options
from retrieval_report.contracts.parameters import PARAMETERS
from retrieval_report.contracts.registry import column
from retrieval_report.contracts.warning import warn
from retrieval_report.metrics.parsing import DEFAULT_CUTOFFS, DEFAULT_METRICS, parse_metrics, split_metrics
from retrieval_report.writing.files import check_writable_folder

__all__ = [
    "POLICIES",
    "READING",
    "average_option",
    "check",
    "data_options",
    "explains",
    "given_reading_options",
    "like_option",
    "no_rows",
    "options",
    "output_options",
    "read_data",
    "read_judgements",
    "read_queries",
    "results_folder",
    "settled",
    "trust_option",
]

# The arbitrary order that others print, the exact mean, and the bounds over all orders.
POLICIES = ("naive", "expected", "worst", "best")

Command = TypeVar("Command", bound=Callable[..., Any])


def _split(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if "" in parts[:-1] and any(parts):  # a comma at the end does no harm
        raise click.BadParameter(f"'{text}' has one comma too many")
    return [part for part in parts if part]


def _names(_context: click.Context, _option: click.Parameter, text: str) -> list[str]:
    return _split(text)


def _metrics(_context: click.Context, _option: click.Parameter, text: str) -> list[str]:
    return split_metrics(text)


def _cutoffs(_context: click.Context, _option: click.Parameter, text: str) -> list[int | str]:
    """Convert whole numbers; other text is left for `evaluate` to accept ("all") or refuse."""
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


def _setting(name: str, **how: Any) -> Callable[[Command], Command]:
    """Return an option of `evaluate` with its sentence, its choices and its default."""
    known, defaults = PARAMETERS[name], {part.name: part.default for part in fields(Options)}
    if known.choices and "callback" not in how:
        how["type"] = click.Choice(known.choices)
    default = how.pop("default", defaults.get(name))
    return click.option(
        f"--{name.replace('_', '-')}", default=default, show_default=default is not None, help=known.meaning, **how
    )


SETTINGS = {
    "metrics": _setting("metrics", default=",".join(DEFAULT_METRICS), callback=_metrics),
    "cutoffs": _setting(
        "cutoffs", default=",".join("all" if k is None else str(k) for k in DEFAULT_CUTOFFS), callback=_cutoffs
    ),
    "policies": _setting("policies", default=",".join(POLICIES), callback=_names),
    **{name: _setting(name, type=int) for name in ("shuffles", "seed")},
    **{
        name: _setting(name)
        for name in ("no_relevant", "missing_query", "unjudged", "unjudged_query", "null_distance", "truncated")
    },
    "relevant_items": _setting("relevant_items"),
    **{name: _setting(name, type=float) for name in ("relevant_from", "distance_threshold")},
    "decimals": _setting("decimals", type=int),
    "naive_order": _setting("naive_order"),
}


DATA = (
    click.argument("rankings", nargs=-1, required=True, callback=standard_input),
    click.option("--judgements", "--qrels", metavar="FILE", callback=standard_input,
                 help="Relevance per query and item, such as TREC qrels; - is standard input."),
    click.option("--queries", metavar="FILE", help="One row per query: label, weight or n_relevant."),
    click.option("--columns", callback=_columns, metavar="NAME=COLUMN,…",
                 help="Columns of RANKINGS: query=q_id,score=sim."),
    click.option("--name-by", type=click.Choice(["tag", "file"]),
                 help="What names a TREC run; default: its tag, or its file if several runs have the same tag."),
)  # fmt: skip


def options(*names: str) -> Callable[[Command], Command]:
    """Add the named settings to a command, or all of them."""

    def add(command: Command) -> Command:
        for name in reversed(names or tuple(SETTINGS)):
            command = SETTINGS[name](command)
        return command

    return add


average_option = _setting("average", default="micro")
like_option = _setting("like", metavar="SYSTEM")


QUESTIONS = (
    click.option("--by", metavar="COLUMN", help="A column of --queries; find which of its values change the winner."),
    click.option("--baseline", metavar="MODEL", help="Find which models are no worse than this one by --margin."),
    click.option("--margin", type=float, help="The largest loss against --baseline that would not matter."),
    click.option("--costs", metavar="FILE", help="A table with the columns model and cost, such as bytes per vector."),
)


def question_options(command: Command) -> Command:
    """Add --by, --baseline, --margin and --costs to a command."""
    for setting in reversed(QUESTIONS):
        command = setting(command)
    return command


def read_costs(path: str | None) -> Any:
    """Read the table of costs; return None if none was named."""
    from retrieval_report.reading.readers import read_costs as read

    return None if path is None else read(path)


def _try_first(context: click.Context, _option: click.Parameter, trusted: bool) -> None:
    from retrieval_report.reading.trial import tried_first

    if not trusted:
        context.with_resource(tried_first())


trust_option = click.option("--trust-files", is_flag=True, expose_value=False, callback=_try_first,
                 help="Read Parquet and Arrow directly; by default another process tries first, because a damaged file "
                 "may crash the one that reads it.")  # fmt: skip


def _keep(context: click.Context, option: click.Parameter, value: object) -> None:
    """Store how judgements and queries are read for the functions that read them."""
    if value is not None:
        context.meta[f"{__name__}.{option.name}"] = value


_kept: dict[str, Any] = {"expose_value": False, "callback": _keep}
_kept_columns: dict[str, Any] = {
    "expose_value": False,
    "callback": lambda context, option, text: _keep(context, option, _columns(context, option, text)),
    "metavar": "NAME=COLUMN,…",
}
# Options for reading judgements and queries, which `read_judgements` and `read_queries` look up.
READING = (
    click.option("--judgement-columns", **_kept_columns, help="Columns of the judgements: item=docid,relevance=grade."),
    click.option("--query-columns", **_kept_columns, help="Columns of the queries: query=q_id,label=class."),
    click.option("--negative", **_kept, type=click.Choice(["keep", "unjudged"]),
                 help="Judgements below 0: keep and so refuse them, or treat them as not judged; default: keep."),
)  # fmt: skip


def _given(name: str) -> Any:
    return click.get_current_context().meta.get(f"{__name__}.{name}")


def given_reading_options() -> list[str]:
    """Return the reading options that were given."""
    return [
        f"--{name.replace('_', '-')}" for name in ("judgement_columns", "query_columns", "negative") if _given(name)
    ]


def read_judgements(path: str | None) -> Any:
    """Read the judgements in a file, as the options say."""
    import retrieval_report as rr

    if path is None:
        return None
    with _columns_named("judgement_columns"):
        return rr.read_judgements(path, columns=_given("judgement_columns"), negative=_given("negative") or "keep")


def read_queries(path: str | None) -> Any:
    """Read the queries in a file, as the options say."""
    import retrieval_report as rr

    if path is None:
        return None
    with _columns_named("query_columns"):
        return rr.read_queries(path, columns=_given("query_columns"))


@contextmanager
def _columns_named(option: str) -> Iterator[None]:
    """Name the right option for column names in errors, since --columns is for the rankings."""
    try:
        yield
    except ColumnError as error:
        raise ColumnError(re.sub(r"\bcolumns=", f"{option}=", str(error))) from error


def data_options(command: Command) -> Command:
    """Add RANKINGS, --judgements, --queries, the columns of all three, --name-by and --trust-files."""
    for setting in reversed((*DATA, *READING, trust_option)):
        command = setting(command)
    return command


def explains(frame: str, *names: str) -> Callable[[Command], Command]:
    """Explain columns of the printed table below a command's help."""

    def add(command: Command) -> Command:
        meanings = [f"{name}: {column(frame, name).meaning}." for name in names]
        command.__doc__ = f"{inspect.getdoc(command)}\n\n{' '.join(meanings)}"
        return command

    return add


def output_options(what: str) -> Callable[[Command], Command]:
    """Add --out and --raw to a command."""
    out = click.option("--out", metavar="FOLDER", help=f"Write {what} here.")
    raw = click.option(
        "--raw", is_flag=True, help="Leave CSV text as it is, even if a spreadsheet would run it as a formula."
    )
    return lambda command: out(raw(command))


def results_folder(out: str | None, names: Iterable[str], inputs: Iterable[str | None]) -> Path | None:
    """Return the folder for results, after checking that it is writable and that no result replaces an input."""
    from retrieval_report.reading.sources import find_files

    if out is None:
        return None
    folder = check_writable_folder(out)
    written = {(folder / name).resolve() for name in names}
    for given in inputs:
        files: list[Path] = []
        with suppress(FileError):  # the reader will report it
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
    """Read the files into frames, by the names of the arguments of `evaluate`."""
    import retrieval_report as rr

    data: dict[str, Any] = {
        "queries": read_queries(queries),
        "rankings": rr.read_rankings(list(rankings), columns=columns, name_by=name_by),
        "judgements": read_judgements(judgements),
    }
    if not data["rankings"].height:  # a function may return an empty frame, but an empty table is of no use
        raise no_rows(rankings)
    return data


def no_rows(rankings: Sequence[str]) -> DataError:
    """Return the error of every engine for files without rows."""
    return DataError(f"{', '.join(rankings)}: no rows")


def settled(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a command; with --like only those that were given, since the system decides the others."""
    like = settings.get("like")
    kept = ("metrics", "cutoffs", "policies")
    return {
        name: value
        for name, value in settings.items()
        if name != "like" or like is not None
        if like is None or name not in SETTINGS or name in kept or _was_given(name)
    }


def _was_given(name: str) -> bool:
    return click.get_current_context().get_parameter_source(name) == ParameterSource.COMMANDLINE


def check(
    *, metrics: Sequence[str], cutoffs: Sequence[int | str] = ("all",), like: str | None = None, **settings: Any
) -> None:
    """Refuse bad arguments before spending time on reading the files."""
    parse_metrics(metrics, cutoffs)
    Options(**settings)
    if like is not None:
        from retrieval_report.analysis.likeness import check_like, measures_like

        check_like(settings)
        measures_like(like, metrics, cutoffs)
    if _was_given("shuffles") and "shuffled" not in settings.get("policies", ["shuffled"]):
        message = (
            "--shuffles has no effect: shuffled is not among the policies; add it, as in --policies expected,shuffled"
        )
        warn(message)
