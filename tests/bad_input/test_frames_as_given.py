"""Small frames, each with its scores and ties, or with what the message says that refuses it."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import retrieval_report as rr
from bad_input import ENTRANCES, JUDGEMENTS, one_list, rankings

FRAMES = json.loads((Path(__file__).parents[1] / "data/frames.json").read_text(encoding="utf-8"))


def by_name(records: list[dict[str, Any]]):
    return [pytest.param(record, id=record["case"]) for record in records]


def typed(columns: dict[str, Any], types: dict[str, str], of: str = "") -> dict[str, Any]:
    """The columns, those that have a type as series; the types of judgements begin with their name."""
    dtypes = {name: eval(types[of + name], vars(pl)) for name in columns if of + name in types}
    return columns | {name: pl.Series(columns[name], dtype=dtypes[name]) for name in dtypes}


def given(record: dict[str, Any]) -> tuple[pl.DataFrame, dict[str, Any]]:
    """The rankings of a record, and what is asked of them."""
    types, asked = record.get("types", {}), dict(record.get("asked", {}))
    if "judgements" in record:
        known = JUDGEMENTS.to_dict(as_series=False) | record["judgements"]
        columns = {name: values for name, values in known.items() if values is not None}
        asked["judgements"] = pl.DataFrame(typed(columns, types, "judgements."))
    if "queries" in record:
        asked["queries"] = pl.DataFrame(typed(record["queries"], types, "queries."))
    columns = typed(record.get("rankings", record.get("list", {})), types)
    if "list" not in record:
        return rankings(**columns), asked
    [order] = columns.keys() & {"distance", "score"}
    return one_list(columns.pop(order), columns.pop("relevance"), order=order, **columns), asked


def agrees(frame: pl.DataFrame, columns: dict[str, list[Any]]):
    for name, wanted in columns.items():
        if name == "value":
            numbers = (
                value if value is None else pytest.approx(value, rel=1e-12) for value in wanted
            )
            wanted = [*numbers]
        assert frame[name].to_list() == wanted


@pytest.mark.parametrize("record", by_name(FRAMES["refused"]))
def test_refused(record: dict[str, Any]):
    """By every function, or where there are options by those that take them."""
    frame, asked = given(record)
    calls: list[Any] = [rr.evaluate, rr.shuffled_means] if asked else [*ENTRANCES.values()]
    if (record["error"], [*asked]) == ("ParameterError", ["metrics"]):
        calls.append(rr.lists.query_weights)
    for call in calls:
        with pytest.raises(getattr(rr, record["error"])) as caught:
            call(frame, **asked)
        assert [word for word in record["says"] if word not in str(caught.value)] == []


@pytest.mark.parametrize("record", by_name(FRAMES["scored"]))
def test_scored(record: dict[str, Any]):
    frame, asked = given(record)
    frames = [frame]
    if "ties" in record:
        groups, counts = rr.lists.tie_groups(frame).sort("row"), rr.count_ties(frame)
        assert groups["tie"].to_list() == record["ties"]
        order = "score" if "score" in frame.columns else "distance"
        assert frame.schema[order] == groups.schema[order] == counts.schema[order]
        frames.append(counts)
    for policy in asked.pop("policies", ["expected"]) if asked else ():
        how = {"truncated": "no", "cutoffs": None, "shuffles": 3, **asked}
        for one in frames if policy == "expected" else [frame]:
            found = rr.evaluate(one, policies=policy, **how)
            agrees(found, {name: record[name] for name in record.keys() & found.columns})
            if "means" in record:
                agrees(rr.summarise(found), record["means"])
                drawn = rr.shuffled_means(frame, **how).filter(draw=0)
                agrees(drawn, {"value": record["means"]["value"]})  # nothing ties in these
