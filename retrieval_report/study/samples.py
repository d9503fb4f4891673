"""The two data sets that come with the package, and how their lists end."""

from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import FileError


@dataclass(frozen=True, slots=True)
class Sample:
    """One data set: its files in the sample folder, and how its lists end."""

    name: str
    title: str
    rankings: str
    judgements: str | None = None
    queries: str | None = None
    # As for `evaluate`: lists hold the nearest items and all that tie with the last
    truncated: str = "between_ties"
    # What may be lost against which model, and a table of what the models cost
    decision: Named = field(default_factory=dict)
    costs: str | None = None

    @property
    def files(self) -> Named:
        """Return where its files are, as the readers of files take them."""
        folder = sample_folder()
        judgements, queries = (
            name and str(folder / name) for name in (self.judgements, self.queries)
        )
        return {
            "rankings": [str(folder / self.rankings)],
            "judgements": judgements,
            "queries": queries,
        }


SAMPLES = (
    Sample(
        name="digits",
        title="digits: images of handwritten digits, relevant = same digit",
        rankings="digits/rankings.parquet",
        queries="digits/queries.parquet",
    ),
    Sample(
        name="docs",
        title="docs: Python's docstrings, graded by closeness in the code",
        rankings="docs/runs",
        judgements="docs/qrels.txt",
        queries="docs/queries.csv",
        decision={"baseline": "wordllama-float32", "margin": 0.02},
        costs="docs/costs.csv",
    ),
)


def sample_folder() -> Path:
    """Return the folder of the sample data, in the installed
    package or the repository it was installed from.

    Raises
    ------
    FileError
        The folder is in neither of them.

    Examples
    --------
    >>> sorted(path.name for path in sample_folder().iterdir() if path.name in {"digits", "docs"})
    ['digits', 'docs']
    """
    package = Path(str(resources.files("retrieval_report")))
    for folder in (package / "_sample_data", package.parent / "sample_data"):
        if folder.is_dir():
            return folder
    raise FileError(f"the sample data was found neither in '{package}' nor beside it")
