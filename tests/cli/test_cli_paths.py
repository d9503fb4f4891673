"""The command line takes every way to write the path of a file."""

import itertools
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from retrieval_report.cli import cli

ROWS = [("q", f"d{rank}", rank, int(rank == 2)) for rank in range(1, 5)]
RUN = pl.DataFrame(ROWS, schema=["query", "item", "distance", "relevance"], orient="row")
SPELLINGS = {
    "beside": "runs and more/{}",
    "above": "../home/runs and more/{}",
    "above, from a folder that is a link": "linked/../runs and more/{}",
    "absolute": "{home}/runs and more/{}",
    "of the user": "~/runs and more/{}",
    "a link": "links/{}",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory):
    """A folder with one run in four formats and its judgements, and links to all of them."""
    home = tmp_path_factory.mktemp("paths") / "home"
    data = home / "runs and more"
    data.mkdir(parents=True)
    rows = RUN.drop("relevance")
    rows.write_csv(data / "plain.csv")
    rows.write_parquet(data / "table.parquet")
    rows.write_ipc(data / "arrow.arrow")
    lines = [f"{query} Q0 {item} 0 {-distance} trec" for query, item, distance in rows.iter_rows()]
    (data / "trec.run").write_text("\n".join(lines) + "\n")
    RUN.select("query", "item", "relevance").write_csv(data / "judged.csv")
    RUN.select("item", label="relevance").unique("item").write_csv(data / "labels.csv")
    RUN.select("query", label=1).unique("query").write_csv(data / "queries.csv")
    (home / "links").mkdir()
    for file in data.iterdir():
        (home / "links" / file.name).symlink_to(file)
    (home / "linked").symlink_to(home / "links")
    return home


COMMANDS = {  # "{}" stands for a file, whose name is put into the spelling
    "compare": ["{plain.csv}", "{trec.run}", "--judgements", "{judged.csv}", "--out", "{out}"],
    "leaderboard": ["{plain.csv}", "{trec.run}", "--judgements", "{judged.csv}"],
    "report": ["{plain.csv}", "--judgements", "{judged.csv}", "--formats", "csv", "--out", "{out}"],
    "gate": [
        *("{plain.csv}", "{trec.run}", "--judgements", "{judged.csv}", "--measure", "ap@3"),
        *("--margin", "0.1", "--markdown", "{gate.md}", "--junit", "{gate.xml}"),
    ],
    "audit": ["{plain.csv}", "--judgements", "{judged.csv}", "--metrics", "ap@3"],
    "profile": ["{plain.csv}"],
    "thresholds": ["{plain.csv}", "--judgements", "{judged.csv}", "--out", "{out}"],
    "knn": ["{plain.csv}", "--labels", "{labels.csv}", "--queries", "{queries.csv}"],
    "similarity": ["{plain.csv}", "{trec.run}"],
}
EXITS = {"gate": (0, 1, 3)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("command", "first"), list(zip(COMMANDS, itertools.cycle([0, 3]))))
def test_every_command_takes_spellings_of_all_its_files(
    home: Path, command: str, first: int, monkeypatch: pytest.MonkeyPatch
):
    """Each of its words is spelt in another way than the one before."""
    monkeypatch.chdir(home)
    monkeypatch.setenv("HOME", str(home))
    texts = [text.replace("{home}", str(home)) for text in SPELLINGS.values()]
    files = itertools.cycle(texts[first:] + texts[:first])
    words = [
        next(files).format(word.strip("{}")) if word.startswith("{") else word
        for word in COMMANDS[command]
    ]
    outcome = CliRunner().invoke(cli, [command, *words])
    assert outcome.exit_code in EXITS.get(command, (0,)), outcome.output
    assert not (home / "~").exists()
