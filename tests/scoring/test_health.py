"""What may be wrong with data is found where it was put, and nowhere else."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from commands import run
from made_reports import grid, upside_down
from real_data import folder as real_folder
from retrieval_report.cli import engines
from retrieval_report.contracts.registry import schema

QUERIES, ITEMS = 12, 20
JUDGED = {
    f"q{query}": {f"d{query}-{item}": int(item % 4 == 0) for item in range(ITEMS)}
    for query in range(QUERIES)
}
Lists = dict[str, dict[str, float]]


def lists(seed: int, gain: float = 2.0) -> Lists:
    """A system that ranks relevant items higher by ``gain`` standard deviations of its noise."""
    random = np.random.default_rng(seed)
    return {
        query: {item: float(gain * grade + random.normal()) for item, grade in grades.items()}
        for query, grades in JUDGED.items()
    }


GOOD = lists(0)


def study(runs: Any, judgements: Any = JUDGED, **options: Any) -> rr.Study:
    return rr.Study(runs, "ndcg@5, ap", judgements=judgements, truncated="no", **options)


def faults(made: rr.Study) -> list[tuple[Any, ...]]:
    assert made.health.schema == pl.Schema(schema("health"))
    return made.health.select("model", "finding", "serious", "affected", "total").rows()


def half() -> Lists:
    return {query: items for query, items in GOOD.items() if int(query[1:]) % 2}


def renamed() -> Lists:
    return {q: {str(n): s for n, s in enumerate(items.values())} for q, items in GOOD.items()}


def flipped() -> Lists:
    return {query: {item: -s for item, s in items.items()} for query, items in GOOD.items()}


FAULTS = {
    "no list": (half, QUERIES // 2, QUERIES),
    "no match": (renamed, QUERIES * ITEMS, QUERIES * ITEMS),
    "reversed": (flipped, QUERIES, QUERIES),
}


@pytest.mark.filterwarnings("ignore:judgements. none of the")
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("others", [0, 2])
def test_row_111_a_fault_is_named_and_nothing_else_is(fault: str, others: int):
    broken, affected, total = FAULTS[fault]
    sound = {"good": GOOD, "fair": lists(1, 0.7)}
    made = study({**dict([*sound.items()][:others]), "broken": broken()})
    assert faults(made) == [("broken", fault, True, affected, total)]
    assert made.suspects == ["broken"]
    assert made.status == "check your data"
    first, second = made.verdict[:2]
    assert first == f"Check your data: {made.health['message'][0]}."
    assert second == "No verdict is given on broken."
    assert "broken" in first
    rest = " ".join(made.verdict[2:])
    assert rest.startswith("Of the others, good has the highest") == (others == 2)
    assert "broken" not in rest
    assert ("significant" in rest) == (others == 2)


def test_leaving_out_queries_does_not_let_half_a_run_win():
    """Its mean is of other queries than those of the rest."""
    made = study({"good": GOOD, "half": half()}, missing_query="skip")
    assert faults(made) == [("half", "no list", True, 6, 12)]
    assert made.suspects == ["half"]
    assert made.verdict[0] == (
        "Check your data: 6 of 12 judged queries have no list from half (left out; was the run "
        "cut off?)."
    )
    assert made.leaderboard.filter(model="half")["rank"].null_count() == 2


def test_a_query_that_a_system_finds_nothing_for_is_only_noted():
    judgements = {f"q{query}": {"a": 1} for query in range(40)}
    full = {query: {"a": 2.0, "b": 1.0} for query in judgements}
    short = {query: items for query, items in full.items() if query != "q7"}
    made = study({"full": full, "short": short}, judgements)
    assert made.health.filter(finding="no list").select("model", "serious", "affected").rows() == [
        ("short", False, 1)
    ]


@pytest.mark.parametrize("seed", range(8))
def test_a_system_no_better_than_chance_is_not_taken_for_reversed(seed: int):
    made = study({"chance": lists(seed, 0.0), "worse": lists(seed, -0.15)})
    assert "reversed" not in {*made.health["finding"]}


def test_an_honest_system_that_matches_nothing_is_not_refused():
    """Its one item per query is one that others retrieved too, or of which few would match."""
    judgements = {
        query: {item: 1} for query, grades in JUDGED.items() for item in [next(iter(grades))]
    }
    bad = {query: {sorted(items)[-1]: 1.0} for query, items in GOOD.items()}
    made = study({"good": GOOD, "bad": bad}, judgements)
    assert faults(made) == [("bad", "no match", False, 12, 12)]
    assert made.suspects == []


def test_ids_of_two_kinds_are_seen():
    mixed = {
        query: {
            (item if number % 2 else f"{number}"): score
            for number, (item, score) in enumerate(items.items())
        }
        for query, items in GOOD.items()
    }
    made = study({"good": GOOD, "mixed": mixed})
    [(model, finding, serious, affected, total)] = faults(made)
    assert (model, finding, serious, affected / total) == ("mixed", "other ids", True, 0.5)
    assert "beside 'd0-0'" in made.health["message"][0]


POPULAR = [f"d0-{item}" for item in range(ITEMS)]


def popular(seen: int, tied: int = 1) -> Lists:
    """The most popular items, of which some tie, without those that a user has seen."""
    random = np.random.default_rng(3)
    hidden = {query: set(random.choice(POPULAR, seen, replace=False)) for query in JUDGED}
    return {
        query: {
            item: float(-rank // tied)
            for rank, item in enumerate([x for x in POPULAR if x not in hidden[query]])
        }
        for query in JUDGED
    }


@pytest.mark.parametrize(("seen", "tied"), [(0, 1), (3, 1), (0, ITEMS // 2)])
def test_a_list_of_the_most_popular_items_is_noted(seen: int, tied: int):
    judgements = {query: {POPULAR[5]: 1, POPULAR[9]: 1} for query in JUDGED}
    made = study({"popular": popular(seen, tied)}, judgements)
    assert ("popular", "same list", False, 12, 12) in faults(made)


def ranked(flip: int) -> pl.DataFrame:
    rows = [
        ("run", query, item, score, flip * position)
        for query, items in GOOD.items()
        for position, (item, score) in enumerate(
            sorted(items.items(), key=lambda pair: -pair[1]), 1
        )
    ]
    return pl.DataFrame(rows, ["model", "query", "item", "score", "rank"], orient="row")


@pytest.mark.parametrize("kind", ["frame", "run"])
def test_printed_ranks_that_contradict_the_scores_are_seen(kind: str, tmp_path: Any):
    for flip, expected in ((1, []), (-1, [("run", "printed ranks", True, 12, 12)])):
        frame: Any = ranked(flip)
        if kind != "frame":
            lines = (f"{q} Q0 {i} {r} {s} run" for _, q, i, s, r in frame.iter_rows())
            frame = tmp_path / "run.run"
            frame.write_text("\n".join(lines) + "\n")
        made = study(frame)
        assert faults(made) == expected
        assert made.health["example"].str.ends_with("are the ranks wrong?").all()
        assert ("printed_rank" in rr.read_rankings(frame).columns) == (flip == -1)


def test_scores_in_another_order_than_the_printed_ranks_are_seen():
    """As where a second stage writes its ranks beside the scores of the first: a note, since ranks
    may also be those of documents beside scores of their parts.
    """
    swapped = (pl.col("rank") % 3).replace_strict({1: 1, 2: -1, 0: 0})
    frame = ranked(1).with_columns(pl.col("rank") + swapped)
    assert faults(study(frame)) == [("run", "printed ranks", False, 12, 12)]


def test_the_cure_of_two_faults_is_given_once():
    frame = ranked(1).with_columns(-pl.col("score"))
    made = study(frame)
    assert [name for _, name, *_ in faults(made)] == ["printed ranks", "reversed"]
    assert made.health["example"].n_unique() == 1
    first, second, *_ = made.verdict
    cure = f" ({made.health['example'][0]})."
    assert first.endswith(cure)
    assert second.endswith(", such as training items.")


def test_scores_of_other_rows_are_not_told_to_be_turned_round():
    """Only where nearly all lists contradict their ranks is the opposite of the scores a cure."""
    draw = np.random.default_rng(0)
    frame = ranked(-1).with_columns(
        score=pl.when(pl.col("query").is_in([f"q{query}" for query in range(4)]))
        .then(-pl.col("score"))
        .otherwise("score")
    )
    frame = frame.with_columns(item=pl.Series(draw.permutation(frame["item"])))
    found = rr.Study(frame, "ndcg@5", judgements=JUDGED, truncated="no").health
    [example] = found.filter(finding="printed ranks")["example"]
    assert example == "are they the scores of these ranks?"


@pytest.mark.filterwarnings("ignore:.*more than 6 fields")
def test_real_runs_are_healthy_except_those_that_are_not():
    """Three runs of TREC-COVID print rank 1 beside the smallest score, and a fourth gives the same
    list to every topic.
    """
    for name, expected in (
        ("core17", set()),
        (
            "trec-covid-round1",
            {
                ("ERST_QUESTION", "printed ranks"),
                ("SFDC-23April-run1", "printed ranks"),
                ("yn-r1-alltext", "printed ranks"),
                ("ERST_QUESTION", "reversed"),
                ("SFDC-23April-run1", "reversed"),
                ("yn-r1-alltext", "reversed"),
                ("CincyMedIR-run2", "same list"),
            },
        ),
    ):
        folder = real_folder(name)
        judgements = rr.read_judgements(folder / "qrels.txt", negative="unjudged")
        made = rr.Study(folder / "runs", "ndcg@10", judgements=judgements, unjudged_query="skip")
        assert {row[:2] for row in faults(made)} == expected


MANY = 120
TRUTH = {f"q{query:03}": {f"d{query}-{n}": int(n == 3) for n in range(6)} for query in range(MANY)}
DISK: Any = {
    "sound": lambda query, n: (f"d{query}-{n}", abs(n - 3) + query % 7),
    "reversed": lambda query, n: (f"d{query}-{n}", -abs(n - 3)),
    "no match": lambda query, n: (str(6 * query + n), n),
    "other ids": lambda query, n: (f"d{query}-{n}" if n == 3 else f"x#{query}#{n}", abs(n - 3)),
}


@pytest.mark.filterwarnings("ignore:.*were scored at most")
@pytest.mark.parametrize("sampled", [100, 1000])
def test_files_scored_part_by_part_have_their_health_from_a_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sampled: int
):
    monkeypatch.setattr(engines, "SAMPLED_QUERIES", sampled)
    for name, row in DISK.items():
        rows = [(f"q{query:03}", *row(query, n)) for query in range(MANY) for n in range(6)]
        frame = pl.DataFrame(rows, schema=["query", "item", "distance"], orient="row")
        frame.write_parquet(tmp_path / f"{name}.parquet")
    qrels = tmp_path / "qrels.csv"
    judged = [(q, item, grade) for q, items in TRUTH.items() for item, grade in items.items()]
    truth = pl.DataFrame([*judged, judged[0]], schema=["query", "item", "relevance"], orient="row")
    truth.write_csv(qrels)
    runs = [tmp_path / f"{name}.parquet" for name in DISK]
    asked = f"evaluate --qrels {qrels} --measures rr --truncated no --json --engine "
    found = [
        json.loads(run(asked + engine, *runs, code=2).stdout)["health"]
        for engine in ("memory", "disk")
    ]
    kinds = [[(row["model"], row["finding"], row["serious"]) for row in rows] for rows in found]
    assert kinds[0] == kinds[1]
    assert {(name, kind) for name, kind, _ in kinds[0]} == {
        *((name, name) for name in DISK if name != "sound"),
        *((name, "repeated judgements") for name in DISK),
    }
    if sampled == 1000:
        assert found[0] == found[1]
    else:  # every second query
        for row in found[1]:
            assert ("in a sample of 60 of 120 queries" in row["message"]) == (
                row["finding"] != "repeated judgements"
            )


@pytest.mark.parametrize(("none", "noted"), [(1, False), (2, True), (10, False)])
def test_many_queries_without_a_relevant_item_are_noted(tmp_path: Path, none: int, noted: bool):
    """More than a tenth of them; where none has any, another finding says so."""
    rows = [
        (f"q{q}", f"d{n}", n, int(n == q % 3 and q >= none)) for q in range(10) for n in range(4)
    ]
    names = ["query", "item", "distance", "relevance"]
    rankings = pl.DataFrame(rows, schema=names, orient="row")
    rankings.write_parquet(tmp_path / "run.parquet")
    said = f"{none} of 10 queries have no relevant item (counted as 0; "
    study = rr.Study(rankings, "rr@3")
    messages = study.health.filter(finding="no relevant item")["message"].to_list()
    assert messages == [f"{said}no_relevant='skip' leaves such queries out)"] * noted
    for engine in ("memory", "disk") * (none < 10):
        asked = f"evaluate --measures rr --truncated no --json --engine {engine}"
        found = json.loads(run(asked, tmp_path / "run.parquet").stdout)
        assert (said in str(found["health"])) == noted
    left_out = rr.Study(rankings, "rr@3", no_relevant="skip").health
    assert "no relevant item" not in left_out["finding"].to_list()


def test_scores_of_answers_and_candidates_that_all_tie_are_noted():
    true, candidates = np.zeros(6), np.zeros((6, 9))
    made = rr.Study(rr.from_scores((true, candidates)), "rr")
    assert made.health.select("finding", "affected", "total").rows() == [("one tie", 6, 6)]


@pytest.mark.parametrize("skill", [0.0, 2.0])
def test_random_order_is_serious_if_no_model_does_better(skill: float):
    """As where relevance comes from the labels of other items; here, chance puts more than half of
    the relevant items of a before others.
    """
    draw = np.random.default_rng(5)
    relevance = draw.permutation(np.arange(1800) % 30 < 6).astype(int).reshape(60, 30)
    lists = {
        name: grid(score=draw.normal(size=relevance.shape) + gain * relevance, relevance=relevance)
        for name, gain in (("a", 0.0), ("b", skill))
    }
    found = rr.Study(lists, "precision@5", truncated="no").health
    found = found.select("model", "finding", "serious")
    both = [("a", "random order", True), ("b", "random order", True)]
    assert found.rows() == (both if skill == 0 else [("a", "random order", False)])


@pytest.mark.parametrize("decimals", [0, 9])
def test_judgements_that_are_scores_are_noted(decimals: int):
    """Ten grades, and scores of which hardly two are equal."""
    draw = np.random.default_rng(4)
    judgements = {
        query: {item: round(float(draw.random() * 9), decimals) for item in row}
        for query, row in JUDGED.items()
    }
    made = study(GOOD, judgements)
    total = QUERIES * ITEMS
    assert faults(made) == [(None, "fine judgements", False, total, total)] * (decimals == 9)


def test_a_model_whose_queries_are_items_is_asked_whether_columns_are_swapped():
    swapped = [(item, query, 1.0) for query, row in GOOD.items() for item in ["a stranger", *row]]
    frame = pl.DataFrame(swapped, ["query", "item", "score"], orient="row")
    with pytest.raises(
        rr.KeyMismatchError,
        match=r"model 'swapped' has queries like 'd.*, which the judgements have as an item: are its",
    ):
        study({"good": GOOD, "swapped": frame}).verdict  # noqa: B018


@pytest.mark.parametrize(
    ("others", "first", "options", "is_found"),
    [
        (2, True, {}, True),
        (2, False, {}, False),  # among its own items, but not the nearest
        (0, True, {}, False),  # one relevant item with the query's id, as of translations
        (2, True, {"exclude_self": True}, False),
    ],
)
def test_queries_that_find_themselves_have_no_verdict(
    others: int, first: bool, options: dict[str, Any], is_found: bool
):
    ids = [f"d{number}" for number in range(12)]
    ahead = 9.0 if first else 0.1
    model = {q: {q: ahead} | {d: 1.0 / (2 + n) for n, d in enumerate(ids) if d != q} for q in ids}
    judged = {q: {q: 1} | dict.fromkeys([d for d in ids if d != q][:others], 1) for q in ids}
    study = rr.Study({"a": model, "b": model}, "ndcg@10", judgements=judged, **options)
    assert ("own item" in study.health["finding"]) == is_found


def dealt(candidates: int, models: int) -> rr.Study:
    """Models that order the first 12 of some candidates at random, for 40 queries with five
    relevant items each; all hold the same where there are no more.
    """
    draw = np.random.default_rng(5)
    items = [f"d{number}" for number in range(candidates)]
    judged = {f"q{query}": dict.fromkeys(draw.choice(items, 5), 1) for query in range(40)}
    runs = {
        f"m{model}": {
            query: dict(zip(draw.permutation(items)[:12], range(12), strict=True))
            for query in judged
        }
        for model in range(models)
    }
    return rr.Study(runs, "ndcg@5", judgements=judged, truncated="no")


@pytest.mark.parametrize("models", [1, 2])
def test_every_model_of_unrelated_lists_counts_its_own_items(models: int):
    found = dealt(24, models).health.filter(finding="unrelated")
    assert found["total"].to_list() == [480] * models
    assert f"of {480 * models} items" in dealt(24, models).verdict[0]


def test_lists_that_all_hold_the_same_items_are_not_unrelated_to_their_queries():
    assert dealt(12, 2).health.is_empty()


@pytest.mark.parametrize("given", ["dist", "prediction"])
def test_the_advice_on_lists_read_the_wrong_way_round_can_be_typed_as_it_stands(given: str):
    """Where distances have a name of the caller's, known or not; a column called "dist"
    is a distance.
    """
    frame = upside_down("right").filter(model="right").with_columns(pl.col("score") + 20)
    frame = frame.sample(fraction=1, shuffle=True, seed=1).rename({"score": given})
    columns = {"distance": given} if given == "prediction" else None
    said = rr.Study(frame, "ndcg@5", columns=columns).health.filter(finding="reversed")
    advised = re.search(r"If not: columns=(\{[^}]*\})", said["example"].item())
    assert advised is not None
    turned = rr.Study(frame, "ndcg@5", columns=ast.literal_eval(advised[1]))
    assert turned.health.filter(finding="reversed").is_empty()


def test_a_part_of_a_collection_may_be_ranked_anew_for_every_query():
    """Of 80 judged items an index holds 20: its lists hold the same ones, but in orders of their
    own. Where all queries share an order, it is one of what is popular.
    """
    draw = np.random.default_rng(0)
    relevant = draw.random((60, 20)) < 0.2
    judgements = {
        f"q{query}": {f"d{item}": int(relevant[query, item]) for item in range(20)}
        | {f"elsewhere{query}": 1}
        for query in range(60)
    }
    own = 2 * relevant + draw.random((60, 20))
    popular = np.linspace(0, 4, 20) + 0.3 * draw.random((60, 20))
    for scores, expected in ((own, []), (popular, [("model", "same list", True, 60, 60)])):
        lists = {
            f"q{query}": {f"d{item}": float(scores[query, item]) for item in range(20)}
            for query in range(60)
        }
        assert faults(rr.Study({"model": lists}, "ndcg@5", judgements=judgements)) == expected
