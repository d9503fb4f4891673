"""Data that are wrong on purpose are praised nowhere: the cause comes first, in every answer."""

import functools
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import retrieval_report as rr
from made_reports import grid
from retrieval_report.cli import cli
from retrieval_report.study.leaderboard_rows import leaderboard_table
from retrieval_report.study.three_tables import three_table

QUERIES, ITEMS, KEPT, RELEVANT = 40, 240, 60, 8
Lists = dict[str, dict[str, float]]
MEASURE = "ndcg@10"
GREEN = ("safe", "ship ", "passed", "is significant", "no worse than", "wins exactly")


class Wrong(NamedTuple):
    """Data with a fault: what the commands must say first, and what they end with."""

    runs: dict[str, Lists]
    judgements: dict[str, dict[str, int]]
    cause: str
    serious: bool = True


def relevant_to(query: int) -> set[int]:
    draw = np.random.default_rng(1000 + query)
    return {*map(int, draw.choice(ITEMS, RELEVANT, replace=False))}


JUDGED = {
    f"q{q}": {f"d{1000 + n}": int(n in relevant_to(q)) for n in range(ITEMS)}
    for q in range(QUERIES)
}
POSITIVE = {
    query: {item: 1 for item, grade in row.items() if grade} for query, row in JUDGED.items()
}


def run(seed: int, skill: float) -> Lists:
    """The items nearest by scores in which relevant ones are higher by ``skill`` deviations."""
    draw, lists = np.random.default_rng(seed), {}
    for query in range(QUERIES):
        scores = draw.normal(size=ITEMS).round(2)
        scores[[*relevant_to(query)]] += skill
        best = np.argsort(-scores, kind="stable")[:KEPT]
        lists[f"q{query}"] = {f"d{1000 + n}": float(scores[n]) for n in best}
    return lists


GOOD, FAIR, NOISE, BEST = run(0, 2.5), run(1, 2.0), run(2, 0.0), run(4, 3.0)


def renamed(lists: Lists, every: int, name: str = "doc-{}") -> Lists:
    return {
        query: {
            name.format(item, item.upper(), item[1:]) if place % every == every - 1 else item: score
            for place, (item, score) in enumerate(row.items())
        }
        for query, row in lists.items()
    }


def shifted(lists: Lists, by: int, times: int = 1) -> Lists:
    return {
        query: {f"d{int(item[1:]) * times % 25_000 + by}": score for item, score in row.items()}
        for query, row in lists.items()
    }


def half(broken: Lists) -> dict[str, Lists]:
    """A model of which only the first half of the lists is broken."""
    return beside(FAIR | dict([*broken.items()][: QUERIES // 2]))


def of_next(lists: Any, by: int = 1):
    names = list(lists)
    return {name: lists[names[(number + by) % QUERIES]] for number, name in enumerate(names)}


def backwards(lists: Lists, first: int) -> Lists:
    result = {}
    for query, row in lists.items():
        scores = [*row.values()]
        result[query] = dict(zip(row, [*scores[:first][::-1], *scores[first:]], strict=True))
    return result


def popular() -> Lists:
    row = {f"d{1000 + n}": float(-n) for n in range(KEPT)}
    return dict.fromkeys(JUDGED, row)


def beside(broken: Any) -> dict[str, Lists]:
    return {"good": GOOD, "broken": broken}


def dealt_again() -> dict[str, dict[str, int]]:
    """The judgements of another collection whose items are called alike."""
    draw = np.random.default_rng(5)
    return {
        query: {f"d{1000 + n}": 1 for n in draw.choice(ITEMS, RELEVANT, replace=False)}
        for query in JUDGED
    }


def constant(but: int = 0) -> Lists:
    """A model that tells no items apart, but in a few lists."""
    level = {query: dict.fromkeys(row, 1.0) for query, row in FAIR.items()}
    return level | dict([*FAIR.items()][:but])


def permuted() -> Lists:
    """The lists of a good model in random order, as of a second stage without skill."""
    draw, lists = np.random.default_rng(6), {}
    for query, row in FAIR.items():
        lists[query] = dict(zip(row, map(float, draw.permutation(KEPT)), strict=True))
    return lists


def graded_as(order: Callable[[list[int]], list[int]]) -> dict[str, dict[str, int]]:
    """The judgements of what the two models find, as of a pool, with other grades."""
    pooled = {q: {item: JUDGED[q][item] for item in sorted({**GOOD[q], **FAIR[q]})} for q in JUDGED}
    grades = iter(order([grade for row in pooled.values() for grade in row.values()]))
    return {query: {item: next(grades) for item in row} for query, row in pooled.items()}


def moved(grades: list[int]) -> list[int]:
    return [*grades[100:], *grades[:100]]


def judged_as(name: str) -> dict[str, dict[str, int]]:
    """The judgements, with every second id spelt otherwise."""
    return {
        query: {
            name.format(item[1:]) if place % 2 else item: grade
            for place, (item, grade) in enumerate(row.items())
        }
        for query, row in JUDGED.items()
    }


def drawn(grades: list[int]) -> list[int]:
    return [*map(int, np.random.default_rng(7).permutation(grades))]


def in_grades() -> dict[str, dict[str, int]]:
    """The judgements with 1 to 3 for what is relevant."""
    return {
        q: {item: grade * (1 + int(item[1:]) % 3) for item, grade in row.items()}
        for q, row in JUDGED.items()
    }


def best_order() -> Lists:
    """Perfect lists, without ties."""
    return {
        q: {item: -float(n) for n, item in enumerate(sorted(row, key=lambda item: -row[item]))}
        for q, row in in_grades().items()
    }


def some_relevant() -> dict[str, dict[str, int]]:
    """Judgements of nothing but what is relevant, of each query as many as its number says."""
    return {
        q: dict([(item, 1) for item, grade in row.items() if grade][: 2 + n % 7])
        for n, (q, row) in enumerate(JUDGED.items())
    }


BOTH = {"good": GOOD, "fair": FAIR}
CASES: dict[str, Callable[[], Wrong]] = {
    "half the queries missing": lambda: Wrong(
        beside(dict([*FAIR.items()][::2])), JUDGED, "20 of 40 judged queries have no list"
    ),
    "a tenth of the ids": lambda: Wrong(beside(renamed(FAIR, 10)), JUDGED, "have ids of a form"),
    "half of the ids in capitals": lambda: Wrong(
        beside(renamed(FAIR, 2, "{1}")), JUDGED, "only because ids are spelt differently"
    ),
    "half of the ids with other zeros": lambda: Wrong(
        beside(renamed(FAIR, 2, "d0{2}")), JUDGED, "only because ids are spelt differently"
    ),
    "half of the judged ids with other zeros": lambda: Wrong(
        BOTH,
        judged_as("d0{}"),
        "items of fair and good that were looked at fail to match their judgements only",
    ),
    "half of the judged ids with an ending": lambda: Wrong(
        BOTH,
        judged_as("d{}.txt"),
        "judged items have ids of a form that no item of fair and good has",
    ),
    "top 20 reversed": lambda: Wrong(
        beside(backwards(FAIR, 20)), JUDGED, "come after the others in"
    ),
    "most popular items": lambda: Wrong(
        beside(popular()), JUDGED, "query (is the same recommended to everybody?)"
    ),
    "another collection": lambda: Wrong(BOTH, dealt_again(), "belong together"),
    "judgements of next query": lambda: Wrong(BOTH, of_next(JUDGED), "belong to other queries"),
    "lists of next query": lambda: Wrong(beside(of_next(FAIR)), JUDGED, "belong to other queries"),
    "half of the lists of next query": lambda: Wrong(
        half(of_next(FAIR)), JUDGED, "belong to other queries"
    ),
    "every second list a copy of the next": lambda: Wrong(
        beside(FAIR | dict([*of_next(FAIR).items()][::2])), JUDGED, "belong to other queries"
    ),
    "three lists with ids of another form": lambda: Wrong(
        beside(FAIR | dict([*renamed(FAIR, 1).items()][::14])), JUDGED, "hold no judged item"
    ),
    "judged ids off by one": lambda: Wrong(
        {name: shifted(lists, -1) for name, lists in BOTH.items()}, JUDGED, "are shifted"
    ),
    "nothing relevant": lambda: Wrong(
        BOTH, {q: dict.fromkeys(row, 0) for q, row in JUDGED.items()}, "is any judgement"
    ),
    "grades some rows on": lambda: Wrong(
        BOTH, graded_as(moved), "% of the pairs that were looked at"
    ),
    "grades a line on": lambda: Wrong(
        BOTH,
        graded_as(lambda grades: [*grades[1:], grades[0]]),
        "% if every item had the grade of the previous line",
    ),
    "random grades": lambda: Wrong(BOTH, graded_as(drawn), "by chance it would in half"),
    "grades turned round": lambda: Wrong(
        BOTH, graded_as(lambda grades: [1 - grade for grade in grades]), "come after the others in"
    ),
    "judgements as scores": lambda: Wrong(beside(JUDGED), JUDGED, "scores tie just where"),
    "judgements as order": lambda: Wrong(beside(best_order()), in_grades(), "in perfect order"),
    "judgements as lists": lambda: Wrong(
        beside(
            {
                q: {item: -float(n) for n, item in enumerate(row)}
                for q, row in some_relevant().items()
            }
        ),
        some_relevant(),
        "whatever is relevant and nothing else",
    ),
    "relevant items as lists": lambda: Wrong(  # as many of every query, in one tie
        beside(POSITIVE), POSITIVE, "whatever is relevant and nothing else"
    ),
    "queries among themselves": lambda: Wrong(
        # in no order, as a matrix of distances is
        beside({query: row | {query: 9.0} for query, row in FAIR.items()}),
        JUDGED,
        "the query itself comes first in 20 of 20 lists",
    ),
    "constant scores": lambda: Wrong(beside(constant()), JUDGED, "all items tie", serious=False),
    "constant scores of most lists": lambda: Wrong(
        beside(constant(3)), JUDGED, "all items tie in 37 of the 40 lists", serious=False
    ),
    "random order": lambda: Wrong(
        beside(permuted()), JUDGED, "taken together, 40 of the 40 lists of broken", serious=False
    ),
    "random beside good": lambda: Wrong(
        beside(NOISE), JUDGED, "suit their queries no better", serious=False
    ),
    "farthest items": lambda: Wrong(
        beside(run(3, -1.5)), JUDGED, "are these the farthest items instead of the nearest?"
    ),
    "ids of another numbering": lambda: Wrong(  # of which a few are judged by accident
        beside(shifted(FAIR, 1000, 7919)), JUDGED, "suit their queries no better", serious=False
    ),
}


COMMANDS = ("leaderboard", "compare", "evaluate")
SHOWN = [  # by the dashboard and a report; others are found and said in the same way
    "half the queries missing",
    "top 20 reversed",
    "another collection",
    "lists of next query",
    "judged ids off by one",
    "random grades",
    "judgements as scores",
    "constant scores",
    "random beside good",
]


@functools.cache
def case(name: str) -> Wrong:
    return CASES[name]()


def praise(text: str, name: str) -> list[str]:
    """The words of a text that praise; a good model may win by the three scores over a random one."""
    text = text.lower().replace("not significant", "")
    green = GREEN if case(name).serious else GREEN[:-1]
    return [word for word in green if word in text]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory):
    """Where the runs of all cases are written."""
    return tmp_path_factory.mktemp("wrong")


def written(folder: Path, name: str) -> tuple[list[str], list[str]]:
    """The paths of the runs, and the options that name the judgements."""
    here = folder / name.replace(" ", "-").replace(",", "")
    paths = [str(here / f"{model}.run") for model in case(name).runs]
    if not here.exists():
        here.mkdir()
        for path, (model, lists) in zip(paths, case(name).runs.items(), strict=True):
            rows = (f"{q} Q0 {i} 0 {s} {model}" for q, row in lists.items() for i, s in row.items())
            Path(path).write_text("\n".join(rows) + "\n")
        rows = (
            f"{q} 0 {i} {g}" for q, row in case(name).judgements.items() for i, g in row.items()
        )
        (here / "qrels.txt").write_text("\n".join(rows) + "\n")
    rules = ["--judgements", str(here / "qrels.txt"), "--measures", MEASURE, "--truncated", "no"]
    return paths, rules


@functools.cache
def study(name: str) -> rr.Study:
    wrong = case(name)
    baseline = next(iter(wrong.runs))
    return rr.Study(
        wrong.runs,
        MEASURE,
        judgements=wrong.judgements,
        truncated="no",
        baseline=baseline,
        margin=0.05,
    )


pytestmark = pytest.mark.filterwarnings("ignore:no query has a relevant item")
ALL = pytest.mark.parametrize("name", CASES)


@ALL
def test_row_112_a_study_praises_nothing(name: str):
    made, wrong = study(name), case(name)
    assert wrong.cause in made.verdict[0]
    assert made.verdict[0].startswith("Check your data" if wrong.serious else "Note on the data")
    assert made.chip == ("check your data" if wrong.serious else "keep")
    asked = made.using(baseline=next(iter(wrong.runs)), margin="99 %")
    assert not praise(" ".join(asked.verdict), name)
    assert not {"safe", "safe from tie order"} & {*made.flips["verdict"]}
    assert "safe" not in {*made.reversals["verdict"]}


# A report says what its study says, the dashboard too, and of the commands one after the other is
# asked: how a fault is found does not depend on who asks.
@pytest.mark.parametrize("name", SHOWN[::3])
def test_a_report_praises_nothing(name: str):
    contents = study(name).contents()
    page = str(contents._repr_html_())
    assert case(name).cause in page
    assert contents.chip == study(name).chip
    assert not praise(page, name)


@pytest.mark.parametrize(("name", "command"), list(zip(SHOWN, cycle(COMMANDS))))
def test_a_command_praises_nothing(name: str, command: str, folder: Path):
    paths, rules = written(folder, name)
    margin = ["--baseline", next(iter(case(name).runs)), "--margin", "0.05"]
    asked = [command, *paths, *rules, *(margin if command == "leaderboard" else [])]
    result = CliRunner().invoke(cli, asked)
    assert result.exit_code == (2 if case(name).serious else 0), result.output
    assert case(name).cause in result.stdout.splitlines()[0], result.output
    assert not praise(result.output, name), result.output


@ALL
def test_row_113_a_gate_lets_nothing_pass(name: str, folder: Path):
    paths, rules = written(folder, name)
    result = CliRunner().invoke(cli, ["gate", *paths, *rules, "--margin", "0.05"])
    code = 2 if case(name).serious else 1
    assert result.exit_code == code, result.output
    assert not praise(result.output, name), result.output


def test_what_is_no_better_than_chance_passes_by_no_margin():
    """A measure that lists of any items do well by."""
    for baseline, candidate in ((GOOD, NOISE), (NOISE, GOOD)):
        models = {"baseline": baseline, "candidate": candidate}
        rules: Any = {"judgements": JUDGED, "measures": "hit_rate@60", "truncated": "no"}
        made = rr.Study(models, **rules, baseline="baseline", margin=0.5)
        assert "suit other queries just as well, or are ordered as if by chance" in made.decision
        assert made.chip == made.contents().chip != "ship"
        with pytest.raises(rr.DataError, match=r"^not passed, whatever the margin: the lists of"):
            rr.gate(baseline, candidate, **rules, margin=0.5)


@pytest.mark.parametrize("command", ["evaluate", "profile", "audit", "history", "thresholds"])
def test_every_command_that_says_check_your_data_ends_with_2(command: str, folder: Path):
    paths, rules = written(folder, "random grades")
    rules = rules[:2] if command in ("profile", "thresholds") else rules
    rules = rules[:4] if command == "audit" else rules
    rules += ["--pattern", "(?P<version>.+)"] if command == "history" else []
    result = CliRunner().invoke(cli, [command, *paths, *rules])
    assert result.stdout.startswith("Check your data"), result.output
    assert result.exit_code == 2


def test_little_skill_that_is_sure_is_not_taken_for_other_grades():
    """Two models put the relevant item first in 53 % of the pairs of 400 lists, known to 1 %."""
    draw = np.random.default_rng(2)
    relevance = draw.permutation(np.arange(12_000) % 30 < 6).astype(int).reshape(400, 30)
    runs = {name: grid(score=draw.normal(size=(400, 30)) + 0.1 * relevance) for name in "ab"}
    judgements = grid(relevance=relevance)
    assert rr.Study(runs, MEASURE, judgements=judgements, truncated="no").health.is_empty()


def test_a_perfect_model_is_not_said_to_be_made_from_the_judgements():
    """It finds all that is relevant first, with scores of its own, or says yes to one item a query."""
    draw = np.random.default_rng(3)
    perfect = {q: {i: 9 * g + draw.random() for i, g in row.items()} for q, row in JUDGED.items()}
    one = {
        q: {item: int(item == f"d{min(relevant_to(n)) + 1000}") for item in row}
        for n, (q, row) in enumerate(JUDGED.items())
    }
    for lists, judgements in ((perfect, JUDGED), (one, one)):
        assert rr.Study(lists, MEASURE, judgements=judgements, truncated="no").health.is_empty()


def test_grades_that_one_model_alone_orders_by_chance_are_noted():
    """A weak model of a shallow pool does so too."""
    made = rr.Study(GOOD, MEASURE, judgements=case("random grades").judgements, truncated="no")
    assert made.health.select("finding", "serious").rows() == [("grades", False)]


def test_beside_nothing_but_suspects_a_model_has_no_rank_in_any_table():
    lists = {
        "good": GOOD,
        "reversed": {q: {d: -s for d, s in own.items()} for q, own in FAIR.items()},
    }
    made = rr.Study(lists, MEASURE, judgements=JUDGED, truncated="no")
    assert made.suspects == ["reversed"]
    for frame in (made.leaderboard, made.three_scores):
        ranks = frame.select(pl.col("^.*rank.*$").exclude("rank_can_change"))
        assert ranks.null_count().row(0) == (2,) * ranks.width
    for page in (leaderboard_table(made), three_table(made)):
        assert "good" in page
        assert "rank" not in page


def test_only_lists_whose_order_was_looked_at_are_counted_of_all_lists():
    short = {
        q: dict([*row.items()][: 9 if n % 2 else None])
        for n, (q, row) in enumerate(permuted().items())
    }
    study = rr.Study(beside(short), MEASURE, judgements=JUDGED)
    [sentence] = study.health["message"]
    assert "taken together, 20 of the 40 lists of broken" in sentence


@pytest.mark.parametrize("turned", [10, 40])
def test_where_few_lists_are_turned_round_they_may_be_of_other_queries(turned: int):
    """Classes lie together, so that a list of another class holds what is relevant last."""
    draw, lists, judged = np.random.default_rng(7), {}, {}
    for query in range(40):
        scores = draw.normal(size=60)
        scores[:20] += 2
        scores *= -1 if query < turned else 1
        lists[f"q{query}"] = {f"d{n}": float(score) for n, score in enumerate(scores)}
        judged[f"q{query}"] = {f"d{n}": 1 for n in range(20)}
    lists["all relevant"], judged["all relevant"] = {"d0": 2.0, "d1": 1.0}, {"d0": 1, "d1": 1}
    [sentence] = rr.Study({"model": lists}, MEASURE, judgements=judged).health.filter(
        finding="reversed"
    )["message"]
    of_those = f"come after the others in {turned} of the 40 lists of model that hold both"
    assert of_those in sentence
    assert ("; if so, do these lists belong to their queries?" in sentence) == (turned == 10)


@pytest.mark.parametrize("by", [10, 13])
def test_codes_that_belong_to_other_queries_are_noted(by: int):
    """The items of a class are near or far together, so that some of these sums are
    far from chance.
    """
    draw = np.random.default_rng(8)
    labels, classes = draw.integers(10, size=900), draw.integers(2, size=(10, 32))
    codes = classes[labels] ^ (draw.random((900, 32)) < 0.2)
    counts = rr.codes.count_codes(
        np.roll(codes[:300], by, 0),
        codes[300:],
        query_labels=labels[:300],
        item_labels=labels[300:],
    )
    assert rr.Study(counts, MEASURE).health["finding"].to_list() == ["random order"]


def test_distances_taken_for_scores_are_right_as_the_advice_takes_them():
    """What chance finds was counted at the far end of the lists."""
    draw = np.random.default_rng(0)
    labels, centres = draw.integers(0, 5, 300), draw.normal(size=(5, 16))
    vectors = centres[labels] + draw.normal(size=(300, 16))
    by_labels: Any = {"query_labels": labels[:60], "item_labels": labels[60:]}
    with pytest.warns(rr.RetrievalReportWarning, match="chance alone would give"):
        runs = rr.from_search(-vectors[:60] @ vectors[60:].T, scores=True, **by_labels)
    wrong, right = (
        rr.Study(runs, MEASURE, columns=columns) for columns in (None, {"distance": "score"})
    )
    assert (wrong.status, right.status) == ("check your data", "single model")
    assert wrong.to_markdown().count("**") == 0  # nothing is the highest
    assert right.to_markdown().count("**") == 4


@pytest.mark.filterwarnings("ignore:.*chance alone would give")
def test_lists_of_two_classes_are_not_called_unrelated_where_dealing_them_shows_skill():
    """Few more are relevant than chance would give, but no dealing of these lists gives as many."""
    draw = np.random.default_rng(2)
    tags, centres = draw.random((400, 6)) < 0.35, draw.normal(size=(6, 24))
    vectors = tags @ centres + draw.normal(size=(400, 24))
    labels = tags[:, 0].astype(int)
    runs = rr.from_embeddings(
        vectors[:80], vectors[80:], query_labels=labels[:80], item_labels=labels[80:]
    )
    assert rr.Study(runs, MEASURE).health.is_empty()


def test_no_lead_over_a_model_no_better_than_chance_is_safe_from_tie_order():
    few = [*JUDGED][:6]
    seeds = {"a": 5, "b": 25}
    runs = {name: {query: run(seed, 0.0)[query] for query in few} for name, seed in seeds.items()}
    judged = {query: JUDGED[query] for query in few}
    made = rr.Study(runs, MEASURE, judgements=judged, truncated="no")
    assert (made.at_random, made.suspects, made.status) == (["a"], [], "not significant")
    assert made.reversals.row(0, named=True)["reversal"] == 0
    assert made.reversals.row(0, named=True)["verdict"] == "one model at random"


def test_no_model_has_a_verdict_where_the_judgements_are_one_of_the_runs():
    made = rr.Study({"good": GOOD, "fair": FAIR}, MEASURE, judgements=GOOD, truncated="no")
    assert made.suspects == ["fair", "good"]
    assert sum("a grade that no other item" in sentence for sentence in made.verdict) == 1


def test_half_of_the_lists_moved_to_the_next_query_are_found_where_they_hold_little():
    sample = Path(__file__).parents[2] / "sample_data" / "docs"
    lists = rr.read_rankings(sample / "runs" / "bm25.run.gz")
    names = lists["query"].unique(maintain_order=True)[75:]
    moved = lists.with_columns(pl.col("query").replace(names, [*names[1:], names[0]]))
    for rows, found in ((lists, []), (moved, ["wrong queries"])):
        made = rr.Study(rows, MEASURE, judgements=sample / "qrels.txt")
        assert made.health["finding"].to_list() == found


def test_an_estimate_checks_the_data_by_the_judge_of_all_queries(folder: Path):
    paths, rules = written(folder, "random grades")
    everything = Path(rules[1])
    few = everything.with_name("few.txt")
    some = [line for line in everything.read_text().splitlines() if line.split()[0][-1] in "02468"]
    few.write_text("\n".join(some) + "\n")
    rules[1] = f"human={few},gpt={everything}"
    result = CliRunner().invoke(cli, ["estimate", *paths, *rules])
    assert result.stdout.startswith("Check your data"), result.output
    assert result.exit_code == 2


def test_models_beside_one_without_a_verdict_have_their_own():
    runs = {"good": GOOD, "fair": FAIR, "poor": run(5, 1.0)}
    options: Any = {"judgements": JUDGED, "truncated": "no", "baseline": "good", "margin": 0.01}
    sound = rr.Study(runs, MEASURE, **options)
    moved = rr.Study({**runs, "wrong": shifted(BEST, 7)}, MEASURE, **options)
    assert moved.suspects == ["wrong"]
    assert moved.reversals.rows() == sound.reversals.rows()
    assert "What could turn the lead of good over fair around" in str(moved)
    two = rr.Study({"good": GOOD, "wrong": shifted(BEST, 7)}, MEASURE, **options)
    assert two.decision == "wrong has no verdict, so nothing is tested against good."
    assert two.reversals.is_empty()


def test_what_missing_items_could_reverse_is_one_sentence():
    runs = {
        name: {query: dict([*lists.items()][:5]) for query, lists in each.items()}
        for name, each in (("good", GOOD), ("fair", FAIR), ("next", run(1, 1.9)))
    }
    made = rr.Study(runs, MEASURE, judgements=JUDGED, truncated="between_ties")
    said = "Missing items and tie order together could reverse this lead, and its lead over next."
    assert said in made.sentences
