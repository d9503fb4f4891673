"""The licences in the docs are those of every dependency."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_every_dependency_stands_in_the_table_of_licences() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *extras["app"], *extras["spark"]]
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    listed = re.findall(
        r"^\| ([\w-]+)(?: \(extra `\w+`\))? \| [A-Z][\w.-]*\d?.* \|$",
        page.partition("licence |")[2],
        re.M,
    )
    assert {re.match(r"[\w-]+", line)[0] for line in asked} <= set(listed)  # type: ignore[index]
