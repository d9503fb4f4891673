"""What could turn the lead of the first two models round: a row for each source of accident."""

from __future__ import annotations

from typing import Any

import polars as pl

from retrieval_report.comparison import verdicts
from retrieval_report.comparison.clusters import numbered
from retrieval_report.comparison.queries import resampled_reversal
from retrieval_report.comparison.verdicts import depends, equal_means, order_of, reverses
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.registry import frame_of, schema
from retrieval_report.contracts.wording import setting
from retrieval_report.engines.summary import with_clusters
from retrieval_report.study.terminal import frame_table, html_table
from retrieval_report.study.verdict import leading_pair, ranked_means
from retrieval_report.writing.names import counted
from retrieval_report.writing.numbers import chance_text, share

TITLE = "What could turn it around"
SHOWN = "source varied reversal verdict"
SIGNIFICANT, NOT_VARIED, OWN = "significant", "not varied", "judged by its own labels"


def reversals(study: Any) -> pl.DataFrame:
    """Return the rows of a study that has its headline measure alone; without columns if no two
    models have an expected mean.
    """
    ranked = ranked_means(study.summary, study.metric, study.cutoff, study.identical, study.of_run)
    if len(ranked) < 2:
        return pl.DataFrame()
    pair = leading_pair(study.flips, *(row["model"] for row in ranked[:2]))
    return frame_of([{**pair, **of(study, pair)} for of in SOURCES], schema("reversals"))


def _ties(study: Any, pair: Named) -> Named:
    """All orders inside ties: the exact chance, or what is known of it."""
    settled = (verdicts.NOT_SIGNIFICANT, verdicts.UNTESTED)
    return {
        "source": "tie order",
        "varied": "the order inside every tie",
        "reversal": pair["p_tie"],
        "reversal_low": pair.get("p_tie_low"),
        "reversal_high": pair.get("p_tie_high"),
        "verdict": verdicts.SAFE if pair["verdict"] in settled else pair["verdict"],
    }


def _queries(study: Any, pair: Named) -> Named:
    """The queries drawn anew: the share of such draws with another leader, and the word of the
    corrected test.
    """
    row: Named = {"source": "queries", "verdict": verdicts.NOT_SIGNIFICANT}
    if pair["family_p"] is None:
        return {**row, "varied": "the queries", "verdict": "not tested"}
    scores = study.under("expected").models(pair["model_a"], pair["model_b"]).scores
    both = _paired(scores, pair, "query")
    drawn, cluster = f"the {both.height} queries", None
    if study.over:
        names = with_clusters(both, **study.over)["cluster"]
        drawn, cluster = f"the {names.n_unique()} clusters of {drawn}", numbered(names)
    if not equal_means(pair["value_a"], pair["value_b"]):
        difference = (both["value"] - both["value_right"]).to_numpy()
        row["reversal"] = resampled_reversal(difference, cluster)
    if verdicts.is_significant(pair["family_p"]):
        row["verdict"] = SIGNIFICANT
    return {**row, "varied": f"{drawn}, drawn anew"}


def _judge(study: Any, pair: Named) -> Named:
    """The other judges: the share that orders the two the other way; one that has them level counts
    half. No lead can be trusted whose judge is one of the two.
    """
    if len(study.judgements) < 2:
        return _not_varied("judge", setting("judgements", {"human": ...}))
    two = study.under("expected").models(pair["model_a"], pair["model_b"])
    agree, judges = two.judge_pairs.select("agree", "judges").row(0)
    reversal = None if agree is None else 1 - agree
    self_judged = two.judges.filter(pl.col("own"), judge=study.judge).height
    own = len(study.judgements) - 1 - judges
    also = f"; left out: {own} whose labels rank here too" if own else ""
    return {
        "source": "judge",
        "varied": f"{counted(judges, 'other judge')}{also}",
        "reversal": reversal,
        "verdict": OWN if self_judged else depends("the judge", reversal),
    }


def _seed(study: Any, pair: Named) -> Named:
    """The replicates of the first two models, whose means may have another order than single runs:
    the share of pairs of replicates that orders them the other way.
    """
    if not study.of_run:
        return _not_varied("seed", setting("replicate"))
    board = study.replicates["model"].to_list()
    if len(board) < 2:
        return {"source": "seed", "varied": "runs of one model", "verdict": verdicts.NOTHING}
    row = study.replicate_pairs.filter(verdicts.both_among(board[:2])).row(0, named=True)
    sides = [f"{row[f'replicates_{side}']} of {row[f'model_{side}']}" for side in "ab"]
    result = {name: row[name] for name in ("model_a", "model_b", "verdict")}
    varied = f"the replicates: {' with '.join(sides)}"
    return {**result, "source": "seed", "varied": varied, "reversal": row["seed_reversal"]}


def _dataset(study: Any, pair: Named) -> Named:
    """The data sets: the share that orders the two the other way; one that has them level counts
    half.
    """
    if not study.dataset_scores.width:
        return _not_varied("data set", setting("dataset"))
    both = _paired(study.dataset_scores, pair, "dataset")
    lead = (pair["value_a"] > pair["value_b"]) - (pair["value_a"] < pair["value_b"])
    if equal_means(pair["value_a"], pair["value_b"]) or both.is_empty():
        reversal = None
    else:
        agree = both.select(order_of("value", "value_right")).to_series().mean()
        reversal = (1 - lead * agree) / 2
    return {
        "source": "data set",
        "varied": f"{both.height} data sets",
        "reversal": reversal,
        "verdict": depends("the data set", reversal),
    }


def _paired(frame: pl.DataFrame, pair: Named, key: str) -> pl.DataFrame:
    """Return the values of both models of a pair, where both have one."""
    one, other = (
        frame.filter(model=pair[side]).select(key, "value") for side in ("model_a", "model_b")
    )
    return one.join(other, on=key, maintain_order="left").drop_nulls()


SOURCES = (_ties, _queries, _judge, _seed, _dataset)


def _not_varied(source: str, advice: str) -> Named:
    return {"source": source, "verdict": NOT_VARIED, "advice": advice}


def varied(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of sources that the data vary, with chances as text, as in the verdict."""
    if not frame.width:
        return frame
    rows = frame.filter(pl.col("advice").is_null())
    chances = rows.select("reversal", "reversal_low", "reversal_high").iter_rows()
    texts = pl.Series([chance_text(*row) for row in chances], dtype=pl.String)
    return rows.with_columns(reversal=texts)


def not_varied_line(frame: pl.DataFrame, *, advise: bool = False) -> str:
    """Return one line on the other sources, with what to pass if asked; empty if there are none."""
    rows = frame.drop_nulls("advice") if frame.width else frame
    pairs = rows.select("source", "advice").iter_rows() if frame.width else ()
    parts = [source + f" ({advice})" * bool(advise and advice) for source, advice in pairs]
    return f"Not varied: {', '.join(parts)}." if parts else ""


def reversals_text(frame: pl.DataFrame) -> str:
    """Lay out the rows as text for a terminal; empty if there are none."""
    if not frame.height:
        return ""
    lines = TITLE, frame_table(varied(frame), SHOWN), not_varied_line(frame, advise=True)
    return "\n".join(filter(None, lines))


def reversals_html(frame: pl.DataFrame) -> str:
    """Return the same as HTML."""
    return html_table(varied(frame), SHOWN, caption=TITLE, note=not_varied_line(frame, advise=True))


def against_sentence(frame: pl.DataFrame) -> str:
    """Say that one of the two is the judge itself, and that other judges (more surely than tie
    order does), seeds or data sets turn the lead round, if that is so.
    """
    rows = {row["source"]: row for row in frame.iter_rows(named=True)}
    said = []
    for source in [source for source in rows if source not in ("tie order", "queries")]:
        row, by_ties = rows[source], rows["tie order"]["reversal"] or 0.0
        if row["verdict"] == OWN:
            said.append("One of them is judged by its own labels.")
        reversal = row["reversal"] or 0.0
        if not reverses(reversal) or (source == "judge" and reversal <= by_ties):
            continue
        if source == "seed":
            lead = f"In the mean over their runs, {row['model_a']} is ahead of {row['model_b']}"
            said.append(f"{lead}, but not in {share(reversal)} of the pairs of runs.")
        else:
            among = row["varied"].partition(";")[0]
            said.append(f"Of {among}, {share(reversal)} order these two the other way.")
    return " ".join(said)
