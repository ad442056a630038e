"""``azlatency compare``: two sides of logs in, a verdict fit for CI out, as a table, Markdown, JSON or JUnit."""
