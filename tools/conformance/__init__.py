"""`make conformance`: what the parsers read from every log of the public corpora, against what was read off by hand.

One module a tool maps the values beside the logs to the data model (round trips in ns, bit/s, bytes, fractions);
`naive` reads the logs that have no such values a second way, by plain patterns that share nothing with the parsers.
Not part of the package.
"""
