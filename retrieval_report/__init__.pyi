"""The public names and the modules that define them: the one list, for type checkers, editors and
``__init__.py``.
"""

from retrieval_report import (
    charts as charts,
    codes as codes,
    expr as expr,
    lists as lists,
    report as report,
    stats as stats,
    systems as systems,
)
from retrieval_report.systems.audit import audit as audit
from retrieval_report.comparison.pairs import compare as compare
from retrieval_report.comparison.flips import flips as flips
from retrieval_report.comparison.gate import gate as gate
from retrieval_report.ties.hints import tie_hints as tie_hints
from retrieval_report.comparison.leaderboard import leaderboard as leaderboard
from retrieval_report.comparison.meter import Meter as Meter
from retrieval_report.ties.nearest_labels import knn as knn
from retrieval_report.ties.profile import tie_profile as tie_profile
from retrieval_report.engines.summary import summarise as summarise
from retrieval_report.ties.rescored import rescored as rescored
from retrieval_report.ties.thresholds import thresholds as thresholds
from retrieval_report.ties.truncated_lists import truncated_lists as truncated_lists
from retrieval_report.contracts.errors import (
    ColumnError as ColumnError,
    DataError as DataError,
    FileError as FileError,
    KeyMismatchError as KeyMismatchError,
    OutputError as OutputError,
    ParameterError as ParameterError,
    RetrievalReportError as RetrievalReportError,
    RetrievalReportWarning as RetrievalReportWarning,
)
from retrieval_report.engines.disk import evaluate_to as evaluate_to
from retrieval_report.engines.evaluate import (
    count_ties as count_ties,
    evaluate as evaluate,
    shuffled_means as shuffled_means,
)
from retrieval_report.metrics.catalogue import (
    ACG as ACG,
    AP as AP,
    DCG as DCG,
    ERR as ERR,
    F1 as F1,
    NDCG as NDCG,
    RBP as RBP,
    RR as RR,
    WAP as WAP,
    APAtR as APAtR,
    Bpref as Bpref,
    HitRate as HitRate,
    NumRelRet as NumRelRet,
    Precision as Precision,
    Recall as Recall,
    RPrecision as RPrecision,
)
from retrieval_report.metrics.record import Metric as Metric
from retrieval_report.reading.collapse import collapse as collapse
from retrieval_report.reading.label_sets import from_labels as from_labels
from retrieval_report.reading import (
    read_judgements as read_judgements,
    read_queries as read_queries,
    read_rankings as read_rankings,
)
from retrieval_report.report import read_report as read_report, write_report as write_report
from retrieval_report.codes.embeddings import from_embeddings as from_embeddings
from retrieval_report.codes.search import from_search as from_search
from retrieval_report.codes.true_scores import from_scores as from_scores
from retrieval_report.study.study import Study as Study

__all__: list[str]
__version__: str
