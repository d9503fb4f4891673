"""Compute the same scores on Apache Spark, using only its DataFrame API.

This works on one machine, on a cluster and through Spark Connect. Executors import this package, so
it must be installed there too, with pandas and PyArrow.
"""

import importlib.util

if importlib.util.find_spec("pyspark") is None:
    raise ImportError("retrieval_report.spark needs pyspark: pip install 'retrieval-report[spark]'")

from retrieval_report.spark.evaluation import count_ties, evaluate
from retrieval_report.spark.failures import our_errors
from retrieval_report.spark.summary import summarise

__all__ = ["count_ties", "evaluate", "our_errors", "summarise"]
