"""Plan a measurement: hosts, tools and a wanted precision become a script whose logs import without editing."""
