"""Say in messages which control of the dashboard to set."""

from __future__ import annotations

from records import USUAL
from retrieval_report.contracts.options import PARAMETERS
from retrieval_report.contracts.wording import Reader, either

MEASURED = {"metrics": "Metric", "measures": "Metric", "cutoffs": "Cutoff k"}
UPLOADED = {"judgements": "Judgements (qrels)", "queries": "Queries"}  # files of the page below
OPENED = "on the page “Data & export”"
TITLES = {**MEASURED, **UPLOADED, **{name: PARAMETERS[name].title for name in USUAL}}


class DashboardReader(Reader):
    """Whoever reads messages in the dashboard, and sets controls."""

    verb = "choose"

    def __init__(self, columns: bool | None = None) -> None:
        # Whether the columns of the file that is read can be chosen; None after it was read.
        self.columns = columns

    def argument(self, name: str) -> str | None:
        """Return the title of a control."""
        return f"“{TITLES[name]}”" if name in TITLES else None

    def setting(self, name: str, values: tuple[object, ...], function: str) -> str | None:
        """Return a control with one of the values, and where it is."""
        if name == "columns" and self.columns is not False:
            pairs = [pair for value in values if isinstance(value, dict) for pair in value.items()]
            choices = either(
                [f"“Column of {ours}: {theirs.strip('<>')}”" for ours, theirs in pairs]
            )
            return choices if self.columns else f"{choices}, when you open the files {OPENED}"
        title = self.argument(name)
        if title is None:
            return None
        if name in UPLOADED:
            return f"{title} {OPENED}"
        choices = f": {either([str(value) for value in values])}" if values else ""
        return f"{title[:-1]}{choices}” under “Rules”"
