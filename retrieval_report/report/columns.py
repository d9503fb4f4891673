"""What every column of a report's files means."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from retrieval_report.analysis.verdicts import VERDICTS

__all__ = ["describe_columns", "meaning"]

ANYWHERE = {
    "model": "what produced the ranked lists",
    "query": "the query",
    "metric": "the metric with its parameters, without the cutoff",
    "cutoff": "positions that count; empty: the whole list",
    "policy": "order inside ties: expected (exact mean of all), naive (as received), shuffled (random), best, worst",
    "model_a": "first model of the pair, by name",
    "model_b": "second model of the pair",
    "queries": "queries in the mean",
    "lowest": "under the worst order inside ties; of truncated scores the least of all completions of the lists",
    "highest": "under the best order inside ties; of truncated scores the most of all completions of the lists",
    "tie_std": "standard deviation of the mean under random tie order: exact, but of policy shuffled that of the "
    "draws; empty where a score has none, as truncated ones have",
    "p_tie": "probability that random tie order shows the pair in the other order",
    "p_tie_low": "the least that p_tie can be",
    "p_tie_high": "the most that p_tie can be",
    "p_equal": "probability that random tie order shows the two means equal; empty: not known",
    "p_tie_method": "how p_tie was found: exact (all orders), convolved (all orders of every list, the sum bounded), "
    "shuffles (some orders drawn; bounds miss once in 10 000), normal (from exact moments, bounded), bounds (they "
    "alone are known) or truncated (lists cut inside a tie)",
    "truncated": "whether the score reaches into what the cut of its list leaves open",
    "pooled": "whether R counts only the relevant items that some model retrieved",
    "family_p": "p-value that allows for all pairs of the family together",
    "family_method": "how: holm (correction of single tests), tukey (permutation of all models) or max-t",
    "expected": "mean over all orders inside ties: exact, but of truncated scores an estimate from the rows given",
    "truncated_share": "share of the queries in the mean whose score reaches into what the cut of its list leaves open",
}
OF_FRAME = {
    "scores": {
        "value": "the score; empty where the query was left out",
        "std": "standard deviation of the score under random tie order; empty for naive, best, worst, and where the "
        "score is truncated",
        "items": "length of the list",
        "n_relevant": "R, relevant items of the query: all judged ones, or n_relevant of the queries frame, or those "
        "that the models retrieved (see pooled); empty: there are judgements, and none of this query",
    },
    "summary": {
        "value": "mean score",
        "query_se": "standard error of the mean under sampling of queries",
        "ci_low": "lower end of the 95% interval under sampling of queries",
        "ci_high": "upper end of that interval",
        "no_relevant": "queries without a relevant item",
        "missing": "queries without rows",
        "unjudged": "queries without judgements",
    },
    "comparison": {
        "value_a": "mean of model_a over the paired queries",
        "value_b": "mean of model_b over the paired queries",
        "difference": "value_a − value_b",
        "ci_low": "lower end of the 95% interval of the difference",
        "ci_high": "upper end of that interval",
        "t_p": "paired t test, two-sided",
        "wilcoxon_p": "Wilcoxon's signed-rank test, two-sided",
        "permutation_p": "sign-flip permutation test, two-sided",
        "permutation_method": "exact (all patterns) or sampled",
        "bh_p": "p-value after Benjamini and Hochberg's correction",
        "family": "pairs that were corrected for together",
        "effect_size": "Cohen's d of the paired differences",
        "wins": "queries that model_a wins",
        "ties": "queries with equal scores",
        "losses": "queries that model_b wins",
        "queries": "paired queries",
        "unpaired": "queries that only one of the two has a score for",
        "tie_std": "standard deviation of the difference under random tie order",
        "tied_queries": "paired queries whose score depends on tie order",
        "truncated_queries": "paired queries whose score reaches into a tie that the end of a list may have cut",
    },
    "flips": {
        "disagree": "which of shuffled and naive name the other model than the expected means do",
        "overlap": "whether some tie orders show the one ahead and some the other",
        "value_a": "mean of model_a that the verdict speaks of: over the paired queries, where they were compared",
        "value_b": "mean of model_b that the verdict speaks of",
        "unpaired": "queries that only one of the two has a score for",
        "tie_std": "standard deviation of the difference of the expected means under random tie order",
        "verdict": ", ".join(VERDICTS),
        **{
            f"{name}_{side}": f"{text}, model_{side}"
            for side in "ab"
            for name, text in {
                "expected": "exact mean over all tie orders",
                "shuffled": "mean over the random draws",
                "naive": "mean in the order received",
                "lowest": "mean under the worst tie order",
                "highest": "mean under the best tie order",
            }.items()
        },
    },
    "agreement": {
        "policy_a": "one policy",
        "policy_b": "another policy",
        "tau": "Kendall's τ-b between the two rankings of the models",
        "same_winner": "whether both put the same models first",
        "models": "models ranked by both",
    },
    "profile": {
        "queries": "lists with an item",
        "cut_share": "share of them whose cutoff cuts a tie",
        "ends_in_cut_tie": "share of them whose cutoff reaches into a last tie that the end of the list may have cut",
        "mixed_share": "share of the cut ones where the tie holds different relevances",
        "tie_median": "items of the ties that reach into the top k: median",
        "tie_p90": "the same: 90th percentile",
        "tie_max": "the same: largest",
        "tied_items": "share of the top k that shares its distance with another item",
        "mixed_items": "share of the top k that stands in a tie of different relevances",
        "items": "length of the lists (median)",
        "distances": "different distances in a list (median)",
        "bits": "bits that the distance tells about the order (median)",
        "near_ties": "share of the gaps between neighbours that only rounding decides",
    },
    "hints": {
        "model": "the model; empty: all of them",
        "hint": "what kind of oddity",
        "value": "the number behind it",
        "message": "the same in words",
    },
    "truncation": {
        "truncated": "what the lists are taken to be: no (they hold all items), between_ties (cut behind a whole tie) "
        "or within_tie (the last tie may be cut)",
        "reason": "what says so",
        "lists": "lists with an item",
        "shortest": "items of the shortest list",
        "longest": "items of the longest list",
        "open_share": "share of the lists where the cutoff reaches into what the cut leaves open",
        "sufficient_depth": "items of every query that would probably have been enough: the cutoff and four times the "
        "largest tie seen; empty: nothing is open, or nothing tells",
    },
    "audit": {
        "system": "another evaluator",
        "version": "its version, as checked",
        "call": "its function or measure",
        "metric": "the metric asked for",
        "definition": "what the system computes, in this package's text form",
        "prints": "the mean that it prints; empty where its order is open and decides it, or it would raise an error",
        "prints_low": "the least that it could print",
        "prints_high": "the most that it could print",
        "exact": "the exact value of the metric asked for",
        "expected": "exact mean over all tie orders of the system's own definition",
        "off": "prints − expected: what tie order did; empty where prints is",
        "z": "off / tie_std",
        "definition_shift": "expected − exact: what its definition did",
        "winner": "model with the highest print; all that could have it, joined by 'or', where tie order is open",
        "exact_winner": "model with the highest expected value",
        "same_winner": "whether the two agree; empty where several models could win",
        "order": "its order inside ties",
        "note": "what else decides its numbers",
    },
    "queries": {
        "naive": "score in the order received",
        "expected": "exact mean of the score over all tie orders",
        "std": "standard deviation of the score under random tie order",
        "spread": "highest − lowest",
        "naive_error": "naive − expected",
    },
    "leaderboard": {
        "rank": "rank by the expected mean, 1 is best; equal means share one",
        "value": "mean of the expected scores, over the queries that all models have a score for",
        "letters": "models that share a letter cannot be told apart",
        "ci_low": "lower end of the 95% interval under sampling of queries",
        "ci_high": "upper end of that interval",
        "tie_rank_low": "best rank that random tie order gives the model (95% interval)",
        "tie_rank_high": "worst rank that random tie order gives the model (95% interval)",
        "query_rank_low": "best rank under sampling of queries (95% interval)",
        "query_rank_high": "worst rank under sampling of queries (95% interval)",
        "honest_difference": "largest difference that Tukey's test does not tell apart; empty: another test",
        "unpaired": "queries left out, as some model has no score for them",
    },
    "deciding": {
        "value_a": "expected score of model_a",
        "value_b": "expected score of model_b",
        "difference": "value_a − value_b",
        "tie_std": "standard deviation of the difference under random tie order",
        "lowest": "the least that the difference can be in any tie order",
        "highest": "the most that the difference can be in any tie order",
        "share": "share of the difference of the means that comes from this query",
        "decides": "whether it is among the fewest queries without which the winner would not be ahead",
        "order_unsure": "whether tie order can turn the difference around",
    },
    "segments": {
        "segment": "value of the column of the queries",
        "winner": "model with the highest mean in the segment",
        "value": "its mean",
        "overall_winner": "model with the highest mean over all queries",
        "overall_value": "its mean in the segment",
        "difference": "mean of the winner − mean of the overall winner, on the queries that both have",
        "tie_std": "standard deviation of the difference under random tie order",
        "segments_p": "family_p after Holm's correction over the segments",
        "verdict": "same winner, other winner, or not significant",
    },
    "no_worse": {
        "baseline": "the model that the others are held to",
        "value": "mean of the model",
        "baseline_value": "mean of the baseline",
        "difference": "value − baseline_value",
        "bound_low": "lower confidence bound of the difference",
        "bound_high": "upper confidence bound of the difference",
        "margin": "the largest loss that would not matter",
        "no_worse_p": "p-value against being worse by the margin or more",
        "worse_p": "p-value against being worse by less than the margin",
        "equivalent_p": "p-value against differing by the margin or more, either way",
        "verdict": "no worse, worse, or not decided",
        "tie_std": "standard deviation of the difference under random tie order",
        "detectable": "the smallest loss that these queries would have shown",
        "queries_needed": "queries needed to show a loss of the margin",
        "unpaired": "queries that only one of the two has a score for",
    },
    "costs": {
        "cost": "what kind of cost",
        "amount": "the cost of the model",
        "value": "mean of the model",
        "ci_low": "lower end of the 95% interval under sampling of queries",
        "ci_high": "upper end of that interval",
        "front": "whether no other model is as good for less or better for as much",
        "front_in_every_order": "the same with this model in its worst tie order and all others in their best",
        "front_in_some_order": "the same with this model in its best tie order and all others in their worst",
        "beaten_by": "the best of the models that beat it; empty on the front",
    },
    "distribution": {
        "value": "a mean that random tie order can give",
        "probability": "how probable it is, exactly",
    },
    "shuffled": {
        "draw": "number of the random order, from 0",
        "value": "mean over the queries under this order",
    },
    "fingerprint": {
        "frame": "the frame received",
        "rows": "its rows",
        "models": "different models",
        "queries": "different queries",
        "items": "different items",
        "distances": "different distances or scores",
        "sha256": "SHA-256 of the frame as CSV text in the order received",
    },
}


def meaning(frame: str, column: str) -> str:
    """Say what a column of a frame means.

    >>> meaning("summary", "value")
    'mean score'
    """
    return OF_FRAME.get(frame, {}).get(column) or ANYWHERE[column]


def describe_columns(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """A row for every column of the frames: ``frame``, ``column``, ``type``, ``meaning``."""
    rows = [
        (name, column, str(dtype), meaning(name, column))
        for name, frame in frames.items()
        for column, dtype in frame.schema.items()
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("frame", "column", "type", "meaning"), pl.String), orient="row")
