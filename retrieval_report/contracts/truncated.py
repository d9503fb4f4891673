"""The words that say whether and where lists were truncated."""

AUTO, NO, BETWEEN_TIES, WITHIN_TIE = "auto", "no", "between_ties", "within_tie"
ENDS = (NO, BETWEEN_TIES, WITHIN_TIE)
TRUNCATED = (AUTO, *ENDS)
