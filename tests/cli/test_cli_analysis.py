"""`retrieval-report compare`, `profile` and `audit`, through click and on files."""

import json
import re
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from commands import run
from made_reports import lettered, made_rankings
from retrieval_report.comparison.verdicts import EQUAL, VERDICTS
from retrieval_report.study.samples import sample_folder

ROWS = """model,query,item,distance,relevance
a,q1,x,1,1
a,q1,y,1,0
a,q2,x,1,0
a,q2,y,2,1
b,q1,x,2,1
b,q1,y,1,0
b,q2,x,1,0
b,q2,y,1,1
"""


@pytest.fixture
def rankings(tmp_path: Path):
    path = tmp_path / "rankings.csv"
    path.write_text(ROWS)
    return path


def test_compare_begins_with_the_pairs_in_doubt_measure_by_measure(tmp_path: Path):
    path = tmp_path / "runs.csv"
    items = [("a", 1), ("b", 0), ("c", 0), ("d", 0)]
    lists = {
        "1 worst": [4, 3, 2, 1],
        "2 ties": [1, 1, 1, 1],
        "3 best": [1, 2, 3, 4],
        "4 ties": [1, 1, 1, 2],
    }
    rows = [
        f"{model},q{query},{item},{distance},{relevance}"
        for model, distances in lists.items()
        for query in range(9)
        for (item, relevance), distance in zip(items, distances, strict=True)
    ]
    path.write_text("\n".join(["model,query,item,distance,relevance", *rows, ""]))
    result = run(f"compare {path} --metrics recall@4,rr@1")
    first, second = result.output.split("\n\n")[1:3]
    assert (first.splitlines()[0], second.splitlines()[0]) == ("recall@4", "rr@1")
    equal, verdicts = (
        [re.split(r"  +", line)[-1] for line in block.splitlines()[2:]] for block in (first, second)
    )
    assert set(equal) == {EQUAL}
    assert len(set(verdicts)) > 1
    assert verdicts == sorted(verdicts, key=VERDICTS.index)
    assert VERDICTS.index(verdicts[0]) < VERDICTS.index(
        EQUAL
    )  # measures keep their order all the same


def test_compare_prints_of_many_models_the_pairs_that_matter(tmp_path: Path):
    path = tmp_path / "rankings.csv"
    lists = made_rankings(tuple(f"m{number:02}" for number in range(14)), queries=9)
    copy = lists.filter(model="m03").with_columns(model=pl.lit("copy of m03"))
    pl.concat([lists, copy]).write_csv(path)
    asked = f"compare {path} --metrics ndcg@3,rr@3 --truncated no"
    shown, whole, told = (run(asked + more) for more in ("", " --all", " --json"))
    assert len(shown.stdout.splitlines()) <= 61
    pairs = [re.split(r"  +", line)[:2] for line in shown.stdout.split("\n\n")[2].splitlines()[2:]]
    unsure = [row for row in json.loads(told.stdout)["flips"] if "depends" in row["verdict"]]
    kept = shown.stdout.count("depends on tie order")
    line = f"{len(pairs)} of 210 pairs are printed, and {kept} of the {len(unsure)} that tie order may "
    assert line in shown.stdout
    # One of the leader and its copy is printed.
    assert "copy of m03" in {name for pair in pairs for name in pair} - {"m03"}
    ranked = rr.Study(path, "ndcg@3", truncated="no").leaderboard["model"].to_list()[2:]
    assert all([*pair] in pairs for pair in pairwise(ranked))
    assert "pairs are printed" not in whole.stdout
    assert len(json.loads(told.stdout)["flips"]) == 210


def test_compare_prints_of_many_models_the_neighbours_that_tie_order_may_reverse(
    tmp_path: Path,
):
    """Model i finds the relevant item at rank i + 1; the tie of models 30 and 31
    holds it somewhere.
    """
    models, tied = range(44), {30: 3, 31: 2}
    lists = pl.DataFrame(
        {
            "model": f"m{model:02}",
            "query": query,
            "item": f"d{rank}",
            "distance": model if rank in range(model, model + tied.get(model, 1)) else rank,
            "relevance": int(rank == model),
        }
        for model in models
        for query in "qr"
        for rank in range(46)
    )
    items = pl.when(relevance=1).then(pl.lit("hit")).otherwise(pl.col("item") + pl.col("model"))
    path = tmp_path / "rankings.csv"
    lists.with_columns(item=items).write_csv(path)
    shown = run(f"compare {path} --measures rr@45 --truncated no").stdout
    [row] = [line for line in shown.splitlines() if line.endswith("depends on tie order")]
    assert row.split()[:2] == ["m30", "m31"]
    assert "40 of 946 pairs are printed, and 1 of the 1 that tie order may decide: neigh" in shown


def test_compare_with_a_baseline_tells_and_writes_the_verdicts_of_its_pairs(
    rankings: Path, tmp_path: Path
):
    rankings.write_text(
        ROWS + "".join(line.replace("b,", "c,", 1) for line in ROWS.splitlines(True)[5:])
    )
    asked = f"--metrics rr --cutoffs 1,all --baseline b --out {tmp_path}"
    result = run(f"compare {rankings} {asked}")
    for block in result.output.split("\n\n")[:2]:
        _, header, *pairs = block.splitlines()
        assert header.endswith("verdict")
        assert [line.split()[:2] for line in pairs] == [["a", "b"], ["c", "b"]]
        assert pairs[0].endswith("depends on tie order")
        assert pairs[1].endswith("equal")  # the lists of b, under another name
    written = pl.read_csv(tmp_path / "flips.csv")
    assert written.select("model_a", "model_b").unique(maintain_order=True).rows() == [
        ("a", "b"),
        ("b", "c"),
    ]


def test_profile_shows_where_cutoffs_cut_ties(rankings: Path, tmp_path: Path):
    result = run(f"profile {rankings} --cutoffs 1 --out {tmp_path}/out")
    assert result.output.startswith("cutoff 1\nmodel  queries  cut_share")
    head, row, *_ = (line.split() for line in result.output.splitlines()[1:])
    assert "." in row[head.index("tie_median")]  # a median in tenths, as in the report
    assert len(row[head.index("tie_median")].split(".")[1]) == 1
    assert pl.read_csv(tmp_path / "out/profile.csv")["cut_share"].to_list() == [0.5, 0.5]
    assert (tmp_path / "out/hints.csv").is_file()


def test_audit_prints_a_row_for_every_evaluator_those_first_whom_tie_order_misleads():
    folder = sample_folder() / "docs"
    asked = f"audit {folder}/runs --judgements {folder}/qrels.txt --metrics"
    short, whole = (run(f"{asked} rr@10{more}").output.splitlines() for more in ("", " --all"))
    table = rr.audit(folder / "runs", judgements=folder / "qrels.txt", metrics="rr@10")
    evaluators = table.select("system", "version", "call", "definition").unique()
    rows = [re.split(r" {2,}", line) for line in short[2:-4]]
    assert len(rows) == evaluators.height
    assert len(whole) - 4 == table.height
    cells = [re.split(r" {2,}", line)[-7:] for line in whole[2:-2]]
    moved = [row for row in cells if re.fullmatch(r"[+-]0[.][0-9]*[1-9][0-9]*", row[4])]
    assert len(moved) > 20
    for prints, expected, _, _, off, *_ in moved:  # the three agree as they are written
        apart = Decimal(prints) - Decimal(expected) - Decimal(off)
        assert not apart or (
            abs(apart) < Decimal("0.000011") and abs(apart) < abs(Decimal(off)) / 9
        )
    # These put the first document name first, or the first row.
    misled = [row[0] for row in rows if "no" in row]
    assert sorted(misled) == ["BEIR", "ir_measures", "rax", "sentence-transformers"]
    assert misled == [row[0] for row in rows[: len(misled)]]
    assert {row[2] for row in rows[: len(misled)]} == {"wordllama-float16 = wordllama-float32"}
    assert short[-3].startswith("winner: whom the evaluator names as best")
    assert short[-3].endswith("--all prints all models, versions and calls.")
    # Of evaluators that could name many, how many are said.
    assert "any of 5" in {row[2] for row in rows}
    assert max(map(len, short[2:-4])) <= 160
    graded = run(f"{asked} ndcg@10").output.splitlines()[2:-4]
    names = [re.split(r" {2,}", line)[0] for line in graded]
    assert len({*names}) == len(names)  # by version or call, where a system has several
    assert {"trec_eval 9", "scikit-learn ndcg_score", "mteb"} <= {*names}
    # No order of names changes the winner here.
    quiet = run(f"{asked} precision@10").output.splitlines()
    assert not any(re.search(r" no +", line) for line in quiet)


def test_audit_says_of_a_winner_that_its_data_are_in_doubt(tmp_path: Path):
    lists = {"half": ["A b"] * 5, "whole": ["A b"] * 9 + ["b A"]}
    rankings, judgements = tmp_path / "lists.csv", tmp_path / "judgements.csv"
    rows = lettered(lists)
    rows.drop("relevance").write_csv(rankings)
    rows.filter(model="whole").select("query", "item", "relevance").write_csv(judgements)
    asked = [rankings, "--judgements", judgements, "--measures", "rr@2"]
    doubt = "No verdict is given on half, named as winner above: see “Check your data”."
    table, legend = run("audit", *asked, code=2).output.split(f"\n{doubt}\n")
    assert re.search(r" half +yes ", table)
    assert legend.startswith("\nwinner: ")
    assert "named as winner" not in run("audit", *asked, "--all", code=2).output  # which names none


def test_of_two_models_compare_says_first_who_leads_and_prints_one_table(rankings: Path):
    folder = sample_folder() / "docs"
    runs = [folder / "runs" / f"{name}.run.gz" for name in ("bm25", "wordllama-int8")]
    result = run(f"compare --judgements {folder}/qrels.txt --truncated no", *runs)
    assert result.output.startswith("bm25 has the highest expected ndcg@10: 0.4282, ahead of ")
    assert (
        "\nBy ndcg, the naive order of the models is the expected one at cutoffs 1, 3"
        in result.output
    )
    head, *rows = result.output[result.output.index("\nmeasure  ") + 1 :].splitlines()[:5]
    assert head.split()[:3] == ["measure", "model_a", "model_b"]
    assert [row.split()[0] for row in rows] == ["ndcg@10", "precision@10", "recall@10", "ap@all"]


@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_every_command_scores_like_another_system(command: str, tmp_path: Path):
    path = tmp_path / "scored.csv"
    tied = "a,q1,x,2,2\na,q1,y,2,1\n"
    path.write_text("model,query,item,score,relevance\n" + tied + "b,q1,x,1,2\nb,q1,y,2,1\n")
    out = tmp_path / "out"
    result = run(f"{command} {path} --metrics ndcg@1 --cutoffs all --like trec_eval --out {out}")
    assert "ndcg@1" in result.output
    naive = pl.read_csv(out / "summary.csv").filter(policy="naive")
    assert naive["value"].to_list() == [0.5, 0.5]  # the later id first


def test_neighbours_are_judged_from_the_arrays_of_an_exact_search(tmp_path: Path):
    distances, indices, out = (
        tmp_path / name for name in ("distances.npy", "indices.npy", "qrels.csv")
    )
    np.save(distances, np.array([[0.1, 0.4, 0.4, 0.4, 0.9]], np.float32))
    np.save(indices, np.array([[9, 7, 3, 5, 1]]))
    result = run(f"neighbours {distances} {indices} --k 2 --out {out}")
    assert pl.read_csv(out).rows() == [(0, 9, 1), (0, 7, 1), (0, 3, 1), (0, 5, 1)]
    assert result.stdout.startswith("1 query, 4 neighbours; queries with more than 2: 1\n")
    refused = run(f"neighbours {distances} {indices} --k 6 --out {out}", code=2)
    assert "search deeper" in refused.stderr
    turned = run(f"neighbours {distances} {indices} --k 2 --scores", code=2)
    assert "as distances do; leave out --scores" in " ".join(turned.stderr.split())
    run(f"neighbours {distances} {indices} --k 2 --out {indices}", code=2)
