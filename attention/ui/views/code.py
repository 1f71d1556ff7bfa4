"""Code as text of the page: signs and grounds for what was taken away and put in. It loads nothing, unlike `st.code`."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

KINDS = {"-": ("del", "−"), "+": ("ins", "+"), " ": ("span", " ")}


def shown(lines: Sequence[tuple[str, str]]) -> None:
    """Lines, each with a sign: - taken away, + put in, a space for what stays."""
    st.html(f'<pre class="lines" tabindex="0">{"".join(_line(*line) for line in lines)}</pre>')


def _line(sign: str, line: str) -> str:
    kind, mark = KINDS[sign]
    return f"<{kind}>{mark} {escape(line)}\n</{kind}>"
