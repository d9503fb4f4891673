"""Classify by the nearest neighbours: the exact chance of every label where distances tie.

Where the k-th item lies inside a tie, a draw of some of its items votes. The numbers of each
label's items in such a draw follow a multivariate hypergeometric distribution, which is that of
independent choices, given how many are chosen in all; so the ways in which a label wins are the
coefficients of a product of polynomials, one for each of its rivals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import Array, check_whole, quoted
from retrieval_report.contracts.checks import check_choice, refuse
from retrieval_report.contracts.errors import ColumnError, KeyMismatchError, ParameterError
from retrieval_report.contracts.frames import (
    check_table,
)
from retrieval_report.contracts.options import ENDS, NO, WITHIN_TIE, Options
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.contracts.warning import warn
from retrieval_report.contracts.wording import advice, setting
from retrieval_report.engines.check_scores import join_left
from retrieval_report.kernels.lists import Floats
from retrieval_report.reading.frames import to_polars
from retrieval_report.reading.readers import columns_of, read_labels
from retrieval_report.scoring.judged import Judged, judge
from retrieval_report.scoring.known_items import KEYS, of_one_width
from retrieval_report.scoring.ties import count_cells
from retrieval_report.ties.threshold_curves import rate
from retrieval_report.writing.names import clean, with_number
from retrieval_report.writing.numbers import number, span

CELL = ["model", "label", "predicted"]
RIGHT = pl.col("label") == pl.col("predicted")
CHANCE = pl.col("chance")
OF_TRIALS = {  # how many of some independent events happen; sorted sums have the same bits always
    "value": CHANCE.sort().sum(),
    "tie_std": (CHANCE * (1 - CHANCE)).sort().sum().sqrt(),
    "lowest": (CHANCE == 1).sum(),
    "highest": pl.len(),
}
VOTES = ("majority", "nearest")
SEVERAL = 5  # queries; few may ask for labels that no item has
TIED_VOTES = ("first", "nearest", "random")
METRICS = ("precision", "recall", "f1")
BITS = 1000  # numbers of draws up to 2 ** BITS are counted in float64
WHOLE_NUMBER = r"^(0|-?[1-9]\d{0,17})$"  # in its usual spelling, and of 64 bits
NEGLIGIBLE = 1e-30  # a probability that no sum of others would show


@dataclass(frozen=True)
class NearestLabels:
    """The result of :func:`retrieval_report.knn`, which explains its frames.

    Attributes
    ----------
    chances
        How probable each label is as the prediction for each query.
    """

    chances: pl.DataFrame

    def __repr__(self) -> str:
        """Return the accuracy of every model in words, and where the rest is."""
        rows = [
            f"{clean(row['model'])}: {number(row['value'])}"
            + f", from {span(row['lowest'], row['highest'])} as ties fall"
            * (row["lowest"] < row["highest"])
            for row in self.accuracy.iter_rows(named=True)
        ]
        queries = with_number(self.chances["query"].n_unique(), "query")
        rest = "More: .accuracy, .confusion, .classes and, for every query, .chances"
        return "\n".join([f"Accuracy of the nearest labels ({queries})", *rows, rest])

    @cached_property
    def accuracy(self) -> pl.DataFrame:
        """Share of the queries whose own label is predicted, one row per model."""
        queries = self.chances.group_by("model").agg(queries=pl.n_unique("query")).sort("model")
        hits = self.chances.filter(RIGHT).group_by("model").agg(**OF_TRIALS)
        rows = join_left(queries, hits, "model").fill_null(0)
        shares = pl.col(list(OF_TRIALS)) / pl.col("queries")
        return in_contract(rows.with_columns(shares), schema("knn_accuracy"))

    @cached_property
    def confusion(self) -> pl.DataFrame:
        """Expected numbers of queries by their own and their predicted label."""
        frame = self.chances.group_by(CELL).agg(**OF_TRIALS)
        return in_contract(frame.sort(CELL), schema("knn_confusion"))

    @cached_property
    def classes(self) -> pl.DataFrame:
        """Precision, recall and F1 of every label, three rows per model and label."""
        by_right = self.chances.sort(*CELL, "chance").group_by("model", "predicted", right=RIGHT)
        chances = {row[:3]: row[3] for row in by_right.agg("chance").iter_rows()}
        queries = self.chances.select(*KEYS, "label").unique()
        sizes = {row[:2]: row[2] for row in queries.group_by("model", "label").len().iter_rows()}
        labels = pl.concat([self.chances["label"], self.chances["predicted"]])
        rows = [
            (model, label, *row)
            for model in self.chances["model"].unique().sort()
            for label in labels.drop_nulls().unique().sort()
            for row in _class_rows(
                [chances.get((model, label, right), []) for right in (True, False)],
                sizes.get((model, label), 0),
            )
        ]
        contract = schema("knn_classes") | {"label": labels.dtype}
        return pl.DataFrame(rows, schema=contract, orient="row")


def knn(
    rankings: object,
    labels: object = None,
    *,
    queries: object,
    k: int = 1,
    vote: str = "majority",
    tied_votes: str = "first",
    truncated: str = WITHIN_TIE,
) -> NearestLabels:
    """Predict the label of every query from its k nearest items, exactly under ties.

    Items at one distance have no order of their own. Where such a tie holds the k-th item, all
    choices of its items for the ranks up to k are equally probable, and so are all orders inside
    ties: a query then has no single prediction, but a chance for each label.

    Parameters
    ----------
    rankings
        A rankings frame, as for :func:`evaluate`; relevance is ignored. Or a counts frame with the
        column ``label`` instead of relevance: ``model``, ``query``, ``distance``, ``label``,
        ``count``. Lists are treated as complete, so search deeper than the tie of the k-th item.
    labels
        The label of every item: a dictionary, or a frame of ``item`` and ``label``. Labels are text
        or whole numbers; text that spells whole numbers only, as in a CSV file, is read as these.
        None for counts.
    queries
        The true label of every query: a dictionary, or a frame of ``query`` and ``label``.
    k
        Number of items that vote; all vote in a shorter list.
    vote
        "majority", or "nearest": the first item alone decides, whatever ``k`` is.
    tied_votes
        Which of the labels with the most votes wins: "first" in sorted order, as in scikit-learn's
        KNeighborsClassifier; "nearest", that of the nearest item, as in TF Similarity's
        MatchMajorityVote; or one at "random".
    truncated
        How lists end: "within_tie" if their last tie may be cut, "between_ties" if it is whole,
        "no" if they hold all items. It changes nothing but the warning.

    Returns
    -------
    NearestLabels
        A record of four frames, of which the last three are computed when asked for. ``chances``
        has a row for every prediction that some order gives:

        - ``model``, ``query``;
        - ``label``: the true label of the query;
        - ``predicted``: a label, or null for a query without items;
        - ``chance``: the probability that it is predicted.

        In the other frames ``value`` is the exact mean over all orders (and draws of tied votes),
        ``tie_std`` its standard deviation, ``lowest`` and ``highest`` its extremes. Orders of
        different queries are independent.

        - ``accuracy``: for every ``model`` the share of the ``queries`` whose label is predicted;
        - ``confusion``: the number of queries by ``model``, ``label`` and ``predicted``, where
          some order gives any;
        - ``classes``: by ``model``, ``label`` and ``metric`` the precision TP / (TP + FP), recall
          TP / (TP + FN) and F1 = 2 TP / (2 TP + FP + FN) of the label, where TP of its queries and
          FP others are predicted to have it; 0 where the divisor is. TP and FP are sums of
          independent trials, of whose distributions precision and F1 are exact means.

    Raises
    ------
    RetrievalReportError
        A ValueError; among others for items or queries without a label.

    Warns
    -----
    RetrievalReportWarning
        A list that may go on ends in a tie that votes, or before k items.

    Examples
    --------
    "b" or "c" votes beside "a": two dogs, or a dog and a cat, of which "cat" is the first word.

    >>> rankings = {"query": ["q"] * 4, "item": list("abcd"), "distance": [1, 2, 2, 9]}
    >>> labels = {"a": "dog", "b": "dog", "c": "cat", "d": "cat"}
    >>> found = knn(rankings, labels, queries={"q": "dog"}, k=2)
    >>> found
    Accuracy of the nearest labels (1 query)
    model: 0.5000, from 0.0000 to 1.0000 as ties fall
    More: .accuracy, .confusion, .classes and, for every query, .chances
    >>> found.chances.select("label", "predicted", "chance").rows()
    [('dog', 'cat', 0.5), ('dog', 'dog', 0.5)]
    >>> found.accuracy.select("value", "tie_std", "lowest", "highest").rows()
    [(0.5, 0.5, 0.0, 1.0)]
    """
    k = check_whole("k", k, 1)
    check_choice("vote", vote, VOTES)
    check_choice("tied_votes", tied_votes, TIED_VOTES)
    check_choice("truncated", truncated, ENDS)
    truth = _truth(queries)
    judged, names, labelled = _labelled(rankings, labels)
    rows = count_cells(judged)
    rows = rows.with_columns(names[rows["relevance"]])
    for column in ("query", "label"):
        rows, truth = of_one_width(rows, truth, column, "queries")
    rows, truth = _as_numbers(rows, truth)
    unknown = ~pl.col("query").is_in(truth["query"].implode())
    hint = advice("; {} has to name the label of each", setting("queries"))
    refuse(rows, unknown, "query", "rows of queries without a label", hint)
    wanted = truth["label"].cast(pl.String)
    if len(wanted) >= SEVERAL and len(labelled) and not wanted.is_in(labelled.implode()).any():
        raise KeyMismatchError(
            f"queries: none of their labels, such as {wanted[0]!r}, is the label of an item, such "
            f"as {labelled[0]!r}; spell them alike"
        )
    ties = _ties(rows, judged.order)
    k = 1 if vote == "nearest" else min(k, int(ties["count"].sum()))
    if truncated != NO:
        _warn_cut(ties, k, len(labelled), "before" if truncated == WITHIN_TIE else "count")
    lists = rows.select("model").unique().join(truth, how="cross")
    chances = join_left(lists, _predicted(ties, k, tied_votes), KEYS).sort(*KEYS, "predicted")
    chances = chances.with_columns(CHANCE.fill_null(1.0))
    return NearestLabels(in_contract(chances, schema("knn_chances")))


def _truth(queries: object) -> pl.DataFrame:
    """Return queries and their labels."""
    query_columns = {"query": []} if queries is None else columns_of(queries, "query")
    truth = check_table(to_polars(query_columns, "queries"), "queries")
    if "label" not in truth.columns:
        raise ColumnError("queries: no column 'label', which says what is to be predicted")
    return truth.select("query", _plain(truth["label"]))


def _plain(labels: pl.Series) -> pl.Series:
    """Return labels as text, unless they are whole numbers."""
    return labels if labels.dtype.is_integer() else labels.cast(pl.String)


def _as_numbers(*frames: pl.DataFrame) -> list[pl.DataFrame]:
    """Return frames whose labels are numbers if all of them are spelt so, as in files of text:
    the label 2 wins a tied vote against 10, whatever it was read from.
    """
    labels = [frame["label"] for frame in frames]
    if not all(
        texts.dtype == pl.String and texts.str.contains(WHOLE_NUMBER).all() for texts in labels
    ):
        return [*frames]
    return [frame.with_columns(pl.col("label").cast(pl.Int64)) for frame in frames]


def _labelled(rankings: object, labels: object) -> tuple[Judged, pl.Series, pl.Series]:
    """Return rankings or counts with labels as relevances, the labels that these number, and the
    label of every item that has one, as text; of counts, whose items are not known, none.
    """
    options = Options(null_distance="not_retrieved", policies="expected")
    frame = to_polars(rankings, "rankings")
    if "count" in frame.columns:  # among rankings, a column "label" would mean the relevance
        if labels is not None:
            raise ParameterError("labels: given together with counts, which have a column 'label'")
        if "label" not in frame.columns:
            raise ColumnError(f"counts: no column 'label'; found {quoted(frame.columns)}")
        frame = to_polars(rankings, "counts of labels").drop("item", strict=False)
        frame = frame.with_row_index("item")
        names = _plain(check_table(frame, "labels", "counts")["label"])
        counts = frame.with_columns(relevance=names.rank("dense") - 1)
        return judge(counts, None, None, options), names.unique().sort(), pl.Series(dtype=pl.String)
    if labels is None:
        raise ParameterError("labels: none given; the label of every item is needed")
    item_labels = read_labels(labels)
    judged = judge(frame.with_columns(relevance=0), None, None, options)
    rows, item_labels = of_one_width(
        judged.retrieved, item_labels.with_columns(_plain(item_labels["label"])), "item", "labels"
    )
    rows = join_left(rows, item_labels, "item")
    hint = advice("; {} has to name the label of each", setting("labels"))
    refuse(rows, pl.col("label").is_null(), "item", "rows of items without a label", hint)
    names = rows["label"]
    rows = rows.with_columns(relevance=names.rank("dense") - 1)
    return judged.with_values(rows), names.unique().sort(), item_labels["label"].cast(pl.String)


def _ties(cells: pl.DataFrame, order: str) -> pl.DataFrame:
    """Return the items of each label in each tie, with what lies before the tie and its size."""
    tie, count = [*KEYS, order], pl.col("count")
    before = count.cum_sum(reverse=order == "score").over(KEYS) - count
    return cells.with_columns(
        before=before, size=count.sum().over(tie), labels=pl.len().over(tie)
    ).with_columns(pl.min("before").over(tie))


def _warn_cut(ties: pl.DataFrame, k: int, collection: int, known: str) -> None:
    """Warn if a list that may go on ends in a tie of which some items vote; ``known`` are the items
    ``before`` this tie, or, where it is whole, their ``count``.
    """
    ends = ties.group_by(KEYS).agg(pl.max("before"), pl.sum("count")).sort(KEYS)
    # A query that is itself an item is often left out.
    cut = ends.filter(pl.col(known) < k, pl.col("count") < collection - 1)
    if cut.height:
        model, query = cut.row(0)[:2]
        warn(
            f"rankings: {with_number(cut.height, 'list')} may lack items that vote, first that of "
            f"query {query!r} and model {model!r}: it ends {'in or ' * (known == 'before')}before "
            "the tie of the k-th item "
            f"(k={k}) and holds fewer than the {collection} items that have labels; search deeper"
        )


def _predicted(ties: pl.DataFrame, k: int, tied_votes: str) -> pl.DataFrame:
    """Return the chances of the labels that may win, one row per list and label."""
    votes = _contenders(ties.filter(pl.col("before") < k), k)
    ranks = {
        "first": pl.col("label").rank("dense").over(KEYS),
        "nearest": pl.col("before").rank("dense").over(KEYS),
        "random": pl.lit(0),
    }
    weight = pl.col("weight") if tied_votes == "nearest" else pl.lit(1)
    lists = (
        votes.select(
            *KEYS,
            "slots",
            "others",
            pl.col("inside") - pl.min("inside").over(KEYS),
            "open",
            predicted="label",
            rank=ranks[tied_votes].cast(pl.Int64),
            weight=weight,
        )
        .group_by(*KEYS, "slots", "others")
        .agg(pl.all().sort_by("predicted"))
    )
    chances_of = cache(_chances)  # many lists are alike
    chances = [
        chances_of(Vote(*numbers[:2], *map(tuple, numbers[2:])))
        for numbers in lists.select(Vote._fields).iter_rows()
    ]
    column = pl.Series("chance", chances, dtype=pl.List(pl.Float64))
    labels = lists.select(*KEYS, "predicted", column).explode("predicted", "chance")
    certain = pl.len().over(KEYS) == 1  # whatever the sum of the chances of its draws is rounded to
    return labels.filter(CHANCE > 0).with_columns(
        pl.when(certain).then(1.0).otherwise("chance").alias("chance")
    )


def _contenders(ties: pl.DataFrame, k: int) -> pl.DataFrame:
    """Return the labels that may have the most votes, with those that they have in any case.

    ``open`` of their items lie in a tie of several labels, of which only ``slots`` items vote;
    ``others`` of its items have labels that cannot win. ``before`` is the beginning of the first
    tie that holds the label, ``weight`` the number of its items there.
    """
    slots = k - pl.col("before")
    mixed = (pl.col("size") > slots) & (pl.col("labels") > 1)
    count = pl.col("count")
    split = ties.with_columns(
        inside=~mixed * pl.min_horizontal(count, slots),
        open=mixed * count,
        slots=mixed * slots,
        weight=pl.when(mixed).then(1).otherwise(count),
    )
    votes = split.group_by(*KEYS, "label").agg(
        pl.col("inside", "open").sum(),
        pl.min("before"),
        pl.col("weight").sort_by("before").first(),
        pl.max("slots"),
    )
    most = pl.col("inside") + pl.min_horizontal("open", pl.max("slots").over(KEYS))
    wins = most >= pl.max("inside").over(KEYS)
    return votes.with_columns(
        pl.max("slots").over(KEYS),
        others=pl.col("open").filter(~wins).sum().over(KEYS),
        wins=wins,
    ).filter("wins")


class Vote(NamedTuple):
    """What decides the chances of some labels in one list; a number per label in each tuple."""

    slots: int  # items of the last tie that vote
    others: int  # its items of labels that cannot win
    inside: tuple[int, ...]  # votes in any case
    open: tuple[int, ...]  # items of the last tie
    rank: tuple[int, ...]  # of labels with equally many votes, that of the least rank wins
    weight: tuple[int, ...]  # of those of one rank, each in this proportion


def _chances(vote: Vote) -> list[float]:
    """Return the chance of each label.

    >>> _chances(Vote(1, 0, (1, 0), (1, 2), (0, 0), (1, 1)))
    [0.6666666666666666, 0.3333333333333333]
    """
    if len(vote.inside) == 1:
        return [1.0]
    total = sum(vote.open) + vote.others
    large = vote.slots * math.log2(total + 1) > BITS
    share = vote.slots / total if large else None
    *ways, ways_of_rest, ways_in_all = (
        _ways(items, vote.slots, share) for items in (*vote.open, vote.others, total)
    )
    chances = []
    for label, of_label in enumerate(ways):
        sums = 0.0
        for taken in range(min(vote.slots, vote.open[label]) + 1):
            for lost, draws in _draws(vote, ways, label, taken).items():
                rest = draws @ ways_of_rest[vote.slots - taken :: -1]
                sums += of_label[taken] * rest * vote.weight[label] / (vote.weight[label] + lost)
        chances.append(float(sums / ways_in_all[-1]))
    return chances


def _draws(vote: Vote, ways: Sequence[Floats], label: int, taken: int) -> dict[int, Floats]:
    """Return the ways in which the rivals leave the victory to a label of which some items are
    drawn, by the number of their items drawn, for each weight of rivals with as many votes.
    """
    size, votes = vote.slots - taken + 1, vote.inside[label] + taken
    by_weight = {0: np.eye(1, size)[0]}
    for rival, draw_count in enumerate(ways):
        if rival == label:
            continue
        gap = votes - vote.inside[rival]  # draws that give it as many votes
        if gap < 0:
            return {}
        allowed = draw_count[: min(gap + (vote.rank[rival] > vote.rank[label]), size)]
        level = np.where(np.arange(size) == gap, draw_count[:size], 0.0)
        even = level * (vote.rank[rival] == vote.rank[label])
        after: dict[int, Floats] = {}
        for lost, draws in by_weight.items():
            for part, weight in ((allowed, lost), (even, lost + vote.weight[rival])):
                if part.any():
                    after[weight] = after.get(weight, 0.0) + np.convolve(draws, part)[:size]
        by_weight = after
    return by_weight


def _ways(items: int, most: int, share: float | None) -> Floats:
    """Return the number of ways to draw 0 to ``most`` of the items; or with a share, the
    probabilities to draw them when each is drawn with this probability, which stand in the same
    proportions for a given number of draws in all.

    >>> _ways(4, 5, None).tolist()
    [1.0, 4.0, 6.0, 4.0, 1.0, 0.0]
    """
    if share is None:
        return np.array([float(math.comb(items, draws)) for draws in range(most + 1)])
    from scipy.stats import binom  # half a second to import, for large ties alone

    ways: Floats = binom.pmf(np.arange(most + 1), items, share)
    return ways


def _class_rows(
    sides: list[list[float]], size: int
) -> Iterator[tuple[str, float, float, float, float]]:
    """Yield value, deviation and extremes of the metrics of a label of ``size`` queries, from the
    chances that it is predicted for these, and for others.
    """
    (hits, hit), (misses, miss) = map(_sum_distribution, sides)
    right, wrong = sides
    probability = np.outer(hit, miss)
    grids = _rates(hits[:, None], misses, size)
    lows = _rates(right.count(1.0), len(wrong), size)
    highs = _rates(len(right), wrong.count(1.0), size)
    for metric, values, low, high in zip(METRICS, grids, lows, highs, strict=True):
        mean = np.clip(np.sum(probability * values), low, high)
        std = np.sqrt(np.sum(probability * (values - mean) ** 2))
        yield metric, float(mean), float(std), float(low), float(high)


def _rates(hits: Any, wrong: Any, size: int) -> list[Array]:
    """Return precision, recall and F1."""
    counts = {"tp": hits, "fp": wrong, "fn": size - hits}
    return [np.nan_to_num(rate(metric, counts)) for metric in METRICS]


def _sum_distribution(chances: Sequence[float]) -> tuple[Floats, Floats]:
    """Return how many of some independent events may happen, and the probability of each number.

    >>> _sum_distribution([1.0, 0.5, 0.5])
    (array([1, 2, 3]), array([0.25, 0.5 , 0.25]))
    """
    parts = [np.array([1 - chance, chance]) for chance in chances if chance < 1] or [np.ones(1)]
    while len(parts) > 1:
        pairs = zip_longest(parts[::2], parts[1::2], fillvalue=np.ones(1))
        parts = [np.convolve(first, second) for first, second in pairs]
    likely = np.flatnonzero(parts[0] > NEGLIGIBLE)
    numbers = np.arange(likely[0], likely[-1] + 1)
    return chances.count(1.0) + numbers, parts[0][numbers]
