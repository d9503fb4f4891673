"""Rewrite messages of the package for a shell, where Python's arguments are options."""

from __future__ import annotations

import re
from collections.abc import Collection

# Where rankings are wanted; label sets of language models are written as qrels.
JUDGEMENTS = (
    "--judgements, or rank by its grades: compare, leaderboard and report take --labels-as-rankings"
)
_PAIRS = re.compile(r"\{('[^}]*)\}")  # what columns= maps


def in_options(message: str, names: Collection[str]) -> str:
    """Write a message's arguments as options, if the command has options of these names.

    Examples
    --------
    >>> in_options("metrics: 'ngcd' is unknown", {"metrics"})
    "--metrics: 'ngcd' is unknown"
    >>> in_options("unjudged_query='skip' leaves them out; see max_rows=", {"unjudged_query"})
    "--unjudged-query 'skip' leaves them out; see max_rows="
    >>> in_options(
    ...     "say which: columns={'query': 'q_id'} or no_relevant='zero' or 'one'",
    ...     {"columns", "no_relevant"},
    ... )
    "say which: --columns query=q_id or --no-relevant 'zero' or 'one'"
    >>> in_options(
    ...     "unjudged='drop' in evaluate decides what to do", {"unjudged"}
    ... )  # the command may be another
    "--unjudged 'drop' decides what to do"
    >>> in_options(
    ...     "a.txt: is TREC qrels, not rankings; read it with read_judgements", {"judgements"}
    ... )
    'a.txt: is TREC qrels, not rankings; pass it as --judgements, or rank by its grades:
    compare, leaderboard and report take --labels-as-rankings'
    """
    if not names:
        return message
    if "judgements" in names:
        for kind, given in (("judgements", JUDGEMENTS), ("rankings", "RANKINGS")):
            message = message.replace(f"read it with read_{kind}", f"pass it as {given}")
    any_name = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    message = re.sub(rf"\bread_\w+\((({any_name})='[^']*')\)", r"\1", message)
    message = re.sub(rf"^({any_name})(?=: )", lambda match: option(match[1]), message)
    message = re.sub(
        rf"(?<![\w.<-])({any_name})=(?!=)(?=(['{{…])?)",
        lambda match: option(match[1]) + (" " if match[2] else ""),
        message.replace(" in evaluate ", " "),
    )
    return _PAIRS.sub(
        lambda match: match[1].replace("'", "").replace(": ", "=").replace(", ", ","), message
    )


def option(name: str) -> str:
    """Return the option of an argument."""
    return f"--{name.replace('_', '-')}"
