"""The pages of the report: one file per notebook, with its tables, charts and findings."""
