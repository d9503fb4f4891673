"""A provider for ir_measures, which then prints exact means over all orders of ties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import ir_measures
from ir_measures import providers, util

from retrieval_report.contracts.errors import ParameterError
from retrieval_report.engines.check_scores import at_measure
from retrieval_report.engines.evaluate import evaluate
from retrieval_report.metrics.parsing import parse_metric
from retrieval_report.reading import read_judgements

UNTYPED: Any = util


class TieAware(providers.Provider):
    """Computes what :func:`retrieval_report.evaluate` computes under the policy ``expected``."""

    NAME = "retrieval_report"

    def supports(self, measure: Any) -> bool:
        """Return whether the measure has a counterpart here.

        A mapping of gains has none: in ir_measures, a grade that it lacks is its own gain.
        """
        try:
            parse_metric(measure)
        except ParameterError:
            return False
        return "gains" not in measure.params

    def _evaluator(
        self, measures: Iterable[ir_measures.Measure], qrels: object
    ) -> TieAwareEvaluator:
        return TieAwareEvaluator(list(measures), UNTYPED.QrelsConverter(qrels).as_dict_of_dict())


class TieAwareEvaluator(providers.Evaluator):
    """Scores runs by one set of judgements; negative grades count as not judged."""

    def __init__(
        self, measures: list[ir_measures.Measure], qrels: dict[str, dict[str, int]]
    ) -> None:
        """Read the judgements once."""
        super().__init__(measures, qrels.keys())
        self.judgements = read_judgements(qrels, negative="unjudged")

    def _iter_calc(self, run: object) -> Iterator[ir_measures.Metric]:
        """Yield the score of every query by every measure."""
        scores = evaluate(
            UNTYPED.RunConverter(run).as_dict_of_dict(),
            judgements=self.judgements,
            metrics=list[Any](self.measures),
            policies="expected",
            truncated="no",
            unjudged_query="skip",
        ).drop_nulls("value")
        for measure in self.measures:
            metric, cutoffs = parse_metric(measure)
            rows = scores.filter(at_measure(str(metric), (cutoffs or (None,))[0]))
            for query, value in rows.select("query", "value").iter_rows():
                yield ir_measures.Metric(query_id=query, measure=measure, value=value)


def register() -> TieAware:
    """Put the provider first in ir_measures' default pipeline, once."""
    registry: Any = providers.registry
    if TieAware.NAME not in registry:
        make: Any = TieAware
        registry[TieAware.NAME] = make()
        ir_measures.DefaultPipeline.providers.insert(0, registry[TieAware.NAME])
    ours: TieAware = registry[TieAware.NAME]
    return ours
