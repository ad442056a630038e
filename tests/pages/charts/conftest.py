"""The studies, their results and their charts, computed once."""

from helpers.chart_fixtures import drawn, drawn_of, results, results_of, study

__all__ = ["drawn", "drawn_of", "results", "results_of", "study"]
