"""Whether the wheel in dist/ holds the package's files, and no other: ``python
.ci/wheel_files.py``.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

FOLDERS = {  # in the repository → in the wheel, as pyproject.toml says
    "retrieval_report/": "retrieval_report/",
    "app/": "retrieval_report/_app/",
    "sample_data/README.md": "retrieval_report/_sample_data/README.md",
    "sample_data/digits/": "retrieval_report/_sample_data/digits/",
    "sample_data/docs/": "retrieval_report/_sample_data/docs/",
}


def wanted() -> set[str]:
    """The files under version control that belong in the wheel, under the names they have there."""
    listed = subprocess.run(
        ["git", "ls-files", *FOLDERS], capture_output=True, text=True, check=True
    ).stdout
    return {
        inside + name.removeprefix(folder)
        for name in listed.splitlines()
        for folder, inside in FOLDERS.items()
        if name.startswith(folder)
    }


def main() -> int:
    """Compare; 1 where they differ."""
    (wheel,) = Path("dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    for what, names in (("missing", wanted() - found), ("not ours", found - wanted())):
        for name in sorted(names):
            sys.stderr.write(f"{what}: {name}\n")
    sys.stdout.write(f"{wheel.name}: {len(found)} files\n")
    return int(found != wanted())


if __name__ == "__main__":
    sys.exit(main())
