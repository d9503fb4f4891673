"""What is said where a score is an estimate: lists may be cut, or R is not known."""

import html
import re
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from retrieval_report.report import Report
from retrieval_report.study.caveats import notices, winner_sentences
from retrieval_report.study.html import render_html
from retrieval_report.study.terminal import summary_table

OPTIONS: Any = {"metrics": ("precision", "recall"), "cutoffs": (1, 10), "shuffles": 5}


@cache
def top_ten(models: int = 1, *, queries: int = 30, items: int = 2000) -> pl.DataFrame:
    """The ten nearest items of random 64-bit codes to each query, as an index returns them, an
    accident in each tie.
    """
    frames = []
    for model in range(models):
        random = np.random.default_rng(model)
        labels, asked = random.integers(0, 5, items), random.integers(0, 5, queries)
        centres = 0.5 + 0.4 * (random.random((5, 64)) - 0.5)
        codes = random.random((items, 64)) < centres[labels]
        distance = ((random.random((queries, 64)) < centres[asked])[:, None] != codes[None]).sum(
            axis=2
        )
        nearest = np.argsort(distance, axis=1, kind="stable")[:, :10]
        frames.append(
            pl.DataFrame(
                {
                    "model": [f"codes-{model}"] * queries * 10,
                    "query": np.repeat(np.arange(queries), 10),
                    "item": nearest.ravel(),
                    "distance": np.take_along_axis(distance, nearest, axis=1).ravel(),
                    "relevance": (labels[nearest] == asked[:, None]).ravel().astype(int),
                }
            )
        )
    # Codes of different models rank the same items; what is relevant is the query's.
    frame = pl.concat(frames)
    return frame.with_columns(relevance=pl.first("relevance").over("query", "item"))


@cache
def cut_report(models: int = 1) -> Report:
    asked = {**OPTIONS}
    study = rr.Study(top_ten(models), asked.pop("metrics"), **asked)
    return study.at("precision@10", "precision@1", "recall@1", "recall@10").contents()


NOT_KNOWN = (
    'precision@10 is an estimate: lists may be cut. If the lists are complete, pass truncated="no".'
)


def test_a_report_on_an_index_says_after_its_verdict_that_lists_may_be_cut():
    report = cut_report()
    assert report.notices == (NOT_KNOWN,)
    page = render_html(report, [])
    section = page[page.index('<section id="verdict"') : page.index('<section id="summary"')]
    paragraphs = re.findall(r"<p[^>]*><bdi>(.*?)</bdi>", section)
    assert paragraphs[0].startswith("codes-0 has an expected precision@10 of")
    assert html.unescape(paragraphs[-1]) == NOT_KNOWN
    assert "count_codes" not in section
    assert repr(report).splitlines()[-1] == NOT_KNOWN
    assert report._repr_html_().count("<p>") == 1 + len(report.verdict) + 1


WORDS: list[tuple[str, dict[str, Any], str]] = [
    ("precision@10", {}, 'lists may be cut. If the lists are complete, pass truncated="no".'),
    (
        "precision@10",
        {"truncated": "within_tie"},
        r"lists may be cut. Retrieve deeper: ties suggest at least \d\d items.",
    ),
    ("recall@10", {}, 'lists may be cut. Pass judgements, or truncated="no" if complete.'),
    ("recall@10", {"truncated": "within_tie"}, "lists may be cut. Pass judgements or n_relevant."),
    (
        "recall@1",
        {},
        r'R \(relevant items\) is unknown. Pass judgements, or truncated="no" if complete.',
    ),
    ("precision@all", {"truncated": "within_tie"}, "lists may be cut. Retrieve deeper."),
]


@pytest.mark.parametrize(("measure", "options", "words"), WORDS)
def test_one_line_of_at_most_16_words_where_the_headline_is_an_estimate(
    measure: str, options: dict[str, Any], words: str
):
    study = rr.Study(top_ten(), measure, shuffles=2, **options)
    [line] = study.notices
    assert re.fullmatch(rf"{study.measure} is an estimate: {words}", line)
    assert len(line.split()) <= 16
    assert study.verdict[-1] == line
    assert study.verdict[0] != line


def test_where_only_some_models_are_estimates_they_are_named():
    truncated = {"codes-0": "within_tie", "codes-1": "no"}
    study = rr.Study(top_ten(2), "precision@10", truncated=truncated, shuffles=2)
    [said] = study.notices
    assert said.startswith(
        "precision@10 is an estimate for 1 of 2 models (codes-0), whose lists may be cut. "
    )
    assert re.search(
        r" Retrieve deeper: ties suggest at least \d\d items\.$", said
    )  # what to do is said, too
    some = pl.col("model") == "codes-0", pl.col("truncated_share") * 0.25
    [said] = notices(study.summary.with_columns(truncated_share=pl.when(some[0]).then(some[1])))
    assert (
        "1 of 2 models (codes-0): for 25% of its queries the score depends on items that may be missing. "
        in said
    )
    few = pl.when(some[0]).then(0.001)  # one of a thousand is not 0%
    [said] = notices(study.summary.with_columns(truncated_share=few))
    assert (
        "1 of 2 models (codes-0): for less than 1% of its queries the score depends on items that may "
        "be missing. " in said
    )


@pytest.mark.parametrize(
    "rankings", [top_ten(2), {"m": {"q": {"a": 2, "b": 1, "c": 1}}, "n": {"q": {"a": 1, "d": 0}}}]
)
def test_nothing_is_said_where_the_headline_does_not_reach_what_may_be_missing(
    rankings: Any,
):
    judgements = {"q": {"a": 1, "z": 1}} if isinstance(rankings, dict) else None
    study = rr.Study(rankings, "precision@1, precision@10", judgements=judgements, shuffles=2)
    for text in (*study.verdict, repr(study), study._repr_html_(), *study.contents().verdict):
        for word in ("cut", "missing", "estimate", "truncated", "count_codes"):
            # The mark of another measure, which does reach there, says so itself.
            assert word not in text.replace("≈: estimates, where lists may be cut.", "")
    assert re.search("^ +1 .*≈0[.].*$", repr(study), re.MULTILINE)
    assert study.notices == ()
    assert (
        study.summary.filter(cutoff=10)["truncated_share"] > 0
    ).any()  # where it is shown, it is marked
    assert "truncated_share" in summary_table(study.summary.filter(cutoff=10))
    cut = study.summary.filter(truncated_share=1.0)
    assert f"≈{cut['value'][0]:.4f}" in summary_table(cut)


def test_r_is_doubted_where_gains_of_a_function_are_divided_by_it():
    rows = {"query": ["q"] * 3, "item": [*"abc"], "distance": [1, 2, 2], "relevance": [1, 0, 1]}
    assert rr.evaluate(rows, metrics=rr.NDCG(gain=lambda grade: 2.0**grade))["pooled"].any()


def audited(*ways: dict[str, Any]) -> pl.DataFrame:
    """An audit of "a", which scores more exactly than "b", by each way of an evaluator."""
    usual = {"version": "", "call": "", "note": "", "winner": "b", "exact_winner": "b"}
    return pl.DataFrame(
        [
            {**usual, **way, "model": model, "exact": exact}
            for way in ways
            for model, exact in (("a", 1.0), ("b", 0.5))
        ]
    )


def test_evaluators_that_define_the_measure_otherwise_are_named_where_they_name_another():
    winners = {"ours": "a", "level": "a = b", "theirs": "b"}
    rows = audited(
        *(
            {"system": system, "winner": winner, "exact_winner": winner, "same_winner": True}
            | {"note": "of a package; sorts"}
            for system, winner in winners.items()
        )
    )
    (named, _) = winner_sentences(rows, measure="ap@5")
    assert named == "Tie order changes who is first in none of 3 evaluator configurations for ap@5."
    assert winner_sentences(rows) == (
        "Tie order changes who is first in none of 3 evaluator configurations.",
        (
            "By the mean over all orders and by definition, another model than a wins in 1 of "
            "them: theirs of a package."
        ),
    )


def test_an_evaluator_is_counted_once_so_that_the_numbers_add_up():
    same_winner = {"never": False, "perhaps": None, "by definition": True}
    rows = audited(*({"system": name, "same_winner": same} for name, same in same_winner.items()))
    assert winner_sentences(rows) == (
        "Tie order changes who is first in 1 of 3 evaluator configurations: never.",
        "Tie order could change who is first in 1 more, however unlikely that is: perhaps.",
        (
            "By the mean over all orders and by definition, another model than a wins in 1 more: "
            "by definition."
        ),
    )


def test_ways_of_an_evaluator_that_fare_differently_are_told_apart():
    way = {"system": "scikit-learn", "version": "1.9"}
    ignoring = {**way, "call": "ndcg_score(ignore_ties=True)", "same_winner": None}
    assert winner_sentences(
        audited(ignoring, {**way, "call": "ndcg_score", "same_winner": True})
    ) == (
        (
            "Tie order could change who is first in 1 of 2 evaluator configurations, however "
            "unlikely that is: scikit-learn 1.9 ndcg_score(ignore_ties=True)."
        ),
        (
            "By the mean over all orders and by definition, another model than a wins in 1 more: "
            "scikit-learn 1.9 ndcg_score."
        ),
    )


def test_evaluators_that_name_another_winner_are_all_counted_and_one_more_than_five_named():
    systems = ("ranx", "ranx", "mteb", "BEIR", "RecBole", "trec_eval", "ir_measures")
    way = {"same_winner": False, "exact_winner": "a"}
    rows = audited(*({**way, "system": s, "call": f"call {n}"} for n, s in enumerate(systems)))
    assert winner_sentences(rows) == (
        (
            "Tie order changes who is first in 7 of 7 evaluator configurations: ranx (2 ways), "
            "mteb, BEIR, RecBole, trec_eval and ir_measures."
        ),
    )


def test_no_depth_is_advised_to_a_search_that_found_no_more():
    """One list is short although the others are far deeper than what is advised elsewhere."""
    rows = [("q0", f"d{rank}", rank) for rank in range(7)]
    rows += [(f"q{n}", f"d{rank}", rank) for n in range(1, 5) for rank in range(200)]
    rankings = pl.DataFrame(rows, schema=["query", "item", "distance"], orient="row")
    judgements = {f"q{n}": {"d1": 1, "d900": 1} for n in range(5)}
    found = rr.Study(rankings, "ndcg@10", judgements=judgements, truncated="within_tie")
    [notice] = found.notices
    assert notice == (
        "ndcg@10 is an estimate: lists may be cut. Retrieving deeper cannot help: a list of model "
        "ends after 7 items, and another holds 200; if that is all that was found, pass "
        'truncated="no".'
    )
