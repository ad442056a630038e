"""Results of a study for other programs: DuckDB, CSV, Parquet, InfluxDB, Bencher and Otava."""
