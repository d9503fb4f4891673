"""The command `retrieval-report`: arguments in, tables and CSV out, exit code 2 on bad input.

Heavy modules are imported inside the commands, so that ``--help`` and ``--version`` answer
immediately.
"""

from __future__ import annotations

from retrieval_report.cli import (  # noqa: F401  (importing them adds their commands to the group)
    analysis,
    codes,
    dashboard,
    gate,
    reporting,
    scoring,
)
from retrieval_report.cli.group import cli, main

__all__ = ["cli", "main"]
