"""The columns of frames that compare models with each other, with other evaluators, and with
earlier reports.
"""

from __future__ import annotations

from retrieval_report.contracts.columns import SHARED, flag, frame, like, number, text, whole
from retrieval_report.contracts.significance_tests import TESTS

MEANS = {
    "expected": "exact mean over all tie orders",
    "shuffled": "mean over the random draws",
    "naive": "mean with ties in the naive order: that received, unless an option names another",
    "lowest": "mean under the worst tie order",
    "highest": "mean under the best tie order",
}
PAIRED = like("queries", "paired queries")
DISAGREE = text(
    "disagree",
    "Reversed in",
    "which of shuffled and naive favour the other model than the expected means do",
)
SEGMENT = text("segment", "Segment", "the queries that share this value")
VERDICT = text(
    "verdict", "Verdict", "whether the order of the two models can be trusted, and if not, why"
)

COMPARED = {
    "comparison": frame(
        "model_a model_b metric cutoff policy value_a value_b difference",
        like("ci_low", "lower end of the 95% interval of the difference"),
        "ci_high",
        *(
            number(f"{name}_p", f"p ({test.title})", f"{test.meaning}, two-sided", "chance")
            for name, test in TESTS.items()
        ),
        text("permutation_method", "Patterns", "exact (all patterns) or sampled"),
        "family_p",
        number("bh_p", "p (BH)", "p-value after Benjamini and Hochberg's correction", "chance"),
        "family family_method",
        number("effect_size", "Cohen’s d", "Cohen's d of the paired differences", "signed"),
        whole("wins", "A wins", "queries that model_a wins"),
        whole("ties", "Equal", "queries with equal scores"),
        whole("losses", "B wins", "queries that model_b wins"),
        PAIRED,
        "unpaired difference_std",
        whole("tied_queries", "Tied queries", "paired queries whose score depends on tie order"),
        "p_tie p_tie_low p_tie_high p_equal p_tie_method",
        whole(
            "truncated_queries",
            "Cut queries",
            "paired queries whose score reaches into a tie that the end of a list may have cut",
        ),
        "pooled",
        by="compare",
    ),
    "flips": frame(
        "model_a model_b metric cutoff",
        *(
            number(
                f"{name}_{side}", f"{name.capitalize()} {side.upper()}", f"{meaning}, model_{side}"
            )
            for name, meaning in MEANS.items()
            for side in "ab"
        ),
        like(
            "value_a",
            "mean of model_a to which the verdict refers: over the paired queries, if they were "
            "compared",
        ),
        like("value_b", "mean of model_b to which the verdict refers"),
        "unpaired",
        DISAGREE,
        flag(
            "overlap", "Overlap", "whether some tie orders put one model ahead and some the other"
        ),
        "difference_std p_tie p_tie_low p_tie_high p_equal p_tie_method pooled family_p family "
        "family_method",
        VERDICT,
        by="flips",
    ),
    "agreement": frame(
        "metric cutoff",
        text("policy_a", "Policy", "one policy"),
        text("policy_b", "Other policy", "another policy"),
        number(
            "tau", "Kendall’s τ", "Kendall's τ-b between the two rankings of the models", "signed"
        ),
        flag("same_winner", "Same winner", "whether both rank the same models first"),
        whole("models", "Models", "models ranked by both"),
        by="stats.rank_agreement",
    ),
    "leaderboard": frame(
        "metric cutoff policy rank model value tie_std lowest highest ci_low ci_high",
        whole(
            "tie_rank_low", "Best by ties", "best rank under random tie order alone (95% interval)"
        ),
        whole(
            "tie_rank_high",
            "Worst by ties",
            "worst rank under random tie order alone (95% interval)",
        ),
        whole(
            "query_rank_low",
            "Best by queries",
            "best rank that the tests of all pairs leave open: 1 + models significantly better",
        ),
        whole(
            "query_rank_high",
            "Worst by queries",
            "worst rank that they leave open: models − models significantly worse",
        ),
        like(
            "queries",
            "queries for which all models have a score; all but the tests is computed on them",
        ),
        like("unpaired", "queries left out"),
        SHARED["letters"]._replace(optional=True),
        by="leaderboard",
    ),
    "letters": frame("metric cutoff policy model value letters", by="stats.compact_letters"),
    "tie_ranks": frame(
        "metric cutoff policy model value rank",
        whole("rank_low", "Best rank", "best rank of the interval"),
        whole("rank_high", "Worst rank", "worst rank of the interval"),
        number(
            "first_share",
            "First",
            "share of the draws in which no model is surely ahead of this one",
            "share",
        ),
        text("method", "Found by", "normal, draws, exact or bounds"),
        by="stats.tie_ranks",
    ),
    "no_worse": frame(
        "model",
        text("baseline", "Baseline", "the model that the others are compared with"),
        "metric cutoff policy",
        like("value", "mean of the model over the paired queries"),
        number("baseline_value", "Baseline score", "mean of the baseline over the paired queries"),
        like("difference", "value − baseline_value", title="Model − baseline"),
        number("bound_low", "Lower bound", "lower confidence bound of the difference", "signed"),
        number("bound_high", "Upper bound", "upper confidence bound of the difference", "signed"),
        number("margin", "Margin", "the largest loss that does not matter"),
        number(
            "no_worse_p",
            "p (no worse)",
            "p-value against being worse by the margin or more",
            "chance",
        ),
        number(
            "worse_p", "p (worse)", "p-value against being worse by less than the margin", "chance"
        ),
        number(
            "equivalent_p",
            "p (equivalent)",
            "p-value against differing by the margin or more, either way",
            "chance",
        ),
        VERDICT._replace(
            meaning="no worse, worse, lists are cut, R is not known, nothing to compare or not "
            "decided; the first two "
            "hold for all that cut lists and an unknown R leave open"
        ),
        "difference_std",
        number(
            "detectable",
            "Detectable",
            "the smallest loss that these queries would show with probability 0.8",
        ),
        whole(
            "queries_needed",
            "Queries needed",
            "how many would show, with probability 0.8, that a model that loses nothing is no "
            "worse by the margin",
        ),
        PAIRED,
        "unpaired",
        by="stats.no_worse",
    ),
    "deciding": frame(
        "model_a model_b query metric cutoff policy",
        like("value_a", "score of model_a"),
        like("value_b", "score of model_b"),
        "difference",
        like("lowest", "the least difference that tie order could show"),
        like("highest", "the largest difference that tie order could show"),
        "difference_std",
        number(
            "share",
            "Share",
            "part of the difference of the means that comes from this query",
            "share",
        ),
        flag(
            "decides",
            "Decides",
            "whether the query is in the smallest set without which the winner would not be ahead",
        ),
        flag(
            "order_unsure",
            "Tie order may reverse it",
            "whether tie order can reverse the difference",
        ),
        by="stats.deciding_queries",
    ),
    "segments": frame(
        SEGMENT,
        "metric cutoff policy",
        like("queries", "queries of the segment"),
        text("winner", "Winner", "model with the highest mean in the segment"),
        like("value", "its mean"),
        text("overall_winner", "Winner of all", "model with the highest mean over all queries"),
        number("overall_value", "Its score here", "mean of that model in the segment"),
        like(
            "difference",
            "winner − overall winner, on the queries of both",
            title="Winner − overall",
        ),
        "difference_std family_p",
        number(
            "segments_p",
            "p (segments)",
            "family_p after Holm's correction over the segments",
            "chance",
        ),
        VERDICT._replace(meaning="same winner, other winner or not significant"),
        by="stats.segment_winners",
    ),
    "costs": frame(
        text("cost", "Cost", "the kind of cost"),
        "metric cutoff policy model",
        number("amount", "Amount", "what the model costs", "amount"),
        "value tie_std lowest highest ci_low ci_high",
        flag("front", "On the front", "whether no other model costs as little and scores as much"),
        flag(
            "front_in_every_order",
            "In every order",
            "the same, in its worst tie order and the others' best",
        ),
        flag(
            "front_in_some_order",
            "In some order",
            "the same, in its best tie order and the others' worst",
        ),
        text("beaten_by", "Beaten by", "the best-scoring model that beats it; empty on the front"),
        by="stats.cost_table",
    ),
    "audit": frame(
        "system version call model",
        like("metric", "the metric asked for"),
        "cutoff definition",
        number(
            "prints",
            "Prints",
            "the mean that it prints; empty if its order is unknown and decides it, or if it would "
            "raise an error",
        ),
        number("prints_low", "At least", "the smallest value that it could print"),
        number("prints_high", "At most", "the largest value that it could print"),
        number("exact", "Exact", "the exact value of the metric asked for"),
        like("expected", "exact mean over all tie orders of the system's own definition"),
        "lowest highest tie_std",
        number(
            "off",
            "By tie order",
            "prints − expected: effect of tie order; empty where prints is",
            "signed",
        ),
        number(
            "z", "z", "effect of tie order, in standard deviations of random tie order", "tenth"
        ),
        number(
            "definition_shift",
            "By definition",
            "expected − exact: effect of its definition",
            "signed",
        ),
        text(
            "winner",
            "Names as best",
            "model with the highest printed value; if order is open, all that could have it, "
            "joined by 'or'",
        ),
        text("exact_winner", "Best without the accident", "model with the highest expected value"),
        flag(
            "same_winner",
            "Same winner",
            "whether it favours the model with the highest expected value; empty: it could go "
            "either way",
        ),
        "order note",
        by="audit",
    ),
    "conventions": frame(
        "definition call order system version",
        like("metric", "name of the metric"),
        whole(
            "row_order_up_to",
            "Rows up to",
            "lists of up to this many items keep the rows as received",
        ),
        flag(
            "float32", "Float32", "whether distances are rounded to float32 first, which makes ties"
        ),
        text("seen", "Sees", "whose relevant items count: those judged, or those of the list"),
        text("cutoffs", "Cutoffs", "any, whole (lists only) or given (a whole number only)"),
        flag("binary", "Binary", "whether it treats relevances as 0 and 1 only"),
        number(
            "relevant_from",
            "Relevant from",
            "smallest grade that is relevant; empty: the caller decides",
        ),
        text("positive", "Scores of 0", "what it does with items whose score is not above 0"),
        flag("short_lists", "Short lists", "whether it accepts lists with fewer than k items"),
        text("no_relevant", "Nothing relevant", "what a query without a relevant item scores"),
        text("missing_query", "No list", "what a query without rows scores"),
        "note",
        by="systems.conventions",
    ),
    "changes": frame(
        "model metric cutoff policy",
        number("before", "Before", "mean of the earlier report"),
        number("after", "After", "mean of the later report"),
        like("difference", "after − before", title="After − before"),
        text("change", "Change", "same (every digit), changed, new or gone"),
        flag("same_data", "Same data", "whether both reports are about the same data"),
        flag("same_parameters", "Same parameters", "whether both reports use the same settings"),
        by="report.compare_reports",
    ),
}
