"""What `history` says of the versions of a model: which steps are news, and how far the last came."""

import json
from pathlib import Path

import polars as pl

import retrieval_report as rr
from commands import run
from retrieval_report.comparison.history import steps_of
from retrieval_report.study.versions import history_of, steps_sentences, with_step_chances

PATTERN = r"run-(?P<version>\d+)"
# by the rank of the only relevant item of every query: the second is a leap, the third is noise
RANKS = {"run-1": [3] * 12, "run-2": [1] * 12, "run-3": [1] * 11 + [2], "run-10": [3] * 12}


def runs(**ranks: list[int]) -> dict[str, dict[str, dict[str, float]]]:
    return {
        model: {
            f"q{query}": {f"d{n}": float(-n) for n in range(1, 6)} | {f"hit{query}": 0.5 - rank}
            for query, rank in enumerate(places)
        }
        for model, places in ranks.items()
    }


JUDGED = {f"q{query}": {f"hit{query}": 1, "d1": 0} for query in range(12)}


def study(lists: dict[str, dict[str, dict[str, float]]]) -> rr.Study:
    return rr.Study(lists, "rr@5, precision@1", judgements=JUDGED, truncated="no")


def at_rr(steps: pl.DataFrame) -> list[str]:
    return steps_sentences(steps.filter(metric="rr"))


def test_the_steps_that_are_news_and_what_the_last_version_gained_are_said():
    steps = history_of(study(runs(**RANKS)), PATTERN)
    best_p = steps.filter(metric="rr")["best_p"][-1]
    news, last = at_rr(steps)
    assert news == (
        "rr@5: 2 of 3 steps are more than tie order and queries explain: 2 (+0.6667) and 10 "
        "(-0.6250)."
    )
    assert last == (
        "10, the last version, is worse than 2, the best before it, by 0.6667 (corrected p = "
        f"{best_p:.4f})."
    )
    assert "run-2" in steps["best"]
    wrong = steps_of(study(runs(**RANKS)).under("expected").scores, PATTERN, ["run-2"])
    assert "run-2" not in wrong["best"]
    quiet = history_of(study(runs(**{name: RANKS[name] for name in ("run-2", "run-3")})), PATTERN)
    assert at_rr(quiet) == ["rr@5: every step may be due to the choice of queries."]
    assert at_rr(history_of(study(runs(**{"run-2": RANKS["run-2"]})), PATTERN)) == []


def test_of_a_version_with_wrong_data_nothing_is_said():
    lists = runs(**RANKS)
    lists["run-2"] = {
        query: {f"other/{item}": score for item, score in row.items()}
        for query, row in lists["run-2"].items()
    }
    lists["run-10"] = runs(last=[3, 1] * 6)["last"]
    made = study(lists)
    assert made.suspects == ["run-2"]
    table = history_of(made, PATTERN)
    steps = table.filter(metric="rr")
    assert steps["marked"].to_list() == [None, None, None, True]  # p of one test is not corrected
    tested = steps.select("step_p", "p_tie", "p_tie_high")
    assert tested[:3].null_count().row(0) == (3, 3, 3) == tested.null_count().row(0)
    assert at_rr(steps)[0].startswith(
        "rr@5: 1 of 1 step that could be tested is more than tie order"
    )
    one = "precision@1: the one step that could be tested may be due to the choice of queries."
    assert steps_sentences(table.filter(metric="precision"))[0] == one


def test_the_command_says_so_above_its_table_and_warns_of_the_data(tmp_path: Path):
    lists = runs(**RANKS)
    lists["run-3"] = dict([*lists["run-3"].items()][:6])
    for model, queries in lists.items():
        rows = (f"{q} Q0 {i} 0 {s} {model}" for q, row in queries.items() for i, s in row.items())
        (tmp_path / f"{model}.run").write_text("\n".join(rows))
    (tmp_path / "qrels.json").write_text(json.dumps(JUDGED))
    asked = f"history --judgements {tmp_path}/qrels.json --measures rr@5 --truncated no --pattern"
    paths = [tmp_path / f"{model}.run" for model in lists]
    result = run(asked, PATTERN, *paths, code=2)
    first, *lines = result.stdout.splitlines()
    news = next(line for line in lines if line.startswith("rr@5: "))
    assert first.startswith("Check your data: 6 of 12 judged queries have no list from run-3")
    assert (
        news
        == "rr@5: 1 of 1 step that could be tested is more than tie order and queries explain: 2 (+0.6667)."
    )


def test_a_level_step_has_no_chance_of_a_reversal():
    lists = runs(**{f"run-{version}": RANKS["run-2"] for version in (1, 2)} | {"run-3": [3] * 12})
    steps = with_step_chances(history_of(study(lists), PATTERN).filter(metric="rr"))
    assert steps["p_tie"].to_list() == ["–", "level", "0"]


def test_tie_order_is_named_where_it_may_explain_a_step():
    made = [dict.fromkeys(("d1", "d2", "d3", f"hit{query}"), 1.0) for query in range(12)]
    tied = {f"q{query}": row for query, row in enumerate(made)}
    steps = history_of(study({"run-1": tied} | runs(**{"run-2": [1, 4] * 6})), PATTERN)
    assert at_rr(steps)[0].endswith(" may be due to tie order or to the choice of queries.")
