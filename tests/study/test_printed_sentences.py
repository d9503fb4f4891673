"""What a report says that mteb and sentence-transformers would print, and where it says it."""

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl

import retrieval_report as rr
from retrieval_report.study.caveats import printed_sentences, winner_sentences

# Model "up" ties its relevant item "a" with "b", model "down" its relevant "a" with an item before
# it by name; model "flat" has no ties and finds it in the second place.
TIED = {
    "model": ["up"] * 3 + ["down"] * 3,
    "query": ["q"] * 6,
    "item": ["a", "b", "c", "a", "A", "c"],
    "score": [2, 2, 1, 2, 2, 1],
    "relevance": [1, 0, 0, 1, 0, 0],
}


def said(measures: str = "rr@10", **columns: Any) -> tuple[str, ...]:
    rankings = pl.DataFrame({**TIED, **columns})
    return printed_sentences(rr.audit(rankings, measures=measures))


def test_they_name_other_winners_by_their_orders_of_ties_alone():
    # Of "up", one of three tied items is relevant; of "down", one of two.
    scores = [2, 2, 2, 2, 2, 1]
    assert said(score=scores) == (
        (
            "By rr@10, mteb would name down best (1.0000), and sentence-transformers up (1.0000). "
            "By the mean over all orders of ties, the best is down (0.7500)."
        ),
    )


def test_it_is_said_which_of_them_names_another_winner_if_both_name_the_same():
    """The relevant items of "up" are in the middle of ties by name, those of "flat" first and last."""
    rows = {
        "model": ["up"] * 9 + ["flat"] * 9 + ["down"] * 2,
        "query": [*"pppqqqrrr"] * 2 + [*"pp"],
        "item": [*"abc"] * 3 + [*"xyz"] * 3 + [*"AB"],
        "score": [1] * 9 + [3, 2, 1] * 3 + [1] * 2,
        "relevance": [0, 1, 0] * 3 + [1, 0, 0] + [0, 0, 1] * 2 + [0, 1],
    }
    assert printed_sentences(rr.audit(rows, measures="rr@10")) == (
        (
            "By rr@10, mteb would name flat best (0.5556), because of its order of ties. By the "
            "mean over all orders of ties, its best is up (0.6111)."
        ),
    )


def test_they_print_other_numbers_for_the_model_furthest_apart():
    others: Any = {"item": ["a", "b", "c", "x", "y", "z"], "score": [2, 2, 2, 3, 2, 1]}
    assert said(**others, relevance=[1, 0, 0, 0, 0, 0]) == (  # nothing for "down", so "up" leads
        (
            "For up, mteb would print rr@10 0.3333 and sentence-transformers 1.0000, because they "
            "order ties in opposite directions. The mean over all orders is 0.6111 ± 0.2833."
        ),
    )
    audit = rr.audit(
        pl.DataFrame({**TIED, **others, "relevance": [1, 0, 0, 0, 0, 0]}), measures="rr@10"
    )
    [cut] = printed_sentences(audit, pl.DataFrame({"model": ["up"], "truncated_share": [0.1]}))
    assert cut.endswith(" The mean over all orders of the items given is ≈0.6111.")
    [told] = said("ndcg@3", **others, relevance=[1, 2, 0, 0, 0, 0])
    assert told.startswith("For up, mteb would print ndcg@3 ")
    # The definitions set the two further apart than the orders of ties do, and are not mixed up.
    assert " by its own definition. Tie order makes " in told
    assert "opposite" not in told
    mteb, other, off, off_other, exact, exact_other = map(
        Decimal, re.findall(r"[+-]?[01]\.\d+", told.replace("−", "-"))
    )
    assert (mteb - exact, other - exact_other) == (off, off_other)
    columns = {"query": ["q"] * 3 + ["p"] * 3, "score": [1, 1, 1, 2, 2, 1]}
    [told] = said("ndcg@3", model=["up"] * 6, **columns, relevance=[1, 2, 0, 3, 3, 1])
    # The differences of mteb need five decimals to agree, and all numbers have as many.
    assert {len(decimals) for decimals in re.findall(r"[01]\.(\d+)", told)} == {5}


def test_nothing_is_said_where_they_print_the_same():
    assert said(score=[3, 2, 1, 2, 3, 1]) == ()  # no ties
    assert said("ap@all") == ()  # both print it at a cutoff only
    assert said("rbp@10, ap") == ()
    alone = printed_sentences(rr.audit(TIED, measures="rr@10", systems=["mteb", "ranx"]))
    assert alone == ()
    assert printed_sentences(pl.DataFrame()) == ()


def test_the_sentence_leads_the_page_and_follows_the_verdict_elsewhere(tmp_path: Path):
    rankings = pl.DataFrame(TIED)
    report = rr.Study(rankings, "rr@10", truncated="no").contents()
    [sentence] = report.printed
    assert repr(report).splitlines()[1:] == [*report.verdict, sentence, *report.notices]
    rr.write_report(tmp_path / "report", report, formats="html")
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    verdict = page.index('<section id="verdict"')
    assert page.index("<p", verdict) < page.index(sentence, verdict) < page.index("<h2", verdict)


def test_counts_have_no_order_to_break_ties_by():
    counts = rr.count_ties(pl.DataFrame(TIED))
    assert rr.Study(counts, "rr@10").contents().printed == ()


def test_rounding_that_makes_ties_is_named_where_the_scores_have_none():
    """1 and 1 + 1e-9 are one float32; mteb orders them by name, the later one first."""
    row = {"query": ["q"] * 3, "item": ["a", "b", "c"], "score": [2, 1 + 1e-9, 1.0]}
    [told] = printed_sentences(rr.audit({**row, "relevance": [0, 1, 0]}, measures="ndcg@10"))
    assert "because mteb rounds scores to float32, which makes new ties. The mean" in told
    [told] = printed_sentences(rr.audit({**row, "relevance": [1, 2, 0]}, measures="ndcg@10"))
    rounded = r"Tie order makes −0\.0\d+ \(with scores rounded to float32\) and 0\.0000 of that"
    assert re.search(rounded, told)


def test_an_audit_of_runs_names_its_own_winner_beside_means_over_runs():
    """Models of the means are none of the audit's, where these are of single runs."""
    rankings = {
        "model": ["a-1", "a-1", "a-2", "a-2"],
        "query": ["q"] * 4,
        "item": ["x", "y"] * 2,
        "distance": [1, 2, 2, 1],
        "relevance": [1, 0] * 2,
    }
    audit = rr.audit(rankings, measures="precision@1", systems="trec_eval")
    means = pl.DataFrame({"model": ["a"], "value": [0.5]})
    assert winner_sentences(audit, means) == winner_sentences(audit)
