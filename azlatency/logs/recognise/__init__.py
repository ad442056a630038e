"""Which tool wrote which lines: claims, logs inside notes, foreign tools, and files that are one JSON document."""
