"""What other systems print, as data, with one record per metric of every system.

A record says how a system orders tied items, what it divides by, which relevances it sees and what
it does with queries without relevant items. ``audit`` turns records into arguments of ``evaluate``;
none has its own code. The facts were read in the systems' source or measured, for the versions
named.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial

import polars as pl

from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.metrics.parsing import parse_metric
from retrieval_report.metrics.record import Metric

ORDERS = {
    "row": "rows as received",
    "item": "item id ascending",
    "item_descending": "item id descending",
    "exact": "mean over all orders",
    "random": "random",
    "arbitrary": "unstable sort, so arbitrary",
    "threshold": "a tie is one threshold",
}
OPEN = ("random", "arbitrary")  # the order is not determined
CHOICES = {
    "order": tuple(ORDERS),
    "seen": ("judged", "list"),
    "cutoffs": ("any", "whole", "given"),
    "positive": ("", "irrelevant", "unretrieved"),
}


@dataclass(frozen=True)
class Convention:
    """How one system computes one metric.

    Attributes
    ----------
    definition
        The metric in this package's text form, ``"ap(denominator=retrieved)"``.
    call
        Its name in the system.
    order
        One of ``ORDERS``: which item comes first in a tie.
    system, version
        The system and its version.
    row_order_up_to
        For an ``arbitrary`` order: lists of up to this many items keep the rows as received.
    float32
        Whether distances are rounded to float32 before they are compared, which makes new ties.
    seen
        ``judged``: the relevant items of the judgements or of ``n_relevant`` count, retrieved or
        not. ``list``: only those of the list.
    cutoffs
        ``any``; ``whole``: only whole lists; ``given``: only a whole number.
    binary
        Whether it treats relevances as 0 and 1 only.
    relevant_from
        Smallest relevant grade; None: as the caller of ``audit`` says.
    positive
        How it treats items whose score is not above 0: as usual (``""``), as not relevant
        (``irrelevant``), or as not retrieved but relevant (``unretrieved``).
    short_lists
        Whether it accepts lists with fewer than k items.
    no_relevant, missing_query
        As in ``evaluate``.
    note
        Further remarks.

    Examples
    --------
    >>> Convention("ap(denominator=min)", "map@k", "row", system="ours").metric
    'ap'
    """

    definition: str
    call: str
    order: str
    system: str = ""
    version: str = ""
    row_order_up_to: int = 0
    float32: bool = False
    seen: str = "judged"
    cutoffs: str = "any"
    binary: bool = False
    relevant_from: float | None = None
    positive: str = ""
    short_lists: bool = True
    no_relevant: str = "zero"
    missing_query: str = "zero"
    note: str = ""

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            check_choice(f"convention {name}", getattr(self, name), choices)
        if self.row_order_up_to and self.order != "arbitrary":
            raise ParameterError(
                f"convention row_order_up_to: only an 'arbitrary' order has it, not {self.order!r}"
            )
        record, _ = parse_metric(self.definition)
        if self.order == "threshold" and str(record) != "ap":
            raise ParameterError(
                f"convention order: 'threshold' is known for 'ap' only, not for {self.definition!r}"
            )
        if self.seen != "list" and (self.order == "threshold" or self.positive):
            raise ParameterError(
                "convention seen: 'threshold' and 'positive' are known for systems that see lists "
                "only"
            )
        object.__setattr__(self, "definition", str(record))

    @property
    def metric(self) -> str:
        """Return the name of the metric in this package's catalogue."""
        return self._record.name

    @cached_property
    def _record(self) -> Metric:
        return parse_metric(self.definition)[0]

    def prints(self, cutoff: int | None) -> bool:
        """Return whether the system computes the metric at this cutoff (None: whole lists)."""
        return (
            self._record.own_depth
            or self.cutoffs == "any"
            or (self.cutoffs == "whole") == (cutoff is None)
        )

    @property
    def words(self) -> str:
        """Return the order inside ties in words."""
        order = ORDERS[self.order]
        if self.row_order_up_to:
            order = f"{ORDERS['row']} in lists of up to {self.row_order_up_to} items, else {order}"
        return order + (", after rounding to float32" if self.float32 else "")

    @property
    def differs(self) -> str:
        """Return what else decides its numbers, in words."""
        parts = {
            "only relevant items of the list count": self.seen == "list",
            "relevance as 0 or 1": self.binary,
            f"relevant from {self.relevant_from or 0:g}": self.relevant_from is not None,
            "items with a score of 0 or less count as not relevant": self.positive != "",
            "refuses lists shorter than k": not self.short_lists,
            "queries without relevant item are left out": self.no_relevant == "skip",
            "queries without relevant item score 1": self.no_relevant == "one",
            "queries without rows are left out": self.missing_query == "skip",
            self.note: self.note != "",
        }
        return "; ".join(words for words, applies in parts.items() if applies)


def _of(
    system: str, version: str, records: Iterable[Convention], **shared: object
) -> tuple[Convention, ...]:
    return tuple(replace(record, system=system, version=version, **shared) for record in records)  # type: ignore[arg-type]


_Listed = partial(Convention, seen="list")
_OF_RETRIEVED = "precision(denominator=retrieved)"
_LISTWISE = (_OF_RETRIEVED, "recall", "ap", "rr", "dcg(gain=exp2)", "ndcg(gain=exp2,ideal=list)")


def _listwise(order: str, calls: str) -> tuple[Convention, ...]:
    """Return the metrics that libraries for learning to rank have in common, under the names that
    one gives them.
    """
    return tuple(
        _Listed(definition, call, order)
        for definition, call in zip(_LISTWISE, calls.split(), strict=True)
    )


_TREC = (
    Convention("precision", "P, set_P", "item_descending"),
    Convention("recall", "recall, set_recall", "item_descending"),
    Convention("f1", "set_F", "item_descending", cutoffs="whole"),
    Convention("ap", "map, map_cut", "item_descending"),
    Convention("rr", "recip_rank", "item_descending", cutoffs="whole"),
    Convention("ndcg", "ndcg, ndcg_cut", "item_descending"),
    Convention("hit_rate", "success", "item_descending", cutoffs="given"),
    Convention("r_precision", "Rprec", "item_descending"),
    Convention("bpref", "bpref", "item_descending"),
)
_IR_MEASURES = (
    Convention("precision", "P, SetP", "item_descending", float32=True),
    Convention("recall", "R, SetR", "item_descending", float32=True),
    Convention("f1", "SetF", "item_descending", float32=True, cutoffs="whole"),
    Convention("ap", "AP", "item_descending", float32=True),
    Convention("rr", "RR", "item_descending", float32=True, cutoffs="whole"),
    Convention(
        "rr", "RR@k", "item", cutoffs="given", note="RR@k comes from another provider than the rest"
    ),
    Convention("ndcg", "nDCG", "item_descending", float32=True),
    Convention("hit_rate", "Success", "item_descending", float32=True, cutoffs="given"),
    Convention("r_precision", "Rprec", "item_descending", float32=True),
    Convention("bpref", "Bpref", "item_descending", float32=True),
)
_RANX = (
    Convention("precision", "precision", "arbitrary"),
    Convention("recall", "recall", "arbitrary"),
    Convention("f1", "f1", "arbitrary"),
    Convention("ap", "map", "arbitrary"),
    Convention("rr", "mrr", "arbitrary"),
    Convention("dcg", "dcg", "arbitrary"),
    Convention("dcg(gain=exp2)", "dcg_burges", "arbitrary"),
    Convention("ndcg", "ndcg", "arbitrary"),
    Convention("ndcg(gain=exp2)", "ndcg_burges", "arbitrary"),
    Convention("hit_rate", "hit_rate", "arbitrary"),
    Convention("r_precision", "r-precision", "arbitrary"),
)
_END_OF_TIE = (
    "every relevant item gets the precision at the end of its tie, which no order inside "
    "ties need reach"
)
_SCIKIT_LEARN = (
    _Listed("ndcg(ideal=list)", "ndcg_score", "exact"),
    _Listed("ndcg(ideal=list)", "ndcg_score(ignore_ties=True)", "arbitrary"),
    _Listed("dcg", "dcg_score", "exact"),
    _Listed("dcg", "dcg_score(ignore_ties=True)", "arbitrary"),
    _Listed("ap", "average_precision_score", "threshold", cutoffs="whole", note=_END_OF_TIE),
)
_TORCHMETRICS = (
    _Listed("precision", "RetrievalPrecision", "arbitrary", positive="irrelevant"),
    _Listed(
        _OF_RETRIEVED,
        "RetrievalPrecision(adaptive_k=True)",
        "arbitrary",
        positive="irrelevant",
        cutoffs="given",
    ),
    _Listed("recall", "RetrievalRecall", "arbitrary", positive="unretrieved"),
    _Listed("ap(denominator=retrieved)", "RetrievalMAP", "arbitrary", positive="irrelevant"),
    _Listed("rr", "RetrievalMRR", "arbitrary", positive="irrelevant"),
    _Listed("ndcg(ideal=list)", "RetrievalNormalizedDCG", "exact"),
    _Listed("hit_rate", "RetrievalHitRate", "arbitrary"),
    _Listed("r_precision", "RetrievalRPrecision", "arbitrary"),
)
_KERAS_RS = _listwise(
    "random", "PrecisionAtK RecallAtK MeanAveragePrecision MeanReciprocalRank DCG NDCG"
)
_TENSORFLOW_RANKING = (
    *_listwise(
        "random",
        "PrecisionMetric RecallMetric MeanAveragePrecisionMetric MRRMetric DCGMetric NDCGMetric",
    ),
    _Listed("hit_rate", "HitsMetric", "random", cutoffs="given"),
)
_RAX = _listwise(
    "row", "precision_metric recall_metric ap_metric mrr_metric dcg_metric ndcg_metric"
)
_TF_SIMILARITY = (
    Convention("precision", "PrecisionAtK", "row"),
    Convention("hit_rate", "RecallAtK", "row"),
    Convention("ap", "MapAtK(r=…)", "row"),
    Convention("ap(denominator=k)", "MapAtK", "row"),
    Convention("ndcg(ideal=cutoff)", "BNDCG", "row"),
)
_TALR = (
    _Listed("ap", "tieAP", "exact", note="leaves trailing queries without relevant item out"),
    _Listed("ndcg(gain=exp2,ideal=list)", "tieNDCG", "exact", no_relevant="one"),
)
_TIE_AWARE = (
    _Listed("precision", "precision", "exact", cutoffs="given"),
    _Listed("recall", "recall", "exact"),
    _Listed("f1", "f1", "exact", cutoffs="given"),
    _Listed("ap", "map", "exact"),
    _Listed("rr", "mrr", "exact"),
    _Listed("ndcg(ideal=list)", "ndcg", "exact"),
)
_DEEP_HASH = "thulab/DeepHash leaves queries without a hit in the top k out of its mean"
_HASHING = (
    _Listed(_OF_RETRIEVED, "precision", "arbitrary"),
    _Listed("recall", "recall", "arbitrary"),
    _Listed("ap(denominator=retrieved)", "mAP", "arbitrary", note=_DEEP_HASH),
    _Listed("ndcg(gain=exp2,ideal=list)", "NDCG", "arbitrary"),
)
_RECOMMENDERS = (
    Convention("precision", "precision_at_k", "row"),
    Convention("recall", "recall_at_k", "row"),
    Convention("ap(denominator=min)", "map_at_k", "row"),
    Convention("ap", "map", "row"),
)
_RECBOLE = (
    Convention("precision", "Precision", "arbitrary"),
    Convention("recall", "Recall", "arbitrary"),
    Convention("ap(denominator=min)", "MAP", "arbitrary"),
    Convention("rr", "MRR", "arbitrary"),
    Convention("ndcg", "NDCG", "arbitrary"),
    Convention("hit_rate", "Hit", "arbitrary"),
)

CONVENTIONS: tuple[Convention, ...] = (
    *_of("trec_eval", "9", _TREC, float32=True, missing_query="skip"),
    *_of("trec_eval", "10", _TREC, missing_query="skip"),
    *_of("pytrec_eval", "0.5.11", _TREC, float32=True, missing_query="skip"),
    *_of("ir_measures", "0.4.3", _IR_MEASURES),
    # Numba's quicksort, by which ranx sorts, leaves parts of up to 15 items to an insertion sort,
    # which is stable.
    *_of(
        "ranx",
        "0.3.21",
        _RANX,
        row_order_up_to=15,
        note="given as plain dictionaries, short lists come reversed",
    ),
    *_of("scikit-learn", "1.9", _SCIKIT_LEARN),
    *_of("torchmetrics", "1.9", _TORCHMETRICS, float32=True),
    *_of("KerasRS", "0.4", _KERAS_RS, float32=True, relevant_from=1.0),
    *_of("TensorFlow Ranking", "0.5.5", _TENSORFLOW_RANKING, float32=True, relevant_from=1.0),
    *_of("rax", "0.4", _RAX, float32=True, relevant_from=1.0),
    *_of("TF Similarity", "0.17", _TF_SIMILARITY, cutoffs="given", binary=True, short_lists=False),
    *_of("TALR", "", _TALR, cutoffs="whole"),
    *_of("tie-aware-retrieval-metrics", "0.1.1", _TIE_AWARE, binary=True),
    *_of("deep-hashing scripts", "", _HASHING),
    *_of(
        "Recommenders",
        "1.2.1",
        _RECOMMENDERS,
        cutoffs="given",
        no_relevant="skip",
        missing_query="skip",
    ),
    *_of("RecBole", "1.2.1", _RECBOLE, cutoffs="given", binary=True),
)


def conventions() -> pl.DataFrame:
    """Return the table of conventions: one row per metric of every system, with the fields of
    ``Convention``.

    >>> table = conventions()
    >>> table.filter(pl.col("system") == "torchmetrics", pl.col("metric") == "ap").select(
    ...     "definition", "order"
    ... ).row(0)
    ('ap(denominator=retrieved)', 'arbitrary')
    """
    names = [field.name for field in fields(Convention)]
    columns: dict[str, list[object]] = {
        name: [getattr(record, name) for record in CONVENTIONS] for name in names
    }
    columns["metric"] = [record.metric for record in CONVENTIONS]
    first = ["system", "version", "metric", "call", "definition", "order"]
    frame = pl.DataFrame(columns, schema_overrides={"relevant_from": pl.Float64})
    return frame.select(*first, pl.exclude(first))


SPELLINGS = {"sklearn": "scikit-learn", "tfr": "TensorFlow Ranking", "tfsim": "TF Similarity"}


def system_of(name: str) -> tuple[str, str | None]:
    """Return system and version from a name in any spelling: ``sklearn``, ``keras-rs``,
    ``"trec_eval 9"``.

    Without a version, it is None, which means the newest.

    >>> system_of("sklearn"), system_of("keras_rs"), system_of("trec_eval 9")
    (('scikit-learn', None), ('KerasRS', None), ('trec_eval', '9'))
    """
    known = {(record.system, record.version) for record in CONVENTIONS}
    plain: dict[str, tuple[str, str | None]] = {
        _plain(system): (system, None) for system, _ in known
    }
    plain |= {
        _plain(f"{system}{version}"): (system, version) for system, version in known if version
    }
    plain |= {_plain(name): (system, None) for name, system in SPELLINGS.items()}
    if not isinstance(name, str) or _plain(name) not in plain:
        check_choice("like", name, tuple(dict.fromkeys(record.system for record in CONVENTIONS)))
    return plain[_plain(name)]


def _plain(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum() or sign == ".")


def choose(systems: object) -> list[Convention]:
    """Return the conventions of the named systems, or of all for None; given records are returned
    unchanged.

    >>> len(choose("TALR")), choose(None) == list(CONVENTIONS)
    (2, True)
    >>> choose("sklearn")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    retrieval_report.ParameterError: systems: 'sklearn' is not one of ...; did you mean
    'scikit-learn'?
    """
    if systems is None:
        return list(CONVENTIONS)
    given = [systems] if isinstance(systems, str | Convention) else list(systems)  # type: ignore[call-overload]
    known = tuple(dict.fromkeys(record.system for record in CONVENTIONS))
    chosen: list[Convention] = []
    for entry in given:
        if isinstance(entry, Convention):
            chosen.append(entry)
            continue
        check_choice("systems", entry, known)
        chosen += [record for record in CONVENTIONS if record.system == entry]
    if not chosen:
        raise ParameterError("systems: none given")
    return list(dict.fromkeys(chosen))
