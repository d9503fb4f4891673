"""Measure large data stage by stage, as a user asks for one thing after the other: seconds of all
processors, seconds on the clock, and the peak memory of the process.

Every row is a function that latency.py runs in a process of its own; ``python benchmarks/stages.py
NAME`` runs one alone. Real runs are read from the folder that ``RETRIEVAL_REPORT_REAL`` names, and
left out without it. A row that wants more memory than there is fails alone.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from peers import write_trec

import retrieval_report as rr
from retrieval_report.codes import count_codes

HEAD = "| what a user does | CPU s | aim | wall s | peak MiB |\n| --- | --: | --- | --: | --: |"
EACH_QUERY = 50
TURNS = 5  # of two calls that are compared
PORT = 8597
ROOT = Path(__file__).resolve().parent.parent


def line(what: str, cpu: float, aim: str, wall: float, peak: float) -> str:
    return f"| {what} | {cpu:.2f} | {aim} | {wall:.2f} | {peak:.0f} |"


@contextmanager
def stage(data: str, name: str, aim: str = "") -> Iterator[None]:
    """Print what a stage took."""
    cpu, wall = time.process_time(), time.perf_counter()
    yield
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    print(line(f"{data}: {name}", cpu, aim, wall, peak()), flush=True)


def peak() -> float:
    """Return the most memory that this process has had, in mebibytes."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def trec_again() -> None:
    data = "TREC run of 10⁶ rows in a process that is warm"
    with tempfile.TemporaryDirectory() as folder:
        run, qrels = write_trec(Path(folder), 1000)
        rr.evaluate(rr.read_rankings(run), judgements=rr.read_judgements(qrels))
        with stage(data, "read", "≤ 0.25"):
            rows, judgements = rr.read_rankings(run), rr.read_judgements(qrels)
        with stage(data, "`evaluate`, defaults without random orders", "≤ 0.15"):
            rr.evaluate(rows, judgements=judgements, policies=("expected", "naive"))
        if importlib.util.find_spec("pytrec_eval"):
            import pytrec_eval

            with stage(data, "pytrec_eval, read"), run.open() as one, qrels.open() as other:
                known, judged = pytrec_eval.parse_run(one), pytrec_eval.parse_qrel(other)
            with stage(data, "pytrec_eval, evaluate"):
                measures = {"map", "recip_rank", "ndcg_cut.10", "P.10"}
                pytrec_eval.RelevanceEvaluator(judged, measures).evaluate(known)


def search(queries: int, depth: int, items: int) -> Any:
    """Return what three models found, with a relevant item in ten, and labels."""
    random = np.random.default_rng(0)
    labels = {
        "query_labels": random.integers(0, 10, queries),
        "item_labels": random.integers(0, 10, items),
    }
    found = {}
    for model in ("a", "b", "c"):
        distances = np.sort(random.gamma(4, 1, (queries, depth)).round(1).astype(np.float32))
        first = random.integers(0, items, (queries, 1))
        step = random.integers(1, items // depth, (queries, 1))
        found[model] = (distances, (first + step * np.arange(depth)) % items)
    return found, labels


def asked(data: str, study: rr.Study, *aims: str) -> None:
    """Ask for table, verdict and leaderboard, and for the report if there is an aim for it."""
    with stage(data, "table", aims[0]):
        study.table()
    with stage(data, "verdict", aims[1]):
        _ = study.verdict
    with stage(data, "leaderboard", aims[2]):
        _ = study.leaderboard
    for aim in aims[3:]:
        reported(data, study, aim)


def reported(data: str, study: rr.Study, aim: str) -> None:
    with tempfile.TemporaryDirectory() as folder, stage(data, "report", aim):
        study.report(Path(folder) / "report")


def recommenders() -> None:
    data = "recommenders: 3 models × 100 000 users × 20, two measures"
    found, labels = search(100_000, 20, 50_000)
    with stage(data, "`from_search`"):
        inputs = rr.from_search(found, **labels)
    asked(data, rr.Study(inputs, "ndcg@10, recall@20"), "≤ 1.5", "≤ 3", "≤ 5")


def vectors() -> None:
    data = "vector search: 3 models × 10 000 queries × 100"
    found, labels = search(10_000, 100, 100_000)
    inputs = rr.from_search(found, **labels)
    asked(data, rr.Study(inputs), "≤ 0.6", "≤ 2", "≤ 2", "≤ 8")


def passages() -> None:
    data = "MS MARCO's size: 2 runs × 6 980 queries × 1 000, three measures"
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        written_runs(folder)
        with stage(data, "read", "≤ 9 up to the leaderboard, ≤ 1 600 MiB"):
            runs = rr.read_rankings([folder / "one.run", folder / "two.run"])
            judgements = rr.read_judgements(folder / "qrels.txt")
        metrics = "rr@10, ndcg@10, recall@1000"
        with stage(data, "`evaluate`"):
            scores = rr.evaluate(runs, judgements=judgements, metrics=metrics)
        with stage(data, "`compare`"):
            rr.compare(scores)
        with stage(data, "`leaderboard`"):
            rr.leaderboard(scores)
        reported(data, rr.Study(runs, metrics, judgements=judgements), "≤ 25, ≤ 3 000 MiB")


def written_runs(folder: Path) -> None:
    """Write two runs and judgements; nothing of them stays in memory."""
    queries, depth = 6_980, 1_000
    random = np.random.default_rng(1)
    query = np.repeat(np.arange(queries), depth)
    chosen = []
    for run in ("one", "two"):
        first = random.integers(0, 8_800_000, queries)
        item = (np.repeat(first, depth) + np.tile(np.arange(depth), queries) * 7919) % 8_841_823
        score = -np.sort(-random.gamma(3, 3, (queries, depth)).round(4)).ravel()
        lines = {
            "query": query,
            "q0": "Q0",
            "item": item,
            "rank": 0,
            "score": score,
            "tag": run,
        }
        written(lines, folder / f"{run}.run")
        pick = np.arange(queries) * depth + random.integers(0, depth, queries)
        chosen.append(pl.DataFrame({"query": query[pick], "item": item[pick]}))
    relevant = pl.concat(chosen).unique(maintain_order=True)
    qrels = {"query": relevant["query"], "zero": 0, "item": relevant["item"], "grade": 1}
    written(qrels, folder / "qrels.txt")


def written(columns: dict[str, Any], path: Path) -> None:
    pl.DataFrame(columns).write_csv(path, separator=" ", include_header=False)


def codes() -> None:
    data = "codes of 64 bits: 2 models × 10 000 queries × 60 000 items, 10 classes"
    random = np.random.default_rng(0)
    items, queries = random.integers(0, 10, 60_000), random.integers(0, 10, 10_000)
    centres = random.integers(0, 2, (10, 64))

    def near(labels: Any, noise: float) -> Any:
        return np.packbits(centres[labels] ^ (random.random((len(labels), 64)) < noise), axis=1)

    both = [(near(queries, noise), near(items, noise)) for noise in (0.3, 0.32)]
    with stage(data, "count"):
        counts = pl.concat(
            count_codes(
                *pair, bits=64, query_labels=queries, item_labels=items, model=f"model {number}"
            )
            for number, pair in enumerate(both)
        )
    with stage(data, "`evaluate`"):
        rr.evaluate(counts, metrics="ap, precision@1000", policies="expected")
    study = rr.Study(counts, "ap, precision@1000")
    with stage(data, "verdict", "≤ 4"):
        _ = study.verdict
    reported(data, study, "≤ 15")


def model_scores(models: int) -> pl.DataFrame:
    """Return scores of models that differ in ability, on the same queries."""
    random = np.random.default_rng(0)
    able = 0.4 + random.normal(0, 0.05, (models, 1)) + random.normal(0, 0.15, EACH_QUERY)
    values = np.clip(able + random.normal(0, 0.1, (models, EACH_QUERY)), 0, 1)
    return pl.DataFrame(
        {
            "model": np.repeat([f"m{model:04}" for model in range(models)], EACH_QUERY),
            "query": np.tile([f"q{query}" for query in range(EACH_QUERY)], models),
            "metric": "ap",
            "cutoff": pl.Series([None] * values.size, dtype=pl.Int64),
            "policy": "expected",
            "value": values.ravel(),
            "std": 0.0,
            "items": 9,
            "n_relevant": 2,
        }
    )


def models() -> None:
    for number, aim in ((500, ""), (1000, "≤ 10 for both")):
        data = f"scores of {number} models on {EACH_QUERY} queries"
        scores = model_scores(number)
        with stage(data, "`compare`", aim):
            rr.compare(scores)
        with stage(data, "`leaderboard`", aim):
            rr.leaderboard(scores)


def floats() -> None:
    rows = 5_000_000
    data = "float distances: 20 models, 5·10⁶ rows"
    random = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "model": np.repeat([f"m{model}" for model in range(20)], rows // 20),
            "query": np.tile(np.repeat(np.arange(250), 1000), 20),
            "item": np.tile(np.arange(rows // 20), 20),
            "distance": random.random(rows),
            "relevance": np.tile(random.random(rows // 20) < 0.05, 20).astype(np.int8),
        }
    )
    spent: dict[str, list[tuple[float, float]]] = {"no": [], "auto": []}
    for _ in range(TURNS + 1):  # in the first, kernels are loaded and memory grows
        for truncated, turns in spent.items():
            cpu, wall = time.process_time(), time.perf_counter()
            rr.evaluate(frame, metrics="ndcg@10", policies="expected", truncated=truncated)
            turns.append((time.process_time() - cpu, time.perf_counter() - wall))
    for (truncated, turns), aim in zip(spent.items(), ("", "≤ 1.1 × that"), strict=True):
        cpu, wall = map(min, zip(*turns[1:], strict=True))
        what = f'{data}: `evaluate`, `truncated="{truncated}"`, least of {TURNS}'
        print(line(what, cpu, aim, wall, peak()), flush=True)


def training() -> None:
    random = np.random.default_rng(0)
    relevance = (random.random((256, 1000)) < 0.01).astype(np.int64)
    meter = rr.Meter("ndcg@10, ap", threads=1)
    for data, scores in {
        "unique float32": random.normal(size=relevance.shape).astype(np.float32),
        "whole numbers up to 64": random.integers(0, 65, relevance.shape),
    }.items():
        meter.update(scores, relevance)
        with stage(f"batches of 256 × 1 000 scores, {data}", "100 × `Meter.update`"):
            for _ in range(100):
                meter.update(scores, relevance)


def covid() -> None:
    real("trec-covid-round1", "≤ 10")


def core17() -> None:
    real("core17", "≤ 8")


def real(name: str, aim: str) -> None:
    folder = Path(os.environ.get("RETRIEVAL_REPORT_REAL", "")) / name
    if not (folder / "runs").is_dir():
        print(f"| {name}: not here | | | | |")
        return
    runs = sorted((folder / "runs").glob("*"))
    data = f"{name}: {len(runs)} runs"
    with stage(data, "read"):
        study = rr.Study(runs, judgements=folder / "qrels.txt")
    reported(data, study, aim)


def dashboard() -> None:
    from dashboard import STEPS, TIMEOUT, opened, ready

    ready()
    for data, heading, change in (("digits", "≤ 2 (heading)", "≤ 0.7"), ("docs", "", "")):
        page = opened(data)
        with stage(f"dashboard, {data}", "whole first page", heading):
            assert not page.run(timeout=TIMEOUT).exception
        control, value = STEPS[0]
        with stage(f"dashboard, {data}", "whole page after a change of measure", change):
            assert not page.selectbox(key=control).set_value(value).run().exception


def first_start() -> None:
    """The server is started with no kernel compiled, and then again, while Chromium waits."""
    sys.path.insert(0, str(ROOT / "tests/helpers"))
    from app_visits import READY
    from visits import chromium, launched

    if not chromium():
        print("| dashboard in a browser: no Chromium | | | | |")
        return
    with (
        tempfile.TemporaryDirectory() as empty,
        tempfile.TemporaryDirectory() as profile,
        launched(Path(profile)) as browser,
    ):
        page = browser.new_page()
        for name, aim in (
            ("first start after installation", "≤ 6 (heading, wall)"),
            ("later", "≤ 2 (heading, wall)"),
        ):
            address, begin = f"http://127.0.0.1:{PORT}", time.perf_counter()
            command = [sys.executable, "-m", "retrieval_report", "dashboard", "--no-browser"]
            server = subprocess.Popen(
                [*command, f"--port={PORT}"],
                env={**os.environ, "NUMBA_CACHE_DIR": empty},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                while server.poll() is None:
                    with suppress(OSError), socket.create_connection(("127.0.0.1", PORT)):
                        break
                    time.sleep(0.02)
                page.goto(address)
                page.wait_for_selector("h1")
                used = line_of(server.pid, f"dashboard, {name}: heading", aim, begin)
                print(used, flush=True)
                page.wait_for_function(READY)
                print(line_of(server.pid, f"dashboard, {name}: whole first page", "", begin))
            finally:
                server.terminate()
                server.wait()


def line_of(process: int, what: str, aim: str, begin: float) -> str:
    """Return the line of another process, which Linux tells."""
    wall = time.perf_counter() - begin
    folder = Path(f"/proc/{process}")
    ticks = (folder / "stat").read_text().rpartition(")")[2].split()[11:13]
    memory = (folder / "status").read_text().partition("VmHWM:")[2].split()[0]
    return line(
        what, sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"), aim, wall, int(memory) / 2**10
    )


ROWS: tuple[Callable[[], None], ...] = (
    trec_again,
    covid,
    core17,
    dashboard,
    first_start,
    models,
    recommenders,
    vectors,
    passages,
    codes,
    floats,
    training,
)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1] != "first_start":  # a browser reserves more than there is
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    {row.__name__: row for row in ROWS}[sys.argv[1]]()
