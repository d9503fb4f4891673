"""The catalogue of metrics, the terms they are made of, and how they are spelt."""
