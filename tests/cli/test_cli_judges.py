"""Several judges and label sets on the command line: compare, leaderboard and report."""

import json
from pathlib import Path

import pytest

import retrieval_report as rr
from commands import run

MEASURE = "--metrics ndcg@2"  # label sets are whole, unless one says otherwise
LABELS = {  # grades of a, b, c and d by query
    "human": {"p": (3, 1, 0, 0), "q": (2, 3, 0, 1)},
    "gpt": {"p": (3, 3, 0, 0), "q": (1, 1, 0, 1)},
    "llama": {"p": (0, 2, 2, 0), "q": (0, 3, 3, 1)},
}


@pytest.fixture
def labels(tmp_path: Path):
    for name, grades in LABELS.items():
        lines = [
            f"{query} 0 {item} {grade}\n"
            for query, own in grades.items()
            for item, grade in zip("abcd", own, strict=True)
        ]
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    return tmp_path


def judges(labels: Path, *names: str) -> str:
    return ",".join(f"{name}={labels / name}.txt" for name in names)


def study_of(labels: Path, *names: str, judge: str | None = None) -> rr.Study:
    runs = rr.from_labels([labels / "gpt.txt", labels / "llama.txt"])
    given = {name: labels / f"{name}.txt" for name in names}
    return rr.Study(runs, "ndcg@2", judgements=given, judge=judge, truncated="no")


def test_leaderboard_is_that_of_the_judge_named(labels: Path):
    runs = f"{labels}/gpt.txt {labels}/llama.txt --labels-as-rankings"
    given = f"--judgements {judges(labels, 'human', 'llama')} {MEASURE} --json"
    for chosen, judge in ("", "human"), ("--judge llama", "llama"):
        result = run(f"leaderboard {runs} {given} {chosen}")
        shown = json.loads(result.output)["leaderboard"]
        board = study_of(labels, "human", "llama", judge=judge).leaderboard
        assert [row["model"] for row in shown] == board["model"].to_list()
        assert [row["value"] for row in shown] == board["value"].to_list()


def test_compare_and_report_say_what_the_other_judges_would_change(labels: Path, tmp_path: Path):
    runs = f"{labels}/gpt.txt {labels}/llama.txt --labels-as-rankings"
    given = f"--judgements {judges(labels, *LABELS)} {MEASURE}"
    result = run(f"compare {runs} {given}")
    # Neither gpt nor llama may judge itself, and no other judge is left.
    assert "judge      0 other judges" in result.output
    assert "Not varied: seed" in result.output
    result = run(f"report {runs} {given} --out {tmp_path}/out")
    study = study_of(labels, "human", "gpt", "llama")
    kept = rr.read_report(tmp_path / "out")
    assert kept.judges.equals(study.judges)
    assert kept.judge_agreement.equals(study.judge_agreement)
    assert kept.parameters["judge"] == "human"
    assert kept.fingerprint["frame"].to_list() == [
        "rankings",
        "judgements",
        "judgements of gpt",
        "judgements of llama",
    ]


def test_a_folder_of_labels_is_ranked_by_grade(labels: Path):
    given = f"--labels-as-rankings --judgements {labels}/human.txt {MEASURE} --json"
    result = run(f"leaderboard {labels} {given}")
    shown = {row["model"]: row["value"] for row in json.loads(result.output)["leaderboard"]}
    study = rr.Study(
        rr.from_labels(labels), "ndcg@2", judgements=labels / "human.txt", truncated="no"
    )
    assert shown == dict(study.leaderboard.select("model", "value").iter_rows())
