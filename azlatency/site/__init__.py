"""What makes single pages a site: the way back to the logs, search, documentation, and what need not run again.

Jupyter's packages are imported inside the functions that need them: a report in which nothing changed takes two
seconds, of which they would be the larger part.
"""
