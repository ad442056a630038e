"""Statistics across runs: runs are the replicates, and results are about paths."""
