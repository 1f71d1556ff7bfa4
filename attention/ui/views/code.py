"""Python source as HTML with syntax colours, with signs and backgrounds for removed and added lines.

`st.code` would make a browser load 1.5 MB for its colours.
"""

from __future__ import annotations

import io
import keyword
import tokenize
from collections.abc import Iterator, Sequence
from html import escape

import streamlit as st

SIGNS = {"-": ("del", "− "), "+": ("ins", "+ "), " ": ("span", "  "), "": ("span", "")}
KINDS = {tokenize.COMMENT: "comment", tokenize.STRING: "string", tokenize.NUMBER: "number"}


def show_source(source: str) -> None:
    """Shows a whole source."""
    show_diff([("", line) for line in source.rstrip().splitlines()])


def show_diff(lines: Sequence[tuple[str, str]]) -> None:
    """Shows lines, each with a sign: - removed, + added, a space for unchanged; "" if nothing is compared."""
    written = "".join(
        f"<{SIGNS[sign][0]}>{SIGNS[sign][1]}{color_line(line)}\n</{SIGNS[sign][0]}>" for sign, line in lines
    )
    st.html(f'<pre class="lines" tabindex="0">{written}</pre>')


def color_line(line: str) -> str:
    """A line as HTML, with keywords, strings, numbers and comments in spans of their kind."""
    parts, at = [], 0
    for kind, start, end in _parts(line):
        parts += [escape(line[at:start]), f'<span class="{kind}">{escape(line[start:end])}</span>']
        at = end
    return "".join([*parts, escape(line[at:])])


def _parts(line: str) -> Iterator[tuple[str, int, int]]:
    """Yields kind, start and end of each coloured part of a line."""
    for token in _tokens(line):
        word = token.type == tokenize.NAME and keyword.iskeyword(token.string)
        if word or token.type in KINDS:
            yield "keyword" if word else KINDS[token.type], token.start[1], token.end[1]


def _tokens(line: str) -> Iterator[tokenize.TokenInfo]:
    """Yields the tokens of a single line; stops at an error, as lines may end within a bracket."""
    try:
        yield from tokenize.generate_tokens(io.StringIO(line).readline)
    except (tokenize.TokenError, SyntaxError):
        return
