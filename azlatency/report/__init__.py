"""What the notebooks show: tables, charts and findings."""
