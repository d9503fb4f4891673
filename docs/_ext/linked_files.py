"""Copy the tables of benchmarks/ into the site with corrected links, and remove outdated generated
pages.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from sphinx.application import Sphinx


def copy_benchmarks(app: Sphinx) -> None:
    """Put the tables, and the pictures beside them, where Sphinx finds pages (a folder that git
    ignores).
    """
    source, target = Path(app.srcdir).parent / "benchmarks", Path(app.srcdir) / "benchmarks"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for file in sorted([*source.glob("*.md"), *source.glob("*.svg")]):
        shutil.copy2(file, target / file.name)


def forget_generated(app: Sphinx) -> None:
    """Remove the pages of names that may no longer exist; autosummary makes those of the others
    anew.
    """
    shutil.rmtree(Path(app.srcdir) / "generated", ignore_errors=True)


def mend_links(app: Sphinx, name: str, source: list[str]) -> None:
    """Turn links that are right in the repository into links that are right in the site."""
    if name.startswith("benchmarks/"):
        source[0] = source[0].replace("](../docs/", "](../")
    elif "/" not in name:
        source[0] = source[0].replace("](../benchmarks/", "](benchmarks/")


def setup(app: Sphinx) -> dict[str, bool]:
    """Copy and remove first, before Sphinx looks for pages."""
    app.connect("builder-inited", copy_benchmarks, priority=1)
    app.connect("builder-inited", forget_generated, priority=1)
    app.connect("source-read", mend_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
