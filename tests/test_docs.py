"""The documentation site: it builds without a warning, its links lead somewhere, and its pages load
nothing.
"""

import importlib.util
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import retrieval_report as rr

ROOT = Path(rr.__file__).parents[1]
DOCS = ROOT / "docs"
NEEDED = (
    "latex2mathml",
    "marimo",
    "myst_nb",
    "numpydoc",
    "pydata_sphinx_theme",
    "sklearn",
    "sphinx",
    "sphinx_design",
)
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
needs_the_extra = pytest.mark.skipif(
    bool(MISSING), reason=f"the extra 'docs' is not installed: no {', '.join(MISSING)}"
)

problems: Callable[[Path], list[str]] = runpy.run_path(str(DOCS / "check_links.py"))["problems"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory):
    """The site, built from a copy, for Sphinx writes pages of the reference beside the others."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("docs", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("generated"))
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        "docs",
        "built",
    ]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    }
    # In one process: each of two would start a kernel of its own, and read what the other read.
    how: Any = {"capture_output": True, "text": True, "timeout": 420}
    done = subprocess.run(command, cwd=folder, env=environment, check=False, **how)
    assert done.returncode == 0, done.stderr[-5000:]
    return folder / "built"


@needs_the_extra
@pytest.mark.slow
def test_no_page_loads_anything_from_the_network_and_all_links_lead_somewhere(site: Path):
    assert len(list(site.rglob("*.html"))) > 100
    assert problems(site) == []


@needs_the_extra
@pytest.mark.slow
def test_formulas_are_mathml(site: Path):
    page = (site / "metrics.html").read_text(encoding="utf-8")
    assert page.count("<math") > 20
    assert "merror" not in page
    assert not list(site.rglob("*athjax*"))


@needs_the_extra
@pytest.mark.slow
def test_no_page_shows_a_folder_of_this_machine(site: Path):
    shown = {
        page.name
        for page in site.rglob("*.html")
        if re.search(r"/tmp/|/home/|ipykernel", page.read_text("utf-8"))
    }
    assert not shown


@needs_the_extra
@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "terms"),
    [
        ("first-comparison", "tie expected-score shuffled-score naive-score p_tie family-p"),
        ("how-deep", "tie tie-standard-deviation lowest-and-highest-score"),
        ("howto/codes", "tie R counts-frame truncated naive-score"),
    ],
)
def test_the_first_use_of_a_term_links_to_the_glossary(site: Path, page: str, terms: str):
    text = (site / f"{page}.html").read_text("utf-8")
    for term in terms.split():
        assert f'glossary.html#term-{term}"' in text, term


def test_what_is_wrong_with_a_page_is_found(tmp_path: Path):
    page = """<a id="here" href="#here">1</a><a href="other.html#there">2</a><a href="gone.html">3</a>
        <a href="https://example.org/a">4</a><a href="https://example">5</a><a href="javascript:x()">6</a>
        <script src="https://cdn.example.org/a.js"></script><img src="//cdn.example.org/a.png">
        <style>@import url("https://fonts.example.org/a.css")</style><link rel="stylesheet" href="style.css">
        <script>import {a} from "https://esm.example.org/a"</script>"""
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    (tmp_path / "other.html").write_text("<p>", encoding="utf-8")
    (tmp_path / "style.css").write_text(
        "a { background: url(https://pictures.example.org/a.png) }", encoding="utf-8"
    )
    assert problems(tmp_path) == [
        "page.html: loads https://cdn.example.org/a.js",
        "page.html: loads //cdn.example.org/a.png",
        "page.html: loads https://fonts.example.org/a.css",
        "page.html: loads https://esm.example.org/a",
        "page.html: no such heading other.html#there",
        "page.html: no such file gone.html",
        "page.html: malformed address https://example",
        "page.html: unknown kind of address javascript:x()",
        "page.html: unknown kind of address //cdn.example.org/a.png",
        "style.css: loads https://pictures.example.org/a.png",
    ]


def test_every_public_name_is_in_one_group_of_the_reference():
    block = (
        r"currentmodule:: (\S+)\n\n\.\. autosummary::\n   :toctree: generated\n\n((?:   \w+\n)+)"
    )
    groups = re.findall(block, (DOCS / "reference.md").read_text("utf-8"))
    listed = [f"{module}.{name}" for module, names in groups for name in names.split()]
    public = {
        f"retrieval_report.{name}": getattr(rr, name)
        for name in rr.__all__
        if name != "__version__"
    }
    modules = [value for value in public.values() if isinstance(value, ModuleType)]
    assert len(modules) == 7
    inside = {f"{module.__name__}.{name}" for module in modules for name in module.__all__}
    known = {name for name, value in public.items() if not isinstance(value, ModuleType)}
    elsewhere = {
        f"retrieval_report.report.{name}" for name in ("FORMATS", "read_report", "write_report")
    }
    assert sorted(listed) == sorted((known | inside) - elsewhere)


def test_every_file_that_a_text_names_is_there():
    """Files are moved now and then; what sends a reader to them has to follow."""
    texts = [
        ROOT / "README.md",
        *DOCS.rglob("*.md"),
        ROOT / "benchmarks/README.md",
        ROOT / "tests/data/README.md",
    ]
    named = re.compile(
        r"`((?:tests|benchmarks|docs|app|sample_data|retrieval_report)/[\w./-]+\.\w+)`"
    )
    roots = (ROOT, ROOT / "tests")  # the tables of tests name them as seen from their folder
    for page in texts:
        for name in named.findall(page.read_text(encoding="utf-8")):
            assert any((root / name).exists() for root in roots), f"{page.name} names {name}"


def test_every_section_of_a_report_is_explained():
    template = ROOT / "retrieval_report/study/templates/report.html.j2"
    sections = re.findall(r'<section id="(\w+)"', template.read_text())
    assert len(sections) >= 8
    headings = re.findall(r"^## (.*)$", (DOCS / "reading-the-report.md").read_text(), re.MULTILINE)
    known = " ".join(headings).lower().replace("leaderboard", "summary")
    assert [section for section in sections if section not in known] == []


# Code that a reader may copy: in a fence, or indented by four blanks after an empty line.
CODE = re.compile(
    r"^```(?P<kind>[^\n`]*)\n.*?^```\n?|(?<=\n\n) {4}[a-z][^\n]*\n(?: {4}[^\n]*\n)*",
    re.DOTALL | re.MULTILINE,
)
SHOWN = ("{code-cell}", "{toctree}", "{eval-rst}", "text", "console")
NOT_RUN = re.compile(r"\*Not run here, because [^*]+\.[^*]*\*")


def not_marked(page: str) -> list[str]:
    """Code of a page that is neither run when the page is built nor said not to be, before the next
    cell or section.
    """
    found = []
    for code in CODE.finditer(page):
        kind = code["kind"]
        if kind is not None and kind.startswith(SHOWN):
            continue
        rest = re.split(r"^(?:## |```\{code-cell\})", page[code.end() :], flags=re.MULTILINE)[0]
        if not NOT_RUN.search(rest):
            found.append(code[0])
    return found


@pytest.mark.parametrize(
    "page",
    sorted([*(DOCS / "howto").glob("*.md"), *(DOCS / "moving-from").glob("*.md")]),
    ids=lambda page: f"{page.parent.name}/{page.stem}",
)
def test_code_of_a_how_to_is_run_or_said_not_to_be(page: Path):
    assert not_marked(page.read_text(encoding="utf-8")) == []


def test_a_metric_takes_under_30_lines():
    page = (DOCS / "howto/add-a-metric.md").read_text(encoding="utf-8")
    cells = [
        re.sub(r"^:tags:.*\n", "", cell)
        for cell in re.findall(r"```{code-cell}\n(.*?)```", page, re.DOTALL)
    ]
    assert len(cells[0].splitlines()) < 30
    names: dict[str, object] = {"__name__": "__main__"}
    for cell in cells:  # the last compares with all orders of the tie
        exec(cell, names)
    assert "exact" in names


@pytest.mark.parametrize(
    "page", sorted((DOCS / "gallery").glob("*.md")), ids=lambda page: page.stem
)
def test_a_notebook_of_the_gallery_has_at_most_15_cells(page: Path):
    assert page.read_text(encoding="utf-8").count("```{code-cell}") <= 15


@needs_the_extra
@pytest.mark.slow
def test_the_reactive_notebook_runs_and_answers_its_controls():
    app: Any = runpy.run_path(str(DOCS / "gallery/reactive.py"))["app"]
    _, names = app.run()
    assert names["chosen"].model_names == ["cosine-1-digit", "itq-16", "lsh-64"]
    choice = {
        "measure": SimpleNamespace(value="ndcg@10"),
        "models": SimpleNamespace(value=["itq-32", "lsh-64"]),
    }
    _, names = app.run(defs=choice)
    assert (names["chosen"].model_names, names["chosen"].measure) == (
        ["itq-32", "lsh-64"],
        "ndcg@10",
    )
