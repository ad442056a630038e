"""Facts about runs that the logs do not contain: `study.toml`, `runs.csv`, and what names of files say."""
