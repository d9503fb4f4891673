"""The architecture, checked by reading the code: imports go one way, third parties have one home,
pieces are small.
"""

import ast
import os
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "retrieval_report"

# From the ground up: a module imports from its own folder or from floors below, never from a
# neighbour on its floor.
FLOORS = (
    {"contracts"},
    {"kernels", "reading", "writing"},
    {"metrics"},
    {"scoring"},
    {"codes", "engines"},
    {"comparison", "spark", "systems", "ties"},
    {"charts"},
    {"study"},
    {"cli"},  # and app, outside the package
)
# Modules at the root gather public names, and nothing inside imports them.
ENTRANCES = {
    "expr",
    "lists",
    "namespace",
    "pytest_plugin",
    "report",
    "stats",
    "__init__",
    "__main__",
}
TOP = {
    *(".ci", ".gitattributes", ".github", ".gitignore", ".pre-commit-config.yaml"),
    *(".pre-commit-hooks.yaml", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE"),
    *("Makefile", "README.md", "SECURITY.md", "action.yml", "app", "benchmarks", "docs"),
    *("pyproject.toml", PACKAGE, "sample_data", "tests"),
}
PARTS = set().union(*FLOORS, ENTRANCES)

# Who may import what is not in the standard library.
HOMES = {
    "altair": {"charts"},
    "click": {"cli"},
    "ir_measures": {"systems"},
    "jinja2": {"study"},
    "markupsafe": {"study"},
    "narwhals": {"reading"},
    "numba": {"kernels"},
    "numpy": PARTS,
    "pandas": {"spark"},
    "polars": PARTS - {"kernels"},
    "py4j": {"spark"},
    "pyarrow": {"engines", "spark"},
    "pyspark": {"spark"},
    "pytest": {"pytest_plugin"},
    "scipy": {"codes", "comparison", "engines", "ties"},
    "streamlit": {"app"},
    "tqdm": {"cli", "codes", "engines", "kernels", "scoring"},
}

OWN_CODE = [
    path
    for folder in (PACKAGE, "app", "benchmarks", "sample_data", "tests")
    for path in sorted((ROOT / folder).rglob("*.py"))
]


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """All parts of a file: to walk through them takes as long as to parse it."""
    return list(ast.walk(parse(path)))


def for_types_alone(path: Path) -> set[ast.AST]:
    """What only a type checker reads: the content of `if TYPE_CHECKING:`."""
    return {
        inner
        for node in nodes(path)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }


@cache
def imports(path: Path, *, types: bool = True) -> list[str]:
    """Every imported module by full name, wherever in the file the import stands; without
    ``types`` only those that are imported when the package runs.
    """
    names: list[str] = []
    unread = set() if types else for_types_alone(path)
    for node in nodes(path):
        if node in unread:
            continue
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            # `from package import module` imports the module too.
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


@cache
def package_modules() -> dict[str, Path]:
    """Full dotted names of the package's modules; a folder's name stands for its `__init__`."""
    paths = sorted((ROOT / PACKAGE).rglob("*.py"))
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in paths
    }


def part(module: str) -> str:
    """The name that LAYERS and HOMES know a module of the package by."""
    return module.split(".")[1] if "." in module else "__init__"


def own_imports(path: Path, *, types: bool = True) -> set[str]:
    modules = package_modules()
    found = set()
    for name in imports(path, types=types):
        while name.split(".")[0] == PACKAGE and name not in modules:
            name = name.rpartition(".")[0]
        if name in modules:
            found.add(name)
    return found


def layer(module: str) -> int:
    floors = [*FLOORS, ENTRANCES]
    found = [number for number, floor in enumerate(floors) if part(module) in floor]
    assert found, f"{module} has no floor"
    return found[0]


def test_imports_point_one_way():
    upward = [
        f"{module} imports {name}"
        for module, path in package_modules().items()
        for name in own_imports(path)
        if name != PACKAGE and part(name) != part(module) and layer(name) >= layer(module)
    ]
    assert upward == []


def test_no_module_imports_itself_in_a_circle():
    """What draws a study names its type, which is no import when the package runs."""
    graph = {
        module: own_imports(path, types=False) - {module}
        for module, path in package_modules().items()
    }
    TopologicalSorter(graph).prepare()


def third_parties(path: Path) -> set[str]:
    """The packages that a file imports and that are neither Python's nor this one."""
    return {name.split(".")[0] for name in imports(path)} - set(sys.stdlib_module_names) - {PACKAGE}


def test_third_parties_have_one_home_each():
    strangers = [
        f"{module} imports {name}"
        for module, path in package_modules().items()
        for name in third_parties(path)
        if part(module) not in HOMES.get(name, set())
    ]
    assert strangers == []


# Streamlit puts the folder on the path, so that its modules import each other by their own names.
APP = sorted((ROOT / "app").rglob("*.py"))
# From the ground up, as LAYERS; a view imports no other view.
APP_LAYERS = (
    "text",
    "records",
    "wording",
    "uploads",
    "url_controls",
    "cached",
    "back_button",
    "chart_display",
    "page",
    "tables",
    "controls",
    "data_source",
    "views",
    "prefetch",
    "dashboard",
    "main",
)


def app_part(path: Path) -> str:
    return path.relative_to(ROOT / "app").parts[0].removesuffix(".py")


def test_modules_of_the_dashboard_import_one_way():
    upward = [
        f"{path.name} imports {name}"
        for path in APP
        for name in third_parties(path) & set(APP_LAYERS)
        if APP_LAYERS.index(name) >= APP_LAYERS.index(app_part(path))
    ]
    assert upward == []


def test_the_dashboard_needs_no_more_than_streamlit_and_polars():
    known = {*APP_LAYERS, "polars", "streamlit", "starlette"}  # the last is Streamlit's server
    assert {
        path.name: third_parties(path) - known for path in APP if third_parties(path) - known
    } == {}


def test_the_dashboard_caches_in_one_module():
    cached = {path.name for path in APP for node in nodes(path) if is_cache(node)}
    assert cached == {"cached.py"}


def is_cache(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("cache_data", "cache_resource")


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from `def` to the end without the docstring, which must not be squeezed to fit."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    if ast.get_docstring(function) is None:
        return lines
    docstring = function.body[0]
    return lines - ((docstring.end_lineno or 0) - docstring.lineno + 1)


def lines_of_code(path: Path) -> int:
    """Lines of a file without the docstrings of its functions and classes."""
    lines = len(path.read_text(encoding="utf-8").splitlines())
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            lines -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
    return lines


def functions_in(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [
        node for node in nodes(path) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_the_repository_holds_no_output_of_its_examples():
    """Of a copy that is no clone, git lists nothing, and nothing is asked."""
    listing = ["git", "-c", "safe.directory=*", "-C", str(ROOT), "ls-files"]
    tracked = subprocess.run(listing, capture_output=True, text=True).stdout.splitlines()
    assert {path.partition("/")[0] for path in tracked} <= TOP


def test_files_and_functions_are_small():
    long_files = [path for path in OWN_CODE if lines_of_code(path) > 600]
    long_functions = [
        f"{path}:{function.lineno}: {function.name}"
        for path in OWN_CODE
        for function in functions_in(path)
        if length(function) > 80
    ]
    assert (long_files, long_functions) == ([], [])


def test_kernels_take_six_arguments_at_most():
    """Of fourteen arrays in a row two of one type are exchanged unseen; a record names what it
    carries.
    """
    taken = {
        f"{path.name}: {function.name}": len(
            [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        )
        for path in (ROOT / PACKAGE / "kernels").glob("*.py")
        for function in functions_in(path)
    }
    assert {name: number for name, number in taken.items() if number > 6} == {}


def test_only_one_module_and_its_cache_know_the_compiler():
    folder = ROOT / PACKAGE / "kernels"
    knowing = {
        path.name
        for path in folder.glob("*.py")
        if any(name.split(".")[0] == "numba" for name in imports(path))
    }
    assert knowing == {"compiler.py", "cache.py"}


def test_importing_the_package_leaves_what_is_heavy_and_optional_alone():
    heavy = {"altair", "jinja2", "numba", "pandas", "pyarrow", "scipy", "streamlit"}
    program = (
        f"import sys, {PACKAGE} as rr; rr.evaluate, rr.summarise; print(*sorted({heavy} & "
        "set(sys.modules)))"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert outcome.stdout.strip() == ""


def test_scores_and_means_need_no_scipy():
    """It is for tests and wide intervals; Numba, which is off here, loads it to compile."""
    program = (
        f"import sys, {PACKAGE} as rr;"
        "rows = {'query': [1, 1, 2, 2] * 2, 'item': [0, 1] * 4, 'distance': [1, 1, 1, 2] * 2,"
        " 'relevance': [0, 1] * 4, 'model': ['a'] * 4 + ['b'] * 4};"
        "scores = rr.evaluate(rows, metrics='ndcg@10, rr@10', truncated='no');"
        "rr.summarise(scores); rr.leaderboard(scores);"
        "print(*(name for name in sys.modules if name.split('.')[0] == 'scipy'))"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert outcome.stdout.split() == []


def imported_by(*words: str) -> set[str]:
    """The modules that a command of the command line imports."""
    program = (
        "import atexit, sys; sys.argv[0] = 'retrieval-report';"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr));"
        f"from {PACKAGE}.cli import main; main()"
    )
    words = (sys.executable, "-c", program, *words)
    return set(subprocess.run(words, capture_output=True, text=True, check=True).stderr.split())


def test_help_needs_no_library_and_evaluate_no_report():
    assert imported_by("--help") & {"numba", "numpy", "polars", "scipy"} == set()
    data = ROOT / "sample_data/docs"
    files = [str(data / "runs/bm25.run.gz"), "--judgements", str(data / "qrels.txt")]
    needed = imported_by("evaluate", *files, "--metrics", "rr@10", "--policies", "expected")
    own = {f"{PACKAGE}.{name}" for name in ("charts", "study.study", "study.reports", "systems")}
    assert needed & (own | {"altair", "jinja2", "narwhals", "numba", "scipy.stats"}) == set()
    assert imported_by("leaderboard", *files) & {"altair", "jinja2"} == set()


def test_only_the_catalogue_asks_what_kind_of_metric_or_term_a_record_is():
    """Everything else reads the facts on the record, so that a user's own metric has them too."""
    records = {
        node.name
        for name in ("catalogue", "terms")
        for node in parse(ROOT / PACKAGE / "metrics" / f"{name}.py").body
        if isinstance(node, ast.ClassDef) and node.name not in ("Metric", "Facts")
    }
    asking = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in (ROOT / PACKAGE).rglob("*.py")
        if path.parent.name != "metrics"
        for node in nodes(path)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance"
        for kind in ast.walk(node.args[1])
        if getattr(kind, "id", getattr(kind, "attr", "")) in records
    ]
    assert asking == []
