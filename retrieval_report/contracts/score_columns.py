"""The columns of frames about lists and scores, and of input frames."""

from __future__ import annotations

from retrieval_report.contracts.columns import SHARED, flag, frame, given, like, number, text, whole

MODEL_NAME = given(
    "model", "Model", "what produced the list; 'model' if absent", "id", optional=True
)
ITEM = given("item", "Item", "the retrieved item", "id")
DISTANCE = given("distance", "Distance", "small is near; this or score", "number", optional=True)
ORDER_SCORE = given("score", "Score", "large is near; this or distance", "number", optional=True)
RELEVANCE = given("relevance", "Relevance", "graded relevance, at least 0", "grade")
COUNT = given(
    "count", "Count", "how many items share model, query, distance and relevance", "integer"
)
IS_RETRIEVED = given(
    "retrieved",
    "Retrieved",
    "false: relevant items of the query that other models retrieved and this one did not, without "
    "distance; with this "
    "column, counts of several models tell R",
    "boolean",
    optional=True,
)
ENDS = given(
    "truncated",
    "Lists are",
    "how the lists of the model end: no (they hold all items), between_ties or within_tie; null: "
    "not known",
    "word",
    optional=True,
)
ROW = given(
    "row",
    "Row",
    "file order, which naive scores use; the row's position if absent",
    "integer",
    optional=True,
)
MARKS = (
    given("mask", "Mask", "rows with false are removed from the list", "boolean", optional=True),
    given("weight", "Weight", "weight of the item (KerasRS's rule)", "weight", optional=True),
    ROW,
)
LISTED = (MODEL_NAME, SHARED["query"], ITEM, DISTANCE, ORDER_SCORE)

# What is passed in; a frame that was read has these columns too.
GIVEN = {
    "rankings": frame(
        *LISTED,
        RELEVANCE._replace(
            meaning="graded relevance, at least 0; may come from judgements instead", optional=True
        ),
        *MARKS,
        by="read_rankings lists.resolve_ties",
    ),
    "counts": frame(
        *(MODEL_NAME, "query", DISTANCE, ORDER_SCORE, RELEVANCE, COUNT, IS_RETRIEVED, ENDS),
        by="count_ties count_ties_to codes.count_codes",
    ),
    "judgements": frame(
        "query",
        ITEM._replace(meaning="the judged item"),
        RELEVANCE,
        by="read_judgements lists.neighbour_judgements",
    ),
    "query_facts": frame(
        "query",
        given("label", "Label", "class of the query, for macro means", "label", optional=True),
        given(
            "weight", "Weight", "weight of the query, for weighted means", "weight", optional=True
        ),
        given(
            "n_relevant",
            "Relevant",
            "relevant items of the query, retrieved or not",
            "integer",
            optional=True,
        ),
        by="read_queries codes.count_relevant",
    ),
}

COUNTED = (
    text("frame", "Frame", "the frame received"),
    whole("rows", "Rows", "its rows"),
    whole("models", "Models", "different models"),
    like("queries", "different queries"),
    whole("items", "Items", "different items"),
)

SIMILAR = (
    number("tau_b", "Kendall’s τ_b", "of the shared items, corrected for ties"),
    number("tau_ap", "τ_AP", "AP correlation of the shared items, mean over all tie orders"),
    number("tau_ap_low", "τ_AP at least", "the smallest value over all orders of the ties"),
    number("tau_ap_high", "τ_AP at most", "the largest value over all orders of the ties"),
    number("rbo_w", "RBO^w", "extrapolated rank-biased overlap with tied items at the same rank"),
    number(
        "rbo_a",
        "RBO^a",
        "rank-biased overlap, mean over the orders of ties (of lists of one length; else nearly)",
    ),
    number("rbo_b", "RBO^b", "rank-biased overlap corrected for ties"),
    number("rbo_low", "RBO at least", "the smallest value over all orders of the ties"),
    number("rbo_high", "RBO at most", "the largest value over all orders of the ties"),
)

SCORED = {
    "scores": frame(
        "model query metric cutoff policy",
        like("value", "the score; empty if the query was left out"),
        like(
            "std",
            "standard deviation of the score under random tie order; empty for naive, best, worst, "
            "and for "
            "truncated scores",
        ),
        whole("items", "Items", "length of the list"),
        like(
            "n_relevant",
            "R, relevant items of the query: all judged ones, or n_relevant of the queries frame, "
            "or those "
            "that the models retrieved (see pooled); empty: there are judgements, but none of this "
            "query",
        ),
        "truncated pooled",
        by="evaluate evaluate_to systems.evaluate_like codes.radius_scores "
        "lists.judgement_coverage lists.recall_curve",
    ),
    "summary": frame(
        "model metric cutoff policy value tie_std lowest highest query_se ci_low ci_high queries",
        "no_relevant missing unjudged truncated_share pooled",
        by="summarise",
    ),
    # One row for every model: what tables for reading make of a summary.
    "board": frame(
        "model metric cutoff measure expected tie_std naive naive_error shuffled lowest highest "
        "truncated_share",
        "query_se ci_low ci_high interval queries no_relevant missing unjudged rank",
        text("tie_ranks", "Ranks by ties", "ranks under random tie order alone (95% interval)"),
        text("query_ranks", "Ranks by queries", "ranks that the tests over the queries leave open"),
    ),
    "shuffled": frame(
        "model metric cutoff",
        whole("draw", "Draw", "number of the random order, from 0"),
        like("value", "mean over the queries under this order"),
        by="shuffled_means",
    ),
    "queries": frame(
        "model query metric cutoff naive",
        like("expected", "exact mean of the score over all tie orders"),
        "lowest highest std",
        number("spread", "Spread", "highest − lowest"),
        "naive_error truncated",
        by="lists.query_table",
    ),
    "profile": frame(
        "model cutoff",
        like("queries", "lists with an item"),
        number("cut_share", "Cut a tie", "share of them whose cutoff splits a tie", "share"),
        number(
            "mixed_share",
            "… that matters",
            "share of the split ties that hold different relevances",
            "share",
        ),
        number(
            "ends_in_cut_tie",
            "End in a cut tie",
            "share of lists whose cutoff reaches into a last tie that the end of the list may have "
            "cut",
            "share",
        ),
        number(
            "tie_median",
            "Median tie",
            "items of the ties that reach into the top k: median",
            "tenth",
        ),
        number(
            "tie_p90",
            "90th percentile",
            "items of the ties that reach into the top k: 90th percentile",
            "tenth",
        ),
        whole("tie_max", "Largest tie", "items of the ties that reach into the top k: largest"),
        number(
            "tied_items",
            "Tied items",
            "share of the top k that shares its distance with another item",
            "share",
        ),
        number(
            "mixed_items",
            "In mixed ties",
            "share of the top k that lies in a tie of different relevances",
            "share",
        ),
        number("items", "Items", "length of the lists (median)", "tenth"),
        number("distances", "Distances", "different distances in a list (median)", "tenth"),
        number(
            "bits",
            "Bits",
            "bits of information that distances give about the order (median)",
            "tenth",
        ),
        number(
            "near_ties",
            "Near ties",
            "share of the gaps between neighbours that are no larger than rounding errors",
            "share",
        ),
        by="tie_profile",
    ),
    "hints": frame(
        like("model", "the model; empty: all of them"),
        text("hint", "Hint", "what kind of oddity"),
        like("value", "the number that the hint is based on"),
        text("message", "Message", "the same in words"),
        by="tie_hints",
    ),
    "truncation": frame(
        "model cutoff",
        text(
            "truncated",
            "Its lists",
            "how the lists are treated: no (they hold all items), between_ties (items may follow "
            "their last tie) or "
            "within_tie (items may also be missing from their last tie)",
        ),
        text("reason", "Because", "what says or proves it; not known: nothing does"),
        whole("lists", "Lists", "lists with an item"),
        whole("shortest", "Shortest", "items of the shortest list"),
        whole("longest", "Longest", "items of the longest list"),
        number(
            "open_share",
            "Open",
            "share of the lists where the cutoff reaches items that may be missing",
            "share",
        ),
        whole(
            "sufficient_depth",
            "Depth enough",
            "items per query that would probably have been enough: the cutoff plus four times the "
            "largest tie "
            "seen; empty: nothing is open, or there is no way to tell",
        ),
        by="truncated_lists",
    ),
    "ties_at_cutoff": frame(
        "model query",
        whole("first", "From rank", "first rank of the tie"),
        whole("last", "To rank", "last rank of the tie"),
        whole("size", "Items in the tie", "items of the tie"),
        whole("inside", "Counted", "items of the tie above the cutoff; chance decides which ones"),
        whole("relevant", "Relevant in it", "relevant items of the tie"),
        flag("mixed", "Matters", "whether its items differ in relevance"),
        by="lists.ties_at_cutoff",
    ),
    "tie_groups": frame(
        *LISTED,
        RELEVANCE,
        *MARKS,
        whole("rank", "Rank", "rank in the order received, from 1")._replace(optional=True),
        whole("tie", "Tie", "number of the tie in its list, from 1"),
        whole("tie_start", "From rank", "first rank of the tie"),
        whole("tie_size", "Items in the tie", "items of the tie"),
        whole("tie_relevant", "Relevant in it", "relevant items of the tie"),
        text("text", "Text", "content of the item, if a file of items was given")._replace(
            optional=True
        ),
        text(
            "image", "Picture", "the item as a data: address, if a file of items was given"
        )._replace(optional=True),
        by="lists.tie_groups lists.ranking_ties lists.drawn_order",
    ),
    "score_distribution": frame(
        like("value", "a score that some tie order gives the list"),
        number(
            "probability", "Probability", "share of all tie orders that give this score", "chance"
        ),
        text("method", "Found by", "exact (all orders that differ) or draws"),
        whole("orders", "Orders", "orders that the metric distinguishes, or that were drawn"),
        by="lists.score_distribution",
    ),
    "distribution": frame(
        "model metric cutoff",
        like("value", "a mean that random tie order can give"),
        number("probability", "Probability", "how probable it is, exactly", "chance"),
    ),
    "query_weights": frame(
        "model query metric",
        number("weight", "Weight", "weight of the list: Σ w·g / Σ g"),
        by="lists.query_weights",
    ),
    "radius": frame(
        "model",
        given("radius", "Radius", "largest distance of the items that count", "number"),
        number("precision", "Precision", "relevant items inside / items inside"),
        number("recall", "Recall", "relevant items inside / R"),
        number("f1", "F1", "2 · relevant items inside / (items inside + R)"),
        number("hit_rate", "Hit rate", "share of the queries with a relevant item inside"),
        like("queries", "queries in the means"),
        number("empty", "Empty", "share of all queries with no item inside", "share"),
        by="codes.evaluate_radius",
    ),
    "fingerprint": frame(
        *COUNTED,
        whole("distances", "Distances", "different distances or scores"),
        text("sha256", "SHA-256", "SHA-256 of the frame as CSV text in the order received"),
    ),
    # What the dashboard says of the frames that it holds.
    "facts": frame(*COUNTED, text("columns", "Columns", "names of its columns")),
    # How much of the lists is judged, in the mean over the queries.
    "coverage": frame(
        "model metric cutoff",
        like(
            "value",
            "judged: share of judged items; rbp_residual: what rank-biased precision leaves open",
        ),
        "tie_std queries",
    ),
    # Interpolated precision along recall, in the mean over the queries.
    "recall_curve": frame(
        "model",
        number("recall", "Recall", "level of recall, a share of the query's relevant items"),
        like(
            "value", "mean interpolated precision: the best at any rank with at least this recall"
        ),
        "tie_std lowest highest naive queries",
    ),
    "similarity_means": frame(
        "model_a model_b queries",
        number("none", "Same", "share of the queries with the same ranks and ties", "share"),
        number(
            "ties", "Only ties", "share of those whose lists some tie order makes the same", "share"
        ),
        number(
            "order", "Other order", "share of those with the same items in another order", "share"
        ),
        number("items", "Other items", "share of those with other items", "share"),
        *SIMILAR,
    ),
    "similarity": frame(
        "query",
        whole("items_a", "Items of A", "items of the first list"),
        whole("items_b", "Items of B", "items of the second list"),
        whole("shared", "Shared", "items of both lists"),
        text(
            "change", "Change", "none, ties (some tie order makes the lists equal), order or items"
        ),
        *SIMILAR,
        by="lists.ranking_similarity",
    ),
}
