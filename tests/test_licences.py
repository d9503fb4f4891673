"""The licences in the docs are those of every dependency; of the JavaScript in the package, also
which versions it is.
"""

import hashlib
import re
import runpy
import tomllib
from pathlib import Path
from typing import Any

import altair as alt
import pytest

ROOT = Path(__file__).resolve().parent.parent
MADE: Any = runpy.run_path(str(ROOT / "docs" / "make_vega.py"))


def test_every_dependency_stands_in_the_table_of_licences():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *extras["app"], *extras["images"], *extras["spark"]]
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    listed = re.findall(
        r"^\| ([\w-]+)(?: \(extra `\w+`\))? \| [A-Z][\w.-]*\d?.* \|$",
        page.partition("licence |")[2],
        re.M,
    )
    assert {re.match(r"[\w-]+", line)[0] for line in asked} <= set(listed)  # type: ignore[index]


def test_the_javascript_is_what_was_made_and_its_licences_name_its_versions():
    data = MADE["FILE"].read_bytes()
    assert hashlib.sha256(data).hexdigest() == MADE["SHA256"]
    assert f'"{MADE["VEGA_LITE"]}"'.encode() in data
    licences = MADE["FILE"].with_name("vega.LICENSES.txt").read_text(encoding="utf-8")
    assert f"vl-convert-python {MADE['VL_CONVERT']} " in licences
    assert f"\nvega-lite {MADE['VEGA_LITE']}\n" in licences
    assert "vega-embed" in licences


def test_the_javascript_draws_what_this_altair_writes():
    drawn, written = (
        tuple(map(int, text.lstrip("v").split(".")[:2]))
        for text in (MADE["VEGA_LITE"], alt.SCHEMA_VERSION)
    )
    assert written[0] == drawn[0]
    assert written <= drawn


@pytest.mark.slow
def test_the_javascript_is_made_again_as_it_is():
    if pytest.importorskip("vl_convert").__version__ != MADE["VL_CONVERT"]:
        pytest.skip("another version of vl-convert made it")
    assert MADE["bundle"]().encode() == MADE["FILE"].read_bytes()
