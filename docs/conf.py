"""How Sphinx builds the site; `make docs` runs it. Nothing here, and nothing it builds, needs the
network.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_ext")]
# Pages run as notebooks in processes of their own, which have to find this checkout and its samples
# too.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(HERE.parent), os.environ.get("PYTHONPATH")])
)

from typing import Any  # noqa: E402

from nbclient import NotebookClient  # noqa: E402

from retrieval_report import __version__  # noqa: E402

start_kernel_manager = NotebookClient.create_kernel_manager


def over_files(client: NotebookClient) -> Any:
    """Let pages talk to their kernels through files: of many ports that are chosen at random while
    other tests run, some are taken ("Address already in use"), and the build fails or waits.
    """
    manager = start_kernel_manager(client)
    manager.transport = "ipc"
    manager.folder = TemporaryDirectory(prefix="kernel-")  # for as long as the manager
    manager.ip = f"{manager.folder.name}/kernel"
    return manager


NotebookClient.create_kernel_manager = over_files  # type: ignore[method-assign]

project = "retrieval_report"
author = "The authors of retrieval_report"
project_copyright = "The authors of retrieval_report, Apache-2.0"
release = version = __version__

extensions = [
    "glossary_links",
    "linked_files",
    "mathml",
    "myst_nb",
    "numpydoc",
    "short_names",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
]
exclude_patterns = ["_ext", "README.md"]
templates_path = ["_templates"]
nitpicky = True
# Types in docstrings are prose ("array-like", "pl.DataFrame"); functions and methods that are named
# have to exist.
nitpick_ignore_regex = [
    ("py:(class|obj|data)", ".*"),
    ("py:.*", "(polars|pl|np|numpy|alt|altair)[.].*"),
]

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_ipywidgets_js: dict[str, object] = {}
nb_output_stderr = "error"  # a page that warns says so in its own words

autosummary_generate = True
autodoc_typehints = "none"  # the signature stays readable; numpydoc's sections say what is what
numpydoc_show_class_members = False
html_math_renderer = "mathml"

html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}
html_title = "retrieval_report"
html_static_path = ["_static"]
html_extra_path = ["llms.txt", "schemas"]  # at the root of the site
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
