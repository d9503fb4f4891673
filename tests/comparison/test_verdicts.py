"""One rule for verdicts: its words stand in one file, charts and reports receive them, and
thresholds are arguments.
"""

import ast
from functools import cache
from pathlib import Path

import polars as pl

import retrieval_report as rr
from made_scores import scores_of
from retrieval_report.comparison import verdicts
from retrieval_report.comparison.flips import JUDGED_PAIRS

ROOT = Path(rr.__file__).parent.parent
RULES = "retrieval_report/comparison/verdicts.py"
WORDS = {
    *verdicts.VERDICTS,
    *(verdicts.SINGLE_MODEL, verdicts.NO_SCORE, verdicts.SAME_WINNER, verdicts.OTHER_WINNER),
    *(verdicts.NO_WORSE, verdicts.WORSE, verdicts.NOT_DECIDED),
} - {verdicts.EQUAL, verdicts.WORSE}  # words of other things too
VALUES = {
    "a": [0.9, 0.8, 0.9, 0.7, 0.9, 0.8],
    "b": [0.4, 0.5, 0.3, 0.2, 0.5, 0.4],
    "c": [0.89, 0.81, 0.9, 0.69, 0.91, 0.8],
}
STDS = {"a": [0.01] * 6, "b": [0.02] * 6, "c": [0.05] * 6}


@cache
def nodes(path: Path) -> list[ast.AST]:
    return [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


def strings(path: Path) -> set[str]:
    """Every string of the code that is not a docstring, nor a part of a longer one; none where the
    text of a file holds no word.
    """
    if not any(word in path.read_text(encoding="utf-8") for word in WORDS):
        return set()
    return {
        node.value
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def code() -> list[Path]:
    return [
        path
        for folder in ("retrieval_report", "app")
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]


def test_the_words_of_verdicts_have_one_home():
    found = {str(path.relative_to(ROOT)): strings(path) & WORDS for path in code()}
    assert {path: words for path, words in found.items() if words} == {RULES: WORDS}


def test_only_the_analysis_holds_numbers_to_thresholds():
    rules = {"ALPHA", "TIE_RISK", "with_verdicts", "segment_rule", "margin_rule"}
    users = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.id}"
        for path in code()
        if path.parent.name != "comparison"
        and any(rule in path.read_text(encoding="utf-8") for rule in rules)
        for node in nodes(path)
        if isinstance(node, ast.Name) and node.id in rules
    ]
    assert users == []


def test_verdicts_of_a_comparison_are_those_of_flips():
    every = pl.concat([scores_of(VALUES, stds=STDS), scores_of(VALUES, policy="naive")])
    comparison = rr.compare(every)
    judged = rr.stats.pair_verdicts(comparison)
    assert dict(judged.schema) == JUDGED_PAIRS
    assert judged.drop("disagree", "significant", "verdict").equals(comparison)
    flips = rr.flips(rr.summarise(every), comparison=comparison)
    both = judged.filter(policy="expected").join(flips, on=["model_a", "model_b"], suffix="_flips")
    assert both.height == 3
    assert both["verdict"].to_list() == both["verdict_flips"].to_list()
    assert both["disagree"].to_list() == both["disagree_flips"].to_list()


def test_thresholds_are_arguments():
    comparison = rr.compare(scores_of(VALUES))
    pair = {"model_a": "a", "model_b": "b"}
    usual = rr.stats.pair_verdicts(comparison).filter(**pair)
    p = usual["family_p"].item()
    strict = rr.stats.pair_verdicts(comparison, alpha=p / 2)
    loose = rr.stats.pair_verdicts(comparison, alpha=min(2 * p, 0.99))
    assert strict.filter(**pair)["verdict"].item() == verdicts.NOT_SIGNIFICANT
    assert loose.filter(**pair)["verdict"].item() == verdicts.SAFE
