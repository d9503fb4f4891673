"""Read metrics and cutoffs as a person writes them:
``"ndcg@10"``, ``"ap(denominator=min)"``, ``None``, ``"all"``.
"""

import inspect
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol, runtime_checkable

import numpy as np

from retrieval_report.contracts.arguments import Named, as_list, is_whole
from retrieval_report.contracts.checks import did_you_mean
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.wording import in_python
from retrieval_report.metrics import catalogue, terms
from retrieval_report.metrics.record import Metric
from retrieval_report.metrics.spellings import SPELLINGS, spelled

DEFAULT_MEASURES = ("ndcg@10", "precision@10", "recall@10", "ap")  # the first is the headline


@runtime_checkable
class Foreign(Protocol):
    """A measure of ir_measures, such as ``nDCG @ 10``."""

    NAME: str | None
    AT_PARAM: str  # the parameter that stands behind @
    params: Named


Metrics = str | Metric | Foreign | Sequence[str | Metric | Foreign] | None
Cutoff = int | str | None  # as a caller writes it
Cutoffs = int | str | Sequence[int | str | None] | None
Measure = tuple[str, int | None]  # metric and cutoff as the scores name them; None: the whole list
CATALOGUE: dict[str, type[Metric]] = {
    record.name: record
    for record in vars(catalogue).values()
    if inspect.isclass(record)
    and issubclass(record, Metric)
    and hasattr(record, "name")  # the bases have no name
}
ELSEWHERE = {  # arguments that ir_measures spells otherwise
    ("dcg", "log2"): ("gain", "linear"),
    ("dcg", "exp-log2"): ("gain", "exp2"),
    ("relative", "False"): ("", ""),  # what is so anyway
}
TEXT = re.compile(r"\s*([\w.-]+)\s*(?:\((.*)\))?\s*(?:@\s*([\w.]+))?\s*")
LARGEST = 2**63 - 1
Depths = tuple[int | None, ...]  # as they are scored; None is the whole list
Requests = list[tuple[Metric, Depths]]


def is_share(metric: str) -> bool:
    """Return whether all scores of a metric lie between
    0 and 1; False for metrics outside the catalogue.

    >>> (
    ...     is_share("ndcg(gain=exp2)"),
    ...     is_share("precision(radius=2)"),
    ...     is_share("dcg"),
    ...     is_share("latency"),
    ... )
    (True, True, False, False)
    """
    record = CATALOGUE.get(metric.partition("(")[0])
    return record is not None and record.largest == 1.0


def parse_cutoffs(cutoffs: object) -> Depths:
    """Return cutoffs as a tuple without repeats, in the order given; None (or pandas' NA) is the
    whole list. NaN is refused: it is what a computation that went wrong leaves.

    >>> parse_cutoffs([10, 1, 10, "all"])
    (10, 1, None)
    >>> parse_cutoffs([0])
    Traceback (most recent call last):
    retrieval_report.ParameterError: cutoffs: 0 is not a whole number from 1 on, None or 'all'
    (at most 2^63 − 1)
    """
    result = tuple(dict.fromkeys(_parse_cutoff(cutoff) for cutoff in as_list(cutoffs)))
    if not result:
        raise ParameterError("cutoffs: none given")
    return result


def _is_all(cutoff: object) -> bool:
    """Return whether a cutoff means the whole list: None, its form in pandas columns (NaN, NA, NaT)
    or "all".

    >>> _is_all(None), _is_all(np.float32("nan")), _is_all("all"), _is_all(0), _is_all("nan")
    (True, True, True, False, False)
    """
    if isinstance(cutoff, float | np.floating):
        return math.isnan(cutoff)
    is_word = isinstance(cutoff, str) and cutoff == "all"
    return is_word or cutoff is None or type(cutoff).__name__ in ("NAType", "NaTType")


def _parse_cutoff(cutoff: object) -> int | None:
    if _is_all(cutoff) and not isinstance(cutoff, float | np.floating):
        return None
    number = int(cutoff) if is_whole(cutoff) else 0  # type: ignore[call-overload]
    if not 1 <= number <= LARGEST:
        raise ParameterError(
            f"cutoffs: {cutoff!r} is not a whole number from 1 on, None or 'all' (at most 2^63 − 1)"
        )
    return number


def parse_metric(metric: object) -> tuple[Metric, Depths | None]:
    """Return a metric from its record or text form, and the cutoff in the text, if any.

    >>> parse_metric("ap(denominator=retrieved)@10")
    (AP(rel=None, denominator='retrieved', interpolation='none'), (10,))
    >>> parse_metric("ncdg")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    retrieval_report.ParameterError: measures: 'ncdg' is unknown; did you mean 'ndcg'? Known: acg,
    ap, ap_at_r, ...
    """
    if isinstance(metric, Metric) and hasattr(metric, "name"):  # the bases have no name
        return metric, None
    text = _text_of(metric) if isinstance(metric, Foreign) else metric
    match = TEXT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ParameterError(f"measures: {metric!r} {_not_of_the_form(text)}")
    spelling, arguments, cutoff = match.groups()
    own_name = spelling in CATALOGUE and arguments is None
    ours, parameters, depth = (spelling, None, None) if own_name else spelled(spelling, arguments)
    name, usual, whole = TEXT.fullmatch(ours).groups()  # type: ignore[union-attr]
    if name not in CATALOGUE or (depth and cutoff):
        hint = did_you_mean(spelling, [*CATALOGUE, *SPELLINGS], SPELLINGS) or "."
        raise ParameterError(
            f"measures: {metric!r} is unknown{hint} Known: {', '.join(sorted(CATALOGUE))}"
        )
    record = CATALOGUE[name](
        **{**_parse_arguments(name, usual or ""), **_parse_arguments(name, parameters or "")}
    )
    cutoff = cutoff or depth or whole
    if cutoff is None:
        return record, None
    try:
        return record, parse_cutoffs(whole_number(cutoff))
    except ParameterError:
        raise ParameterError(
            f"measures: {metric!r}: the cutoff {cutoff!r} is not a whole number from 1 on or 'all' "
            "(at most 2^63 − 1)"
            + "; up to rank R there are ap_at_r and r_precision"
            * (cutoff in "rR")
        ) from None


def named_requests(measures: Iterable[Measure]) -> Requests:
    """Return the metrics and cutoffs of measures, without those made of a caller's function, which
    their text does not name.

    >>> measures = [("ndcg", 10), ("ndcg(gain=<lambda>)", 10)]
    >>> [(str(metric), cutoffs) for metric, cutoffs in named_requests(measures)]
    [('ndcg', (10,))]
    """
    requests: Requests = []
    for measure in measures:
        with suppress(ParameterError):
            requests += parse_metrics(*measure)
    return requests


def _not_of_the_form(text: object) -> str:
    """Say how a measure is written, and of several in one text what goes between them."""
    words = text.split() if isinstance(text, str) else []
    if len(words) > 1 and all(map(TEXT.fullmatch, words)):
        return f"holds blanks; write a comma between measures: {','.join(words)}"
    form = "is not of the form name, name@10 or name(parameter=value)@10"
    return form + in_python(", and no record such as AP()")


def _text_of(measure: Foreign) -> str:
    """Return a measure of ir_measures as text, with everything that was given."""
    parameters = dict(measure.params)
    cutoff = parameters.pop(measure.AT_PARAM, None)
    arguments = ", ".join(f"{name}={value}" for name, value in parameters.items())
    return f"{measure.NAME}({arguments})" + ("" if cutoff is None else f"@{cutoff}")


def whole_number(text: str) -> int | str:
    """Return a whole number as an int; other text, or more
    digits than Python reads, is returned to be refused.
    """
    try:
        return int(text) if text.isdecimal() else text
    except ValueError:
        return text


def parse_measure(metric: object, cutoff: object = None) -> tuple[str, int | None]:
    """Return one metric and its cutoff as frames hold
    them, from ``"ndcg@10"`` or from metric and cutoff.

    The text of a metric made from functions cannot be parsed; it is returned unchanged, to be
    looked up in a frame.

    >>> parse_measure("MAP@10"), parse_measure("ndcg", 5), parse_measure("rr@all")
    (('ap', 10), ('ndcg', 5), ('rr', None))
    >>> parse_measure("ndcg@10", 5)
    Traceback (most recent call last):
    retrieval_report.ParameterError: cutoff: 5 is given as well as 'ndcg@10'
    """
    name, mark, depth = metric.rpartition("@") if isinstance(metric, str) else ("", "", "")
    name = name if mark else str(metric)
    depths = parse_cutoffs(whole_number(depth.strip())) if mark else None
    with suppress(ParameterError):
        record, within = parse_metric(metric if isinstance(metric, Foreign) else name)
        name, depths = str(record), within or depths
    last_cutoff: Any = None if _is_all(cutoff) else cutoff
    if depths is None:
        return name.strip(), last_cutoff
    if last_cutoff not in (None, depths[0]):
        raise ParameterError(f"cutoff: {cutoff!r} is given as well as {metric!r}")
    return name.strip(), depths[0]


def _parse_arguments(name: str, text: str) -> Named:
    parameter_names = list(inspect.signature(CATALOGUE[name]).parameters)
    result = {}
    text = re.sub(r"\{([^}]*)\}", lambda braces: braces[1].replace(",", ";"), text)
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        value = value.strip("'\"")
        key, value = ELSEWHERE.get((key, value), ("gain" if key == "gains" else key, value))
        if not key:
            continue
        if key not in parameter_names or key in result or not equals:
            raise ParameterError(
                f"measures: {name}({text}): {part!r} does not fit; {name} takes "
                f"{'=…, '.join(parameter_names)}=…, each once"
            )
        result[key] = _parse_value(value)
    return result


def _parse_value(text: str) -> object:
    if ":" in text:
        try:
            pairs = (part.split(":") for part in text.split(";"))
            table = {float(grade): float(gain) for grade, gain in pairs}
        except ValueError:
            table = {}
        if len(table) < text.count(":"):
            raise ParameterError(
                f"measures: {text!r} is not of the form grade:gain;grade:gain, one gain per grade"
            )
        return table
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return float(text)
    except ValueError:
        return text


def split_metrics(text: str) -> list[str]:
    """Split text at the commas outside parentheses; a number alone is another cutoff of the measure
    before it, as trec_eval writes them.

    >>> split_metrics("ndcg@10, ap(denominator=min)@5"), split_metrics("P.1,5,10")
    (['ndcg@10', 'ap(denominator=min)@5'], ['P.1', 'P.5', 'P.10'])
    """
    names = list[str]()
    for name in filter(None, map(str.strip, re.split(r",(?![^(]*\))", text))):
        before = re.fullmatch(r"(.+[@._])\d+", names[-1]) if names and name.isdecimal() else None
        names.append(before[1] + name if before else name)
    return names


def measure_text(metric: object, cutoff: int | None) -> str:
    """Return a metric and a cutoff as the text that `parse_measure` reads.

    >>> measure_text("ndcg", 10), measure_text("ap", None)
    ('ndcg@10', 'ap@all')
    """
    return f"{metric}@{'all' if cutoff is None else cutoff}"


def measure_texts(measures: Iterable[tuple[object, int | None]]) -> list[str]:
    """Return the text of every metric and cutoff."""
    return [measure_text(*measure) for measure in measures]


def one_of_two(measures: object, metrics: object) -> Any:
    """Return the measures from the two names of their argument; raise if both have a value.

    >>> one_of_two(None, "rr")
    'rr'
    """
    if measures is not None and metrics is not None:
        raise ParameterError("measures: given twice; 'metrics' is another name for them")
    return metrics if measures is None else measures


def parse_metrics(measures: object, cutoffs: object, metrics: object = None) -> Requests:
    """Return which metric is wanted at which cutoffs, in the order given; repeats are merged.

    ``metrics`` is another name for ``measures``.

    A metric without a cutoff has those of ``cutoffs``, by default the whole list. Without metrics,
    these are the four default measures, or their metrics at the cutoffs.

    >>> [f"{metric}@{own}" for metric, own in parse_metrics(None, None)]
    ['ndcg@(10,)', 'precision@(10,)', 'recall@(10,)', 'ap@(None,)']
    >>> [f"{metric}@{own}" for metric, own in parse_metrics(None, [5, "all"])]
    ['ndcg@(5, None)', 'precision@(5, None)', 'recall@(5, None)', 'ap@(5, None)']
    >>> parse_metrics("ap@5, ndcg, ap@10", 3)
    [(AP(rel=None, denominator='total', interpolation='none'), (5, 10)), (NDCG(gain='linear',
    discount='log2', ideal='judged'), (3,))]
    """
    default = parse_cutoffs(cutoffs)
    measures = one_of_two(measures, metrics)
    if measures is None:
        has_cutoffs = cutoffs is not None
        measures = [text.partition("@")[0] if has_cutoffs else text for text in DEFAULT_MEASURES]
    entries: list[object] = []
    for entry in as_list(measures, (str, bytes, Metric)):
        entries += split_metrics(entry) if isinstance(entry, str) else [entry]
    if not entries:
        raise ParameterError("measures: none given")
    result: dict[Metric, Depths] = {}
    texts: dict[str, Metric] = {}
    for entry in entries:
        metric, depths = parse_metric(entry)
        if texts.setdefault(str(metric), metric) != metric:
            raise ParameterError(
                f"measures: two different metrics are both called {str(metric)!r}; name the "
                "functions"
            )
        if metric.own_depth and depths not in (None, (None,)):
            raise ParameterError(f"measures: {entry!r}: cutoffs do not apply to {metric.name}")
        metric_depths = (None,) if metric.own_depth else depths or default
        result[metric] = tuple(dict.fromkeys((*result.get(metric, ()), *metric_depths)))
    return list(result.items())


def parameter_text(metric: str, parameter: str) -> tuple[tuple[str, ...], str]:
    """Return the choices of a parameter, the default
    first, and a sentence that explains each of them.

    >>> parameter_text("precision", "denominator")
    (('k', 'retrieved'), 'What the sum is divided by. k: k; retrieved: min(k, n), the items
    retrieved.')
    """
    what, choices = {
        "gain": ("What an item of grade g counts", terms.GAINS),
        "discount": ("What rank i counts", terms.DISCOUNTS),
    }.get(parameter, ("What the sum is divided by", CATALOGUE[metric].formula.divisor))
    assert isinstance(choices, Mapping)
    each = "; ".join(f"{name}: {text}" for name, text in choices.items())
    return tuple(choices), f"{what}. {each}."
