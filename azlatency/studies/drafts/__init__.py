"""The first `study.toml` of a dump: what its names suggest, and what must be asked."""
