"""Turn search results into the input of an evaluation:
rankings with relevance, and R of every query.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from retrieval_report.codes.counts import count_relevant, query_names
from retrieval_report.codes.labels import LabelSpace, check_ids, hits_by_chance, rows_of
from retrieval_report.contracts.arguments import (
    Array,
    Named,
    as_list,
    check_flag,
    is_name,
    known_of,
    quoted,
)
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import DataError, KeyMismatchError, ParameterError
from retrieval_report.contracts.forks import refuse_fork
from retrieval_report.contracts.frames import with_model
from retrieval_report.contracts.options import AUTO, NO
from retrieval_report.contracts.wording import with_number
from retrieval_report.kernels.lists import Integers
from retrieval_report.reading.combine import Part, combine
from retrieval_report.reading.readers import read_judgements
from retrieval_report.reading.search_results import (
    NO_RESULT,
    Results,
    Whole,
    as_array,
    is_ranked,
    is_turned,
    item_ids,
    labels_and_mask,
    read_results,
    refuse_direction,
)


@dataclass(frozen=True, eq=False)
class Inputs:
    """The input of an evaluation, to be passed as
    ``evaluate(**inputs)``, ``audit(**inputs)`` and so on.

    Attributes
    ----------
    rankings : pl.DataFrame
        The same as for :func:`evaluate`.
    judgements : pl.DataFrame | None
        ``query``, ``item``, ``relevance`` if they are known separately from the rankings.
    queries : pl.DataFrame | None
        ``query``, and ``n_relevant``, ``n_relevant_from`` and ``label`` if they are known.
    truncated : str
        How all lists end: "no", "between_ties", or "auto" where that is not known. A
        :class:`Study` uses it.
    costs : pl.DataFrame | None
        ``model`` and what it costs, if that is known. A :class:`Study` uses it.
    by_chance : Mapping[str, tuple[int, int]]
        The models whose nearest items are relevant no more often than any would be, with how many
        of how many are. The ``health`` of a :class:`Study` names them.
    relevant_items : str | None
        "own" if no item of one model is an item of another. A :class:`Study` uses it.

    Examples
    --------
    >>> inputs = Inputs(
    ...     pl.DataFrame({"query": ["q"], "item": ["a"], "distance": [1], "relevance": [1]})
    ... )
    >>> list(inputs)
    ['rankings', 'judgements', 'queries']
    """

    rankings: pl.DataFrame
    judgements: pl.DataFrame | None = None
    queries: pl.DataFrame | None = None
    truncated: str = AUTO
    costs: pl.DataFrame | None = None
    by_chance: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    relevant_items: str | None = None

    def __repr__(self) -> str:
        """Return in words how much there is of everything, and what takes it."""
        names = self.rankings.columns
        parts = [
            with_number(self.rankings[name].n_unique(), name)
            for name in ("model", "query")
            if name in names
        ]
        parts.append(with_number(self.rankings.height, "row"))
        if self.judgements is not None:
            parts.append(with_number(self.judgements.height, "judgement"))
        asked = 'rr.Study(inputs, "ndcg@10", judgements=…) compares the models'
        if self.judgements is not None or "relevance" in names:
            ends = ", truncated=inputs.truncated" * (self.truncated != AUTO)
            asked = (
                'rr.Study(inputs, "ndcg@10") compares the models, '
                f"rr.evaluate(**inputs{ends}) scores them"
            )
        frames = ".rankings, .judgements, .queries, .truncated, .costs"
        return f"Inputs of a study: {', '.join(parts)}\nMore: {frames}; {asked}"

    def keys(self) -> Iterator[str]:
        """Return the names of the frames, which ``**inputs`` needs together with ``inputs[name]``."""
        return iter(("rankings", "judgements", "queries"))

    __iter__ = keys

    def __getitem__(self, name: str) -> pl.DataFrame | None:
        """Return one frame by its name."""
        frame: pl.DataFrame | None = vars(self)[name]
        return frame

    def beside(self, judgements: object, queries: object) -> tuple[object, object, object]:
        """Return the rankings, and both others: the given ones, or these where they are None."""
        judgements = self.judgements if judgements is None else judgements
        return self.rankings, judgements, self.queries if queries is None else queries

    @property
    def settings(self) -> Named:
        """What is known besides the frames, as options of a study."""
        ends = None if self.truncated == AUTO else self.truncated
        known = {"costs": self.costs, "relevant_items": self.relevant_items}
        return known_of({"truncated": ends, **known})


def from_search(
    results: object,
    *,
    query_labels: object = None,
    item_labels: object = None,
    judgements: object = None,
    relevance: object = "any",
    scores: bool | Collection[str] = False,
    query_ids: object = None,
    item_ids: object = None,
    indexes: object = None,
    mask: object = None,
    exclude_self: bool = False,
) -> Inputs:
    """Turn search results into the input of an evaluation.

    Parameters
    ----------
    results : dict or one result
        Model → its result, or a single result. A result is

        - ``(distances, indices)`` of FAISS or scikit-learn's ``kneighbors`` and
          ``radius_neighbors``; hnswlib's ``(labels, distances)``; usearch's matches; FAISS's
          ``(limits, distances, indices)``. −1 means no result.
        - A list of the hits of every query, as of sentence-transformers' ``semantic_search``:
          ``{"corpus_id": 3, "score": 0.5}``. Their values are scores.
        - A matrix of distances (or scores) with one row per query and one column per item, like
          scikit-learn's ``y_score``, or per rank, as in KerasRS and TF Similarity: if all rows
          are in order, the items of different queries have different numbers.
        - With ``indexes``, one flat array, as for torchmetrics.

        Arrays may be NumPy arrays, tensors of torch, JAX or TensorFlow, or nested lists.
    query_labels, item_labels : array-like
        Class ids (n,), or multi-hot labels (n, classes): an item is relevant to the queries of its
        class. Indices count the items from 0; if a search returns keys instead, ``item_labels`` is
        a dict key → class id.
    judgements : object
        Anything that :func:`read_judgements` accepts, instead of labels.
    relevance : {"any", "shared"} or matrix
        With multi-hot labels, 1 for any class in common or the number of classes in common. Or,
        instead of labels, a matrix: the relevance of every item to every query (scikit-learn's
        ``y_true``), in the shape of the results if these have no indices (KerasRS's ``y_true``, TF
        Similarity's ``match_mask``, torchmetrics' ``target``): items with a label below 0 are then
        left out, and KerasRS's ``{"labels": …, "mask": …}`` is accepted. A dict model → matrix if a
        column holds different items in every model; items then have separate names, and a
        :class:`Study` counts those of each model as its R; pass ``relevant_items="own"`` to other
        functions, which else add them up over the models.
    scores : bool or collection of model names
        Whether larger values are nearer, as for inner products, cosine similarities and
        predictions; or the models for which they are.
    query_ids, item_ids : list or array
        Text or whole numbers; by default the positions 0, 1, …
    indexes : array
        The query of every value of flat results.
    mask : matrix
        False for entries of a matrix that hold no item (KerasRS).
    exclude_self : bool
        Leave out the item that is the query itself: item i for query i, or the item with the
        query's id.

    Returns
    -------
    Inputs
        ``rankings`` (``model``, ``query``, ``item``, ``distance`` or ``score``, ``relevance``
        unless there are ``judgements``, and ``mask``, false for rows that do not count, if there is
        a mask or a label below 0), and information on relevant items that were not found:
        with labels, ``queries`` as of :func:`codes.count_relevant`, which count the items of
        relevance 1 and more (with another ``relevant_from``, pass its result for that level as
        ``queries``); with a matrix and indices, ``judgements``.

    Raises
    ------
    DataError, ParameterError
        Shapes do not match, an index has no item, a search found nothing at all, relevance comes
        from two sources, or every row of a search begins with its largest distance (smallest
        score), as similarities do without ``scores=``.

    Warns
    -----
    RetrievalReportWarning
        What a search found is relevant as often as by chance, as where labels are in the order of
        other items.

    Examples
    --------
    Two items are found for each of two queries, the second of which has only one relevant item.

    >>> import numpy as np
    >>> distances, indices = np.array([[0.1, 0.4], [0.2, 0.2]]), np.array([[0, 2], [1, -1]])
    >>> inputs = from_search(
    ...     {"flat": (distances, indices)}, query_labels=[7, 8], item_labels=[7, 8, 7]
    ... )
    >>> inputs.rankings.rows()
    [('flat', 0, 0, 0.1, 1), ('flat', 0, 2, 0.4, 1), ('flat', 1, 1, 0.2, 1)]
    >>> inputs.queries.rows()
    [(0, 2, 1, 7), (1, 1, 1, 8)]
    >>> from retrieval_report import evaluate
    >>> evaluate(**inputs, metrics="recall@1", policies="expected").get_column("value").to_list()
    [0.5, 1.0]
    """
    refuse_fork()
    check_flag("exclude_self", exclude_self)
    searches = {
        model: read_results(search, f"model {model!r}", indexes=indexes)
        for model, search in by_model(results, isinstance(results, Mapping)).items()
    }
    scored = scored_models(scores, list(searches))
    relevance, mask = _labels_of_models(relevance, mask, searches)
    _check_sources((query_labels, item_labels), judgements, relevance, indexes, exclude_self)
    items = _Items.of(item_labels, item_ids)
    names = space = n_relevant = None  # names: where the results name the queries
    if indexes is None:
        names = query_names(query_ids, max(search.queries for search in searches.values()))
    elif query_ids is not None:
        raise ParameterError("query_ids: given together with indexes, which name the queries")
    if query_labels is not None and names is not None:
        space = LabelSpace.of(query_labels, len(names), str(relevance))
        n_relevant = count_relevant(
            query_labels,
            items.labels,
            relevance=str(relevance),
            query_ids=names,
            item_ids=items.ids_of(len(items.keys)),
            exclude_self=exclude_self,
        )
    ranked = [model for model in searches if is_ranked(searches[model], scores=model in scored)]
    parts, by_chance = list[Part](), dict[str, tuple[int, int] | None]()
    for model, search in searches.items():
        if mask is not None and search.indexed:
            raise ParameterError("mask: only for a matrix; a search may return index -1 instead")
        is_scored = search.scored or model in scored
        what, order = f"model {model!r}", "score" if is_scored else "distance"
        if is_turned(search, scores=is_scored):
            refuse_direction(what, scores=is_scored, models=_really_scored(searches, scored))
        query, item = pl.Series(search.query), items.names(search, what)
        matrix = relevance[model] if isinstance(relevance, Mapping) else relevance
        relevant = places = None
        row_mask = None if mask is None else _aligned(mask, search, "mask", what).astype(bool)
        if space is not None:
            labelled = _by_labels(space, search, items, what)
            relevant = labelled(search.query, places := np.arange(search.query.size))
        elif not (isinstance(matrix, str) or search.indexed):
            relevant, row_mask = _unmasked(_aligned(matrix, search, "relevance", what), row_mask)
            if item_ids is None:
                item += _offsets(search, ranked, exclude_self)
        columns: Named = {
            "query": query if names is None else names.gather(query),
            "item": item,
            order: search.value,
            "relevance": relevant,
            "mask": row_mask,
            "place": places,
        }
        frame = with_model(pl.DataFrame(known_of(columns)), model)
        if isinstance(relevance, Mapping):  # a column holds different items in every model
            frame = frame.with_columns(item=pl.format("{}:{}", "model", "item"))
        frame = _without_self(frame, model) if exclude_self else frame
        if n_relevant is not None:
            by_chance[model] = hits_by_chance(frame, n_relevant, len(items.keys), what, labelled)
        parts.append(Part(what, frame.drop("place", strict=False)))
    _refuse_nothing(parts, results, exclude_self)
    judgement_rows = _judgement_rows(judgements, names if query_ids is None else None)
    if not isinstance(relevance, str) and any(search.indexed for search in searches.values()):
        judgement_rows = _matrix_judgements(relevance, names, items, searches)
    known: Named = {"by_chance": known_of(by_chance)} | _known(relevance, ranked, parts)
    return Inputs(combine(parts), judgement_rows, n_relevant, **known)


def _known(relevance: object, ranked: Sequence[str], parts: Sequence[Part]) -> Named:
    """Return what is known of lists besides their rows: R is each model's own where no item is in
    two models; a matrix of items, of which a mask leaves some out, holds all others.
    """
    masked = all("mask" in part.frame.columns for part in parts)
    own = {"relevant_items": "own"} if isinstance(relevance, Mapping) else {}
    return own | ({"truncated": NO} if masked and not ranked else {})


def _refuse_nothing(parts: Sequence[Part], results: object, exclude_self: bool) -> None:
    """Refuse a search that found nothing: its model would vanish from every table."""
    if isinstance(results, Mapping) and any(isinstance(one, Results) for one in results.values()):
        return  # from_embeddings tries its labels before it searches
    for part in parts:
        if part.frame.is_empty():
            why = " other than itself" if exclude_self else f" (index {NO_RESULT} means none)"
            raise DataError(
                f"{part.path}: no rows, as no query found an item{why}; leave it out, or see why "
                "its search returned nothing"
            )


def _judgement_rows(judgements: object, numbers: pl.Series | None) -> pl.DataFrame | None:
    """Read the judgements if there are any; refuse those of other queries than the ``numbers`` of a
    search that was given no ids.
    """
    if judgements is None:
        return None
    rows = read_judgements(judgements)
    if numbers is None:
        return rows
    known = numbers.cast(pl.String).implode()
    others = rows.remove(pl.col("query").cast(pl.String).is_in(known))
    if others.height:
        raise KeyMismatchError(
            f"judgements: {others['query'][0]!r} is not a query of the search, whose queries and "
            "items are numbered from 0; pass their ids as query_ids= and item_ids=, in the order "
            "of the rows"
        )
    return rows


def by_model(results: Any, named: bool) -> Mapping[str, object]:
    """Return the results of every model; those without names are of one called "model"."""
    models = results if named else {"model": results}
    if not models:
        raise ParameterError("results: none given")
    for model in models:
        if not is_name(model):
            raise ParameterError(f"results: {model!r} is not the name of a model")
    return models


def _labels_of_models(
    relevance: object, mask: object, searches: Mapping[str, Results]
) -> tuple[object, object]:
    """Return relevance and mask, which KerasRS holds in one dictionary; refuse matrices by model
    that lack a model.
    """
    if "labels" not in searches:
        relevance, mask = labels_and_mask(relevance, mask, "mask")
    if isinstance(relevance, Mapping) and not searches.keys() <= relevance.keys():
        raise ParameterError(
            f"relevance: matrices of {quoted(relevance)}, but the models are {quoted(searches)}"
        )
    return relevance, mask


def _unmasked(labels: Array, mask: Array | None) -> tuple[Array, Array | None]:
    """Return labels and mask, in which labels below 0 are masked."""
    if labels.dtype.kind not in "if" or labels.min(initial=0) >= 0:
        return labels, mask
    valid = ~(labels < 0)  # NaN stays, and is refused
    return np.where(valid, labels, 0), valid if mask is None else valid & mask


def scored_models(scores: object, models: list[str]) -> set[str]:
    """Return the models whose values are scores."""
    if isinstance(scores, bool):
        return set(models) if scores else set()
    model_names = [str(model) for model in as_list(scores)]
    for model in model_names:
        check_choice("scores", model, models)
    return set(model_names)


def _offsets(results: Results, ranked: Sequence[str], exclude_self: bool) -> Whole:
    """Return what to add to the columns of a matrix so that every row has other items, where
    columns are ranks: of the lists of one ``ranked`` model, if the others score the same items.
    Which of them is the query itself is not known then.
    """
    if ranked and exclude_self:
        raise ParameterError(
            f"exclude_self: the columns of model {ranked[0]!r} are ranks, so no item is known to be "
            "the query; leave it out of the matrix, or pass (distances, indices)"
        )
    # from one row on, so that no number is that of the row's own query
    return (results.query + 1) * (bool(ranked) * results.value.size // max(results.queries, 1))


def _really_scored(searches: Mapping[str, Results], scored: set[str]) -> bool | list[str]:
    """Return what ``scores`` has to be, by the order of the results."""
    models = [
        model
        for model, search in searches.items()
        if (model in scored) != is_turned(search, scores=search.scored or model in scored)
    ]
    return models if 0 < len(models) < len(searches) else bool(models)


def _without_self(frame: pl.DataFrame, model: str) -> pl.DataFrame:
    query_type, item_type = frame.schema["query"], frame.schema["item"]
    if query_type.is_integer() != item_type.is_integer():
        raise KeyMismatchError(
            f"exclude_self: model {model!r} has {query_type} query ids and {item_type} item ids"
        )
    return frame.filter(pl.col("query") != pl.col("item"))


def _check_sources(
    labels: tuple[object, object],
    judgements: object,
    relevance: object,
    indexes: object,
    exclude_self: bool,
) -> None:
    """Refuse two sources of relevance, or half of one, and flat results whose items are asked for."""
    matrix = None if isinstance(relevance, str) else relevance
    sources = {"query_labels": labels[0], "judgements": judgements, "relevance": matrix}
    source_names = list(known_of(sources))
    if len(source_names) > 1:
        raise ParameterError(
            f"{source_names[1]}: given together with {source_names[0]}; only one of them can say what is relevant"
        )
    if (labels[0] is None) != (labels[1] is None):
        raise ParameterError("query_labels, item_labels: one is given without the other")
    if indexes is not None and labels[0] is not None:
        raise ParameterError("indexes: flat results take relevance or judgements, not labels")
    if indexes is not None and exclude_self:
        raise ParameterError("exclude_self: flat results do not say which item is the query")


@dataclass(frozen=True)
class _Items:
    """Ids and labels of the items that a search can return."""

    keys: pl.Series  # what the search calls them: ids, or numbers from 0
    ids: pl.Series | None  # None: what the search calls them
    labels: object

    @classmethod
    def of(cls, labels: object, ids: object) -> _Items:
        if isinstance(labels, Mapping):
            if ids is not None:
                raise ParameterError(
                    "item_ids: given together with item_labels by key, which name the items"
                )
            keys = check_ids(list(labels), None, "item_labels")
            return cls(keys, keys, list(labels.values()))
        checked_ids = None if ids is None else check_ids(ids, None, "item_ids")
        count = 0 if labels is None else rows_of(labels, "item_labels")
        count = count if checked_ids is None else len(checked_ids)
        return cls(pl.int_range(count, eager=True), checked_ids, labels)

    def row_numbers(self, results: Results, what: str) -> pl.Series:
        """Return the index of every result's item."""
        item, keys = item_ids(results.item), self.keys
        if item.dtype.is_integer() != keys.dtype.is_integer():
            raise DataError(
                f"{what}: indices are {item.dtype}, items {keys.dtype}; to find labels by other "
                "keys, pass item_labels as a dict id → label"
            )
        row = item.cast(keys.dtype, strict=False).replace_strict(
            keys, pl.int_range(len(keys), eager=True), default=None, return_dtype=pl.Int64
        )
        if row.null_count():
            raise DataError(
                f"{what}: index {item.filter(row.is_null())[0]} is not among the {len(keys)} items "
                f"({row.null_count()} such results)"
            )
        return row

    def ids_of(self, count: int) -> pl.Series:
        """Return the ids of all items, by default those of ``count`` items."""
        return pl.int_range(count, eager=True) if self.ids is None else self.ids

    def names(self, results: Results, what: str) -> pl.Series:
        """Return the ids of the items found."""
        if self.ids is None:
            return item_ids(results.item)
        return self.ids.gather(self.row_numbers(results, what))


def _by_labels(
    space: LabelSpace, results: Results, items: _Items, what: str
) -> Callable[[Integers, Integers], Integers]:
    """Return what tells the relevance to queries, by number, of the results at places, by labels;
    refuse a matrix whose columns cannot be the items, such as indices or distances on their own.
    """
    columns = results.value.size // max(results.queries, 1)
    if not results.indexed and columns != len(items.keys):
        raise DataError(
            f"{what}: a matrix of {columns} columns for {len(items.keys)} item "
            "labels; it needs a column for every item; to pass only the nearest "
            "items, give a pair, (distances, indices)"
        )
    labels = space.check(items.labels, len(items.keys), "item_labels")
    words = space.encode(labels, "item_labels", 0)
    rows = items.row_numbers(results, what).to_numpy()
    return lambda queries, places: space.relevance(queries, rows[places], words)


def _matrix_judgements(
    relevance: object, names: pl.Series | None, items: _Items, searches: Mapping[str, Results]
) -> pl.DataFrame:
    """Return the matrix as judgements: relevant items, and one item for queries without any."""
    matrix = as_array(relevance, "relevance")
    ids = items.ids_of(matrix.shape[-1] if matrix.ndim else 0)
    if names is None or matrix.shape != (len(names), len(ids)):
        raise DataError(
            f"relevance: shape {matrix.shape}; with indices, it has a row for every query and a "
            f"column for every item{'' if items.ids is None else f', {len(ids)}'}"
        )
    for model, search in searches.items():
        if items.ids is None and search.indexed:
            replace(items, keys=ids).row_numbers(search, f"model {model!r}")  # refuses others
    relevant = matrix != 0
    relevant[~relevant.any(axis=1), 0] = True
    query, item = np.nonzero(relevant)
    columns = {"query": names.gather(pl.Series(query)), "item": ids.gather(pl.Series(item))}
    return pl.DataFrame({**columns, "relevance": matrix[query, item]})


def _aligned(values: object, results: Results, name: str, what: str) -> Array:
    """Return a matrix in the shape of the results, flattened like them."""
    array = as_array(values, name)
    if (
        array.dtype == object
        or array.size != results.value.size
        or (array.ndim == 2 and len(array) != results.queries)
    ):
        raise DataError(
            f"{name}: shape {array.shape}, and {what} has {results.value.size} values of "
            f"{results.queries} queries"
        )
    return array.flatten()  # a copy, as of the results
