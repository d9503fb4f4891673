"""`dashboard`: the Streamlit application, as a server on this machine for this machine alone."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from retrieval_report.cli.group import cli
from retrieval_report.cli.settings import DATA
from retrieval_report.errors import FileError, ParameterError

__all__ = ["START", "application", "dashboard"]

START = "RETRIEVAL_REPORT_DASHBOARD"
"""Environment variable that tells the application which files to open, as JSON; app/opening.py reads it."""
PACKAGE = Path(__file__).resolve().parent.parent
PATIENCE = 10  # seconds for the server to end once it was asked to


def data_options(command: click.decorators.FC) -> click.decorators.FC:
    """The data of other commands; but rankings may be left out here."""
    for option in reversed(DATA[1:]):
        command = option(command)
    return click.argument("data", nargs=-1)(command)


@cli.command()
@data_options
@click.option("--port", type=click.IntRange(1, 65535), help="Default: 8501, or the next that is free.")
@click.option("--no-browser", is_flag=True, help="Do not open a browser; the address is printed in any case.")
@click.pass_context
def dashboard(
    context: click.Context,
    data: tuple[str, ...],
    judgements: str | None,
    queries: str | None,
    columns: dict[str, str] | None,
    port: int | None,
    no_browser: bool,
) -> None:
    """Look at DATA in a browser: files, folders or patterns, as for evaluate; by default at the samples.

    The server answers this machine only and calls nobody. Ctrl-C ends it.
    """
    if not data and (judgements or queries or columns):
        raise ParameterError("dashboard: --judgements, --queries and --columns go with DATA, and none is given")
    files = {"rankings": data, "judgements": (judgements,), "queries": (queries,)}
    paths = {name: [os.path.abspath(path) for path in given if path] for name, given in files.items()}  # noqa: PTH100
    for given in paths.values():
        _check(given)
    if importlib.util.find_spec("streamlit") is None:
        raise ParameterError("dashboard: Streamlit is not installed; pip install 'retrieval-report[app]' brings it")
    environment = {name: value for name, value in os.environ.items() if name != START}
    if data:
        single = {name: paths[name][0] if paths[name] else None for name in ("judgements", "queries")}
        environment[START] = json.dumps({"rankings": paths["rankings"], **single, "columns": columns})
    context.exit(_serve(_command(application(), port, browser=not no_browser), environment))


def application() -> Path:
    """The script that Streamlit runs: in an installed package, or in the repository it was installed from."""
    for script in (PACKAGE / "_app" / "main.py", PACKAGE.parent / "app" / "main.py"):
        if script.is_file():
            return script
    raise FileError(f"the dashboard is neither in '{PACKAGE}' nor beside it")


def _check(paths: Sequence[str]) -> None:
    """Refuse what cannot be opened before a server starts that would say so to a browser."""
    from retrieval_report.reading.sources import find_files

    for path in find_files(list(paths)) if paths else ():
        try:
            if not path.is_file():
                raise FileError(f"{path}: {'not a regular file' if path.exists() else 'no such file'}")
            with path.open("rb") as file:
                empty = not file.read(1)
        except OSError as error:
            raise FileError(f"{path}: {error.strerror or error}") from error
        if empty:
            raise FileError(f"{path}: the file is empty (0 bytes)")


def _command(script: Path, port: int | None, *, browser: bool) -> list[str]:
    """How to start the server; -P leaves the modules of the current folder alone."""
    options = {
        "server.address": "127.0.0.1",
        "server.headless": "false" if browser else "true",
        "browser.gatherUsageStats": "false",
        "server.showEmailPrompt": "false",
    }
    if port is not None:
        options["server.port"] = str(port)
    flags = [f"--{name}={value}" for name, value in options.items()]
    return [sys.executable, "-P", str(script.with_name("serve.py")), "run", str(script), *flags]


def _serve(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the server until it ends or Ctrl-C ends both; leave no process behind."""
    # Polars takes Ctrl-C in a way that lets a wait go on; Python's own handler ends it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    server = subprocess.Popen(command, env=dict(environment))
    try:
        return server.wait()
    except KeyboardInterrupt:
        return 0  # a terminal has sent it to the server too; who sends it to us alone is served below
    finally:
        try:
            server.terminate()
            server.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
