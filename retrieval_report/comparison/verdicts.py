"""All verdicts: their words, the rules and thresholds that choose among them.

Charts, reports, the dashboard and commands receive the results of these rules and decide nothing
themselves.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import Array, Row
from retrieval_report.engines.check_scores import MEASURE, RANKING, check_fraction
from retrieval_report.kernels.lists import Bools
from retrieval_report.writing.numbers import chance_text

CHECK = "check your data"  # of one of the models: what they score says nothing of them
AT_RANDOM = "at random"  # one of the models, whose lists do what LIKE_CHANCE says
LIKE_CHANCE = "suit other queries just as well, or are ordered as if by chance"
CUT = "lists are cut"
DEPENDS = "depends on tie order"
NOT_SIGNIFICANT = "not significant"
NOT_OVER_RUNS = "not significant over runs"  # but over the queries of these runs alone
NOTHING_TO_COMPARE = "nothing to compare"
EQUAL = "equal"
LEVEL = "level"  # of the means of a pair, which no order reverses
UNTESTED = "safe from tie order"
SAFE = "safe"
TOO_FEW = "too few to tell"  # of a source of which there are few draws
TOO_FEW_RUNS = "too few runs"
VERDICTS = (
    CHECK,
    CUT,
    DEPENDS,
    AT_RANDOM,
    NOT_SIGNIFICANT,
    NOT_OVER_RUNS,
    EQUAL,
    UNTESTED,
    SAFE,
    NOTHING_TO_COMPARE,
)  # the least certain first
doubt = pl.col("verdict").replace_strict(
    VERDICTS, range(len(VERDICTS)), return_dtype=pl.Int8
)  # sorts pairs, the least certain first
SINGLE_MODEL = "single model"  # what a report says where there is no pair to judge
NO_SCORE = "no score"
SAME_WINNER, OTHER_WINNER = "same winner", "other winner"  # of a segment of the queries
NO_WORSE, WORSE, NOT_DECIDED = "no worse", "worse", "not decided"  # of a model and a margin
UNKNOWN_R = "R is not known"  # likewise, as are CUT and NOTHING_TO_COMPARE
TIE_RISK, ALPHA = 0.05, 0.05
SIGNIFICANT = (
    f"corrected p < {ALPHA:g}"  # what a mark of significance means, for tables that print it
)
PAIR = ["model_a", "model_b", *MEASURE]
REFERENCE_POLICIES = RANKING  # the first of these that was evaluated is the reference
ROUNDING = 1e-12  # means this close, relative to the larger, are equal
TOLERANCE = 1e-9  # of thresholds: 1/20 is 0.05


def with_verdicts(pairs: pl.DataFrame, *, tie_risk: float, alpha: float) -> pl.DataFrame:
    """Add ``disagree``, the policies that favour the other model, ``significant`` and ``verdict``
    to pairs of models as `compare` has them.

    Whether a pair depends on tie order follows from the probability of a reversal. Where that is
    not known, a policy that favours the other model decides; elsewhere it is one order among many,
    and no more than a fact. One that shows a draw favours none.

    Parameters
    ----------
    pairs
        With the keys of a comparison and its columns ``value_a``, ``value_b``, ``p_tie_high``,
        ``p_tie_method``, ``tied_queries`` and ``family_p``.
    tie_risk, alpha
        The largest accepted risk, and the smallest p-value that is not significant.

    Examples
    --------
    >>> pairs = pl.DataFrame(
    ...     {
    ...         "model_a": list("abcd"),
    ...         **dict.fromkeys(("model_b", "metric", "cutoff"), "-"),
    ...         "policy": "expected",
    ...         "value_a": [0.5, 0.5, 0.3, 0.3],
    ...         "value_b": [0.3, 0.3, 0.1 + 0.2, 0.3],
    ...         "p_tie_high": [1 / 20, 0.06, None, None],
    ...         "p_tie_method": "normal",
    ...         "tied_queries": [1, 1, 0, 1],
    ...         "family_p": 0.01,
    ...     }
    ... )
    >>> with_verdicts(pairs, tie_risk=TIE_RISK, alpha=ALPHA)["verdict"].to_list()
    ['safe', 'depends on tie order', 'equal', 'depends on tie order']

    Naive scores that favour the other model decide only where the probability is not known.

    >>> naive = pairs.with_columns(policy=pl.lit("naive"), value_a="value_b", value_b="value_a")
    >>> pairs = pairs.with_columns(p_tie_high=pl.Series([1e-9, None, None, None]))
    >>> found = with_verdicts(pl.concat([pairs, naive]), tie_risk=TIE_RISK, alpha=ALPHA)
    >>> found.select("disagree", "verdict").rows()[:2]
    [('naive', 'safe'), ('naive', 'depends on tie order')]
    """
    order, level = pl.col("order"), pl.col("order") == 0
    check_fraction("tie_risk", tie_risk)
    check_fraction("alpha", alpha)
    pairs = pairs.with_columns(order=order_of("value_a", "value_b")).with_columns(
        order.filter(policy=name).first().over(PAIR).alias(f"order_{name}")
        for name in REFERENCE_POLICIES
    )
    objections = [
        pl.when(pl.col(f"order_{name}") * order < 0).then(pl.lit(name))
        for name in REFERENCE_POLICIES
    ]
    risky = pl.col("p_tie_high") > tie_risk * (1 + TOLERANCE)
    rules = {
        NOTHING_TO_COMPARE: order.is_null(),
        CUT: (pl.col("p_tie_method") == "truncated") & risky.fill_null(True),
        DEPENDS: risky.fill_null(pl.col("disagree") != "") | (level & (pl.col("tied_queries") > 0)),
        EQUAL: level,
        UNTESTED: pl.col("family_p").is_null(),
        SAFE: pl.col("significant"),
    }
    return pairs.with_columns(
        disagree=pl.concat_str(objections, separator=", ", ignore_nulls=True),
        significant=significant(pl.col("family_p"), alpha),
    ).with_columns(verdict=first_that_holds(rules, NOT_SIGNIFICANT))


def first_that_holds(rules: Mapping[str, pl.Expr], otherwise: str | None) -> pl.Expr:
    """Return the word of the first rule that holds.

    >>> pl.select(first_that_holds({"negative": pl.lit(1) < 0, "whole": pl.lit(True)}, None)).item()
    'whole'
    """
    words = [pl.when(rule).then(pl.lit(word)) for word, rule in rules.items()]
    return pl.coalesce(*words, pl.lit(otherwise, pl.String))


def significant(p: Any, alpha: float = ALPHA) -> Any:
    """Whether p-values are below alpha; 1/20 is not below 0.05, however it is rounded."""
    return p < alpha * (1 - TOLERANCE)


def is_significant(p: object) -> bool:
    """Whether one p-value is below 0.05; none is not.

    >>> is_significant(0.04), is_significant(1 / 20), is_significant(None)
    (True, False, False)
    """
    return isinstance(p, float) and significant(p)


def reverses(share: float) -> bool:
    """Whether a chance or share of a reversal is above the threshold for ties.

    >>> reverses(0.2), reverses(1 / 20)
    (True, False)
    """
    return share > TIE_RISK * (1 + TOLERANCE)


def depends(on: str, chance: float | None, *, enough: bool = True, few: str = TOO_FEW) -> str:
    """Return the word for the chance that a new draw of a source reverses two models; of a source
    of which there are too few draws, that there are.

    >>> depends("the seed", 0.2), depends("the seed", 0.05), depends("the seed", None)
    ('depends on the seed', 'safe', 'nothing to compare')
    >>> depends("the judge", 0.0, enough=False)
    'too few to tell'
    """
    if not enough:
        return few
    if chance is None:
        return NOTHING_TO_COMPARE
    return f"depends on {on}" if reverses(chance) else SAFE


def least_certain(verdicts: Iterable[str]) -> str:
    """Return the least certain of the verdicts on pairs of models with equal means.

    >>> least_certain(["equal", "depends on tie order"]), least_certain([])
    ('depends on tie order', 'equal')
    """
    return min(verdicts, key=VERDICTS.index, default=EQUAL)


def surely_depends(pair: Row) -> bool:
    """Whether a pair that may depend on tie order does so whatever the chance is within its bounds."""
    low = pair.get("p_tie_low")
    return bool(pair["disagree"]) if low is None else low >= TIE_RISK


def equal_means(first: object, second: object) -> bool:
    """Whether two means are equal to 12 digits, as `order_of` has it.

    >>> equal_means(0.1 + 0.2, 0.3), equal_means(0.3, None)
    (True, False)
    """
    return first is not None and second is not None and bool(equal_values(first, second))


def equal_values(first: Any, second: Any) -> Any:
    """Where two arrays are equal to 12 digits."""
    return np.abs(first - second) <= ROUNDING * np.maximum(np.abs(first), np.abs(second))


def accidental_winners(printed: Sequence[str], best: Sequence[str]) -> tuple[str, ...]:
    """Who is printed first by an accident of tie order; whoever shares the first rank in
    expectation is not.

    >>> accidental_winners(["a"], ["b"]), accidental_winners(["a", "b"], ["b"])
    (('a',), ('a',))
    """
    return tuple(name for name in printed if name not in best)


def segment_rule(alpha: float) -> pl.Expr:
    """The verdict on a segment: whether its winner is that
    of all queries, and if not, whether that is significant.
    """
    winner = pl.col("winner")
    return first_that_holds(
        {
            NO_SCORE: winner.is_null(),
            SAME_WINNER: winner == pl.col("overall_winner"),
            OTHER_WINNER: significant(pl.col("segments_p"), alpha),
        },
        NOT_SIGNIFICANT,
    )


def margin_rule(
    no_worse_p: Array,
    worse_p: Array,
    alpha: float,
    open_scores: Mapping[str, Bools],
) -> list[str]:
    """The verdict on models that are held to a margin; alpha is below 0.5, so that no two hold.

    ``open_scores`` says for which models scores are not known, by the word for the reason; the
    p-values then hold for everything that these scores may be.

    >>> margin_rule(np.array([0.01, 0.9, 0.5]), np.array([0.99, 0.02, 0.5]), 0.05, {})
    ['no worse', 'worse', 'not decided']
    >>> margin_rule(
    ...     np.array([0.01, np.nan]), np.array([0.99, 0.5]), 0.05, {CUT: np.array([True, True])}
    ... )
    ['no worse', 'lists are cut']
    """
    rules = {NO_WORSE: no_worse_p < alpha, WORSE: worse_p < alpha, **open_scores}
    verdicts: list[str] = np.select(list(rules.values()), list(rules), NOT_DECIDED).tolist()
    return verdicts


def reworded(rows: pl.DataFrame, where: pl.Expr, verdict: str) -> pl.DataFrame:
    """Return rows with another verdict in some of them.

    >>> rows = pl.DataFrame({"verdict": ["safe", "equal"]})
    >>> reworded(rows, pl.col("verdict") == "safe", "lists are cut")["verdict"].to_list()
    ['lists are cut', 'equal']
    """
    return rows.with_columns(verdict=pl.when(where).then(pl.lit(verdict)).otherwise("verdict"))


def without_verdicts(pairs: pl.DataFrame, suspects: Sequence[str]) -> pl.DataFrame:
    """Return pairs as `flips` has them, where those of a model whose data need a check have no
    verdict and no p-value.
    """
    doubtful = pl.any_horizontal(pl.col("model_a", "model_b").is_in(suspects))
    tested = "family_p", "p_tie", "p_tie_low", "p_tie_high", "p_tie_method", "p_equal"
    return reworded(pairs.with_columns(pl.when(~doubtful).then(pl.col(tested))), doubtful, CHECK)


def without_praise(rows: pl.DataFrame, at_random: Sequence[str]) -> pl.DataFrame:
    """Return rows of `flips` or `no_worse`, where nothing is safe or no worse that holds a model
    whose lists chance, or other queries, might have: what it scores says little.
    """
    names = pl.col("model_a", "model_b") if "model_a" in rows.columns else pl.col("model")
    praised = pl.any_horizontal(names.is_in(at_random))
    praised &= pl.col("verdict").is_in([SAFE, UNTESTED, NO_WORSE])
    return reworded(rows, praised, AT_RANDOM)


def both_among(models: Sequence[str]) -> pl.Expr:
    """Where both models of a pair are among these."""
    return pl.all_horizontal(pl.col("model_a", "model_b").is_in(models))


def order_of(first: str, second: str) -> pl.Expr:
    """Return which of two columns is larger, as 1, 0 or
    −1; values that differ only by rounding are equal.
    """
    difference = pl.col(first) - pl.col(second)
    margin = ROUNDING * pl.max_horizontal(pl.col(first).abs(), pl.col(second).abs())
    return pl.when(difference.abs() <= margin).then(0.0).otherwise(difference.sign())


def chance_of(row: Row) -> str:
    """The chance of a reversal of one pair, and whether it is exact, or that the pair is level; of
    a row of `compare` or `flips`.

    >>> chance = {"p_tie": 1e-30, "p_tie_low": 0.0, "p_tie_high": 1e-9, "p_tie_method": "normal"}
    >>> level = {**dict.fromkeys(chance), "value_a": 0.5, "value_b": 0.5}
    >>> chance_of(chance), chance_of(level), chance_of({**level, "verdict": CHECK})
    ('< 0.0001', 'level', '–')
    """
    is_level = equal_means(row.get("value_a"), row.get("value_b"))
    if is_level and row["p_tie_method"] is None and row.get("verdict") != CHECK:
        return LEVEL
    text = chance_text(row["p_tie"], row.get("p_tie_low"), row.get("p_tie_high"))
    return f"{text} (exact)" if row["p_tie_method"] == "exact" else text


def with_chances(pairs: pl.DataFrame, name: str = "p_tie") -> pl.DataFrame:
    """Return pairs with the result of `chance_of` in a column of this name."""
    texts = [chance_of(row) for row in pairs.iter_rows(named=True)]
    return pairs.with_columns(pl.Series(name, texts, dtype=pl.String))
