"""``azlatency plan``: from hosts, tools and a wanted precision to a script that measures.

Its logs are named and described so that the import needs nothing else.
"""
