"""Other people's data with known answers, read where it lies: the folder that
``RETRIEVAL_REPORT_REAL`` names.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

VARIABLE = "RETRIEVAL_REPORT_REAL"


def folder(name: str) -> Path:
    """A folder of the data; the test is skipped where there is none."""
    root = os.environ.get(VARIABLE)
    if not root:
        pytest.skip(f"{VARIABLE} is not set; it names a folder with {name}/")
    path = Path(root) / name
    if not path.is_dir():
        pytest.skip(f"{VARIABLE} names {root}, which has no folder {name}")
    return path


def adhoc(track: int, measure: str = "ap") -> NDArray[np.float64]:
    """Scores of the runs of TREC ad hoc 5 to 8, (runs, topics); collected by Urbano, Lima and
    Hanjalic, SIGIR 2019.
    """
    path = folder("adhoc") / f"adhoc{track}_{measure}.csv"
    return np.loadtxt(path, delimiter=",", skiprows=1).T
