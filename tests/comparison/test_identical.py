"""Models whose lists are the same."""

import retrieval_report as rr
from retrieval_report.study.caveats import identical_sentence


def test_identical_runs_are_named_as_such():
    lists = {"q1": {"x": 3.0, "y": 3.0, "z": 1.0}, "q2": {"x": 1.0, "y": 2.0, "z": 0.5}}
    scaled = {
        query: {item: 2 * score for item, score in items.items()} for query, items in lists.items()
    }
    other = {
        **lists,
        "q2": {"y": 2.0, "x": 1.0, "w": 0.5},
    }  # the same scores, but another item at the end
    runs = {"06-18": lists, "06-28": scaled, "another": other}
    study = rr.Study(
        runs, "rr@3, ap@3", judgements={"q1": {"x": 1}, "q2": {"y": 1}}, truncated="no"
    )
    assert study.identical == (("06-18", "06-28"),)
    (said,) = identical_sentence(study.identical)
    assert said in study.sentences
    best = rr.Study(runs, "ndcg@3", judgements={"q1": {"y": 1, "x": 1}, "q2": {"y": 1, "z": 1}})
    assert best.sentences[0].startswith("06-18 and 06-28 have the highest expected ndcg@3: ")
    assert said in study.contents().verdict
    assert study.flips.filter(model_b="06-28")["verdict"].unique().to_list() == ["equal"]
    alone = rr.flips(study.summary, comparison=study.comparison)
    assert "depends on tie order" in alone.filter(model_b="06-28")["verdict"]
    assert study.flips.filter(model_b="another").equals(alone.filter(model_b="another"))


def test_of_many_groups_the_first_are_named_and_said_to_share_their_ranks():
    groups = [(name, name * 2) for name in "abcd"]
    (said,) = identical_sentence(groups)
    assert "share their expected ranks" in said
    assert said.endswith(": a and aa; b and bb; 2 more groups.")
    assert identical_sentence(groups[:3])[0].endswith(": a and aa; b and bb; c and cc.")
