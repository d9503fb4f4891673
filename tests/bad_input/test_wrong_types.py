"""Any argument of any public function may be given any object: it works, or one of our errors says
why not.
"""

from __future__ import annotations

import datetime as dt
import decimal
import inspect
import itertools
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from retrieval_report.contracts import options

pytestmark = pytest.mark.filterwarnings("ignore")  # odd values may be warned of, too

FRAME = pl.DataFrame(
    {
        "model": ["a"] * 4 + ["b"] * 4,
        "query": ["q", "q", "r", "r"] * 2,
        "item": list("cdcd") * 2,
        "distance": [1, 1, 2, 3, 1, 2, 2, 2],
        "relevance": [1, 0, 0, 1] * 2,
    }
)
SCORES = rr.evaluate(FRAME, metrics="ndcg@2, ap")
SUMMARY = rr.summarise(SCORES)
COMPARISON = rr.compare(SCORES)
QUERIES = pl.DataFrame({"query": ["q", "r"], "label": ["x", "y"], "weight": [1, 2]})
JUDGEMENTS = FRAME.filter(pl.col("model") == "a").select("query", "item", "relevance")
STUDY = rr.Study(FRAME, "ndcg@2")
ODD: tuple[object, ...] = (
    *(-1, 0, 5, 2.5, math.nan, math.inf, 10**400, True, 1j),
    *("", "zz", "a,b", b"x", None, [], ["zz"], [5], [None], (), (1, 2), {1, 2}, range(3)),
    *({}, {"a": 5}, {5: "a"}, {"zz": "q"}, object(), len, rr),
    *(np.array(3), np.array([1.5, 2.0]), np.array([])),
    *(pl.DataFrame(), pl.DataFrame({"x": [1]}), pl.LazyFrame({"x": [1]}), pl.Series([1])),
    *(pl.col("x"), dt.date(2020, 1, 1), decimal.Decimal(1)),
)


def of_model(name: str) -> pl.DataFrame:
    """The rankings of one model."""
    return FRAME.filter(pl.col("model") == name)


# Options that many functions share are tried with every object in `evaluate`, and each argument of
# the others with some objects, every argument with others of them.
STEPS = {
    "evaluate": 2,
    **dict.fromkeys(("write_report", "Study.report"), 60),
    **dict.fromkeys(("audit", "compare", "compare_by", "gate", "leaderboard", "flips"), 20),
}
STEP = 10
OUT: Any = object()  # stands for a folder of the test's own
CALLS: dict[str, tuple[Callable[..., object], tuple[Any, ...], dict[str, Any]]] = {
    "evaluate": (rr.evaluate, (FRAME,), {}),
    "evaluate_to": (rr.evaluate_to, (OUT, FRAME), {}),
    "count_ties": (rr.count_ties, (FRAME,), {}),
    "audit": (rr.audit, (FRAME,), {"metrics": "ndcg@2"}),
    "compare": (rr.compare, (SCORES,), {}),
    "leaderboard": (rr.leaderboard, (SCORES,), {}),
    "flips": (rr.flips, (SUMMARY,), {}),
    "gate": (rr.gate, (of_model("a"), of_model("b")), {"measure": "ndcg@2", "margin": 0.1}),
    "summarise": (rr.summarise, (SCORES,), {}),
    "knn": (rr.knn, (FRAME, {"c": "x", "d": "y"}), {"queries": QUERIES}),
    "tie_hints": (rr.tie_hints, (FRAME,), {}),
    "tie_profile": (rr.tie_profile, (FRAME,), {}),
    "estimate": (rr.stats.estimate, (SCORES, SCORES), {}),
    "thresholds": (rr.thresholds, (FRAME,), {}),
    "Thresholds.calibrate": (rr.thresholds(FRAME).calibrate, (), {"resamples": 3}),
    "Thresholds.abstain": (rr.thresholds(FRAME).abstain, (), {}),
    "collapse": (rr.collapse, (FRAME,), {}),
    "truncated_lists": (rr.truncated_lists, (FRAME,), {}),
    "shuffled_means": (rr.shuffled_means, (FRAME,), {"metrics": "ap"}),
    "read_rankings": (rr.read_rankings, (FRAME,), {}),
    "from_labels": (rr.from_labels, ({"a": JUDGEMENTS},), {}),
    "read_judgements": (rr.read_judgements, (JUDGEMENTS,), {}),
    "read_queries": (rr.read_queries, (QUERIES,), {}),
    "read_report": (rr.read_report, (OUT,), {}),
    "write_report": (rr.write_report, (OUT, FRAME), {"formats": "csv", "metrics": "rr@2"}),
    "from_search": (
        rr.from_search,
        ((np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([[0, 1], [1, 0]])),),
        {"query_labels": [0, 1], "item_labels": [0, 1]},
    ),
    "from_scores": (rr.from_scores, ((np.ones(2), np.array([[0.5, 1.0], [2.0, 1.0]])),), {}),
    "Study": (rr.Study, (FRAME,), {}),
    "Study.table": (STUDY.table, (), {}),
    "Study.pair": (STUDY.pair, ("a", "b"), {}),
    "Study.report": (STUDY.report, (OUT,), {"formats": "csv"}),
    "Study.to_latex": (STUDY.to_latex, (), {}),
    "Study.to_markdown": (STUDY.to_markdown, (), {}),
    "ranking_ties": (rr.lists.ranking_ties, (FRAME,), {"model": "a", "query": "q"}),
    "score_distribution": (
        rr.lists.score_distribution,
        (FRAME,),
        {"model": "a", "query": "q", "metric": "ap", "cutoff": 2},
    ),
    "side_by_side": (
        rr.lists.side_by_side,
        (rr.lists.tie_groups(of_model("a")), rr.lists.tie_groups(of_model("b"))),
        {},
    ),
    "query_table": (rr.lists.query_table, (SCORES,), {}),
    "ranking_similarity": (
        rr.lists.ranking_similarity,
        (of_model("a").drop("model"), of_model("b").drop("model")),
        {},
    ),
    "duplicates": (rr.lists.duplicates, (FRAME,), {}),
    "duplicates of an array": (rr.lists.duplicates, (np.eye(2),), {}),
    "collapse of judgements": (rr.collapse, (JUDGEMENTS,), {}),
    "recall_curve": (rr.lists.recall_curve, (FRAME,), {}),
    "ties_at_cutoff": (rr.lists.ties_at_cutoff, (FRAME,), {"cutoff": 2}),
    "tie_groups": (rr.lists.tie_groups, (FRAME,), {}),
    "judgement_coverage": (
        rr.lists.judgement_coverage,
        (FRAME.drop("relevance"), JUDGEMENTS),
        {},
    ),
    "compare_by": (rr.stats.compare_by, (SCORES, QUERIES, "label"), {}),
    "summarise_by": (rr.stats.summarise_by, (SCORES, QUERIES, "label"), {}),
    "segment_winners": (rr.stats.segment_winners, (SCORES, QUERIES, "label"), {}),
    "cost_table": (rr.stats.cost_table, (SUMMARY, {"a": 1.0, "b": 2.0}), {}),
    "deciding_queries": (rr.stats.deciding_queries, (SCORES, "a", "b"), {}),
    "dataset_scores": (rr.stats.dataset_scores, (SCORES, QUERIES, "label"), {}),
    "dataset_table": (
        rr.stats.dataset_table,
        (rr.stats.dataset_scores(SCORES, QUERIES, "label"),),
        {},
    ),
    "replicate_pairs": (rr.stats.replicate_pairs, (SCORES, "(?P<model>.)"), {}),
    "replicate_table": (rr.stats.replicate_table, (SCORES, "(?P<model>.)"), {}),
    "detectable_effect": (rr.stats.detectable_effect, (0.1, 10), {}),
    "queries_needed": (rr.stats.queries_needed, (0.1, 0.2), {}),
    "no_worse": (rr.stats.no_worse, (SCORES,), {"baseline": "a", "margin": 0.1}),
    "tie_ranks": (rr.stats.tie_ranks, (SCORES,), {}),
    "evaluate_with_draws": (rr.stats.evaluate_with_draws, (FRAME,), {}),
    **{
        name: (getattr(rr, name), (), {})
        for name in ("AP", "NDCG", "DCG", "ERR", "RBP", "Precision", "WAP")
    },
}


def parameters(function: Callable[..., object]) -> list[str]:
    """The names of all parameters, with those of a TypedDict that is unpacked."""
    names = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            unpacked = str(parameter.annotation).removeprefix("Unpack[").removesuffix("]")
            module = sys.modules[function.__module__]
            record = getattr(module, unpacked, getattr(options, unpacked, object))
            names += list(get_type_hints(record))
        else:
            names.append(parameter.name)
    return names


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_any_object_as_any_argument_works_or_is_refused_by_our_errors(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # texts are valid names of files
    function, given, named = CALLS[name]
    folders = (tmp_path / f"out-{number}" for number in itertools.count())
    wrong = []
    step = STEPS.get(name, STEP)
    for position, parameter in enumerate(parameters(function)):
        for odd in (*ODD[position % step :: step], iter([1])):
            values = [next(folders) if value is OUT else value for value in given]
            if position < len(values):
                values[position] = odd
                others = named
            else:
                others = {**named, parameter: odd}
            try:
                function(*values, **others)
            except rr.RetrievalReportError:
                pass
            except Exception as error:
                wrong.append(f"{parameter}={odd!r:.40}: {type(error).__name__}: {error!s:.80}")
    assert not wrong, "\n".join(wrong)
