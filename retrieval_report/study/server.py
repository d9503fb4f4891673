"""The dashboard as a server on this machine, for files or for the frames of a study."""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import weakref
import webbrowser
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl

from retrieval_report.analysis.answers import Answers
from retrieval_report.contracts.errors import FileError, OutputError, ParameterError
from retrieval_report.contracts.options import Options
from retrieval_report.metrics.parsing import CATALOGUE

__all__ = [
    "BROWSER",
    "SETTINGS",
    "START",
    "Dashboard",
    "application",
    "asked_of_dashboard",
    "check_installed",
    "check_port",
    "environment",
    "serve",
]

START = "RETRIEVAL_REPORT_DASHBOARD"
"""Environment variable that tells the application which files to open, as JSON; app/data_source.py reads it."""
SETTINGS = "RETRIEVAL_REPORT_SERVER"
"""Environment variable with the settings of Streamlit's server, as JSON; app/main.py reads it."""
BROWSER = "RETRIEVAL_REPORT_BROWSER"
"""Environment variable that is set where a browser is to be opened; app/prefetch.py looks."""
PACKAGE = Path(__file__).resolve().parent.parent
PATIENCE = 120  # seconds until a server has to answer: on a busy machine it takes long to load


# The options of a study that the sidebar of the dashboard has controls for, and those that are of no account there.
RULES = (
    *("no_relevant", "relevant_from", "missing_query", "unjudged", "unjudged_query", "null_distance"),
    *("distance_threshold", "truncated", "relevant_items"),
)
DRAWS = ("shuffles", "seed")
ANYWAY = ("policies", "threads", "progress")
Process = subprocess.Popen[bytes]
Folder = tempfile.TemporaryDirectory[str]


class Dashboard:
    """A dashboard that was started for a study: it ends with `stop`, with a ``with`` block, or with Python.

    Attributes
    ----------
    address
        Where it answers, on this machine alone.
    """

    def __init__(
        self, address: str, process: subprocess.Popen[bytes], folder: tempfile.TemporaryDirectory[str]
    ) -> None:
        """Take a server that was started, and the folder of its files."""
        self.address = address
        self._end = weakref.finalize(self, _end, process, folder)

    def stop(self) -> None:
        """End the server and delete its files; nothing where that has been done."""
        self._end()

    def __enter__(self) -> Dashboard:
        """Keep it for a block."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it with the block."""
        self.stop()

    def __repr__(self) -> str:
        """Where to look."""
        return f"Dashboard at {self.address}" if self._end.alive else "Dashboard, ended"


def _end(process: Process, folder: Folder) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    folder.cleanup()


def asked_of_dashboard(answers: Answers) -> dict[str, Any]:
    """Measure and options of a study as the dashboard takes them.

    Raises
    ------
    ParameterError
        One that it has no control for: it would show other numbers.

    Examples
    --------
    >>> rankings = {"query": ["q"], "item": ["a"], "distance": [1], "relevance": [1]}
    >>> asked_of_dashboard(Answers(rankings, "ap@5", seed=4))["measure"]
    ('ap', 5)
    >>> asked_of_dashboard(Answers(rankings, "ap@5", decimals=1))
    Traceback (most recent call last):
    retrieval_report.ParameterError: dashboard: it has no control for decimals=1
    """
    usual, options = Options(), answers.options
    metric, cutoff = answers.measures[0]
    odd = [f"like={answers.like!r}"] if answers.like is not None else []
    odd += [metric] if metric not in CATALOGUE else []
    for part in fields(Options):
        value = getattr(options, part.name)
        known = part.name in (*RULES, *DRAWS, *ANYWAY) and not isinstance(value, dict)
        odd += [] if known or value == getattr(usual, part.name) else [f"{part.name}={value!r}"]
    if odd:
        raise ParameterError(f"dashboard: it has no control for {odd[0]}")
    rules, draws = ({name: getattr(options, name) for name in names} for names in (RULES, DRAWS))
    return {"measure": (metric, cutoff), "rules": rules, "draws": draws}


def serve(
    frames: Mapping[str, pl.DataFrame], about: Mapping[str, Any], *, port: int | None = None, browser: bool = True
) -> Dashboard:
    """Start a dashboard for frames, and wait until it answers.

    Parameters
    ----------
    frames
        ``rankings``, and ``judgements`` and ``queries`` where there are any.
    about
        ``name``, ``measure``, ``rules`` and what else app/data_source.py reads.
    port
        Default: one that is free.
    browser
        Whether to open a browser.

    Raises
    ------
    RetrievalReportError
        Streamlit is missing, the port is taken, or the server does not start.
    """
    check_installed()
    port = _free_port() if port is None else port
    check_port(port)
    # Its files go when the object does, which a notebook keeps; on an error here they go at once.
    folder = tempfile.TemporaryDirectory(prefix="retrieval-report-")
    try:
        paths = {name: str(Path(folder.name) / f"{name}.parquet") for name in frames}
        for name, frame in frames.items():
            frame.write_parquet(paths[name])
        found = {"judgements": None, "queries": None, **paths, "rankings": [paths["rankings"]], **about}
        process = subprocess.Popen(
            [sys.executable, str(application())], env=environment(found, port), stdout=subprocess.DEVNULL
        )
    except BaseException:
        folder.cleanup()
        raise
    dashboard = Dashboard(f"http://127.0.0.1:{port}", process, folder)
    try:
        _wait(dashboard.address, process)
    except BaseException:
        dashboard.stop()
        raise
    if browser:
        webbrowser.open(dashboard.address)
    return dashboard


def _wait(address: str, process: Process) -> None:
    """Wait until the server answers."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            with direct.open(f"{address}/_stcore/health", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise OutputError("dashboard: the server did not start; its reason stands above")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def application() -> Path:
    """The script that Streamlit runs: in an installed package, or in the repository it was installed from."""
    for script in (PACKAGE / "_app" / "main.py", PACKAGE.parent / "app" / "main.py"):
        if script.is_file():
            return script
    raise FileError(f"the dashboard is neither in '{PACKAGE}' nor beside it")


def check_installed() -> None:
    """Refuse to start without Streamlit."""
    if importlib.util.find_spec("streamlit") is None:
        raise ParameterError("dashboard: Streamlit is not installed; pip install 'retrieval-report[app]' brings it")


def check_port(port: int) -> None:
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


def environment(files: Mapping[str, Any] | None, port: int | None, *, browser: bool = False) -> dict[str, str]:
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
    found = {} if files is None else {START: json.dumps(files)}
    if browser:
        found[BROWSER] = "open"
    return {**kept, **found, SETTINGS: json.dumps(settings)}
