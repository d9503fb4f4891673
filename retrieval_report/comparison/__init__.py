"""Compare models: pairs, tests, chances of reversal, segments, costs, gate."""
