"""Measure the cost of the project relative to other libraries: ``make bench``."""
