"""Label sets as rankings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import retrieval_report as rr
from retrieval_report.contracts.errors import ParameterError

LABELS: dict[str, Any] = {
    "gpt": {"q1": {"a": 3, "b": 3, "c": 0}},
    "llama": {"q1": {"a": 2, "b": 3}, "q2": {"a": 0}},
}


def test_files_frames_and_dictionaries_give_the_same_rankings(tmp_path: Path) -> None:
    wanted = rr.from_labels(LABELS)
    assert wanted.columns == ["model", "query", "item", "score", "row"]
    assert wanted.height == 6
    for name, queries in LABELS.items():
        lines = [f"{q} 0 {i} {g}\n" for q, items in queries.items() for i, g in items.items()]
        (tmp_path / f"{name}.txt").write_text("".join(lines), encoding="utf-8")
    frames = {name: rr.read_judgements(given) for name, given in LABELS.items()}
    columns = ["model", "query", "item", "score"]
    for given in (frames, tmp_path, str(tmp_path / "*.txt"), sorted(tmp_path.iterdir())):
        assert rr.from_labels(given).select(columns).rows() == wanted.select(columns).rows()


def test_negative_grades_rank_last_or_leave() -> None:
    labels = {"a": {"q": {"x": -1, "y": 0}}}
    human = {"q": {"x": 1, "y": 0}}
    last = rr.evaluate(rr.from_labels(labels), judgements=human, metrics="rr", policies="expected")
    assert last["value"].to_list() == [0.5]
    assert rr.from_labels(labels, negative="unjudged")["item"].to_list() == ["y"]


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({}, "labels: expected a mapping of names to label sets"),
        (5, "labels: expected a mapping of names to label sets"),
    ],
)
def test_what_cannot_be_label_sets_is_refused(labels: object, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        rr.from_labels(labels)
