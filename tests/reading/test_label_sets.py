"""Label sets as rankings."""

from pathlib import Path
from typing import Any

import retrieval_report as rr

LABELS: Any = {
    "gpt": {"q1": {"a": 3, "b": 3, "c": 0}},
    "llama": {"q1": {"a": 2, "b": 3}, "q2": {"a": 0}},
}


def test_files_frames_and_dictionaries_give_the_same_rankings(tmp_path: Path):
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
