import polars as pl

import retrieval_report as rr
from retrieval_report import charts
from retrieval_report.study.by_cutoff import cutoffs_sentence, sentence_by_cutoff
from retrieval_report.study.html import render_html


def tied_study(measures: str = "ndcg@3", **options: object) -> rr.Study:
    """Two models: ties of one hold its only relevant item back at cutoff 1 if they stay in order."""
    rows = {"query": ["q"] * 6, "item": list("abcdef"), "relevance": [0, 1, 0, 0, 0, 0]}
    lists = {"tied": [1, 1, 2, 3, 4, 5], "fine": [2, 3, 1, 4, 5, 6]}
    frames = {name: {**rows, "distance": distance} for name, distance in lists.items()}
    return rr.Study(frames, measures, **{"truncated": "no", **options})  # type: ignore[arg-type]


def test_the_usual_cutoffs_that_lists_reach_are_scored_as_if_they_were_asked_for():
    study = tied_study()
    by_cutoff = study.by_cutoff
    assert by_cutoff["cutoff"].unique().to_list() == [1, 3, 5]
    drawn = ("shuffled", "shuffled_std", "first_order", "shuffled_rank", "orders")
    asked = tied_study("ndcg@1, ndcg@3, ndcg@5").three_scores
    assert by_cutoff.drop(drawn).equals(asked.drop(drawn))
    assert by_cutoff["orders"].max() == 0
    assert study.scores["cutoff"].unique().to_list() == [3]  # the tables have what was asked for


def test_nothing_is_warned_of_at_cutoffs_that_nobody_asked_for():
    study = tied_study(truncated="between_ties").models("tied")
    study.scores  # noqa: B018
    assert study.by_cutoff["model"].unique().to_list() == ["tied"]


def test_the_report_says_on_its_first_screen_at_which_cutoffs_the_order_is_an_accident():
    report = tied_study().contents()
    page = render_html(report, [])
    sentence = cutoffs_sentence(report.by_cutoff)
    assert sentence == (
        "By ndcg, the naive order of the models only makes models level whose expected scores differ at "
        "cutoff 1; at cutoffs 3 and 5 it is the expected one."
    )
    assert sentence in page[page.index('id="verdict"') : page.index('id="three"')]
    assert '<a href="#cutoffs">' in page[page.index(sentence) : page.index('id="three"')]


def test_commands_say_the_same_without_bounds_and_distributions():
    replicated = {"replicate": r"(?P<model>\w)\w+"}
    for measures, options in [
        ("ndcg@3", {}),
        ("rr@2, ap@4, rr", {}),
        ("r_precision", {}),
        ("recip_rank", {"like": "trec_eval"}),
        ("ndcg@3", replicated),
    ]:
        study = tied_study(measures, **options)
        assert sentence_by_cutoff(study) == cutoffs_sentence(study.by_cutoff)
    lean = tied_study().under("expected", "naive")
    assert sentence_by_cutoff(lean) == sentence_by_cutoff(tied_study()) != ""
    counts = {"query": ["q", "q"], "distance": [1, 2], "count": [2, 3], "relevance": [1, 0]}
    judged = {"query": ["q"], "n_relevant": [2]}
    counted = rr.Study({"a": counts, "b": counts}, "rr@1, rr@3", queries=judged)
    assert sentence_by_cutoff(counted) == cutoffs_sentence(counted.by_cutoff) == ""


def test_the_chart_fills_naive_marks_that_are_off_by_more_than_the_gap():
    three = tied_study("ndcg@1").three_scores
    for off_by, far in ((-0.9, "true"), (-0.5, "false")):  # the gap is 0.5
        text = charts.scores(three.with_columns(off_by=pl.lit(off_by)), metric="ndcg@1").to_json()
        assert '"test": "datum.far"' in text
        assert f'"far": {far}' in text  # in the rows of the layer that is filled by it
