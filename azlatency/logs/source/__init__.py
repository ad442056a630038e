"""Bytes to lines: files and archives, encodings, wrapping, and texts that stay in their files."""
