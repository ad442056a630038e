"""Statistics of a single run: its packets depend on each other, so nothing here is a statement about the path."""
