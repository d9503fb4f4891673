"""Options of evaluation that several commands share:
which values they take, and what is refused early.
"""

from collections.abc import Callable, Iterable
from typing import Any

import click
from click.core import ParameterSource

from retrieval_report.cli.files import Addition, add_all, split
from retrieval_report.cli.group import option
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.options import DRAWS, PARAMETERS, RULES, Options
from retrieval_report.contracts.registry import column
from retrieval_report.metrics.parsing import (
    DEFAULT_MEASURES,
    Cutoffs,
    Metrics,
    parse_metrics,
    split_metrics,
    whole_number,
)

# The arbitrary order that others print, the exact mean, and the bounds over all orders.
MEASURES = ("--measures", "--metrics", "--measure")  # the first is our word
POLICIES = ("naive", "expected", "worst", "best")
THREE_AND_BOUNDS = ("expected", "shuffled", "naive", "worst", "best")


def _cutoffs(text: str) -> list[int | str]:
    """Convert whole numbers; other text is left for `evaluate` to accept ("all") or refuse."""
    return [whole_number(part) for part in split(text)]


def setting(name: str, **how: object) -> Addition:
    """Return an option of `evaluate` with its sentence, its type or choices, and its default."""
    parameter = PARAMETERS[name]
    kind = click.Choice(parameter.choices) if parameter.choices else parameter.kind
    usual = {"help": parameter.meaning, "default": parameter.default, "is_flag": kind is bool}
    words = MEASURES if name == "metrics" else (option(name),)
    return click.option(*words, name, **{**usual, "type": kind, **how})


def _split_at_commas(
    name: str, parts: Callable[[str], Iterable[object]], usual: Iterable[str] = (), **how: object
) -> Addition:
    """Return the same for a list with commas, which
    ``parts`` takes apart; by default ``usual``, or None.
    """
    how["callback"] = lambda _context, _option, text: None if text is None else parts(text)
    return setting(name, type=str, default=",".join(usual) or None, **how)


def with_default(name: str, default: str) -> str:
    """Return the sentence on an option whose default the function decides, such as one by measure."""
    return f"{PARAMETERS[name].meaning}  [default: {default}]"


SETTINGS = {
    "metrics": _split_at_commas(
        "metrics", split_metrics, help=with_default("metrics", ",".join(DEFAULT_MEASURES))
    ),
    "cutoffs": _split_at_commas("cutoffs", _cutoffs, help=with_default("cutoffs", "all")),
    "policies": _split_at_commas("policies", split, THREE_AND_BOUNDS),
    **{name: setting(name) for name in (*DRAWS, *RULES, "naive_order")},
}


def options(*names: str) -> Addition:
    """Add the named settings to a command, or all of them."""
    return add_all([SETTINGS[name] for name in names or SETTINGS])


depths_option = _split_at_commas(
    "cutoffs", _cutoffs, ("1", "5", "10", "all"), help="Depths at which ties are counted."
)
average_option, correction_option = setting("average"), setting("correction")
like_option = setting("like", metavar="SYSTEM")

# Those of the commands that hold a study, which has all policies.
study_options = add_all(
    [*(setting for name, setting in SETTINGS.items() if name != "policies"), like_option]
)


def _cluster_option(but: str = "") -> Addition:
    return click.option(
        "--cluster",
        metavar="COLUMN",
        help="Column of --queries that says which queries belong together, such as topic. Tests "
        f"and intervals then count its values, not single queries{but}.",
    )


cluster_option = _cluster_option()
study_cluster_option = _cluster_option(", but for segments and thresholds")
replicate_option = click.option(
    "--replicates",
    "--replicate",
    "replicate",
    metavar="COLUMN|REGEX",
    help="Compare models as means over their runs. A column of RANKINGS, such as seed, tells the "
    "runs apart; or a pattern does, whose group (?P<model>…) finds the model in their names.",
)
dataset_option = click.option(
    "--dataset",
    metavar="COLUMN",
    help="Column of --queries or RANKINGS that names the data set. Adds means over data sets, each "
    "of which counts the same, and whether another one could reverse the lead; the other scores "
    "stay means over queries.",
)
decision_options = add_all([
    click.option("--baseline", metavar="MODEL", help="Find which models lose less than --margin "
                                                     "against this one."),
    click.option("--margin", help="The largest loss against --baseline that would not matter: 0.005, "
                                  "or '1 %' of its score. It may differ by measure: "
                                  "'ndcg@10=0.005, recall@10=1 %'."),
    click.option("--largest-loss", type=float, help="The largest loss that one query can have; "
                                                    "default: that of the measure."),
    click.option("--costs", metavar="FILE", help="A table with the columns model and cost, such as "
                                                 "bytes per vector."),
])  # fmt: skip
question_options = add_all([
    average_option,
    replicate_option,
    dataset_option,
    click.option("--by", metavar="COLUMN", help="Column of --queries; find which of its values "
                                                "have another winner."),
    decision_options,
    correction_option,
    study_cluster_option,
])  # fmt: skip


labels_option = click.option(
    "--labels",
    metavar="FILE",
    help="One row per item: item and label. The nearest items classify the queries, which need a "
    "label in --queries.",
)
k_option = click.option("--k", type=int, help="How many of the nearest items vote; default: 1.")
at_least_option = click.option(
    "--at-least", type=float, help="Value that the metric must reach; default: its highest value."
)


ROW_NAMES = {"model", "model_a", "model_b", "measure", "series", "version", "system", "queries"}


def explained(frame: str, columns: str) -> list[tuple[str, str]]:
    """Return columns of the printed table with their meanings, for a command's help; without
    those that name what a row is about.
    """
    names = columns.split()
    return [(name, column(frame, name).meaning) for name in names if name not in ROW_NAMES]


def settled(settings: Named, label_sets: bool = False) -> Named:
    """Return the settings of a command; with --like only those that were given, since the system
    decides the others.

    A label set holds whatever its judge has labelled, so it is whole unless --truncated was given.
    """
    decided = SETTINGS.keys() - {"metrics", "cutoffs", "policies"}
    if label_sets and not was_given("truncated"):
        settings = {**settings, "truncated": "no"}
        decided.remove("truncated")
    if settings.get("like") is None:
        return {name: value for name, value in settings.items() if name != "like"}
    return {
        name: value for name, value in settings.items() if name not in decided or was_given(name)
    }


def was_given(name: str) -> bool:
    """Return whether the caller gave this option."""
    return click.get_current_context().get_parameter_source(name) == ParameterSource.COMMANDLINE


def check(
    *, metrics: Metrics, cutoffs: Cutoffs = None, like: str | None = None, **settings: Any
) -> None:
    """Refuse bad arguments before spending time on reading the files."""
    parse_metrics(metrics, cutoffs)
    Options(**settings)
    if like is not None:
        from retrieval_report.systems.evaluate_like import check_like, measures_like

        check_like(settings)
        measures_like(like, metrics, cutoffs)
