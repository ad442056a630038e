"""`make conformance`: compare what the parsers read from a corpus of logs with values that were read by hand.

One module per tool maps the expected values of the corpus to the tables (round-trip times in ns, bit/s, bytes,
fractions). `naive` reads logs without expected values a second time, with plain patterns that share no code with the
parsers. The corpus is not part of the repository, and this tool is not part of the package.
"""
