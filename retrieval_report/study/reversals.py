"""What could turn the lead of the first two models round: a row for each source of accident, with
the chance that one new draw of it reverses the two, all else as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from retrieval_report.comparison import verdicts
from retrieval_report.comparison.clusters import numbered
from retrieval_report.comparison.datasets import dataset_p
from retrieval_report.comparison.new_draws import (
    ENOUGH_VOTES,
    enough_queries,
    new_queries,
    new_vote,
)
from retrieval_report.comparison.tie_bounds import lead_left, ranges
from retrieval_report.comparison.verdicts import depends, equal_means, order_of
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.registry import frame_of, schema
from retrieval_report.contracts.wording import have, setting
from retrieval_report.engines.score_grid import Grid, Pairs, paired_columns
from retrieval_report.engines.summary import with_clusters
from retrieval_report.study.caveats import model_text
from retrieval_report.study.notebook import html_table
from retrieval_report.study.terminal import frame_table
from retrieval_report.study.verdict import leading_pair, ranked_means
from retrieval_report.writing.names import with_number
from retrieval_report.writing.numbers import chance_text, p_value

if TYPE_CHECKING:
    from retrieval_report.study.study import Study

COLUMNS = "source varied reversal family_p verdict"
TIES = "tie order"
QUERIES = "queries"
BOTH = "both"  # new queries, seen in one tie order
JUDGE = "judge"
SEED = "seed"
DATASET = "data set"
SIGNIFICANT_BUT = (
    "Significant: a lead that is hardly chance; “safe” if tie order, too, reverses it with a "
    f"probability of at most {verdicts.TIE_RISK:g}. Depends on the {QUERIES}: as many new ones "
    f"reverse it with a probability above {verdicts.TIE_RISK:g}."
)
SAFE_BUT = (
    "Safe here: one new draw of the source reverses the lead with a probability of at most "
    f"{verdicts.TIE_RISK:g}. That does not make the difference significant."
)
TOO_FEW_BECAUSE = "Too few to tell: unless six queries (or clusters of them) differ, no difference is significant."
# Verdicts of a pair that is never safe, whatever is varied: by chance, or by an estimate.
UNSAFE = verdicts.AT_RANDOM, verdicts.CUT
ONE_AT_RANDOM = "one model at random"  # not the tie order
NOT_VARIED, NOT_TESTED, OWN = "not varied", "not tested", "judged by its own labels"


def reversals(study: Study) -> pl.DataFrame:
    """Return the rows of a study that has its headline measure alone; none if no two models have
    an expected mean, or if those of the first two are equal. A model whose data must be checked
    first is none of them.
    """
    suspects = study.suspects
    study = study._sound
    ranked = ranked_means(study.summary, study.metric, study.cutoff, study.identical, suspects)
    none = pl.DataFrame(schema=schema("reversals"))
    if len(ranked) < 2:
        return none
    pair = leading_pair(study.flips, *(row["model"] for row in ranked[:2]))
    if equal_means(pair["value_a"], pair["value_b"]):
        return none  # there is no lead
    by_chance = not {pair["model_a"], pair["model_b"]}.isdisjoint(study.at_random)
    is_cut = pair["verdict"] == verdicts.CUT
    rows = []
    for row in (row for rows_of in SOURCES for row in rows_of(study, pair)):
        if row["verdict"] == verdicts.SAFE and (by_chance or pair["verdict"] in UNSAFE):
            row |= {"verdict": verdicts.CUT if is_cut else ONE_AT_RANDOM}
        rows.append({**pair, "family_p": None, **row})
    return frame_of(rows, schema("reversals"))


def _ties(study: Study, pair: Named) -> list[Named]:
    """All orders inside ties: the exact chance, or what is known of it."""
    settled = (verdicts.NOT_SIGNIFICANT, verdicts.NOT_OVER_RUNS, verdicts.UNTESTED)
    of_leader = pl.any_horizontal(pl.col("model_a", "model_b") == pair["model_a"])
    others = study.flips.filter(of_leader, verdict=verdicts.DEPENDS)
    # Another model than the second may take the lead by tie order.
    whose = (
        ""
        if pair["verdict"] == verdicts.DEPENDS or others.is_empty()
        else (f" of {model_text(pair['model_a'])} and {model_text(pair['model_b'])}")
    )
    row = {
        "source": TIES,
        "varied": f"the order inside every tie{whose}",
        "reversal": pair["p_tie"],
        "reversal_low": pair.get("p_tie_low"),
        "reversal_high": pair.get("p_tie_high"),
        "verdict": verdicts.SAFE if pair["verdict"] in settled else pair["verdict"],
    }
    return [row]


def _queries(study: Study, pair: Named) -> list[Named]:
    """New queries, with the scores expected of them, and in one tie order, as others print them."""
    if pair["family_p"] is None:
        words = {"varied": "the queries", "verdict": NOT_TESTED}
        return [{"source": source, **words} for source in (QUERIES, BOTH)]
    scores = study._weighed(study._undrawn.scores).frame
    scores_of_pair = _paired(scores.filter(policy="expected"), pair, "query")
    draw = with_number(scores_of_pair.height, "new query")
    cluster = None
    if study.over:
        names = with_clusters(scores_of_pair, **study.over)["cluster"]
        draw = f"{with_number(names.n_unique(), 'new cluster')} of queries"
        cluster = numbered(names)
    difference = (scores_of_pair["value"] - scores_of_pair["value_right"]).to_numpy()
    enough = enough_queries(difference, cluster)
    chance = new_queries(difference, cluster)
    tie_std = pair["tie_std"]
    row = {
        "source": QUERIES,
        "varied": draw,
        "family_p": pair["family_p"],
        "reversal": chance,
    }
    both_row: Named = {"source": BOTH, "varied": f"{draw}, in one tie order"}
    worst = worst_of_both = 0.0  # the chances if cut lists score what is worst for the lead
    if tie_std is None:
        left, std = _left_by_cut_lists(scores, pair)
        shifted = difference - difference.mean() + left
        worst, worst_of_both = (
            new_queries(shifted, cluster, each) or 0.0 if left > 0 else 1.0 for each in (0.0, std)
        )
        worst_of_both = max(worst_of_both, pair["p_tie_high"] or 0.0)
    if pair["verdict"] == verdicts.CUT or verdicts.reverses(worst_of_both):
        both_row["verdict"] = verdicts.CUT
    elif tie_std is None:
        both_row |= {"reversal_low": 0.0, "reversal_high": worst_of_both}
        both_row["verdict"] = depends(BOTH, worst_of_both, enough=enough)
    elif chance is not None:
        # The sum of both is taken as normal; it is never safer than tie order alone, which is not.
        total = new_queries(difference, cluster, tie_std) or 0.0
        both_row["reversal"] = max(total, pair["p_tie"] or 0.0)
    # Where one source alone reverses the lead, both together name it.
    by_ties, by_queries = (verdicts.reverses(alone or 0.0) for alone in (pair["p_tie"], chance))
    decisive = "both" if by_ties == by_queries else "tie order" if by_ties else "the queries"
    for each, on in ((row, "the queries"), (both_row, decisive)):
        reverses = verdicts.reverses(each.get("reversal") or 0.0)
        each.setdefault("verdict", depends(on, each.get("reversal"), enough=enough or reverses))
    if row["verdict"] == verdicts.SAFE and verdicts.reverses(worst):
        row["verdict"] = verdicts.CUT
    return [row, both_row]


def _left_by_cut_lists(scores: pl.DataFrame, pair: Named) -> tuple[float, float]:
    """Return what is left of the lead if cut lists score what is worst for it, and the deviation of
    the difference of all other lists under random tie order.
    """
    of_pair = scores.filter(pl.col("model").is_in([pair["model_a"], pair["model_b"]]))
    (part,) = Grid.of(of_pair).asked("expected")
    pairs, is_cut = Pairs.every(2), np.isnan(part.std)
    means = paired_columns(part.value, np.where(is_cut, 0.0, part.std), pairs)
    lead = means["queries"] * (means["value_a"] - means["value_b"])
    left = lead_left(ranges(part).at_mean(~is_cut), pairs, lead) / means["queries"]
    return float(left[0]), float(means["tie_std"][0])


def _judge(study: Study, pair: Named) -> list[Named]:
    """The other judges. No lead can be trusted whose judge is one of the two."""
    if len(study.judgements) < 2:
        return _not_varied(JUDGE, setting("judgements", {"human": ...}))
    two = study.under("expected").models(pair["model_a"], pair["model_b"])
    others = two.judges.filter(pl.col("judge") != study.judge)
    votes = _paired(others.filter(~pl.col("own") & ~pl.col("abstains")), pair, "judge")
    row = _votes(JUDGE, "other judge", votes, pair)
    for name, reason in (
        ("own", "left out: {} whose labels are one of the two models"),
        ("abstains", "no vote: {} who found nothing relevant"),
    ):
        judges = others.filter(name)["judge"].n_unique()
        row["varied"] += f"; {reason.format(judges)}" if judges else ""
    own = two.judges.filter("own", judge=study.judge)
    return [row if own.is_empty() else {**row, "verdict": OWN}]


def _seed(study: Study, pair: Named) -> list[Named]:
    """The runs of the two models, such as seeds."""
    if not study.of_run:
        return _not_varied(SEED, setting("replicate"))
    row = study.replicate_pairs.filter(verdicts.both_among([pair["model_a"], pair["model_b"]])).row(
        0, named=True
    )
    runs = {row["model_a"]: row["replicates_a"], row["model_b"]: row["replicates_b"]}
    varied = f"a new run of each, after {runs[pair['model_a']]} and {runs[pair['model_b']]}"
    columns = {name: row[name] for name in ("reversal", "family_p", "verdict")}
    return [{"source": SEED, "varied": varied, **columns}]


def _dataset(study: Study, pair: Named) -> list[Named]:
    """The data sets. They are counted, as judges are: their differences are too unlike for a t of
    a handful, and the mean over them may have another lead than that over all queries.
    """
    of_datasets = study.dataset_scores
    if not of_datasets.width:
        return _not_varied(DATASET, setting("dataset"))
    row = _votes(DATASET, "data set", _paired(of_datasets, pair, "dataset"), pair)
    return [{**row, "family_p": dataset_p(of_datasets, pair["model_a"], pair["model_b"])}]


def _votes(source: str, voter: str, values: pl.DataFrame, pair: Named) -> Named:
    """Return the row of a source whose draws are counted: how they order the models of a pair."""
    lead = (pair["value_a"] > pair["value_b"]) - (pair["value_a"] < pair["value_b"])
    order = values.select(order_of("value", "value_right")).to_series() * lead
    votes, against, level = order.len(), int((order < 0).sum()), int((order == 0).sum())
    varied = f"{against} of {with_number(votes, voter)} against" if votes else with_number(0, voter)
    chance = new_vote(against, level, votes)
    # Where all agree, it is their number alone that leaves the chance above the limit.
    enough = votes >= ENOUGH_VOTES and bool(
        against or level or not verdicts.reverses(chance or 0.0)
    )
    return {
        "source": source,
        "varied": varied + (f", {level} level" if level else ""),
        "votes": votes,
        "votes_against": against,
        "votes_level": level,
        "reversal": chance,
        "verdict": depends(f"the {source}", chance, enough=enough),
    }


def _paired(frame: pl.DataFrame, pair: Named, key: str) -> pl.DataFrame:
    """Return the values of both models of a pair, where both have one."""
    values_a, values_b = (
        frame.filter(model=pair[side]).select(key, "value") for side in ("model_a", "model_b")
    )
    return values_a.join(values_b, on=key, maintain_order="left").drop_nulls()


SOURCES = (_ties, _queries, _judge, _seed, _dataset)


def _not_varied(source: str, advice: str) -> list[Named]:
    return [{"source": source, "verdict": NOT_VARIED, "advice": advice}]


def varied(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of sources that the data vary, with chances as text, as in the verdict."""
    rows = frame.filter(pl.col("advice").is_null())
    chances = rows.select("reversal", "reversal_low", "reversal_high").iter_rows()
    texts = pl.Series([chance_text(*row) for row in chances], dtype=pl.String)
    return rows.with_columns(reversal=texts)


def reversals_note(frame: pl.DataFrame, *, advise: bool = False) -> str:
    """Return the line below the rows: what both words mean where a lead is significant and still
    depends on the queries, or is safe and not significant, and which sources are not varied, with
    what to pass if asked.
    """
    pairs = frame.drop_nulls("advice").select("source", "advice").iter_rows()
    parts = [source + f" ({advice})" * bool(advise and advice) for source, advice in pairs]
    is_significant = verdicts.significant(pl.col("family_p"))
    queries, meaning = frame.filter(source=QUERIES), ""
    if queries.filter(is_significant, verdict=f"depends on the {QUERIES}").height:
        meaning = SIGNIFICANT_BUT
    elif queries.filter(~is_significant, verdict=verdicts.SAFE).height:
        meaning = SAFE_BUT
    elif queries.filter(verdict=verdicts.TOO_FEW).height:
        meaning = TOO_FEW_BECAUSE
    others = f"Not varied: {', '.join(parts)}." if parts else ""
    return " ".join(filter(None, [meaning, others]))


def title(frame: pl.DataFrame) -> str:
    """Return the heading of the rows, which names the pair.

    >>> title(pl.DataFrame({"model_a": ["new"], "model_b": ["old"]}))
    'What could turn the lead of new over old around'
    """
    if frame.is_empty():
        return "What could turn the lead around"
    first, second = map(model_text, frame.select("model_a", "model_b").row(0))
    return f"What could turn the lead of {first} over {second} around"


def reversals_text(frame: pl.DataFrame) -> str:
    """Lay out the rows as text for a terminal; empty if there are none."""
    if not frame.height:
        return ""
    lines = title(frame), frame_table(varied(frame), COLUMNS), reversals_note(frame, advise=True)
    return "\n".join(filter(None, lines))


def reversals_html(frame: pl.DataFrame) -> str:
    """Return the same as HTML."""
    note = reversals_note(frame, advise=True)
    return html_table(varied(frame), COLUMNS, caption=title(frame), note=note)


def objections(frame: pl.DataFrame) -> str:
    """Say that one of the two is the judge itself, and what other judges, runs or data sets say
    against the lead, if that is so.
    """
    if frame.is_empty():
        return ""
    rows = {row["source"]: row for row in frame.iter_rows(named=True)}
    sentences = ["One of them is judged by its own labels."] * (rows[JUDGE]["verdict"] == OWN)
    sentences += _votes_against(rows[JUDGE], "other judge")
    sentences += _runs_against(rows[SEED])
    return " ".join([*sentences, *_votes_against(rows[DATASET], "data set")])


def _votes_against(row: Named, voter: str) -> list[str]:
    """Say how many judges or data sets order the two the other way or have them level."""
    votes, against, level = (row[f"votes{part}"] for part in ("", "_against", "_level"))
    if not verdicts.reverses(row["reversal"] or 0.0) or not against + level:
        return []
    orders = "orders" if against == 1 else "order"
    texts = {
        f"{orders} these two the other way": against,
        f"{have(level)} them level": level,
    }
    for text, number in texts.items():
        if number == votes:
            voters = voter if votes == 1 else with_number(votes, voter)
            some_do_not = ";" in row["varied"]  # those left out
            return [f"The {voters}{' with a vote' * some_do_not} {text}."]
    parts = " and ".join(f"{number} {text}" for text, number in texts.items() if number)
    return [f"Of {with_number(votes, voter)}, {parts}."]


def _runs_against(row: Named) -> list[str]:
    """Say what new runs of the two models would change, unless they are safe and significant."""
    p, sentences = row["family_p"], []
    if row["verdict"] == verdicts.TOO_FEW_RUNS:
        sentences.append("The runs of the two are too few to tell what other runs would show.")
    elif verdicts.reverses(row["reversal"] or 0.0):
        chance = chance_text(row["reversal"])
        sentences.append(f"One new run of each would reverse the two with probability {chance}.")
    if p is not None and not verdicts.is_significant(p):
        corrected = p_value(p)
        sentences.append(
            f"Over runs and queries together their difference is not significant (corrected "
            f"{corrected})."
        )
    return sentences
