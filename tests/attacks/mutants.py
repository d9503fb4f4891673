"""Change the code in one place at a time, and see whether a test fails: ``python
tests/attacks/mutants.py --sample 100``.

The quick tests run once with coverage, which says what tests reach each line (``build/mutants``). A
mutant is then made in memory, in a forked process, and asked about by the tests that reach its
line. Kernels are tested interpreted, all else with compiled kernels. ``mutants.md`` has the
results. Reasons why a survivor is none, written there, are kept. Run with ``--trace`` after kernels
have changed: a mutant whose tests had to compile them would count as too slow.
"""

from __future__ import annotations

import argparse
import ast
import copy
import doctest
import functools
import gc
import importlib
import itertools
import json
import os
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import coverage
import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).resolve().parents[2]
PACKAGE, KEPT, RESULTS = (
    ROOT / "retrieval_report",
    ROOT / "build" / "mutants",
    Path(__file__).with_suffix(".md"),
)
REACH = KEPT / "reach.coverage"
FOLDERS = ("kernels", "scoring", "analysis")
COMPILER = (
    "compile.py",
    "cache.py",
)  # in the folder of kernels, but not run where nothing is compiled
# What may be asked besides doctests.
ASKED = (
    *(f"tests/{name}" for name in ("analysis", "scoring", "metrics", "kernels", "codes", "study")),
    *(
        "tests/conformance/test_golden.py",
        "tests/study/test_report_contents.py",
        "tests/study/test_terminal.py",
    ),
)
# Coverage cannot look into compiled kernels, and with it interpreted ones take too long: their
# tests are named here.
OF_METRICS = [
    "kernels/test_plain_ties.py",
    "scoring/test_ties.py",
    "scoring/test_evaluation.py",
    "metrics/test_weights.py",
]
OF_METRICS += [
    "conformance/test_golden.py",
    "scoring/test_properties.py::test_property_02_exact_values_are_those_of_all_orders",
]
OF_KERNELS = {
    "additive": [*OF_METRICS, "kernels/test_ranks.py"],
    "completions": ["scoring/test_completions.py"],
    "dividing": ["kernels/test_dividing.py", "scoring/test_arrays.py"],
    "grouping": ["kernels/test_grouping.py", "scoring/test_arrays.py"],
    "hamming": ["codes/test_codes.py", "codes/test_codes_sizes.py"],
    "lists": ["kernels/test_grouping.py"],
    "preferences": ["metrics/test_bpref.py"],
    "probing": ["scoring/test_lookup.py"],
    "ranks": ["kernels/test_ranks.py", "kernels/test_stopping_spread.py"],
    "ratios": [*OF_METRICS, "kernels/test_ratios.py"],
    "shuffling": ["kernels/test_shuffling.py"],
    "stopping": ["kernels/test_stopping_spread.py", "kernels/test_plain_ties.py"],
    "stopping_spread": ["kernels/test_stopping_spread.py"],
    "tables": ["kernels/test_ranks.py", "metrics/test_weights.py"],
    "waves": ["scoring/test_waves.py"],
}
OPTIONS = [
    "-qq",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:randomly",
    "--hypothesis-seed=1",
    "-m",
    "not slow and not spark",
]
OPTIONS += [
    "-W",
    "ignore:overflow encountered:RuntimeWarning",
]  # of the wrap-around that random keys are made with
LONGEST = 4.0  # seconds of a processor; a test that takes longer is not asked
MOST = 120  # tests that are asked about one mutant; those of its own folder and name come first
MEMORY = 12 * 2**30  # of address space; a mutant must not fill the machine
SURVIVED, KILLED, OPEN = "survived", "killed", "open"
PAIRS = [
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
]
PAIRS += [(ast.And, ast.Or), (ast.Is, ast.IsNot), (ast.In, ast.NotIn)]
SWAPS: dict[type, type] = {
    **dict(PAIRS),
    **{new: old for old, new in PAIRS},
    ast.FloorDiv: ast.Mult,
}


class Mutant(NamedTuple):
    """A change of one place in a file."""

    path: Path
    function: str
    lines: range  # of the statement, up to the change
    old: str
    new: str  # the whole line
    source: str

    @property
    def name(self) -> str:
        """What stays the same when other lines of the file change."""
        words = (f"{self.path.stem}.{self.function}", self.old, self.new)
        return " | ".join(f"`{word.replace('|', chr(92) + '|')}`" for word in words)


def mutants(path: Path) -> Iterator[Mutant]:
    """Every change of an operator or of a whole number in the functions of a file."""
    text = path.read_text(encoding="utf-8")
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    places: dict[ast.expr, tuple[str, ast.stmt]] = {
        node: (function.name, statement)
        for function in functions
        for statement in ast.walk(function)
        if isinstance(statement, ast.stmt) and statement is not function
        for node in ast.walk(statement)
        if isinstance(node, ast.expr)
    }  # the innermost function and statement win, for they come last
    for node, (function, statement) in places.items():
        new = changed(copy.deepcopy(node)) if node.lineno == node.end_lineno else None
        if new is not None:
            source = replaced(text, node, new)
            old, line = (whole.splitlines()[node.lineno - 1].strip() for whole in (text, source))
            yield Mutant(
                path, function, range(statement.lineno, node.lineno + 1), old, line, source
            )


def changed(node: Any) -> str | None:
    """The source of a node with its operator or number changed."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS:
        node.op = SWAPS[type(node.op)]()
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        node.value += 1
    else:
        return None
    return f"({ast.unparse(node)})"


def replaced(text: str, node: ast.expr, new: str) -> str:
    """The text with one node of one line written anew."""
    lines = text.splitlines(keepends=True)
    raw = lines[node.lineno - 1].encode()
    lines[node.lineno - 1] = (
        raw[: node.col_offset] + new.encode() + raw[node.end_col_offset :]
    ).decode()
    return "".join(lines)


class Late(BaseException):
    """A test takes too long; hypothesis does not take this for a failure to be made smaller."""


class Limited:
    """Ends tests that take too long to be asked."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Let an alarm end the test."""
        signal.signal(signal.SIGPROF, self.end)
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def end(self, _signal: int, _frame: object) -> None:
        """End the test that runs."""
        raise Late


def trace(tests: list[str]) -> None:
    """Run tests, all if none are named, and keep which lines each of them reaches."""
    KEPT.mkdir(parents=True, exist_ok=True)
    rules = KEPT / "coverage.ini"
    rules.write_text(f"[run]\nsource = {PACKAGE}\ndata_file = {REACH}\n")
    words = [
        "--cov",
        f"--cov-config={rules}",
        "--cov-context=test",
        "--cov-report=",
        "--cov-fail-under=0",
    ]
    words += ["--cov-append"] if tests else []
    pytest.main([*words, *OPTIONS, *(tests or ASKED)], plugins=[Limited()])


class Trying:
    """Tries mutants instead of running tests; forked processes collect them, for importing some
    starts threads.
    """

    def __init__(self, tried: list[Mutant], interpreted: bool, options: argparse.Namespace) -> None:
        self.tried, self.interpreted, self.budget = tried, interpreted, options.budget
        self.end = time.monotonic() + 60 * options.minutes
        self.fates: dict[str, str] = {}
        self.reach = coverage.CoverageData(str(REACH))
        self.reach.read()
        self.kept = KEPT / ("interpreted.json" if interpreted else "compiled.json")
        self.seconds: dict[str, float] = (
            json.loads(self.kept.read_text()) if self.kept.exists() else {}
        )
        self.kills: Counter[tuple[Path, str]] = Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Let hypothesis neither keep failures nor make them smaller."""
        from hypothesis import Phase, settings  # pytest wants to import its plugin itself

        settings.register_profile(
            "mutants", phases=[Phase.explicit, Phase.generate], database=None, deadline=None
        )
        settings.load_profile("mutants")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Fork a process for each mutant."""
        for mutant in itertools.takewhile(lambda _: time.monotonic() < self.end, self.tried):
            start = time.perf_counter()
            tests = self.asked(mutant, session)
            said, ended = in_child(functools.partial(self.killer, mutant, tests, session))
            self.kills[mutant.path, said] += bool(said)
            fate = (
                f"{KILLED} by {said or ended}"
                if said or ended
                else SURVIVED
                if tests
                else f"{SURVIVED}, none asked"
            )
            self.fates[mutant.name] = fate
            where = (
                f"line {mutant.lines[-1]}, {len(tests)} tests, {time.perf_counter() - start:.1f} s"
            )
            print(f"{fate}: {mutant.name} ({where})", file=sys.__stderr__, flush=True)
            self.kept.write_text(json.dumps(self.seconds, indent=1))
        return True

    def asked(self, mutant: Mutant, session: pytest.Session) -> list[str]:
        """The tests that reach a mutant: those that killed others in its file first, then the quick
        ones.
        """
        tests = self.named(mutant, session) if self.interpreted else self.reaching(mutant)
        own = (mutant.path.stem, f"tests/{mutant.path.parent.name}/")
        near = sorted(
            tests,
            key=lambda test: (*(word not in test for word in own), test not in self.seconds, test),
        )
        tests = {*near[:MOST], *doctests(mutant.path)}
        self.learn(tests, session)
        quick = [test for test in tests if self.seconds[test] >= 0]
        return sorted(
            quick, key=lambda test: (-self.kills[mutant.path, test], self.seconds[test], test)
        )

    def named(self, mutant: Mutant, session: pytest.Session) -> set[str]:
        """The tests that are named for a kernel."""
        files = [f"tests/{name}" for name in OF_KERNELS.get(mutant.path.stem, OF_METRICS)]
        said, _ = in_child(
            lambda tell: tell("\n".join(item.nodeid for item in session.perform_collect(files)))
        )
        return set(said.splitlines())

    def reaching(self, mutant: Mutant) -> set[str]:
        """The tests that reach a mutant; where a fixture does, all tests of its file."""
        by_line = self.reach.contexts_by_lineno(str(mutant.path))
        contexts = {context for line in mutant.lines for context in by_line.get(line, ())} - {""}
        shared = {context.partition("::")[0] for context in contexts if context.endswith("|setup")}
        return {context.partition("|")[0] for context in contexts} | self.contexts_of(shared)

    def contexts_of(self, beginnings: Iterable[str]) -> set[str]:
        """The tests whose names begin so."""
        begin = tuple(beginnings)
        return {
            context.partition("|")[0]
            for context in self.reach.measured_contexts()
            if context.startswith(begin)
        }

    def learn(self, tests: set[str], session: pytest.Session) -> None:
        """Note how long tests take where nothing is changed; -1 for those that take too long or
        fail.
        """
        while unknown := sorted(tests - self.seconds.keys()):
            said, ended = in_child(functools.partial(time_each, unknown, session))
            told = [float(line) for line in said.splitlines()]
            told += [-1] if ended else []
            self.seconds |= zip(unknown, told, strict=False)

    def killer(
        self,
        mutant: Mutant,
        tests: list[str],
        session: pytest.Session,
        tell: Callable[[str], object],
    ) -> None:
        """Say which test fails first; the child dies of an alarm where one takes far longer than it
        did.
        """
        items = collected(tests, session)
        mutate(mutant)
        end = time.process_time() + self.budget
        for test, item in zip(tests, items, strict=True):
            signal.setitimer(signal.ITIMER_PROF, LONGEST + 10 * self.seconds[test])
            if fails(item):
                tell(test)
                return
            if time.process_time() > end:
                return


def doctests(path: Path) -> set[str]:
    """The doctests of a file."""
    file = path.relative_to(ROOT)
    module = importlib.import_module(".".join(file.with_suffix("").parts))
    return {
        f"{file}::{test.name}" for test in doctest.DocTestFinder().find(module) if test.examples
    }


def collected(tests: list[str], session: pytest.Session) -> list[pytest.Item]:
    """The tests of these names, in this order."""
    files = sorted({test.partition("::")[0] for test in tests})
    items = {item.nodeid: item for item in session.perform_collect(files)} if files else {}
    return [items[test] for test in tests]


def time_each(tests: list[str], session: pytest.Session, tell: Callable[[str], object]) -> None:
    """Say how long each test takes, until an alarm ends one that takes too long."""
    for item in collected(tests, session):
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        start = time.process_time()
        failed = fails(item)
        tell(f"{-1 if failed else time.process_time() - start}\n")


def fails(item: pytest.Item) -> bool:
    """Whether a test fails."""
    return any(report.failed for report in runtestprotocol(item, log=False))


def in_child(work: Callable[[Callable[[str], object]], object]) -> tuple[str, str]:
    """What a forked process says of its work, and the signal that it dies of, if any."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        try:
            work(lambda text: os.write(write, text.encode()))
        except BaseException as error:
            os.write(write, type(error).__name__.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as pipe:
        said = pipe.read()
    status = os.waitpid(child, 0)[1]
    return said, signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else ""


def mutate(mutant: Mutant) -> None:
    """Give the functions of a file the code of the mutant, and let them forget what they
    computed.
    """
    new = {place(code): code for code in codes(compile(mutant.source, str(mutant.path), "exec"))}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename == str(mutant.path):
            thing.__code__ = new[place(thing.__code__)]
        elif isinstance(thing, functools._lru_cache_wrapper) and thing.__module__.startswith(
            "retrieval_report"
        ):
            thing.cache_clear()


def place(code: CodeType) -> tuple[str, int]:
    """Where code stands in its file."""
    return code.co_qualname, code.co_firstlineno


def codes(code: CodeType) -> Iterable[CodeType]:
    """The code of a file and of all that is in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def sampled(name: str, options: argparse.Namespace) -> None:
    """Try some mutants of a folder, and write down what became of them."""
    paths = [path for path in sorted((PACKAGE / name).glob("*.py")) if path.name not in COMPILER]
    found = {mutant.name: mutant for path in paths for mutant in mutants(path)}
    # A change of the code elsewhere leaves most of the sample as it was.
    chosen = sorted(found, key=lambda mutant: sha256(f"{options.seed} {mutant}".encode()).digest())[
        : options.sample
    ]
    kept = KEPT / f"{name} {options.seed} {options.sample}.json"
    fates = json.loads(kept.read_text()) if options.again else {}
    tried = [found[mutant] for mutant in chosen if not fates.get(mutant, "").startswith(KILLED)]
    trying = Trying(tried, name == "kernels", options)
    pytest.main([*OPTIONS, "tests/conftest.py"], plugins=[trying])
    fates |= trying.fates
    kept.write_text(json.dumps(fates, indent=1, ensure_ascii=False))
    write(name, options, len(found), fates)


def write(name: str, options: argparse.Namespace, there_are: int, fates: dict[str, str]) -> None:
    """Write what became of a folder's mutants, in place of what stood there; reasons are kept."""
    head, *sections = RESULTS.read_text(encoding="utf-8").rstrip().split("\n\n## ")
    rows = [
        line.strip("| ").rpartition(" | ") for section in sections for line in section.splitlines()
    ]
    reasons = {mutant: reason for mutant, _, reason in rows}
    left = {
        mutant: reasons.get(mutant, OPEN)
        for mutant, fate in sorted(fates.items())
        if fate.startswith(SURVIVED)
    }
    unexplained = list(left.values()).count(OPEN)
    command = (
        f"`python tests/attacks/mutants.py --folders {name} --seed {options.seed} --sample "
        f"{options.sample}`"
    )
    lines = [
        f"{name}\n\n{command}: {len(fates)} of {there_are:,} mutants were tried,",
        (
            f"{len(fates) - len(left)} were killed, {len(left) - unexplained} are explained, "
            f"{unexplained} are open.\n"
        ),
        "| function | line | changed to | why no test fails |\n| --- | --- | --- | --- |",
        *(f"| {mutant} | {reason} |" for mutant, reason in left.items()),
    ]
    others = [section for section in sections if not section.startswith(name)]
    RESULTS.write_text(
        "\n\n## ".join([head, *sorted([*others, "\n".join(lines)])]) + "\n", encoding="utf-8"
    )


def main() -> None:
    """Try a sample of each folder, in a process where kernels are compiled or not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=100, help="mutants of each folder")
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--budget", type=float, default=15, help="seconds of tests for each mutant")
    parser.add_argument(
        "--minutes", type=float, default=60, help="for each folder; the rest of the sample is left"
    )
    parser.add_argument(
        "--again", action="store_true", help="leave out what was killed in the same sample before"
    )
    parser.add_argument(
        "--trace",
        nargs="*",
        help="find anew what lines these tests reach, or all that may be asked",
    )
    parser.add_argument("--folders", default=",".join(FOLDERS))
    options = parser.parse_args()
    os.chdir(ROOT)
    if options.trace is not None or not REACH.exists():
        spawned(trace, options.trace or [])
    for name in options.folders.split(","):
        os.environ["NUMBA_DISABLE_JIT"] = "1" if name == "kernels" else "0"
        spawned(sampled, name, options)


def spawned(work: Callable[..., None], *arguments: object) -> None:
    """Run a function in a process of its own, in which neither tests nor kernels have been imported
    yet.
    """
    process = get_context("spawn").Process(target=work, args=arguments)
    process.start()
    process.join()


if __name__ == "__main__":
    main()
