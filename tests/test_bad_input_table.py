"""Every row of docs/bad-input.md has tests, which carry its number in their names."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_row_has_a_test():
    page = (ROOT / "docs/bad-input.md").read_text(encoding="utf-8")
    rows = [f"{int(row):03}" for row in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)]
    data = [ROOT / f"tests/data/{name}.json" for name in ("answers", "files", "frames")]
    tests = [*ROOT.glob("tests/*/test_*.py"), *data]
    texts = [path.read_text(encoding="utf-8") for path in tests]
    tested = {*re.findall(r"(?:def test_|\[\"|\"case\": \")row_(\d{3})", "\n".join(texts))}
    assert rows == sorted(tested)
