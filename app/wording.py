"""Say in messages which control of the dashboard to set."""

import re
from collections.abc import Iterable

from records import USUAL
from retrieval_report.contracts.options import PARAMETERS
from retrieval_report.contracts.wording import Reader, either

MEASURED = {"metrics": "Metric", "measures": "Metric", "cutoffs": "Cutoff k"}
UPLOADED = {"judgements": "Judgements (qrels)", "queries": "Queries"}  # files of the page below
OPENED = "on the page “Data & export”"
NEGATIVE = "Leave out judgements below 0"
TITLES = {**MEASURED, **UPLOADED, **{name: PARAMETERS[name].title for name in USUAL}}

WORDS = {  # what menus and messages call a choice, where its name in code says too little
    "usual": "by default",
    "auto": "from the data",
    "no": "not cut",
    "between_ties": "between two ties",
    "within_tie": "within a tie",
    "zero": "score 0",
    "one": "score 1",
    "skip": "left out",
    "drop": "dropped",
    "error": "refused",
    "non_relevant": "not relevant",
    "not_retrieved": "not retrieved",
    "pooled": "of all models",
    "own": "of each model",
    "total": "total (R)",
    "min": "min(k, R)",
}


def word_of(choice: object) -> str:
    """Return what a menu calls a choice.

    >>> word_of("between_ties"), word_of("mean")
    ('between two ties', 'mean')
    """
    return WORDS.get(str(choice), str(choice))


def in_words(meaning: str, choices: Iterable[str]) -> str:
    """Return the explanation of choices with the words of the menu.

    >>> in_words("no: all items; auto: like within_tie, if cut.", ["no", "within_tie", "auto"])
    'not cut: all items; from the data: like within a tie, if cut.'
    """
    for choice in choices:
        meaning = re.sub(rf"\b{choice}(?=[:,])", word_of(choice), meaning)
    return meaning


class DashboardReader(Reader):
    """Whoever reads messages in the dashboard, and sets controls."""

    verb = "choose"
    sees_columns = True

    def __init__(self, columns: bool | None = None, place: str = OPENED) -> None:
        # Whether the columns of the file that is read can be chosen; None after it was read.
        self.columns = columns
        self.place = place  # of the boxes for files, seen from the message

    def argument(self, name: str) -> str | None:
        """Return the title of a control."""
        return f"“{TITLES[name]}”" if name in TITLES else None

    def setting(self, name: str, values: tuple[object, ...], function: str) -> str | None:
        """Return a control with one of the values, and where it is."""
        if name == "columns" and self.columns is not False:
            choices = either([_boxes(value) for value in values if isinstance(value, dict)])
            return choices if self.columns else f"{choices}, when you open the files {OPENED}"
        if (
            name == "negative"
        ):  # a switch beside the boxes, or an option for files that it starts with
            return f"“{NEGATIVE}” {self.place}, or the option --negative unjudged at the start,"
        title = self.argument(name)
        if title is None:
            return None
        if name in UPLOADED:
            return f"{title} {self.place}"
        choices = f": {either([word_of(value) for value in values])}" if values else ""
        return f"{title[:-1]}{choices}” under “Rules”"


def _boxes(columns: dict[str, str]) -> str:
    """Return the boxes in which columns are chosen."""
    boxes = [f"“Column of {ours}: {theirs.strip('<>')}”" for ours, theirs in columns.items()]
    return either(boxes, "and")
