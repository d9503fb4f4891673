"""Files that tests write."""

import gzip
from pathlib import Path


def write(path: Path, text: str | bytes) -> Path:
    """Write a file, packed where its name ends in .gz."""
    content = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(content) if path.suffix.lower() == ".gz" else content)
    return path
