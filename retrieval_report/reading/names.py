"""Match the columns of a file with ours.

Our own names always work. The usual names of other tools are recognised too, regardless of case and
surrounding blanks, but only if a single column of the file can be meant; otherwise the caller has
to decide.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from retrieval_report.contracts.arguments import ColumnNames, repeated, some
from retrieval_report.contracts.errors import ColumnError, ParameterError
from retrieval_report.contracts.wording import PLACEHOLDER, advice, setting, unseen

MAX_NAMED = 8  # columns of a file, for those who see the others in a menu

# Columns that name things: text in text files, never parsed.
ID_COLUMNS = ("model", "query", "item", "label")

# The names in a file → our name per name of the file; see `match_columns`.
Choose = Callable[[Sequence[str]], dict[str, str]]

_MODEL = ("model", "run", "system", "tag")
# Words in the name of a column that names models, if no column has one of these names.
MODEL_WORDS = {
    *_MODEL,
    *("retriever", "retrieval", "ranker", "reranker", "method", "engine", "algorithm"),
    *("approach", "encoder", "embedder", "experiment", "variant", "config", "configuration"),
    *("pipeline", "strategy", "agent", "runid", "backend", "searcher"),
}
NO_NAME = {"score", "rank", "time", "latency", "version", "distance", "similarity", "size", "cost"}
_QUERY = (
    "query",
    "q_id",
    "qid",
    "query_id",
    "topic",
    "topic_id",
    "question_id",
    "user_id",
    "userid",
    "user",
)
_ITEM = (
    "item",
    "item_id",
    "itemid",
    "movie_id",
    "movieid",
    "doc_id",
    "docid",
    "docno",
    "doc",
    "document",
    "document_id",
    "corpus_id",
    "passage_id",
    "pid",
)
# Beside the id of a document, the document is meant; a user is the query only of recommenders.
_LAST = ("passage_id", "pid", "user_id", "userid", "user")
_RELEVANCE = ("relevance", "rel", "label", "grade")
_ORDERS = {"distance", "score"}
# What may hold a text or a number where a column of ids is there too, as in PyTerrier's frames;
# in rows that have a column `item`, our own names are meant.
_IDS = {
    "query": ("qid", "q_id", "query_id", "question_id"),
    "docid": ("docno",),
    "doc": ("docno", "doc_id", "docid", "document_id"),
    "document": ("docno", "doc_id", "docid", "document_id"),
}


@dataclass(frozen=True)
class Kind:
    """A kind of frame, as the readers see it.

    Attributes
    ----------
    name : str
        Name of the frame in messages.
    columns : Mapping[str, tuple[str, ...]]
        Our column names in the order of the contract, each with all names by which it is
        recognised.
    required : tuple[str, ...]
        Required names; alternatives are joined by "|".
    last : tuple[str, ...]
        Names that count only if no other possible name exists.
    others : bool
        Whether columns with other names are kept unchanged.
    skip : tuple[str, ...]
        Formats that are left out of a folder.
    ranked : bool
        Whether these are rankings.
    """

    name: str
    columns: Mapping[str, tuple[str, ...]]
    required: tuple[str, ...]
    last: tuple[str, ...] = ()
    others: bool = False
    skip: tuple[str, ...] = ()
    ranked: bool = False

    @property
    def function(self) -> str:
        """Who takes ``columns`` for these; empty if every function that reads them does."""
        return f"read_{self.name}" if self.name in {"judgements", "queries"} else ""

    def knows(self, name: object) -> bool:
        """Return whether this could be the name of one of our columns."""
        if not isinstance(name, str):
            return False
        normal = _normal(name)
        return any(normal in spellings for spellings in self.columns.values())


RANKINGS = Kind(
    "rankings",
    {
        "model": _MODEL,
        "query": _QUERY,
        "item": _ITEM,
        "distance": ("distance", "dist"),
        "score": ("score", "sim", "similarity"),
        "relevance": _RELEVANCE,
        "mask": ("mask",),
        "weight": ("weight",),
        "count": ("count",),
        "retrieved": ("retrieved",),
        "truncated": ("truncated",),
        "row": ("row",),
        "printed_rank": ("printed_rank", "rank"),
    },
    required=("query", "item", "distance|score"),
    last=_LAST,
    skip=("qrels",),
    ranked=True,
)
JUDGEMENTS = Kind(
    "judgements",
    {"query": _QUERY, "item": _ITEM, "relevance": (*_RELEVANCE, "rating", "score")},
    ("query", "item", "relevance"),
    last=("rating", "score", *_LAST),  # what recommenders and BEIR call the relevance
    skip=("run",),
)
QUERIES = Kind(
    "queries",
    {
        "query": _QUERY,
        **{name: (name,) for name in ("label", "weight", "n_relevant", "n_relevant_from")},
    },
    required=("query",),
    last=_LAST,
    others=True,  # what queries can be grouped by
    skip=("run", "qrels"),
)
LABELS = Kind("labels", {"item": _ITEM, "label": ("label",)}, ("item", "label"))
LABEL_COUNTS = Kind(  # whole numbers are labels there, and no relevance
    "counts",
    {name: RANKINGS.columns[name] for name in ("model", "query", "distance", "score", "count")}
    | {"label": ("label",)},
    ("query", "label", "count", "distance|score"),
    last=_LAST,
)
COSTS = Kind("costs", {"model": _MODEL}, required=("model",), others=True)
# What a function calls a frame → what the frame is.
KINDS = {
    "rankings": RANKINGS,
    "counts": RANKINGS,
    "counts of labels": LABEL_COUNTS,
    "judgements": JUDGEMENTS,
    "queries": QUERIES,
    "labels": LABELS,
}


def match_columns(
    column_names: Sequence[str], kind: Kind, columns: ColumnNames, location: str
) -> dict[str, str]:
    """Return which column of a file stands for which of ours.

    Parameters
    ----------
    column_names : Sequence[str]
        The names in the file, in its order.
    kind : Kind
        The frame that is read.
    columns : Mapping[str, str] | None
        Our name → the file's name, for columns that the caller names.
    location : str
        The file, for messages.

    Returns
    -------
    dict[str, str]
        Our name → the file's name, in the order of the contract, without unused columns.

    Raises
    ------
    ColumnError
        A required column is missing, a name occurs twice, or two columns can be meant.

    Examples
    --------
    >>> match_columns(["Q_ID", " docno", "sim", "text"], RANKINGS, None, "run.csv")
    {'query': 'Q_ID', 'item': ' docno', 'score': 'sim'}
    >>> match_columns(["qid", "item", "score"], RANKINGS, {"distance": "score"}, "run.csv")
    {'query': 'qid', 'item': 'item', 'distance': 'score'}
    """
    matched = known_columns(column_names, kind, columns, location)
    require(kind, column_names, matched, f"{location}: ")
    unmatched = [name for name in column_names if name not in {*matched.values(), *kind.columns}]
    return matched | (dict(zip(unmatched, unmatched, strict=True)) if kind.others else {})


def known_columns(
    column_names: Sequence[str], kind: Kind, columns: ColumnNames, location: str
) -> dict[str, str]:
    """Return which column stands for which of ours, in the order of the contract; unlike a file, a
    frame may lack some.

    A column that has our name takes precedence; names of other tools count only if it is absent.
    Parameters and errors are those of `match_columns`, which requires more.

    >>> known_columns(["qid", "item", "doc", "score", "dist"], RANKINGS, None, "rankings")
    {'query': 'qid', 'item': 'item', 'score': 'score'}
    """
    twice = sorted(repeated(column_names))
    if twice:
        raise ColumnError(
            f"{location}: the header names {some(twice)} more than once; columns are {some(column_names)}"
        )
    matched = {} if columns is None else _mapped(column_names, kind, columns, location)
    free = [name for name in column_names if name not in matched.values()]
    recognised = {}
    for ours, spellings in kind.columns.items():
        candidates = [name for name in free if _normal(name) in spellings]
        ids = {_normal(name) for name in candidates} if "item" not in column_names else {""}
        candidates = [name for name in candidates if ids.isdisjoint(_IDS.get(_normal(name), ()))]
        candidates = [ours] if ours in candidates else candidates
        if len(candidates) > 1:
            candidates = [name for name in candidates if _normal(name) not in kind.last]
        if ours in matched or not candidates:
            continue
        if len(candidates) > 1:
            choice = setting("columns", {ours: candidates[0]}, function=kind.function)
            which = advice("; say which with {}", choice)
            raise ColumnError(
                f"{location}: columns {some(candidates)} could all be {ours!r}{which}"
            )
        recognised[ours] = candidates[0]
    if kind.ranked and "model" not in {*matched, *recognised}:
        recognised |= _model_column([name for name in free if name not in recognised.values()])
    # A ranking has one order: what the caller names, or what has our name, takes precedence.
    literal = {name for name in _ORDERS if recognised.get(name) == name}
    order = (_ORDERS & matched.keys()) or literal
    left_out = _ORDERS - order if len(order) == 1 else set()
    matched |= {ours: name for ours, name in recognised.items() if ours not in left_out}
    if matched.keys() >= _ORDERS:
        near = matched["distance"]
        far = matched["score"]
        raise ColumnError(
            f"{location}: both {near!r} (smaller is nearer) and {far!r} (larger is nearer) are "
            "there"
            + advice("; choose with {}", setting("columns", {"distance": near}, {"score": far}))
        )
    return {name: matched[name] for name in kind.columns if name in matched}


def unknown(column_names: Sequence[str], matched: Mapping[str, str], kind: Kind) -> list[str]:
    """Return the names that stand for none of our columns.

    >>> unknown(["qid", "doc", "arm", "docid"], {"query": "qid", "item": "doc"}, RANKINGS)
    ['arm']
    """
    return [name for name in column_names if name not in matched.values() and not kind.knows(name)]


def require(
    kind: Kind,
    column_names: Sequence[str],
    present: Collection[str],
    location: str = "",
    hint: str = "",
) -> None:
    """Raise a ColumnError if required columns are not there; rows that are counts have no item."""
    present_columns = {*present, "item"} if "count" in present else {*present}
    missing = [entry for entry in kind.required if present_columns.isdisjoint(entry.split("|"))]
    if not missing:
        return
    names = [name for entry in missing for name in entry.split("|")]
    lacking = ", ".join(entry.replace("|", " or ") for entry in missing)
    accepted_names = "; ".join(f"{name}: {', '.join(kind.columns[name])}" for name in names)
    # A rank may serve as distance where there is nothing else.
    open_names = [name for name in column_names if _normal(name) == "rank" or not kind.knows(name)]
    theirs = open_names[0] if len(open_names) == len(missing) == 1 else PLACEHOLDER
    example_names = {entry.partition("|")[0]: theirs for entry in missing}
    # no argument names columns of labels
    naming = "" if kind is LABELS else setting("columns", example_names, function=kind.function)
    which = advice(f"; or say which {'it is' if len(missing) == 1 else 'they are'}: {{}}", naming)
    if "distance|score" in missing and which:
        which += ", or score instead if larger means nearer"
    if "relevance" in missing:  # as in what users bought or clicked
        which += "; if every row is relevant, add a column relevance of 1"
    names_found = unseen(
        f"{some(column_names)}, recognised are {accepted_names}",
        ", ".join(f"“{name}”" for name in column_names[:MAX_NAMED])
        + ", …" * (len(column_names) > MAX_NAMED),
    )
    raise ColumnError(f"{location}the {kind.name} lack {lacking}; found {names_found}{which}{hint}")


def _model_column(names: Sequence[str]) -> dict[str, str]:
    """Return the column that names models by one of its words: rows of two systems in one list
    would be merged in silence.

    >>> _model_column(["retriever_name", "run_time"]), _model_column(["text"])
    ({'model': 'retriever_name'}, {})
    """
    words = {name: {*re.split(r"[^a-z0-9]+", _words_apart(name))} for name in names}
    candidates = [name for name in names if words[name] & MODEL_WORDS and not words[name] & NO_NAME]
    if len(candidates) > 1:
        which = advice("; say which with {}", setting("columns", {"model": candidates[0]}))
        raise ColumnError(f"columns {some(candidates)} can all name the model of a row{which}")
    return {"model": candidates[0]} if candidates else {}


def _words_apart(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).casefold()


def under_our_names(matched: Mapping[str, str]) -> list[pl.Expr]:
    """Return the columns of a file that `match_columns` has chosen, under our names."""
    return [pl.col(theirs).alias(ours) for ours, theirs in matched.items()]


def in_order(kind: Kind, names: Sequence[str]) -> list[str]:
    """Our columns in the order of the contract, then all others if the kind keeps them.

    >>> in_order(QUERIES, ["language", "weight", "query"])
    ['query', 'weight', 'language']
    """
    extra_columns = [name for name in names if name not in kind.columns] if kind.others else []
    return [name for name in kind.columns if name in names] + extra_columns


def _normal(name: str) -> str:
    return name.strip("\ufeff \t\r\n\xa0").casefold().replace("-", "_").replace(" ", "_")


def _mapped(
    column_names: Sequence[str], kind: Kind, columns: Mapping[str, str], location: str
) -> dict[str, str]:
    """Apply the caller's `columns`, and refuse what cannot be applied."""
    if not isinstance(columns, Mapping) or not all(
        isinstance(theirs, str) for theirs in columns.values()
    ):
        raise ParameterError(f"columns: {columns!r} does not map our names to the file's")
    names = dict(columns)
    for ours, theirs in columns.items():
        if ours not in kind.columns:
            turned = ""
            if theirs in kind.columns:
                turned = advice("; did you mean {}?", setting("columns", {theirs: ours}))
            raise ColumnError(
                f"{setting('columns', {ours: ...})}: names for {kind.name} are "
                f"{', '.join(kind.columns)}{turned}"
            )
        if theirs not in column_names:  # as messages name a column that is called "dist"
            spellings = kind.columns.get(theirs, ())
            recognised = [name for name in column_names if _normal(name) in spellings]
            if len(recognised) == 1:
                names[ours] = recognised[0]
                continue
            raise ColumnError(
                f"{location}: {setting('columns', {ours: theirs})}, but its columns are "
                f"{some(column_names)}"
            )
    return names
