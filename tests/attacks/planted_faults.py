"""Plant one fault at a time where files, addresses, caches and pages meet, and see whether the few
tests that are named for it fail: ``python tests/attacks/planted_faults.py --out
tests/attacks/planted_faults.md``.

`mutants.py` changes operators and numbers of functions in memory; these faults are in templates,
settings and keys, which no such change reaches. They are made in a copy of the package, so that
nothing here is touched. Needs the extra ``app``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("retrieval_report", "app", "tests", "sample_data", "pyproject.toml")
LIMIT = 300  # seconds; tests that hang see the fault
HTML = "tests/study/test_report_html.py"
STUDY = "tests/study/test_study.py"
RESUMED = "tests/engines/test_disk_resumed.py"
HOSTS = "tests/app/test_app_hosts.py"
UPLOADS = "tests/app/test_app_uploads.py"
CACHED = "tests/app/test_app_cached.py"
RULES = "tests/app/test_app_rules.py"
FILES = "tests/writing/test_files.py"


class Fault(NamedTuple):
    """A text of a file, what it is replaced by, and the tests that should fail."""

    path: str
    old: str
    new: str
    tests: str


def unescaped(text: str) -> Fault:
    """Return the fault that a value of the template, the last in a text, is not escaped."""
    return Fault(TEMPLATE, text, f"{text.removesuffix(' }}')} | safe }}}}", HTML)


TEMPLATE = "retrieval_report/study/templates/report.html.j2"
DATA = "retrieval_report/study/study_data.py"
RESUME = "retrieval_report/engines/resume.py"
WRITTEN = "retrieval_report/writing/files.py"
CONTROLS = "app/controls.py"
URL = "app/url_controls.py"
FAULTS = [
    # templates
    unescaped('"safety" }}"><bdi>{{ sentence }}'),
    unescaped("{% for sentence in sentences %}<bdi>{{ sentence }}"),
    unescaped('<p class="health"><bdi>{{ sentence }}'),
    unescaped("<h1><bdi>{{ report.title | visible(120) }}"),
    unescaped("<title>{{ report.title | visible(120) }}"),
    unescaped("{% else %}<bdi>{{ cell.text }}"),
    unescaped("cell.text.isascii() %}{{ cell.text }}"),
    unescaped('title="{{ cell.title }}'),
    unescaped("<strong><bdi>{{ models }}"),
    unescaped("<bdi>{{ message | visible(400) }}"),
    unescaped("<bdi>{{ value | plain | visible }}"),
    unescaped("<h3><bdi>{{ picture.drawn.title }}"),
    Fault(TEMPLATE, "panel.specification | tojson", "panel.specification | string | safe", HTML),
    Fault(TEMPLATE, 'content="{{ policy }}"', 'content=""', HTML),
    # keys of what is remembered
    Fault(DATA, '("drawn", draws)', '("drawn", draws.shuffles)', STUDY),
    Fault(DATA, '("drawn", draws)', '("drawn", draws.seed)', STUDY),
    Fault(DATA, '("scores", draws)', '"scores"', STUDY),
    Fault(DATA, "return self.attrname, study._view\n", "return (self.attrname,)\n", STUDY),
    Fault(DATA, '("judged by", judge)', '"judged by"', "tests/study/test_judges.py"),
    Fault(DATA, "(name, draw_options), lambda", "name, lambda", "tests/study/test_study_like.py"),
    Fault("retrieval_report/study/levels.py", '("judged", queries)', '"judged"', STUDY),
    Fault("app/cached.py", "path.stat().st_mtime_ns, path", "path.name, path", CACHED),
    Fault("app/cached.py", ", path.stat().st_size)", ", 0)", CACHED),
    Fault("app/cached.py", '(*FRAMES, "labels")', '("rankings",)', CACHED),
    Fault("app/cached.py", "lambda data: data.digest", "lambda data: data.name", CACHED),
    Fault("app/cached.py", "frame.hash_rows().", "frame.head(2).hash_rows().", CACHED),
    Fault(
        "app/cached.py",
        "CUTOFFS if {*choice.cutoffs} <= {*CUTOFFS} else choice.cutoffs",
        "CUTOFFS",
        CACHED,
    ),
    Fault(
        "app/cached.py",
        "study.using(**choice.only(SETTINGS))",
        "study",
        CACHED,
    ),
    # parts of an interrupted run
    Fault(
        RESUME, '"judgements": judgements, "queries": queries', '"judgements": judgements', RESUMED
    ),
    Fault(RESUME, '"judgements": judgements, "queries": queries', '"queries": queries', RESUMED),
    Fault(
        RESUME,
        "(pl.__version__, request_texts, settings)",
        "(pl.__version__, request_texts)",
        RESUMED,
    ),
    Fault(
        RESUME, "(pl.__version__, request_texts, settings)", "(pl.__version__, settings)", RESUMED
    ),
    Fault(RESUME, 'hashlib.file_digest(content, "sha256").digest()', 'b""', RESUMED),
    Fault(RESUME, "inputs.update(repr(tuple(rows)).encode())", "pass", RESUMED),
    Fault(RESUME, "run.read_bytes() != inputs.hexdigest().encode()", "False", RESUMED),
    Fault(RESUME, '("threads", "progress")', '("threads", "progress", "seed")', RESUMED),
    Fault(RESUME, "zipfile.BadZipFile", "zipfile.LargeZipFile", RESUMED),
    Fault(RESUME, 'f"part-{number:06}.npz"', '"part.npz"', RESUMED),
    # origins and hosts
    Fault("app/main.py", "ADDRESS.fullmatch(address)", "ADDRESS.match(address)", HOSTS),
    Fault(
        "app/main.py",
        'name in st.get_option("server.allowedHosts")',
        'name.endswith(tuple(st.get_option("server.allowedHosts")))',
        HOSTS,
    ),
    Fault("app/main.py", '(b"origin", b"host")', '(b"origin",)', HOSTS),
    Fault("app/main.py", '(b"origin", b"host")', '(b"host",)', HOSTS),
    Fault("app/main.py", "if all(_names", "if any(_names", HOSTS),
    Fault("app/.streamlit/config.toml", '"::1"]', '"::1", "evil.example"]', HOSTS),
    Fault("app/.streamlit/config.toml", 'address = "127.0.0.1"', 'address = "0.0.0.0"', HOSTS),
    # bounds of uploads
    Fault("app/uploads.py", "MOST_BYTES = 2**28", "MOST_BYTES = 2**38", UPLOADS),
    Fault("app/uploads.py", "MOST_MEMORY = 2**30", "MOST_MEMORY = 2**40", UPLOADS),
    Fault("app/uploads.py", "MOST_ROWS = 50_000_000", "MOST_ROWS = 50_000_000_000", UPLOADS),
    Fault("app/uploads.py", "if form in BINARY.values()", "if not form", UPLOADS),
    Fault("app/uploads.py", "upload.content, MOST_BYTES)", "upload.content, 2**60)", UPLOADS),
    Fault("app/uploads.py", 'str.starts_with("data:image/")', 'str.starts_with("")', UPLOADS),
    Fault("app/.streamlit/config.toml", "maxUploadSize = 256", "maxUploadSize = 2560", UPLOADS),
    # what the address says
    Fault(CONTROLS, 'cutoffs[0] or "all"', "cutoffs[0] or 10", RULES),
    Fault(CONTROLS, "if cutoffs and not metric.own_depth", "if False", RULES),
    Fault(CONTROLS, 'controls["relevant_from"]', 'controls["relevance"]', RULES),
    Fault(URL, "if low <= number <= high and", "if low <= number and", RULES),
    Fault(URL, "if value not in texts.values()", "if not value", CACHED),
    Fault(URL, "if model in selection)", "if model not in selection)", CACHED),
    # files that are written whole
    Fault(
        WRITTEN,
        "os.replace(file, target)  # noqa",
        "target.write_bytes(file.read_bytes())  # noqa",
        FILES,
    ),
    Fault(WRITTEN, "os.fsync(file.fileno())", "pass", FILES),
    Fault(WRITTEN, "target.exists() and not target.is_file()", "False", FILES),
    Fault(WRITTEN, "path.unlink(missing_ok=True)", "pass", FILES),
    # names on the dashboard
    Fault("app/text.py", 'MARKS.sub(r"\\\\\\1", ', '"".join(', UPLOADS),
]


def copied(folder: Path) -> Path:
    """Copy what the tests need into a folder, with the kernels that are already compiled."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, dirs_exist_ok=True)
        else:
            shutil.copy2(source, folder / name)
    return folder


def tested(tests: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run tests of a copy until one fails."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests.split()],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )


def fate(fault: Fault, folder: Path) -> str:
    """Return whether the tests of a fault fail in a copy, which is as before afterwards."""
    path = folder / fault.path
    text = path.read_text(encoding="utf-8")
    if fault.old not in text:
        return "not there"
    try:
        path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
        done = tested(fault.tests, folder)
    except subprocess.TimeoutExpired:
        return "killed by time"
    finally:
        path.write_text(text, encoding="utf-8")
    failed = [
        line
        for line in done.stdout.splitlines()
        if line.startswith(("FAILED tests", "ERROR tests"))
    ]
    if done.returncode == 0:
        return "survived"
    if done.returncode > 1:
        return f"not tested (exit {done.returncode})"
    return f"killed by `{failed[0].split()[1]}`" if failed else "killed: the tests broke off"


def plant(faults: list[Fault], copies: int) -> list[str]:
    """Return what became of each fault; so many copies of the package are at work at a time."""
    with tempfile.TemporaryDirectory() as outside, ThreadPoolExecutor(copies) as pool:
        folders: Queue[Path] = Queue()
        for number in range(copies):
            folders.put(copied(Path(outside) / str(number)))

        def passes(tests: str) -> bool:
            folder = folders.get()
            done = tested(tests, folder)
            folders.put(folder)
            return done.returncode == 0

        named = list(dict.fromkeys(fault.tests for fault in faults))
        sound = dict(zip(named, pool.map(passes, named), strict=True))

        def tried(fault: Fault) -> str:
            folder, start = folders.get(), time.monotonic()
            found = fate(fault, folder) if sound[fault.tests] else "not tested: tests fail already"
            folders.put(folder)
            what = fault.new if len(fault.new) < 200 else "a mutant"
            print(f"{found}: {fault.path}: {what} ({time.monotonic() - start:.0f} s)", flush=True)
            return found

        return list(pool.map(tried, faults))


def main() -> None:
    """Plant the faults, two at a time, and print or write a table of their fates."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, help="file of the table")
    parser.add_argument("--only", default="", help="faults whose file or text holds this")
    parser.add_argument("--copies", type=int, default=2, help="how many are planted at a time")
    options = parser.parse_args()
    chosen = [fault for fault in FAULTS if options.only in f"{fault.path} {fault.old}"]
    fates = plant(chosen, options.copies)
    killed = sum(found.startswith("killed") for found in fates)
    lines = [
        "# Planted faults\n",
        (
            f"`python tests/attacks/planted_faults.py`: {killed} of {len(chosen)} faults were killed by "
            "the tests that are named for them.\n"
        ),
        "| file | text | became | fate |\n| --- | --- | --- | --- |",
        *(
            f"| {Path(fault.path).name} | "
            + " | ".join(f"`{text.replace('|', chr(92) + '|')}`" for text in (fault.old, fault.new))
            + f" | {found} |"
            for fault, found in zip(chosen, fates, strict=True)
        ),
    ]
    if options.out is None:
        print("\n".join(lines[:2]))
    else:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
