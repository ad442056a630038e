"""What makes single pages a site: the way back to the logs, search, documentation, and what need not run again."""
