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

from functools import cache  # noqa: E402
from multiprocessing.util import Finalize  # noqa: E402
from typing import Any  # noqa: E402

from jupyter_cache.executors.utils import single_nb_execution  # noqa: E402
from jupyter_client import KernelManager  # noqa: E402
from myst_nb.core.execute import direct  # noqa: E402
from nbclient import execute  # noqa: E402
from nbformat.v4 import new_code_cell, new_notebook  # noqa: E402

from retrieval_report import __version__  # noqa: E402

# A page begins as in a kernel of its own, though others were run before it.
AFRESH = """
import altair, os
environment = vars(get_ipython()).setdefault("environment", dict(os.environ))
os.environ.clear()
os.environ.update(environment)
os.chdir({folder!r})
altair.renderers.enable("default")
Out.clear()
for name in get_ipython().user_ns.keys() - get_ipython().user_ns_hidden.keys(): del globals()[name]
"""


@cache
def kernel_of(process: int) -> KernelManager:
    """Start the kernel in which that process runs its pages: to start one for every page, to import
    the package and load its kernels there, takes twice as long as all the pages do.

    They talk through files: of many ports that are chosen at random while other tests run, some are
    taken ("Address already in use"), and the build fails or waits.
    """
    folder = TemporaryDirectory(prefix="kernel-")
    manager = KernelManager(transport="ipc", ip=f"{folder.name}/kernel")
    manager.start_kernel()
    # Sphinx reads pages in forks, which call nothing of atexit.
    Finalize(None, folder.cleanup, exitpriority=1)
    Finalize(None, manager.shutdown_kernel, kwargs={"now": True}, exitpriority=2)
    return manager


def execute_page(page: Any, cwd: str, **how: Any) -> Any:
    """Run a page in the kernel of this process."""
    manager = kernel_of(os.getpid())
    execute(new_notebook(cells=[new_code_cell(AFRESH.format(folder=cwd))]), km=manager)
    return single_nb_execution(page, cwd, km=manager, **how)


direct.single_nb_execution = execute_page

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
