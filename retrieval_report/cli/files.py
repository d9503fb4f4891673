"""Files that commands read and write: the options that
name them, and what is checked before a long computation.
"""

import json
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click
import polars as pl

import retrieval_report as rr
from retrieval_report.cli.group import Terminal
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.columns import Frames
from retrieval_report.contracts.errors import DataError, FileError, ParameterError
from retrieval_report.contracts.steps import step
from retrieval_report.contracts.wording import speaking_to
from retrieval_report.reading.sources import CHUNK, MAX_BYTES, larger
from retrieval_report.study.terminal import visible
from retrieval_report.writing.files import (
    check_writable_folder,
    csv_bytes,
    parquet_bytes,
    refuse_inputs,
    write_files,
)
from retrieval_report.writing.temporary import scratch

Command = Callable[..., object]
Addition = Callable[[Command], Command]  # of an option to a command


UNSOUND = 2  # the exit code where no verdict can rest on the data, as of a gate
EXIT_CODES = """\b
Exit codes:
  0  the numbers rest on sound data
  2  bad input; or, after the numbers, "Check your data" for some model
"""
DASH = "-"
NAME = "standard-input"  # what a model is called whose file does not name it

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the numbers as JSON, not as a table."
)


latex_option = click.option(
    "--latex", is_flag=True, help="Print the scores as a LaTeX table, with marks of significance."
)


def standard_input(context: click.Context, _option: click.Parameter, value: Any) -> Any:
    """Put a file in the place of ``-``, which stands
    for standard input; its content says what it is.
    """
    paths = [value] if isinstance(value, str) else list(value or ())
    _refuse_measures(paths)
    if DASH not in paths:
        return value
    file = context.with_resource(scratch())() / NAME
    try:
        _keep_standard_input(file, context.params.get("max_bytes") or MAX_BYTES)
    except OSError as error:
        raise FileError(
            f"{NAME}: cannot be kept in '{file.parent.parent}': {error.strerror or error}; set "
            "TMPDIR to a folder with more space, or name a file"
        ) from error
    read = [str(file) if path == DASH else path for path in paths]
    return read[0] if isinstance(value, str) else tuple(read)


def _refuse_measures(paths: Sequence[str]) -> None:
    """Refuse a measure that a blank, not a comma, keeps apart from those of ``--measures``."""
    for path in paths:
        if "@" in path and not Path(path).exists():
            from retrieval_report.metrics.parsing import parse_measure

            with suppress(ParameterError):
                parse_measure(path)
                raise FileError(
                    f"{path}: no such file; if it is a measure, write a comma before it, without "
                    f"a blank, as in --measures ndcg@10,{path}"
                )


def _keep_standard_input(file: Path, limit: int) -> None:
    """Copy standard input, which may not end, into a file."""
    if sys.stdin is None:
        raise FileError(f"{NAME}: is closed; name a file instead of {DASH}")
    with file.open("wb") as target:
        size = 0
        while piece := sys.stdin.buffer.read(CHUNK):
            size += target.write(piece)
            if size > limit:
                raise FileError(f"{NAME}: holds more than {limit} bytes{larger()}")
        if not size:
            raise FileError(f"{NAME}: is empty, or was read before: only one file can come from it")


def split(text: str) -> list[str]:
    """Return the parts of a list with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _columns(text: str) -> dict[str, str]:
    return _named_parts(text, "name=column, such as query=q_id")


def _named_parts(text: str, form: str) -> dict[str, str]:
    parts = {}
    for part in split(text):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            raise click.BadParameter(f"'{part}' is not of the form {form}")
        if name in parts:
            raise click.BadParameter(f"'{name}' is given twice")
        parts[name] = value
    return parts


def _judges(context: click.Context, option: click.Parameter, values: object) -> object:
    """Return the files of several judges by name; a file whose own name holds "=" is one file."""
    path = standard_input(context, option, values)
    if path is None or "=" not in path or Path(path).exists():
        return path
    if not any(parameter.name == "judge" for parameter in context.command.params):
        raise click.BadParameter(
            f"'{path}' does not exist; compare, leaderboard, estimate, report and dashboard take several judges",
            context,
            option,
        )
    return _named_parts(path, "judge=file, such as human=qrels.txt")


def _of_rankings(context: click.Context, option: click.Parameter, value: object) -> object:
    """Refuse an option that label sets would not obey."""
    if value is not None and context.params.get("labels_as_rankings"):
        raise click.UsageError(f"{option.opts[0]} does not work with --labels-as-rankings", context)
    return value


NAMED_COLUMNS: Named = {"type": _columns, "metavar": "NAME=COLUMN,…"}
STUDIED = "judge"  # what only the commands that hold a study take
READING = (
    "judgement_columns",
    "query_columns",
    "negative",
    "max_bytes",
)  # what Spark does not take
FILES = {
    "rankings": click.argument("rankings", nargs=-1, required=True, callback=standard_input),
    "judgements": click.option("--judgements", "--qrels", metavar="FILE", callback=_judges,
                 help="Relevance of items to queries, such as TREC qrels; - is standard input."),
    "queries": click.option("--queries", metavar="FILE", help="One row per query: label, weight or "
                                                              "n_relevant."),
    "columns": click.option("--columns", **NAMED_COLUMNS, callback=_of_rankings,
                 help="Columns of RANKINGS: query=q_id,score=sim."),
    "name_by": click.option("--name-by", type=click.Choice(["tag", "file"]), callback=_of_rankings,
                 help="Name TREC runs after their tags or their files; by default after their tags, "
                      "if every file has its own and none is a tool's default, otherwise after "
                      "their files."),
    "group": click.option("--group", metavar="PATTERN",
                 help="Pattern that finds the name of the document in the id of a chunk, such as "
                      "'(.+)#\\d+'; only the nearest chunk of each document counts."),
    "judgement_columns": click.option("--judgement-columns", **NAMED_COLUMNS,
                 help="Columns of the judgements: item=docid,relevance=grade."),
    "query_columns": click.option("--query-columns", **NAMED_COLUMNS,
                 help="Columns of the queries: query=q_id,label=class."),
    "judge": click.option("--judge", metavar="NAME",
                 help="The judge who decides, if --judgements names several: "
                      "human=FILE,model=FILE,…; default: the first."),
    "labels_as_rankings": click.option("--labels-as-rankings", is_flag=True, is_eager=True,
                 help="The rankings are sets of labels, such as qrels of language models: rank items "
                      "by their grades. Their lists are complete by default."),
    "negative": click.option("--negative", type=click.Choice(["keep", "unjudged"]), default="keep",
                 help="Judgements below 0: 'keep' keeps them, which ends with an error, 'unjudged' "
                      "treats the items as not judged."),
    "max_bytes": click.option("--max-bytes", type=click.IntRange(min=1), is_eager=True,
                 help="Largest size in bytes of standard input, or of a gzipped file or an .npz archive "
                      "when unpacked; default: 4 GiB."),
}  # fmt: skip


def add_all(settings: Iterable[Addition]) -> Addition:
    """Return a decorator that adds options to a command, in this order."""

    def add(command: Command) -> Command:
        for setting in reversed(list(settings)):
            command = setting(command)
        return command

    return add


def file_options(*names: str) -> Addition:
    """Add the named arguments and options about files to a command."""
    return add_all([FILES[name] for name in names])


def _gathered(command: Command, name: str, record: type) -> Command:
    """Return the command with the options that are fields of a record as one argument."""

    @wraps(command)
    def taking(**values: object) -> object:
        taken = {part.name: values.pop(part.name) for part in fields(record) if part.name in values}
        return command(**values, **{name: record(**taken)})

    return taking


@dataclass(frozen=True)
class InputFiles:
    """The files of a command that scores rankings, and how they are read."""

    rankings: Sequence[str] = ()
    judgements: Any = None  # a file, or files by judge
    queries: str | None = None
    columns: dict[str, str] | None = None
    name_by: str | None = None
    group: str | None = None
    judgement_columns: dict[str, str] | None = None
    query_columns: dict[str, str] | None = None
    negative: str = "keep"
    max_bytes: int | None = None
    judge: str | None = None
    labels_as_rankings: bool = False

    @property
    def paths(self) -> list[str | None]:
        """All files."""
        judged = self.judgements
        judged = judged.values() if isinstance(judged, dict) else [judged]
        return [*self.rankings, *judged, self.queries]

    def read(self, keep: Collection[str] = ()) -> Named:
        """Read the files into frames, by the names of the arguments of `evaluate`; keep further
        columns of the rankings.
        """
        data = {
            "queries": self.read_queries(),
            "rankings": step("read", lambda: self.read_rankings(keep)),
            "judgements": self.read_judgements(),
        }
        if self.judge is not None:
            data["judge"] = self.judge
        if not data[
            "rankings"
        ].height:  # a function may return an empty frame, but an empty table is of no use
            raise no_rows(self.rankings)
        return data

    def read_rankings(self, keep: Collection[str] = ()) -> pl.DataFrame:
        """Read the rankings, or sets of labels as rankings."""
        paths = list(self.rankings)
        if self.labels_as_rankings:
            labels = paths if len(paths) > 1 else paths[0]
            return self.collapsed(rr.from_labels(labels, negative=self.negative))
        return self.collapsed(
            rr.read_rankings(
                paths,
                columns=self.columns,
                name_by=self.name_by,
                keep=keep,
                max_bytes=self.max_bytes,
            )
        )

    def collapsed(self, rankings: pl.DataFrame) -> pl.DataFrame:
        """Return the documents of chunks, if --group says what names them."""
        return rankings if self.group is None else rr.collapse(rankings, self.group)

    def read_judgements(self) -> Any:
        """Read the judgements, if there are any; of several judges by name."""
        read = partial(rr.read_judgements, negative=self.negative)
        return self._read(read, self.judgements, "judgement_columns")

    def read_queries(self) -> object:
        """Read the queries, if there are any."""
        return self._read(rr.read_queries, self.queries, "query_columns")

    def _read(self, read: Callable[..., object], value: object, option: str) -> object:
        """Read a file, if one was named, or several by name; messages name the option for its
        columns, since --columns is for the rankings.
        """
        if isinstance(value, dict):
            return {name: self._read(read, path, option) for name, path in value.items()}
        if value is None:
            return None
        with speaking_to(Terminal(columns=option)):
            return read(value, columns=getattr(self, option), max_bytes=self.max_bytes)


def data_options(*names: str) -> Addition:
    """Add some arguments and options about files to a
    command, or all of them; it takes them as ``data``.
    """
    usual = [name for name in FILES if name != STUDIED]
    return lambda command: file_options(*(names or usual))(_gathered(command, "data", InputFiles))


def no_rows(rankings: Sequence[str]) -> DataError:
    """Return the error of every engine for files without rows."""
    return DataError(f"{', '.join(rankings)}: no rows")


IF_WRONG = "and, if the data look wrong, health.csv"  # is written
SOUND = pl.DataFrame()  # what may be wrong with the data, if nobody looked


@dataclass(frozen=True)
class Output:
    """The folder for results, if any, whether CSV text
    is left as it is, and how numbers are printed.
    """

    out: str | None
    raw: bool
    as_json: bool = False
    latex: bool = False

    def check(self, inputs: Iterable[str | None], *names: str) -> Path | None:
        """Return the folder, after checking that it is writable and that no file of these names
        replaces an input.
        """
        from retrieval_report.reading.finding import find_files

        if self.latex and self.as_json:
            raise click.UsageError("--latex, --json: choose one of them")
        if self.out is None:
            return None
        folder = check_writable_folder(self.out)
        files = []
        for path in filter(None, inputs):
            with suppress(FileError):  # the reader will report it
                files += find_files(path)
        refuse_inputs([folder / name for name in names], files, "; choose another --out")
        return folder

    def write(self, frames: Frames, *, instead: Collection[str] = ()) -> list[Path]:
        """Write frames as CSV or Parquet files of these
        names if there is a folder, and return the files.

        Files named ``instead`` are what an earlier run may have written in place of these, and are
        removed.
        """
        if self.out is None:
            return []
        files = {
            Path(self.out) / name: parquet_bytes(frame)
            if name.endswith(".parquet")
            else csv_bytes(frame, raw=self.raw)
            for name, frame in frames.items()
        }
        write_files(files, gone=[Path(self.out) / name for name in instead])
        return list(files)

    def show(
        self,
        frames: Frames,
        *texts: str,
        health: pl.DataFrame = SOUND,
        files: Sequence[str | Path] | None = None,
        latex: Callable[[], str] = str,
        notices: Callable[[], Sequence[str]] = tuple,
        instead: Sequence[str] = (),
    ) -> None:
        """Write frames as CSV under these names, unless an engine has written files, and print them
        as JSON (arrays of rows, in which NaN is null, and what has to be known before any number),
        or the texts with notices below. What may be wrong with the data is the first frame, and
        decides on the exit code. Frames named ``instead`` that an earlier run has written, and this
        one does not, are removed.
        """
        frames = {"health": health, **frames} if health.height else frames
        if files is None:
            old = [f"{name}.csv" for name in instead if name not in frames]
            files = self.write(
                {f"{name}.csv": frame for name, frame in frames.items()}, instead=old
            )
        if self.latex:
            click.echo(latex(), nl=False)
        elif self.as_json:
            rows = {name: json.loads(frame.write_json()) for name, frame in frames.items()}
            numbers = {**rows, "notices": list(notices())}
            click.echo(json.dumps(numbers, ensure_ascii=False, allow_nan=False, indent=1))
        else:
            click.echo("\n\n".join(filter(None, [*texts, *map(visible, notices())])))
            tell_written(files)
        end_by_health(health)


def output_options(what: str, *, shown: bool = True, **how: Any) -> Addition:
    """Add --out and --raw to a command, which takes them as ``output``, with --latex if it has it,
    and --json if its numbers are ``shown``.
    """
    out = click.option("-o", "--out", metavar="FOLDER", help=f"Folder for {what}.", **how)
    raw = click.option(
        "--raw",
        is_flag=True,
        help="Leave CSV text as it is, even if a spreadsheet would run it as a formula.",
    )
    numbers: Addition = json_option if shown else lambda command: command
    return lambda command: numbers(out(raw(_gathered(command, "output", Output))))


def end_by_health(health: pl.DataFrame) -> None:
    """End the command with the exit code of bad input if the data of some model need a check."""
    if health.height and health["serious"].any():
        click.get_current_context().exit(UNSOUND)


def health_text(health: pl.DataFrame, *lines: str) -> str:
    """Return what may be wrong with the data, in sentences, and lines that follow."""
    from retrieval_report.study.caveats import health_sentences

    return "\n".join(filter(None, map(visible, [*health_sentences(health), *lines])))


def tell_written(files: Iterable[str | Path]) -> None:
    """Name the files that were written."""
    lines = [f"Wrote {visible(str(path))}" for path in files]
    if lines:
        click.echo("\n".join(["", *lines]))
