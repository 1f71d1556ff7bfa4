"""The error of every reader of files, and limits of what may be shown that readers check early."""

from __future__ import annotations

LONGEST = 2**16  # queries or keys
TEXT = 2000  # characters of a token, of a title and of a description
COMMAS = 5 * LONGEST // 2  # commas and opening brackets of JSON: those between two lists' texts and within texts


class DataError(ValueError):
    """A file can't be read or shown; the message names the part, its size, what is allowed and a way out."""
