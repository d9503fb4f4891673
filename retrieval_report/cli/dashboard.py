"""`dashboard`: the Streamlit application, as a server on this machine for this machine alone."""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from retrieval_report.cli.group import cli
from retrieval_report.cli.settings import DATA
from retrieval_report.contracts.errors import FileError, ParameterError

__all__ = ["BROWSER", "SETTINGS", "START", "application", "dashboard", "open_browser"]

START = "RETRIEVAL_REPORT_DASHBOARD"
"""Environment variable that tells the application which files to open, as JSON; app/opening.py reads it."""
SETTINGS = "RETRIEVAL_REPORT_SERVER"
"""Environment variable with the settings of Streamlit's server, as JSON; app/main.py reads it."""
BROWSER = "RETRIEVAL_REPORT_BROWSER"
"""Environment variable that is set where a browser is to be opened; app/ahead.py looks."""
PACKAGE = Path(__file__).resolve().parent.parent


def data_options(command: click.decorators.FC) -> click.decorators.FC:
    """The data of other commands; but rankings may be left out here, and runs have the names they tell."""
    for option in reversed(DATA[1:4]):
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
    single = {name: paths[name][0] if paths[name] else None for name in ("judgements", "queries")}
    if port is not None:
        _check_port(port)
    told = {"rankings": paths["rankings"], **single, "columns": columns} if data else None
    context.exit(_serve([sys.executable, str(application())], _environment(told, port, browser=not no_browser)))


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


def _check_port(port: int) -> None:
    """Refuse a port that another program has, which the server would say in words of its own."""
    with socket.socket() as probe:
        if os.name == "posix":  # as the server does; elsewhere the option would share the port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                hint = "choose another --port, or leave it out for the next that is free"
                raise ParameterError(f"port {port} is taken by another program; {hint}") from error
            raise ParameterError(f"port {port} cannot be used: {error.strerror or error}") from error


def _environment(files: Mapping[str, Any] | None, port: int | None, *, browser: bool) -> dict[str, str]:
    """What tells the application its files and the server its settings."""
    settings: dict[str, Any] = {
        "server.address": "127.0.0.1",
        "server.headless": True,  # else Streamlit asks the reader to install things of its own, over the first page
        "browser.gatherUsageStats": False,
        "server.showEmailPrompt": False,
    }
    if port is not None:
        settings["server.port"] = port
    # With PYTHONSAFEPATH the script would not find the modules beside it.
    kept = {name: value for name, value in os.environ.items() if name not in (START, BROWSER, "PYTHONSAFEPATH")}
    told = {} if files is None else {START: json.dumps(files)}
    if browser:
        told[BROWSER] = "open"
    return {**kept, **told, SETTINGS: json.dumps(settings)}


def open_browser(address: str) -> None:
    """Open a page in the reader's browser; without a screen there is none, and the printed address has to do."""
    if sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        click.launch(address)


def _serve(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Become the server, so that whoever ends this process ends the server."""
    if os.name == "posix":
        os.execve(command[0], list(command), environment)
    return subprocess.call(command, env=dict(environment))
