"""Escape names and messages, so that text from files
never acts as Markdown, HTML, mathematics or an icon.
"""

import re
from hashlib import sha256

from retrieval_report.study.terminal import visible
from retrieval_report.writing.names import unlinked

WIDTH = 60
# All ASCII punctuation: a backslash before a mark is not shown, and the mark is then plain text.
MARKS = re.compile(r"([!-/:-@\[-`{-~])")


def plain(text: object, width: int | None = None) -> str:
    r"""Escape text for `st.markdown`, labels and messages, so that it is shown literally.

    Parameters
    ----------
    text
        Anything; control characters become visible escapes.
    width
        If given, longer text is shortened and ends in ``…``.

    Examples
    --------
    >>> print(plain("**x** $y$ :material/z: <b>"))
    \*\*x\*\* \$y\$ \:material\/z\: \<b\>
    """
    return MARKS.sub(r"\\\1", unlinked(visible(str(text), width).strip())) or "(no name)"


def sentence(message: object) -> str:
    r"""Escape a message of the library, which begins with a small letter, as a sentence of a page;
    names of files and what stands before a colon keep their letters.

    >>> print(sentence("query 4 has no list"), sentence("lists.csv: no rows"))
    Query 4 has no list lists\.csv\: no rows
    """
    text = str(message)
    first, blank, _ = text.partition(" ")
    return plain(text[:1].upper() + text[1:] if blank and first.isalpha() else text)


def short(text: object) -> str:
    """Return harmless, shortened text for widgets that
    show it literally, such as the options of a menu.

    Text that is changed gets a fingerprint, so that different texts never look the same.

    Examples
    --------
    >>> short("lsh-16"), short("x" * 99)[-9:], short("x" * 98)[-9:]
    ('lsh-16', 'x #d0621f', 'x #9b4ebb')
    """
    name = str(text)
    label = visible(name, WIDTH).strip()
    return (
        label
        if label == name != ""
        else f"{label or '(no name)'} #{sha256(name.encode()).hexdigest()[:6]}"
    )
