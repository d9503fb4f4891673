"""Score with one engine or another: in memory, part
by part on disk, or from sorted batches; and sum up.
"""
