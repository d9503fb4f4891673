"""Start a Spark session for the command line."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from retrieval_report.contracts.errors import ParameterError
from retrieval_report.spark.failures import FAILURES, reason

# One machine needs no address reachable from others, no web page of the job, and no log of what
# goes well.
LOCAL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
}


def is_local(master: str) -> bool:
    """Return whether all of Spark runs on this machine, for this process alone.

    >>> is_local("local[4]"), is_local("local-cluster[2,1,1024]"), is_local("sc://127.0.0.1")
    (True, True, False)
    """
    return master.startswith("local")


@contextmanager
def session(master: str, *, progress: bool = False) -> Iterator[SparkSession]:
    """Open a session on a master (``local[4]``, ``yarn``,
    ``spark://…``) or a Spark Connect server (``sc://…``).

    Spark's other settings come from the usual sources: ``spark-defaults.conf`` in
    ``SPARK_CONF_DIR``, and ``PYSPARK_SUBMIT_ARGS``. On one machine the workers use this Python and
    everything binds 127.0.0.1.

    Raises
    ------
    ParameterError
        Spark does not start.
    """
    builder = SparkSession.builder.appName("retrieval-report")
    builder = builder.remote(master) if master.startswith("sc://") else builder.master(master)
    if is_local(master):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        builder = builder.config(
            map={**LOCAL, "spark.ui.showConsoleProgress": str(progress).lower()}
        )
    try:
        spark = builder.getOrCreate()
    except (*FAILURES, OSError, ValueError) as error:
        raise ParameterError(
            f"master {master!r}: Spark does not start (is Java 17 or 21 there?): {reason(error)}"
        ) from error
    try:
        with warnings.catch_warnings():
            # Raised on every run with pandas 3, of which only the import is needed.
            warnings.filterwarnings(
                "ignore", "PySpark does not yet fully support pandas", FutureWarning
            )
            yield spark
    finally:
        spark.stop()
