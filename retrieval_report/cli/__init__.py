"""The command `retrieval-report`: arguments in, tables and CSV out, exit code 2 on bad input.

A command is imported when it is called, and heavy modules inside it, so that ``--help``,
``--version`` and completion answer immediately.
"""

from retrieval_report.cli.group import cli, main

__all__ = ["cli", "main"]
