"""Scores → answers: one question per file, frame in, frame out."""
