"""What other systems print, as data, with one record per metric of every system.

A record says how a system orders tied items, what it divides by, which relevances it sees and what
it does with queries without relevant items. ``audit`` turns records into arguments of ``evaluate``;
none has its own code. The facts were read in the systems' source or measured, for the versions
named.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property

import polars as pl

from retrieval_report.contracts.arguments import Named, as_list
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.columns import table_lines
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
    "middle": "mean of the best and the worst rank",
}
OPEN = ("random", "arbitrary")  # the order is not determined
LISTS = ("list", "samples")  # what is seen of systems that know only the items of a list


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
        not. ``others``: the same, without an item whose id is the query's. ``list``: only those of
        the list. ``samples``: the same, relevant items before the others in every list, and no
        query without either.
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
        As in ``evaluate``; ``no_relevant`` may be ``raise``: it prints nothing then.
    note
        Further remarks.
    """

    definition: str
    call: str
    order: str
    system: str
    version: str
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

    @property
    def metric(self) -> str:
        """Return the name of the metric in this package's catalogue."""
        return self._record.name

    @cached_property
    def _record(self) -> Metric:
        return parse_metric(self.definition)[0]

    @property
    def counts_grades(self) -> bool:
        """Return whether the metric may depend on more than which items are relevant."""
        return not hasattr(self._record, "rel") or self._record.largest != 1.0

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
            "only relevant items of the list count": self.seen in LISTS,
            "an item whose id is the query's is left out": self.seen == "others",
            "relevant items are listed first": self.seen == "samples",
            "relevance as 0 or 1": self.binary,
            f"relevant from {self.relevant_from or 0:g}": self.relevant_from is not None,
            "items with a score of 0 or less count as not relevant": self.positive != "",
            "refuses lists shorter than k": not self.short_lists,
            "queries without relevant item are left out": self.no_relevant == "skip",
            "a query without relevant item makes it fail": self.no_relevant == "raise",
            "queries without relevant item score 1": self.no_relevant == "one",
            "queries without rows are left out": self.missing_query == "skip",
            self.note: self.note != "",
        }
        return "; ".join(words for words, applies in parts.items() if applies)


# Lines that begin a paragraph are systems: name, version and what all their calls share, as JSON.
# Below are the calls: how they are written, what they compute, and what they have apart.
# Numba's quicksort, by which ranx sorts, leaves parts of up to 15 items to an insertion sort, which
# is stable.
_TABLE = """
trec_eval | 9 | "order": "item_descending", "float32": true, "missing_query": "skip"
trec_eval | 10 | "order": "item_descending", "missing_query": "skip"
pytrec_eval | 0.5.11 | "order": "item_descending", "float32": true, "missing_query": "skip"
  P, set_P | precision
  recall, set_recall | recall
  set_F | f1 | "cutoffs": "whole"
  map, map_cut | ap
  recip_rank | rr | "cutoffs": "whole"
  ndcg, ndcg_cut | ndcg
  success | hit_rate | "cutoffs": "given"
  Rprec | r_precision
  bpref | bpref
  num_rel_ret | num_rel_ret | "cutoffs": "whole", "note": "the line of all queries is their sum, not their mean"

ir_measures | 0.4.3 | "order": "item_descending", "float32": true
  P, SetP | precision
  R, SetR | recall
  SetF | f1 | "cutoffs": "whole"
  AP | ap
  RR | rr | "cutoffs": "whole"
  RR@k | rr | "cutoffs": "given", "order": "item", "float32": false, "note": "RR@k comes from another provider than
      the rest"
  nDCG | ndcg
  Success | hit_rate | "cutoffs": "given"
  Rprec | r_precision
  Bpref | bpref
  NumRelRet | num_rel_ret | "cutoffs": "whole", "note": "the value of all queries is their sum, not their mean"

ranx | 0.3.21 | "order": "arbitrary", "row_order_up_to": 15, "note": "given as plain dictionaries, short lists
      come reversed"
  precision | precision
  recall | recall
  f1 | f1
  map | ap
  mrr | rr
  dcg | dcg
  dcg_burges | dcg(gain=exp2)
  ndcg | ndcg
  ndcg_burges | ndcg(gain=exp2)
  hit_rate | hit_rate
  hits | num_rel_ret
  r-precision | r_precision

scikit-learn | 1.9 | "order": "arbitrary", "seen": "list"
  ndcg_score | ndcg(ideal=list) | "order": "exact"
  ndcg_score(ignore_ties=True) | ndcg(ideal=list)
  dcg_score | dcg | "order": "exact"
  dcg_score(ignore_ties=True) | dcg
  average_precision_score | ap | "cutoffs": "whole", "order": "threshold", "note": "every relevant item gets the
      precision at the end of its tie, which no order inside ties need reach"

torchmetrics | 1.9 | "order": "arbitrary", "seen": "list", "float32": true
  RetrievalPrecision | precision | "positive": "irrelevant"
  RetrievalPrecision(adaptive_k=True) | precision(denominator=retrieved) | "positive": "irrelevant", "cutoffs":
      "given"
  RetrievalRecall | recall | "positive": "unretrieved"
  RetrievalMAP | ap(denominator=retrieved) | "positive": "irrelevant"
  RetrievalMRR | rr | "positive": "irrelevant"
  RetrievalNormalizedDCG | ndcg(ideal=list) | "order": "exact"
  RetrievalHitRate | hit_rate
  RetrievalRPrecision | r_precision

KerasRS | 0.4 | "order": "random", "seen": "list", "float32": true, "relevant_from": 1.0
  PrecisionAtK | precision(denominator=retrieved)
  RecallAtK | recall
  MeanAveragePrecision | ap
  MeanReciprocalRank | rr
  DCG | dcg(gain=exp2)
  NDCG | ndcg(gain=exp2,ideal=list)

TensorFlow Ranking | 0.5.5 | "order": "random", "seen": "list", "float32": true, "relevant_from": 1.0
  PrecisionMetric | precision(denominator=retrieved)
  RecallMetric | recall
  MeanAveragePrecisionMetric | ap
  MRRMetric | rr
  DCGMetric | dcg(gain=exp2)
  NDCGMetric | ndcg(gain=exp2,ideal=list)
  HitsMetric | hit_rate | "cutoffs": "given"

rax | 0.4 | "order": "row", "seen": "list", "float32": true, "relevant_from": 1.0
  precision_metric | precision(denominator=retrieved)
  recall_metric | recall
  ap_metric | ap
  mrr_metric | rr
  dcg_metric | dcg(gain=exp2)
  ndcg_metric | ndcg(gain=exp2,ideal=list)

TF Similarity | 0.17 | "order": "row", "cutoffs": "given", "binary": true, "short_lists": false
  PrecisionAtK | precision
  RecallAtK | hit_rate
  MapAtK(r=…) | ap
  MapAtK | ap(denominator=k)
  BNDCG | ndcg(ideal=cutoff)

TALR | | "order": "exact", "seen": "list", "cutoffs": "whole"
  tieAP | ap | "note": "leaves trailing queries without relevant item out"
  tieNDCG | ndcg(gain=exp2,ideal=list) | "no_relevant": "one"

tie-aware-retrieval-metrics | 0.1.1 | "order": "exact", "seen": "list", "binary": true
  precision | precision | "cutoffs": "given"
  recall | recall
  f1 | f1 | "cutoffs": "given"
  map | ap
  mrr | rr
  ndcg | ndcg(ideal=list)

deep-hashing scripts | | "order": "arbitrary", "seen": "list"
  precision | precision(denominator=retrieved)
  recall | recall
  mAP | ap(denominator=retrieved) | "note": "thulab/DeepHash leaves queries without a hit in the top k out of its
      mean"
  NDCG | ndcg(gain=exp2,ideal=list)

Recommenders | 1.2.1 | "order": "row", "cutoffs": "given", "no_relevant": "skip", "missing_query": "skip"
  precision_at_k | precision
  recall_at_k | recall
  map_at_k | ap(denominator=min)
  map | ap

RecBole | 1.2.1 | "order": "arbitrary", "cutoffs": "given", "binary": true
  Precision | precision
  Recall | recall
  MAP | ap(denominator=min)
  MRR | rr
  NDCG | ndcg
  Hit | hit_rate

mteb | 2.26.24 | "order": "item_descending", "float32": true, "cutoffs": "given", "note": "rounded to 5 decimals"
  ndcg_at_k | ndcg
  map_at_k | ap
  recall_at_k | recall | "note": "rounded to 5 decimals; accuracy is recall_at_1"
  R_cap_at_k | recall(denominator=min) | "float32": false, "no_relevant": "skip", "note": "of its LMEB tasks alone"
  precision_at_k | precision
  mrr_at_k | rr | "float32": false, "note": "its own code, not that of pytrec_eval"
  hit_rate_at_k | hit_rate

BEIR | 2.2.0 | "order": "item_descending", "float32": true, "cutoffs": "given", "seen": "others", "missing_query":
      "skip", "note": "rounded to 5 decimals"
  NDCG@k | ndcg
  MAP@k | ap
  Recall@k | recall
  R_cap@k | recall(denominator=min) | "order": "row", "float32": false, "no_relevant": "raise", "missing_query": "zero"
  P@k | precision
  MRR@k | rr | "order": "row", "float32": false, "missing_query": "zero"
  Accuracy@k | hit_rate | "order": "row", "float32": false, "missing_query": "zero"

sentence-transformers | 6.2.0 | "order": "item", "cutoffs": "given", "binary": true, "no_relevant": "skip"
  accuracy@k | hit_rate
  precision@k | precision
  recall@k | recall
  ndcg@k | ndcg
  mrr@k | rr
  map@k | ap(denominator=min)

RerankingEvaluator | 6.2.0 | "order": "arbitrary", "seen": "samples", "binary": true, "no_relevant": "skip", "note":
      "of sentence-transformers"
  mrr@k | rr | "cutoffs": "given", "row_order_up_to": 16
  ndcg@k | ndcg(ideal=list) | "cutoffs": "given", "order": "exact"
  map | ap | "cutoffs": "whole", "order": "threshold"

CrossEncoderRerankingEvaluator | 6.2.0 | "order": "arbitrary", "seen": "list", "binary": true, "note":
      "of sentence-transformers"
  mrr@k | rr | "cutoffs": "given", "note": "of sentence-transformers; reverses an unstable sort, so a list that ties as
      a whole is read from its end"
  ndcg@k | ndcg(ideal=list) | "cutoffs": "given", "order": "exact"
  map | ap | "cutoffs": "whole", "order": "threshold"

PyKEEN | 1.11.1 | "order": "middle", "seen": "list", "binary": true, "no_relevant": "skip"
  inverse_harmonic_mean_rank | rr | "cutoffs": "whole"
  hits_at_k | hit_rate | "cutoffs": "given"

OGB | 1.3.6 | "order": "middle", "seen": "list", "binary": true, "no_relevant": "skip"
  mrr_list | rr | "cutoffs": "whole"
  hits@k_list | hit_rate | "cutoffs": "given", "note": "for k = 1, 3 and 10"

TGB | 2.3.0 | "order": "middle", "seen": "list", "binary": true, "no_relevant": "skip"
  mrr | rr | "cutoffs": "whole"
  hits@k | hit_rate | "cutoffs": "given"

triage | 6.0.0 | "order": "random", "seen": "list", "binary": true, "cutoffs": "given", "note": "stores the mean of 30
      random orders beside the worst and the best"
  precision@ | precision
  recall@ | recall
"""


def _row(line: str) -> tuple[str, str, Named]:
    first, second, *rest = map(str.strip, line.split("|"))
    return first, second, json.loads(f"{{{''.join(rest)}}}")


def _records() -> Iterator[Convention]:
    for paragraph in _TABLE.split("\n\n"):
        lines = table_lines(paragraph)
        calls = [_row(line) for line in lines if line.startswith(" ")]
        for system, version, shared in map(_row, lines[: len(lines) - len(calls)]):
            for call, definition, apart in calls:
                fields = {"system": system, "version": version, **shared, **apart}
                yield Convention(str(parse_metric(definition)[0]), call, **fields)


CONVENTIONS = tuple(_records())


def conventions() -> pl.DataFrame:
    """Return the table of conventions: one row per metric of every system.

    Rows come with the fields of ``Convention``.

    >>> table = conventions()
    >>> table.filter(pl.col("system") == "torchmetrics", pl.col("metric") == "ap").select(
    ...     "definition", "order"
    ... ).row(0)
    ('ap(denominator=retrieved)', 'arbitrary')
    """
    rows = [{**asdict(record), "metric": record.metric} for record in CONVENTIONS]
    first = ["system", "version", "metric", "call", "definition", "order"]
    frame = pl.DataFrame(rows, schema_overrides={"relevant_from": pl.Float64})
    return frame.select(*first, pl.exclude(first))


# Those that rank one true answer, of which counts suffice, and whose hits are a rate.
OF_ONE_ANSWER = ("PyKEEN", "OGB", "TGB")
SYSTEMS = tuple(dict.fromkeys(record.system for record in CONVENTIONS))
SPELLINGS = {
    "sklearn": "scikit-learn",
    "tfr": "TensorFlow Ranking",
    "tfsim": "TF Similarity",
    "py-tgb": "TGB",
    **dict.fromkeys(
        (
            "InformationRetrievalEvaluator",
            "MultiVectorInformationRetrievalEvaluator",
            "SparseInformationRetrievalEvaluator",
            "NanoBEIR",
            "NanoBEIREvaluator",
            "MultiVectorNanoBEIREvaluator",
            "SparseNanoBEIREvaluator",
        ),
        "sentence-transformers",
    ),
    **dict.fromkeys(
        ("MultiVectorRerankingEvaluator", "SparseRerankingEvaluator"), "RerankingEvaluator"
    ),
    "CrossEncoderNanoBEIREvaluator": "CrossEncoderRerankingEvaluator",
}


def system_of(name: str) -> tuple[str, str]:
    """Return system and version from a name in any
    spelling: ``sklearn``, ``keras-rs``, ``"trec_eval 9"``.

    Without a version in the name, it is the newest.

    >>> system_of("sklearn"), system_of("keras_rs"), system_of("trec_eval 9")
    (('scikit-learn', '1.9'), ('KerasRS', '0.4'), ('trec_eval', '9'))
    """
    plain = {}
    for record in CONVENTIONS:  # the newest of a system comes last
        identity = record.system, record.version
        plain[_plain(record.system)] = plain[_plain("".join(identity))] = identity
    plain |= {_plain(name): plain[_plain(system)] for name, system in SPELLINGS.items()}
    if not isinstance(name, str) or _plain(name) not in plain:
        check_choice("like", name, SYSTEMS)
    return plain[_plain(name)]


def _plain(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum() or sign == ".")


def choose(systems: object) -> list[Convention]:
    """Return the conventions of the named systems, or of all for None.

    >>> len(choose("TALR")), choose(None) == list(CONVENTIONS)
    (2, True)
    >>> choose("sklearn")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    retrieval_report.ParameterError: systems: 'sklearn' is not one of ...; did you mean
    'scikit-learn'?
    """
    if systems is None:
        return list(CONVENTIONS)
    names = as_list(systems)
    for name in names:
        check_choice("systems", name, SYSTEMS)
    return [
        record for name in dict.fromkeys(names) for record in CONVENTIONS if record.system == name
    ]
