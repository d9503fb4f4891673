import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import polars as pl
import pytest

import retrieval_report as rr
from commands import run
from retrieval_report.cli import cli
from retrieval_report.cli.group import COMMANDS

# One query, three tied items, the relevant one first in the file.
TIED = "model,query,item,distance,relevance\nlsh,q1,a,2,1\nlsh,q1,b,2,0\nlsh,q1,c,2,0\n"


@pytest.fixture
def rankings(tmp_path: Path):
    path = tmp_path / "rankings.csv"
    path.write_text(TIED)
    return path


def start(
    *arguments: str | Path, prelude: str = "", redirect: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, after the Python lines of `prelude`, as a shell
    would.
    """
    program = f"{prelude}\nimport sys\nfrom retrieval_report.cli import main\nmain()"
    shell = f'"$@" {redirect}'
    command = ["bash", "-c", shell, "bash", sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | environment
    )


def table_rows(output: str) -> dict[str, list[str]]:
    """Title of each block of the table → the cells of its first model, without the marks."""
    blocks = [block.splitlines() for block in output.split("\n\n") if "queries" in block]
    return {
        title: [cell for cell in first.split() if cell not in "±–"]
        for title, _, first, *_ in blocks
    }


def test_the_table_holds_the_three_scores_spread_and_bounds(rankings: Path):
    result = run(f"evaluate {rankings} --metrics precision,rr --cutoffs 1,all --truncated no")
    # The relevant item is first in one order of three: sqrt(1/3 · 2/3)
    lists = rr.read_rankings(rankings)
    means = rr.shuffled_means(lists, metrics="rr", cutoffs=(1, None), truncated="no")
    drawn_at_1, drawn_whole = (
        means.group_by("cutoff").agg(pl.mean("value")).sort("cutoff", nulls_last=True)["value"]
    )
    drawn = f"{drawn_at_1:.4f}"
    third = ["0.3333", "0.4714", drawn, "1.0000"]
    assert table_rows(result.output) == {
        "precision@1": ["lsh", *third, "0.0000", "1.0000", "1"],
        "precision@all": ["lsh", "0.3333", "0.0000", *["0.3333"] * 4, "1"],
        "rr@1": ["lsh", *third, "0.0000", "1.0000", "1"],
        "rr@all": [
            "lsh",
            "0.6111",
            "0.2833",
            f"{drawn_whole:.4f}",
            "1.0000",
            "0.3333",
            "1.0000",
            "1",
        ],
    }


def test_scores_and_summary_are_written(rankings: Path, tmp_path: Path):
    folder = tmp_path / "report"
    result = run(f"evaluate {rankings} --metrics rr@1 --out {folder}")
    assert f"Wrote {folder / 'scores.csv'}" in result.output
    assert sorted(path.name for path in folder.iterdir()) == ["scores.csv", "summary.csv"]
    scores = pl.read_csv(folder / "scores.csv").filter(policy="expected")
    assert scores.select("model", "query", "metric", "cutoff").rows() == [("lsh", "q1", "rr", 1)]
    assert scores["value"].item() == pytest.approx(1 / 3, rel=1e-15)
    assert set(pl.read_csv(folder / "summary.csv")["policy"]) == {
        "expected",
        "shuffled",
        "naive",
        "worst",
        "best",
    }


def test_a_warning_is_one_line_without_a_place_in_the_code(rankings: Path):
    rankings.write_text(TIED.replace(",1\n", ",0\n"))
    outcome = start("evaluate", rankings)
    assert outcome.returncode == 2
    said = [
        line for line in outcome.stderr.splitlines() if " in " not in line
    ]  # steps that took long
    assert said == ["Warning: no query has a relevant item"]


INTERRUPT = (
    "import os, retrieval_report.writing.files; os.fsync = lambda descriptor: "
    "os.kill(os.getpid(), {})"
)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SIGTERM"])
def test_row_099_an_interrupt_while_writing_leaves_no_partial_files(rankings: Path, name: str):
    number = int(getattr(signal, name))
    folder = rankings.parent / "report"
    outcome = start("evaluate", rankings, "--out", folder, prelude=INTERRUPT.format(number))
    assert outcome.returncode == 128 + number
    assert "Traceback" not in outcome.stderr
    assert list(folder.iterdir()) == []  # temporary ones are gone too


def test_a_reader_that_leaves_early_costs_neither_files_nor_a_traceback(
    rankings: Path,
):
    folder = rankings.parent / "report"
    outcome = start("evaluate", rankings, "--out", folder, redirect="| head -n 1")
    assert "Traceback" not in outcome.stderr
    assert "Exception ignored" not in outcome.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["scores.csv", "summary.csv"]


@pytest.mark.slow
def test_row_108_the_locale_does_not_matter(rankings: Path):
    text = rankings.read_text(encoding="utf-8")
    rankings.write_text(text.replace("lsh", "naïve"), encoding="utf-8")
    plain, c_locale = (
        start("evaluate", rankings, "--metrics", "rr@1", **environment)
        for environment in (
            {},
            {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"},
        )
    )
    assert plain.returncode == c_locale.returncode == 0
    assert plain.stdout == c_locale.stdout
    assert "naïve" in plain.stdout


@pytest.mark.slow
def test_the_demonstration_says_who_wins_in_both_samples(tmp_path: Path):
    result = run(f"demo --out {tmp_path}/report")
    for title, winner in (("digits: ", "cosine-float32"), ("docs: ", "wordllama-float16")):
        block = result.output[result.output.index(title) :].split("\n\n")[1]
        verdict, *_, said = block.splitlines()
        assert "mteb would " in said
        assert "sentence-transformers" in said
        leads = f"{winner} has the highest expected ndcg@10: "
        assert leads in result.output
        decided = (
            "Ship wordllama-float16: no worse than wordllama-float32 (margin 0.02 in ndcg@10) at"
        )
        assert verdict.startswith(leads if title == "digits: " else decided)
        three = result.output[result.output.index(title) :].split("\n\n")[2].splitlines()
        assert three[0].startswith(f"ndcg@10: {winner} wins exactly")
        assert three[1].split()[:4] == ["model", "expected", "shuffled_range", "naive"]
        assert three[2].startswith(winner)
        assert three[-1].startswith("… and ")
    assert len(result.output.splitlines()) < 50
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")}
    assert {f"report/{name}/report.html" for name in ("digits", "docs")} <= written
    last = result.output.splitlines()[-5:]
    assert last[0] == "Open the report on each sample:"
    assert all(Path(line.strip()).is_file() for line in last[1:3])


def test_the_demonstration_says_how_a_folder_is_given():
    assert "to write into a folder, --out here" in run("demo here", code=2).output


def test_version_and_help():
    assert run("--version").stdout.removeprefix("cli") == f" {rr.__version__}\n"
    assert "retrieval-report demo" in run("--help").output
    assert "Examples:" in run("evaluate --help").output


def test_help_lists_every_option_once_and_those_that_commands_share_under_a_heading():
    for name in COMMANDS:
        text = run(f"{name} --help").output.partition("\nOptions:")[2]
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        options = [
            part for part in command.params if isinstance(part, click.Option) and not part.hidden
        ]
        lines = [line.split()[0].strip(",") for line in text.splitlines() if line.startswith("  -")]
        assert sorted(lines) == sorted([*(part.opts[0] for part in options), "-h"])
        own = text.partition("\n\n")[0]
        assert "--judgements" not in own
        assert "--out" not in own


REPLACED = {
    "rankings of evaluate": ("evaluate out/scores.csv", "scores.csv"),
    "rankings in a folder": ("evaluate out", "scores.csv"),
    "rankings part by part": ("evaluate out/scores.parquet --engine disk", "scores.parquet"),
    "judgements": ("evaluate other.csv --judgements out/summary.csv", "summary.csv"),
    "rankings of profile": ("profile out/hints.csv", "hints.csv"),
}


@pytest.mark.parametrize("case", REPLACED)
def test_no_input_is_replaced_by_a_result(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    words, name = REPLACED[case]
    monkeypatch.chdir(tmp_path)
    Path("other.csv").write_text(TIED, encoding="utf-8")
    Path("out").mkdir()
    file = Path(f"out/{name}")
    file.write_text(TIED, encoding="utf-8")
    result = run(f"{words} --out out", code=2)
    assert f"{name}': it is one of the files to be read" in result.stderr
    assert file.read_text(encoding="utf-8") == TIED
    assert [path.name for path in Path("out").iterdir()] == [file.name]
