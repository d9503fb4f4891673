"""Warn of input that is allowed but odd."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

from retrieval_report.contracts.errors import RetrievalReportWarning

PACKAGE = f"{Path(__file__).parents[1]}{os.sep}"


def warn(message: str | Warning) -> None:
    """Warn at the line outside this package that led here, however deep in the package the oddity
    was found.

    Only that line means something to whoever reads the warning, and Python shows a warning once per
    line.
    """
    frame = sys._getframe(1)
    level = 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(message, RetrievalReportWarning, stacklevel=level)
