"""Logs become a study: copied, parsed, joined with the manifest and written."""
