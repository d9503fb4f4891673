"""Names and messages as text: what stands in a file must never act as Markdown, HTML, mathematics or an icon."""

from __future__ import annotations

import re
from hashlib import sha256

from retrieval_report.report.terminal import visible
from retrieval_report.writing.names import unlinked

__all__ = ["plain", "short"]

WIDTH = 60
# Every mark of ASCII: a backslash before one is never shown, and whatever it would have begun is text again.
MARKS = re.compile(r"([!-/:-@\[-`{-~])")


def plain(text: object, width: int | None = None) -> str:
    r"""Escape text for `st.markdown`, for labels and for messages, so that it shows as it is.

    Parameters
    ----------
    text
        Anything; control characters become visible escapes.
    width
        If given, longer text is cut and ends in ``…``.

    Examples
    --------
    >>> print(plain("**x** $y$ :material/z: <b>"))
    \*\*x\*\* \$y\$ \:material\/z\: \<b\>
    """
    return MARKS.sub(r"\\\1", unlinked(visible(str(text), width).strip())) or "(no name)"


def short(text: object) -> str:
    """Text for places that show it as it is, such as the options of a menu: harmless, and not too long.

    What does not show as it is gets a fingerprint, so that different texts never look the same.

    Examples
    --------
    >>> short("lsh-16"), short("x" * 99)[-9:], short("x" * 98)[-9:]
    ('lsh-16', '… #d0621f', '… #9b4ebb')
    """
    name = str(text)
    shown = visible(name, WIDTH).strip()
    return shown if shown == name != "" else f"{shown or '(no name)'} #{sha256(name.encode()).hexdigest()[:6]}"
