"""The CI gate: compare a base with a candidate and return a verdict with an exit code."""
