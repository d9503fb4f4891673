"""Pages of the dashboard in Streamlit's own test runner, on data made for the test."""

import json
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

import retrieval_report as rr
from records import Choice, OpenedData

APP = str(Path(__file__).resolve().parents[2] / "app")
# Every run would read the metadata of all installed packages anew, which costs as much as a page.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
TIMEOUT = 180  # AppTest's own 3 s are too few where kernels are compiled first
# Names that would act if they were taken as Markdown, HTML, mathematics or an icon.
NAMES = (
    "**bold**",
    "$x^2$",
    ":material/home:",
    "<b>tag</b>",
    "[link](http://example.org)",
    "x" * 5000,
    "a | b\n# c",
)
SCRIPT = """
from importlib import import_module

import streamlit as st

from controls import sidebar
from page import WHY_EMPTY, Page
from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.contracts.warning import noticed
from retrieval_report.contracts.wording import speaking_to
from text import plain
from wording import DashboardReader

data = st.session_state["made data"]
try:
    with noticed(), speaking_to(DashboardReader()):
        name = st.session_state["made page"]
        page = Page(data, sidebar(data))
        page.heading(name)
        if name in WHY_EMPTY and not page.answers(name):
            st.info(WHY_EMPTY[name])
        else:
            import_module("views." + name).show(page)
except RetrievalReportError as error:
    st.error(plain(error))
"""


def made_data(
    rankings: pl.DataFrame,
    *,
    metric: str = "ndcg",
    cutoff: int | None = 3,
    items: pl.DataFrame | None = None,
    history: str | None = None,
    **others: Any,
) -> OpenedData:
    """Data under a digest of its content."""
    given = {"rankings": rankings, "items": items, "history": history, **others}
    content = "".join(
        f"{name} {part.write_csv() if isinstance(part, pl.DataFrame) else part}"
        for name, part in given.items()
    )
    return OpenedData(
        "made",
        rr.Study(rankings, **others),
        items,
        digest=sha256(content.encode()).hexdigest(),
        start=Choice(metric, cutoff),
        history=history,
    )


def open_page(name: str, data: OpenedData, **address: str | list[str]) -> AppTest:
    """A page after its first run; ``address`` is what the link said."""
    test = AppTest.from_string(SCRIPT, default_timeout=TIMEOUT)
    test.session_state["made data"], test.session_state["made page"] = data, name
    for key, value in address.items():
        test.query_params[key] = value
    return drawn(test.run())


def dashboard(**address: str) -> AppTest:
    """The whole dashboard, before its first run; ``address`` is what the link said."""
    test = AppTest.from_file(f"{APP}/dashboard.py", default_timeout=TIMEOUT)
    for key, value in address.items():
        test.query_params[key] = value
    return test


def drawn(test: AppTest) -> AppTest:
    """The page, if no run of it failed."""
    assert not test.exception, [error.value for error in test.exception]
    return test


def words(test: AppTest) -> str:
    """All that the page says, as the Markdown that it is given as."""
    kinds = (test.title, test.header, test.subheader, test.markdown, test.caption)
    boxes = (test.info, test.success, test.warning, test.error)
    return "\n".join(element.value for kind in (*kinds, *boxes) for element in kind)


def numbers(test: AppTest) -> dict[str, str]:
    """The numbers shown large, by label."""
    return {element.label: element.value for element in test.metric}


def table(test: AppTest, number: int) -> pl.DataFrame:
    """One of the tables, as the frame that it shows; pandas has NaN where a text is missing."""
    columns = test.dataframe[number].value.to_dict("list")
    return pl.DataFrame(
        {
            name: [None if value != value else value for value in values]
            for name, values in columns.items()
        },
        infer_schema_length=None,
    )


def agrees(shown: pl.DataFrame, truth: pl.DataFrame, names: str) -> None:
    """Hold columns of a table that is shown to those of a frame."""
    for name in names.split():
        assert shown[name].to_list() == truth[name].to_list(), name


def charts(test: AppTest) -> dict[str, dict[str, Any]]:
    """Specification of every plot by what a screen reader tells of it, which begins with the title
    of the chart.
    """
    found = {}
    for element in test.get("vega_lite_chart"):
        spec = json.loads(element.proto.spec)
        # Streamlit sends the rows beside the specification.
        spec["datasets"] = {
            rows.name: pl.read_ipc_stream(rows.data.data).to_dicts()
            for rows in element.proto.datasets
        }
        found[spec["description"]] = spec
    return found
