"""The probability that random tie order reverses a pair of models, with valid bounds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Unpack

import numpy as np
import polars as pl

from retrieval_report.comparison.p_tie import Side, chance_of_reversal, worth_lists
from retrieval_report.comparison.tie_bounds import (
    lead_left,
    normal_chances,
    over_pairs,
    ranges,
    tail_bounds,
)
from retrieval_report.comparison.verdicts import ROUNDING
from retrieval_report.contracts.arguments import grouped
from retrieval_report.contracts.errors import KeyMismatchError
from retrieval_report.contracts.options import ListOptions, options_with
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.score_grid import Grid, Pairs, Scores
from retrieval_report.kernels.lists import Bools, Floats
from retrieval_report.metrics.parsing import measure_text, named_requests
from retrieval_report.metrics.record import Metric
from retrieval_report.scoring.judged import judge
from retrieval_report.scoring.run import Run, runs_of
from retrieval_report.scoring.waves import TiedList, scaled, tied_lists

Lists = dict[tuple[int, int], list[TiedList]]  # of every run, by rows of model and query
CHANCES = schema("comparison", "p_tie_low", "p_tie", "p_tie_high", "p_equal", "p_tie_method")


class Runs(NamedTuple):
    """Rankings of runs, where the scores are of models that are means over their runs."""

    rankings: object
    of_run: Mapping[str, str]


class Chances:
    """What is known about every pair by one measure of expected scores: certainties first, then
    moments, then scores of lists.
    """

    def __init__(self, scores: Scores, pairs: Pairs, columns: Mapping[str, Floats]) -> None:
        self.scores, self.pairs, self.known = scores, pairs, ranges(scores)
        self.lists: Lists = {}
        self._sides: dict[object, Side | None] = {}
        score_ranges, size = self.known, columns["queries"]
        self.lead = lead = columns["difference"] * size
        self.moved = over_pairs(score_ranges.loose, score_ranges, pairs)
        apart = lead_left(score_ranges, pairs, lead)
        unit = ROUNDING * np.maximum(columns["value_a"], columns["value_b"]) * size
        level, still = lead == 0, self.moved == 0
        sure = ~level & (apart >= -unit)
        paired = size > 0
        cut = (columns["truncated_queries"] > 0) & ~sure
        # Cut lists score what is worst for the lead, whatever they lack; the others vary.
        whole, left = score_ranges, np.abs(lead)
        if cut.any():
            left = lead_left(score_ranges.at_mean(~scores.truncated), pairs, lead)
            whole = score_ranges.at_mean(scores.truncated)
        low, high = tail_bounds(whole, pairs, np.copysign(left, lead))
        likely = normal_chances(lead, columns["tie_std"] * size)
        bounded = cut & (left > unit) & (high < 1)
        self.method = np.select(
            [~paired, cut, level, still | sure, np.isnan(likely)],
            np.array([None, "truncated", None, "exact", "bounds"]),
            "normal",
        )
        exact, self.open = self.method == "exact", np.isin(self.method, ["bounds", "normal"])
        self.numbers = [
            np.select([exact, self.open, bounded], [0.0, column, bound], np.nan)
            for column, bound in ((low, 0.0), (np.clip(likely, low, high), np.nan), (high, high))
        ]
        level &= paired & ~cut
        never = exact & (still | (apart > unit))
        self.numbers.append(np.select([level & still, never], [1.0, 0.0], np.nan))
        self.open |= level & ~still

    def undecided(self) -> Bools:
        """Return which lists' distributions a pair needs because moments leave it open."""
        low, _, high, _ = self.numbers
        needed = self.open & (worth_lists(low, high, self.moved) | (self.lead == 0))
        unsure_lists = np.zeros(self.known.value.shape, np.bool_)
        for pair in np.flatnonzero(needed):
            two = [self.pairs.first[pair], self.pairs.second[pair]]
            unsure_lists[two] |= self.known.loose[two] & ~np.isnan(self.known.value[two]).any(
                axis=0
            )
        return unsure_lists

    def frame(self) -> pl.DataFrame:
        """Return the chances as columns of a comparison, from the scores of lists where there are
        some that tell more than moments.
        """
        low, value, high, equal = self.numbers
        for pair in np.flatnonzero(self.open) if self.lists else ():
            two = [self.pairs.first[pair], self.pairs.second[pair]]
            lead = self.lead[pair]
            ahead, behind = two if lead >= 0 else two[::-1]
            chance = chance_of_reversal(self._side(ahead, behind), self._side(behind, ahead))
            if chance is None:
                continue
            equal[pair] = chance.equal
            if lead != 0:
                low[pair], high[pair] = max(low[pair], chance.low), min(high[pair], chance.high)
                value[pair] = np.clip(chance.value, low[pair], high[pair])
                self.method[pair] = chance.method
        method = pl.Series(self.method.tolist(), dtype=pl.String)
        return pl.DataFrame([*self.numbers, method], schema=CHANCES).fill_nan(None)

    def _side(self, row: int, rival: int) -> Side | None:
        """Return the lists of a model; None if nothing is known of one."""
        value = self.known.value[row]
        loose = self.known.loose[row]
        paired = ~np.isnan(value) & ~np.isnan(self.known.value[rival])
        key = row, paired.tobytes()
        if key not in self._sides:
            queries = np.flatnonzero(loose & paired).tolist()
            lists = [tied for query in queries for tied in self.lists.get((row, query), [])]
            total = float(value[paired].sum())
            fixed = float(value[paired & ~loose].sum())
            whole = all((row, query) in self.lists for query in queries)
            self._sides[key] = Side(total, fixed, lists) if whole else None
        return self._sides[key]


def read_lists(
    grid: Grid,
    chances: Sequence[Chances],
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    **options: Unpack[ListOptions],
) -> None:
    """Give pairs the lists that decide more of their chance than moments do; raise an error if they
    contradict the scores.

    Metrics made from a caller's functions are left out, because their text does not identify the
    function.
    """
    # Lists that no pair needs are absent, which is not an error.
    checked = options_with(options, policies="expected", missing_query="zero")
    rankings, of_run = rankings if isinstance(rankings, Runs) else (rankings, {})
    unsure_by_measure = {
        chance.scores.measure[:2]: (chance, unsure)
        for chance in chances
        if (unsure := chance.undecided()).any()
    }
    if not unsure_by_measure:
        return
    sources = (
        rankings.sources(policies="expected")  # as another system receives them
        if hasattr(rankings, "sources")
        else [(judge(rankings, judgements, queries, checked), checked, list(unsure_by_measure))]
    )
    for judged, rules, measures in sources:
        requests = named_requests(index for index in measures if index in unsure_by_measure)
        for run in runs_of(judged, requests, rules) if requests else ():
            for metric, cutoff in run.measures:
                chance, unsure = unsure_by_measure[str(metric), cutoff]
                for place, lists in _lists_of(run, metric, chance.scores, grid, unsure, of_run):
                    chance.lists.setdefault(place, []).append(lists)
    for chance, _ in unsure_by_measure.values():
        _check_means(grid, chance.scores, chance.lists)


def _lists_of(
    run: Run,
    metric: Metric,
    scores: Scores,
    grid: Grid,
    unsure: Bools,
    of_run: Mapping[str, str],
) -> Iterator[tuple[tuple[int, int], TiedList]]:
    """Yield the lists that pairs need by one measure, with their rows of model and query; each of
    several runs counts as its part of their mean, and a query as its weight.
    """
    runs = grouped((model, name) for name, model in of_run.items())
    places, sizes = {}, {}
    for row, query in np.argwhere(unsure).tolist():
        of_model = runs.get(grid.models[row], [grid.models[row]])
        for name in of_model:
            places[name, grid.queries[query]] = (row, query)
            sizes[row] = len(of_model)
    names = run.prepared.names.rows()
    included = ~run.left_out()
    used = [number for number, name in enumerate(names) if included[number] and name in places]
    prepared = run.prepared.take(np.array(used, np.int64))
    lists = tied_lists(Run(prepared, [(metric, (scores.measure[1],))], run.options))
    for number, tied_list in zip(used, lists, strict=True):
        place = places[names[number]]
        weight = 1.0 if scores.weight is None else float(scores.weight[place])
        yield place, scaled(tied_list, weight / sizes[place[0]])


def _check_means(grid: Grid, scores: Scores, lists: Lists) -> None:
    """Refuse rankings of other scores, since a forgotten
    option changes the numbers without any other sign.
    """
    for (model, query), parts in lists.items():
        score = float(scores.value[model, query])
        mean = sum(part.mean for part in parts)
        reach = sum(part.most - part.least for part in parts)
        if abs(mean - score) > 1e-9 * max(score, 1e-3 * min(reach, 1.0)):
            raise KeyMismatchError(
                f"rankings: they are not those of the scores: {measure_text(*scores.measure[:2])} "
                f"of model {grid.models[model]!r} and query {grid.queries[query]!r} is "
                f"{mean:.6g} on average over all tie orders, but {score:.6g} in the scores; "
                "pass compare the same frames and options as evaluate (judgements, queries, "
                "relevant_from, …)"
            )
