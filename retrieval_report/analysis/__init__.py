"""Answer questions about scores: one question per file, from frame to frame."""
