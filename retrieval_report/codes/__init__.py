"""Binary codes and small integer vectors with labels → counts, without a distance matrix and without a sort.

>>> sorted(__all__)
['count_codes', 'count_relevant']
"""

from __future__ import annotations

from retrieval_report.codes.counts import count_codes, count_relevant

__all__ = ["count_codes", "count_relevant"]
