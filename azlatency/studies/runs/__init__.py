"""One row per run: who measured, which path, what repeats what, and what was measured."""
