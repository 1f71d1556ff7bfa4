"""Attention that a visitor brings: from a file, from a model that runs here, from a line of Python.

Whoever reads or runs something gives a `Stack` (`stack`): some layers of heads, as queries and keys or as weights alone, with
their tokens. Everything behind it is the same for all of them.
"""
