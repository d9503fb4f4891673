"""Make reports: first their contents (frames and sentences), then the files that hold them."""

from retrieval_report.study.contents import Report
from retrieval_report.study.read_back import compare_reports, read_report
from retrieval_report.study.reports import report_contents, write_report
from retrieval_report.study.write import FORMATS

__all__ = ["FORMATS", "Report", "compare_reports", "read_report", "report_contents", "write_report"]
