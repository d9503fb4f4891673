"""Serve the dashboard on this machine, for files or for the frames of a study."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import weakref
import webbrowser
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from retrieval_report.contracts.arguments import Named, known_of
from retrieval_report.contracts.columns import Frames
from retrieval_report.contracts.errors import FileError, OutputError, ParameterError
from retrieval_report.contracts.options import DRAWS, OPTIONS, RULES
from retrieval_report.contracts.wording import setting
from retrieval_report.metrics.parsing import CATALOGUE

if TYPE_CHECKING:
    from retrieval_report.study.study import Study

# Environment variable with the files the application opens, as JSON; app/data_source.py reads it.
START = "RETRIEVAL_REPORT_DASHBOARD"
# Environment variable with the settings of Streamlit's server, as JSON; app/main.py reads it.
SETTINGS = "RETRIEVAL_REPORT_SERVER"
# Environment variable that is set if a browser is to be opened; app/prefetch.py reads it.
BROWSER = "RETRIEVAL_REPORT_BROWSER"
PACKAGE = Path(__file__).resolve().parent.parent
PATIENCE = 120  # seconds within which a server must answer; on a busy machine it loads slowly

# Options of scoring for which the sidebar has a control.
CONTROLLED = tuple(name for name in (*RULES, *DRAWS) if OPTIONS[name].control)
ASKED = (  # settings that pages begin with
    "dataset",
    "baseline",
    "margin",
    "largest_loss",
    "cluster",
    "k",
    "calibrate",
    "at_least",
)
Process = subprocess.Popen[bytes]


class Dashboard:
    """A dashboard that was started for a study; it ends with `stop`, at the end of a ``with``
    block, or with Python.

    Attributes
    ----------
    address
        Its address, reachable only from this machine.
    """

    def __init__(self, address: str, end: Callable[[], None]) -> None:
        """Take the address of a started server, and what ends it and deletes its files."""
        self.address = address
        self._end = weakref.finalize(self, end)

    def stop(self) -> None:
        """End the server and delete its files, unless that has been done."""
        self._end()

    def __enter__(self) -> Dashboard:
        """Return the dashboard for use in a ``with`` block."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the dashboard at the end of the block."""
        self.stop()

    def __repr__(self) -> str:
        """Return a text with its address."""
        return f"Dashboard at {self.address}" if self._end.alive else "Dashboard, ended"


def _end(process: Process) -> None:
    process.kill()
    process.wait()


def asked_of_dashboard(study: Study) -> Named:
    """Return the measure, options and other settings of a study as the dashboard accepts them.

    Raises
    ------
    ParameterError
        An option has no control in the dashboard, which would then show other numbers.

    Examples
    --------
    >>> from retrieval_report import Study
    >>> rows = {"query": ["q"], "item": ["a"], "distance": [1], "relevance": [1]}
    >>> asked_of_dashboard(Study(rows, "ap@5", seed=4))["measure"]
    ('ap', 5)
    >>> asked_of_dashboard(Study(rows, "ap@5", decimals=1))
    Traceback (most recent call last):
    retrieval_report.ParameterError: dashboard: there is no control for decimals=1
    """
    options, also = study.options, study.also
    odd = [] if study.like is None else [setting("like", study.like)]
    odd += [] if study.metric in CATALOGUE else [study.metric]
    for name, option in OPTIONS.items():
        value = getattr(options, name)
        if value != option.default and (not option.control or isinstance(value, dict)):
            odd.append(setting(name, value))
    if odd:
        raise ParameterError(f"dashboard: there is no control for {odd[0]}")
    settings = {"average": study.average, "correction": also["correction"]}
    varied = {"judge": study.judge, "replicate": study.of_run or None}
    return {
        "measure": study.measures[0],
        "options": {**settings, **options.of(CONTROLLED)},
        **known_of({**varied, **{name: also[name] for name in ASKED}}),
    }


def serve(
    study: Study,
    name: str,
    frames: Frames,
    judgements: Frames,
    *,
    port: int | None = None,
    browser: bool = True,
) -> Dashboard:
    """Start a dashboard for a study, and wait until it answers.

    Parameters
    ----------
    study
        What is asked, as `asked_of_dashboard` says.
    name
        What the dashboard calls these data.
    frames, judgements
        The data, and the judgements of several judges by name.
    port
        Port of the server; by default a free one.
    browser
        Whether to open a browser.

    Raises
    ------
    RetrievalReportError
        Streamlit is missing, the port is taken, or the server does not start.
    """
    questions = asked_of_dashboard(study)
    check_installed()
    port = check_port(port or 0)
    address = f"http://127.0.0.1:{port}"
    # The server and its files go with the object, which a notebook keeps; after an error here,
    # immediately.
    with ExitStack() as undo:
        folder = undo.enter_context(tempfile.TemporaryDirectory(prefix="retrieval-report-"))
        opened: Named = {part: _stored(frame, folder, part) for part, frame in frames.items()}
        opened["rankings"] = [opened["rankings"]]
        judges = enumerate(judgements.items())
        if judgements:
            opened["judgements"] = {
                judge: _stored(frame, folder, f"judge-{n}") for n, (judge, frame) in judges
            }
        process = subprocess.Popen(
            [sys.executable, str(application())],
            env={**os.environ, **environment({**opened, "name": name, **questions}, port)},
            stdout=subprocess.DEVNULL,
        )
        undo.callback(_end, process)
        _wait(port, process)
        dashboard = Dashboard(address, undo.pop_all().close)
    if browser:
        webbrowser.open(address)
    return dashboard


def _stored(frame: pl.DataFrame, folder: str, name: str) -> str:
    """Write a frame, and return the path of the file."""
    path = str(Path(folder) / f"{name}.parquet")
    frame.write_parquet(path)
    return path


def _wait(port: int, process: Process) -> None:
    """Wait until the server listens."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
            return
        time.sleep(0.1)
    raise OutputError("dashboard: the server did not start; the reason is printed above")


def application() -> Path:
    """Return the script that Streamlit runs, from the
    installed package or the repository it was installed from.
    """
    for script in (PACKAGE / "_app" / "main.py", PACKAGE.parent / "app" / "main.py"):
        if script.is_file():
            return script
    raise FileError(f"the dashboard was found neither in '{PACKAGE}' nor beside it")


def check_installed() -> None:
    """Refuse to start without Streamlit."""
    if importlib.util.find_spec("streamlit") is None:
        raise ParameterError(
            "dashboard: Streamlit is not installed; run pip install 'retrieval-report[app]', or in "
            "a clone 'make dashboard', which installs it and shows the samples"
        )


def check_port(port: int) -> int:
    """Return a port, a free one for 0; refuse one that another program uses, before the server
    reports it in its own words.
    """
    with socket.socket() as probe:
        if os.name == "posix":  # as the server does; elsewhere the option would share the port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
        except OSError as error:
            hint = "choose another --port, or leave it out for the next free one"
            raise ParameterError(
                f"port {port} cannot be used: {error.strerror or error}; {hint}"
            ) from error


def environment(files: Named | None, port: int | None, *, browser: bool = False) -> dict[str, str]:
    """Return the environment that passes files to the application and settings to the server."""
    settings = {
        "server.address": "127.0.0.1",
        # Otherwise Streamlit asks the user to install things, over the first page
        "server.headless": True,
        "browser.gatherUsageStats": False,
        "server.showEmailPrompt": False,
        "logger.hideWelcomeMessage": True,  # the application says where it is, in its own words
        # "Draw others" sets the seed, which has a default: no news for a terminal.
        "global.disableWidgetStateDuplicationWarning": True,
    }
    if port is not None:
        settings["server.port"] = port
    return {
        START: "" if files is None else json.dumps(files),
        BROWSER: "open" if browser else "",
        SETTINGS: json.dumps(settings),
    }
