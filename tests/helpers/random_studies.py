"""Random small studies with everything that can vary, and what their words say against their
numbers.
"""

import re
from typing import Any

import numpy as np
import polars as pl

import retrieval_report as rr
from retrieval_report.writing.numbers import chance_text

MEASURES = ("ndcg@3", "rr", "hit_rate@1", "precision@2", "ap")
RISK = 0.05 * (1 + 1e-9)
LEAD = re.compile(r"(?s)(.*) has the highest expected .*, ahead of (.*) \(.*\)\.")


def random_study(seed: int) -> rr.Study:
    """A study of two to four models with ties, and perhaps judges, runs, data sets or clusters."""
    draw = np.random.default_rng(seed)
    models, queries = int(draw.integers(2, 5)), int(draw.choice([2, 4, 6, 12, 30]))
    runs = int(draw.choice([1, 1, 2, 4, 5]))
    levels, skill = int(draw.choice([1, 2, 4, 50])), draw.choice([0.0, 0.5, 2.0])
    items = 6
    truth = draw.integers(0, 3, (queries, items)) * (draw.random((queries, items)) < 0.5)
    truth[:, 0] = 1
    noise = draw.normal(0, 1, (models, runs, queries, items))
    noise += draw.normal(0, draw.choice([0, 1]), (models, runs, 1, 1)) * truth
    quality = noise + skill * np.arange(models)[:, None, None, None] * truth / models
    score = np.floor(quality * levels / 4)
    where = [axis.ravel() for axis in np.indices(score.shape)]
    frame = pl.DataFrame(
        {
            "model": [f"m{number}" for number in where[0]],
            "seed": where[1],
            "query": [f"q{number}" for number in where[2]],
            "item": [f"d{number}" for number in where[3]],
            "score": score.ravel(),
        }
    )
    labels = {"human": truth}
    for number in range(int(draw.choice([0, 0, 1, 3, 6, 10]))):
        other = np.where(draw.random(truth.shape) < draw.choice([0, 0.3, 1]), 1 - truth % 2, truth)
        labels[f"judge {number}"] = other * draw.choice([0, 1, 1, 1, 10])
    judgements = {judge: _labels(grades) for judge, grades in labels.items()}
    given: Any = {"judgements": judgements}
    if len(labels) == 1:
        given["judgements"] = judgements["human"]
    sets = int(draw.choice([1, 2, 6]))
    given["queries"] = pl.DataFrame(
        {
            "query": [f"q{number}" for number in range(queries)],
            "set": [f"s{number % sets}" for number in range(queries)],
            "topic": [number // 2 for number in range(queries)],
        }
    )
    given |= {"dataset": "set"} if sets > 1 else {}
    given |= {"cluster": "topic"} if draw.random() < 0.2 else {}
    given |= {"replicate": "seed"} if runs > 1 else {}
    frame = frame if runs > 1 else frame.drop("seed")
    return rr.Study(frame, str(draw.choice(MEASURES)), truncated="no", shuffles=5, **given)


def _labels(grades: Any) -> dict[str, dict[str, int]]:
    return {
        f"q{query}": {f"d{item}": int(grade) for item, grade in enumerate(row)}
        for query, row in enumerate(grades)
    }


def contradictions(study: rr.Study) -> list[str]:
    """Return what rows, sentences and status of a study say against numbers or each other."""
    rows = {row["source"]: row for row in study.reversals.iter_rows(named=True)}
    if study.suspects:  # whose rows are about the other models
        others = [name for name in study.model_names if name not in study.suspects]
        found = [] if study.status == "check your data" else ["the data are not to be checked"]
        return found + (contradictions(study.models(*others)) if rows else [])
    if not rows:
        nothing = len(study.model_names) < 2 or study.status == "no score"
        return [] if nothing else ["no rows"]
    ties, queries, both = rows["tie order"], rows["queries"], rows["both"]
    found = []

    def hold(fact: object, text: str) -> None:
        found.extend([] if fact else [text])

    pair = {(row["model_a"], row["model_b"]) for row in rows.values()}
    hold(len(pair) == 1, "rows are about several pairs")
    [(first, second)] = pair
    if study.status == "at random":  # which no number of the pair shows
        words = {row["verdict"] for row in rows.values()}
        hold({first, second} & {*study.at_random}, "neither is at random")
        hold("safe" not in words, "safe, but at random")
        return found
    means = dict(study.summary.filter(policy="expected").select("model", "value").rows())
    hold(means[first] >= means[second] - 1e-9, "the first is behind")
    hold(means[first] >= max(means.values()) - 1e-9, "the first does not lead")
    level = abs(means[first] - means[second]) <= 1e-12
    for row in rows.values():
        found += _against_its_number(row, level, study)
    for part in (queries, ties):
        if both["reversal"] is not None and part["reversal"] is not None:
            hold(both["reversal"] >= part["reversal"] - 1e-12, "both is safer than a part")
    lead = LEAD.match(study.sentences[0])
    hold(level or (lead is not None and lead.groups() == (first, second)), "another pair is said")
    bare = re.sub(r" \([^)]*\)", "", " ".join(study.sentences))
    hold(max(len(one.split()) for one in bare.split(". ")) <= 25, "a long sentence")
    said = " ".join(study.sentences)
    hold(("and is significant (" in said) <= ((queries["family_p"] or 0) < 0.05), "significant?")
    found += _against_status(study, rows, said)
    if "with probability" in said.partition("The lead")[2]:
        text = chance_text(*(ties[f"reversal{end}"] for end in ("", "_low", "_high")))
        hold(text.removeprefix("< ") in said, "another chance of ties is said")
    for source, voter in (("judge", "other judge"), ("data set", "data set")):
        votes = rows[source]["votes_against"] or 0
        of_them = re.search(rf"{voter}s?,? (?:(\d+) )?orders? these", said)
        hold(votes or not of_them, f"a {voter} is said to be against")
        hold(
            not votes or of_them or rows[source]["verdict"] == "safe" or level, "none is said to be"
        )
    return found


def _against_status(study: rr.Study, rows: dict[str, dict[str, Any]], said: str) -> list[str]:
    """Return what the status says against rows and sentences."""
    status, ties, by_ties = study.status, rows["tie order"]["verdict"], "depends on tie order"
    p, over_runs = rows["queries"]["family_p"] or 1.0, rows["seed"]["family_p"] or 0.0
    significant = max(p, over_runs) < 0.05
    facts = {
        "safe, but not by a row": status != "safe" or (significant and ties == "safe"),
        "not significant, but by p": status != "not significant" or p >= 0.05,
        "over runs, but by p": status != "not significant over runs" or p < 0.05 <= over_runs,
        "ties and status differ": (status == by_ties) == (ties == by_ties),
        "said is not status": ("and is significant (" in said)
        == (status in ("safe", "not significant over runs")),
    }
    return [text for text, fact in facts.items() if not fact]


def _against_its_number(row: dict[str, Any], level: bool, study: rr.Study) -> list[str]:
    """Return what is wrong with the word of a row."""
    source, word, chance = row["source"], row["verdict"], row["reversal"]
    chance = row["reversal_high"] if source == "tie order" else chance
    if word in ("not varied", "not tested", "judged by its own labels", "nothing to compare"):
        return []
    if level:
        fits = word == "equal" or (source == "tie order" and word == "depends on tie order")
    elif word == "safe":
        fits = chance is not None and chance <= RISK
    elif word.startswith("depends on"):
        fits = chance is not None and chance > RISK
    elif word == "one model at random":
        fits = not {row["model_a"], row["model_b"]}.isdisjoint(study.at_random)
    elif word == "too few runs":
        runs = study.replicates["replicates"].to_list()
        fits = source == "seed" and min(runs) <= 4
    elif word == "too few to tell":
        # of five to eight votes none may be against, nor level
        votes, others = row["votes"] or 0, row["votes_against"] or row["votes_level"]
        few = votes < 5 or (votes < 9 and not others)
        fits = few if source in ("judge", "data set") else not (chance or 0) > RISK
    else:
        fits = False
    return [] if fits else [f"{source}: {word} at {chance}"]
