"""How every test runs: no silent skips, repeatable hypothesis."""

import os
import re
import sys
from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import spark_sessions
from visits import browser, server  # noqa: F401  # fixtures

collect_ignore = ["attacks"]  # programs; tests are in the other folders

# Deadlines and slow-generation checks would fail on a busy machine, not on a wrong program.
EASY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("here", EASY, max_examples=30)
settings.register_profile("ci", EASY, max_examples=30, derandomize=True)
settings.register_profile("fuzz", EASY, max_examples=2_000)  # make fuzz
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "here")
)


@pytest.fixture(autouse=True, scope="session")
def quiet_steps():
    """On a busy machine a command would tell of steps that are quick elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("retrieval_report.contracts.steps.SLOW", float("inf"))
        yield


# They are large or need a compiler; who has them runs their tests.
LARGE = (
    *("of the extra `peers`", "of the extra `seeds`"),
    "only the maker of this sample needs its weights",
)
SITE = "tests/test_docs.py"
LONG = (  # which take more than a quarter of a minute of one process: it should not be the last to end
    *("tests/scoring/test_completions.py", "tests/app/test_app_rules.py"),
    *("tests/faults/test_memory.py", "tests/kernels/test_without_numba.py"),
    *("tests/study/test_report_browser.py", "tests/study/test_words_and_numbers.py"),
    *("tests/charts/test_charts_all.py", "tests/study/test_leaderboard_rows.py"),
    *("tests/metrics/test_expressions.py", "tests/bad_input/test_wrong_types.py"),
    *("tests/comparison/test_tie_chance.py", "tests/comparison/test_meter.py"),
    *("tests/cli/test_cli.py", "tests/cli/test_ci.py", "tests/engines/", "tests/test_answers.py"),
)
DASHBOARD = tuple(
    f"tests/app/test_app_{name}.py" for name in ("browser", "choosing", "hosts")
)  # visit one server
REPEATING = (  # they go through everything once more
    *("tests/app/", "tests/conformance/", "tests/faults/"),
    *(
        "tests/charts/test_charts_all.py",
        "tests/reading/test_fuzz.py",
        "tests/scoring/test_completions.py",
    ),
)
COVERAGE = (
    "COVERAGE_PROCESS_CONFIG",
    "COVERAGE_PROCESS_START",
)  # processes with one of them measure themselves
SPARK_FILES = ("test_spark", "test_cli_spark")  # how the names of files with Spark tests begin
# How the ids of tests end whose session is of such a kind, or which start executors of their own.
AWAY = ("cluster]", "connect]", "::test_on_two_executors_one_of_which_is_killed_half_way")


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist, as the next
def pytest_xdist_auto_num_workers() -> int:
    """Return one more than there are processors: a test that waits for Spark, a browser or a
    command needs none.
    """
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any):
    """Give the Spark tests to two processes that hold a session each; every other file goes where
    there is room, whole, so that what its tests share is made once.

    `--dist loadgroup` would do it by marks, but not with pytest 9.2 (pytest-dev/pytest-xdist#1386).
    """
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = False  # the order is that of pytest_collection_modifyitems
    scheduling = LoadScopeScheduling(config, log)
    scheduling._split_scope = own_process
    return scheduling


def own_process(nodeid: str) -> str:
    """Which tests share a process: those of a file, and those that visit one dashboard.

    Half of the time a Spark test waits, so two processes end well before one. What runs on
    executors or a server is in one, what runs on this machine alone in the other: both take about
    as long.
    """
    if nodeid.startswith(DASHBOARD):
        return "a dashboard"
    if not of_spark(nodeid):
        return nodeid.partition("::")[0]
    return "Spark, away" if nodeid.endswith(AWAY) else "Spark, here"


def of_spark(nodeid: str) -> bool:
    return nodeid.partition("::")[0].rpartition("/")[2].startswith(SPARK_FILES)


def pytest_collection_modifyitems(items: list[pytest.Item]):
    """Put the Spark tests first, kind of session by kind, then the others that take minutes in one
    process.
    """
    ours = [item for item in items if item.get_closest_marker("spark")]
    strangers = [item.nodeid for item in ours if not of_spark(item.nodeid)]
    assert not strangers, f"tests of Spark belong in {', '.join(SPARK_FILES)}…: {strangers}"
    away = set(ours)
    others = sorted(
        (item for item in items if item not in away),
        key=lambda item: (
            not item.nodeid.startswith((SITE, *DASHBOARD)),
            not item.nodeid.startswith(LONG),
        ),
    )
    items[:] = sorted(ours, key=kind_place) + others


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Measure no coverage in tests that only repeat what others reach, nor in the processes they
    start.

    Until Python 3.12, coverage is told of every line, those of Streamlit and Sphinx too, which
    makes tests 1.7 times as slow.
    """
    if not (item.get_closest_marker("slow") or item.nodeid.startswith(REPEATING)):
        return (yield)
    item.add_marker("no_cover")
    measured = {name: os.environ.pop(name) for name in COVERAGE if name in os.environ}
    try:
        return (yield)
    finally:
        os.environ.update(measured)


def kind_place(item: pytest.Item) -> int:
    names = getattr(item, "fixturenames", ())
    kind = item.callspec.params.get("spark_kind", "local") if hasattr(item, "callspec") else "local"
    return spark_sessions.KINDS.index(kind) if "spark" in names else len(spark_sessions.KINDS)


@pytest.fixture(autouse=True)
def own_main():
    """Streamlit's AppTest leaves the page's script as `__main__`, which processes spawned later
    would run.
    """
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="session")
def sessions():
    """What starts Spark sessions here, and stops them."""
    reason = spark_sessions.missing()
    if reason:
        pytest.skip(reason)
    sessions = spark_sessions.Sessions()
    yield sessions
    sessions.close()


@pytest.fixture
def spark_kind():
    """The kind of session that `spark` is, unless a test's parameters say otherwise."""
    return "local"


@pytest.fixture
def spark(sessions: spark_sessions.Sessions, spark_kind: str):
    """A Spark session of that kind."""
    return sessions.ask(spark_kind)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if not hasattr(report, "wasxfail"):
        refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    refuse_skip(report)
    return report


def refuse_skip(report: pytest.TestReport | pytest.CollectReport):
    """Turn a skip into a failure where it has no reason, or where RETRIEVAL_REPORT_FORBID_SKIPS is
    set.
    """
    if not report.skipped:
        return
    reason = reason_of(report)
    if reason in ("", "unconditional skip"):
        report.outcome, report.longrepr = "failed", "a skip has to carry a reason"
    elif os.environ.get("RETRIEVAL_REPORT_FORBID_SKIPS") and not any(
        extra in reason for extra in LARGE
    ):
        report.outcome, report.longrepr = "failed", f"skips are forbidden here: {reason}"


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return why a test was skipped.

    A skip is reported as (file, line, "Skipped: reason"), without a reason as "Skipped" alone.
    """
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped").lstrip(":").strip()


def pytest_terminal_summary(terminalreporter: Any):
    """Say in one line how many tests were skipped for the lack of what."""
    reasons = Counter(
        f"without the extra '{extra[1]}'"
        if (extra := re.search("extra `(.+)`", reason))
        else reason
        for report in terminalreporter.stats.get("skipped", ())
        for reason in [reason_of(report)]
    )
    if reasons:
        texts = (f"{number} {reason}" for reason, number in reasons.most_common())
        terminalreporter.write_line(f"Skipped: {', '.join(texts)}.")
