"""Read files and frames of other libraries into checked frames.

>>> sorted(__all__)
['read_judgements', 'read_queries', 'read_rankings', 'to_polars']
"""

from retrieval_report.reading.frames import to_polars
from retrieval_report.reading.readers import read_judgements, read_queries, read_rankings

__all__ = ["read_judgements", "read_queries", "read_rankings", "to_polars"]
