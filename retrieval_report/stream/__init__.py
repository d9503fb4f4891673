"""Sorted batches in, scores out: what a cluster hands to one worker after the other."""
