"""`dashboard`: the Streamlit application, served on this machine for this machine only."""

import os
import runpy
import sys
from pathlib import Path
from typing import Any

import click

from retrieval_report.cli.files import add_all, file_options
from retrieval_report.cli.group import cli
from retrieval_report.cli.settings import (
    dataset_option,
    decision_options,
    labels_option,
    replicate_option,
    setting,
    settled,
    study_cluster_option,
    was_given,
)
from retrieval_report.contracts.arguments import known_of
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import PARAMETERS
from retrieval_report.study.server import (
    CONTROLLED,
    application,
    check_installed,
    check_port,
    environment,
)


def _refuse_control(_context: click.Context, option: click.Parameter, _value: object) -> None:
    """Say where the page has what other commands take as an option."""
    name = str(option.name)
    if was_given(name):
        control = MEASURED.get(name) or f"“{PARAMETERS[name].title}” under “Rules”"
        raise ParameterError(
            f"{option.opts[0]}: choose it on the page, by {control} in the sidebar"
        )


MEASURED = {"metrics": "“Metric” and “Cutoff k”", "cutoffs": "“Cutoff k”"}
CONTROLS = {*MEASURED, "average", "correction", *CONTROLLED} - {"truncated"}
controls = add_all(
    setting(name, hidden=True, expose_value=False, callback=_refuse_control)
    for name in sorted(CONTROLS)
)


@cli.command()
@click.argument("rankings", nargs=-1)
@file_options(
    "judgements", "queries", "columns", "name_by", "judge", "labels_as_rankings", "negative"
)
@replicate_option
@dataset_option
@study_cluster_option
@labels_option
@decision_options
@setting("truncated", default=None)
@click.option(
    "--items", metavar="FILE", help="Items with a column text or image, which lists then show."
)
@click.option(
    "--history",
    metavar="REGEX",
    help="The runs are versions, found by the group (?P<date>…) or (?P<version>…): draw them over "
    "time.",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help="Port of the server; default: 8501, or the next free one.",
)
@click.option(
    "--no-browser", is_flag=True, help="Do not open a browser; the address is always printed."
)
@controls
def dashboard(
    rankings: tuple[str, ...],
    port: int | None,
    no_browser: bool,
    **settings: Any,
) -> None:
    """Explore RANKINGS in a browser: files, folders or
    patterns, as for evaluate; by default the samples.

    The server is reachable only from this machine and makes no connections. Press Ctrl-C to stop
    it.
    """
    if not rankings and any(
        value for name, value in settings.items() if name not in ("name_by", "negative")
    ):
        raise ParameterError("dashboard: its options require RANKINGS, but none are given")
    files = {name: settings[name] for name in ("judgements", "queries", "items", "labels", "costs")}
    files["rankings"] = list(rankings)
    if settings["labels_as_rankings"]:  # the files of a folder may be called anything
        files["rankings"] = [f"{path}/*" if Path(path).is_dir() else path for path in rankings]
    # What cannot be opened is refused here: a server could report it only in the browser.
    from retrieval_report.reading.files import form_of
    from retrieval_report.reading.finding import find_files
    from retrieval_report.reading.names import JUDGEMENTS, KINDS
    from retrieval_report.reading.sources import open_source

    kinds = KINDS | ({"rankings": JUDGEMENTS} if settings["labels_as_rankings"] else {})
    for name, paths in files.items():
        if not paths:
            continue
        kind = kinds.get(name)
        several = [*paths.values()] if isinstance(paths, dict) else paths
        for path in find_files(several, skip=kind.skip if kind else ()):
            source = open_source(path)
            if kind is not None:
                form_of(source, kind)
    check_installed()
    if port is not None:
        check_port(port)
    truncated = {"truncated": settings.pop("truncated")}
    options = known_of(settled(truncated, settings["labels_as_rankings"]))
    opened = known_of({**settings, **files, "options": options}) if rankings else None
    os.environ.update(environment(opened, port, browser=not no_browser))
    runpy.run_path(str(application()), run_name="__main__")  # until the server ends


def open_browser(address: str) -> None:
    """Open a page in the user's browser, unless there
    is no screen; then the printed address must suffice.
    """
    if sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        click.launch(address)
