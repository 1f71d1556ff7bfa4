"""Menus of the selected head and query, for pages without a picture of all heads."""

from __future__ import annotations

from attention.config import Config
from attention.knobs import LAST_QUERY
from attention.tables.rows import labels
from attention.ui.controls import knobs
from attention.ui.session import page


def head(config: Config) -> None:
    """Draws the menu of heads, counted from 0."""
    knobs.menu("head", config, range(config.heads))


def query(config: Config) -> None:
    """Draws the menu of queries by position and token; the last one stays selected if the length changes."""
    names = labels(config) or [""] * config.tokens

    def query_label(at: int) -> str:
        return f"{at} {names[at]}" if at != LAST_QUERY else f"last: {config.tokens - 1} {names[-1]}"

    page.resend_menu("query", query_label(config.query))
    knobs.menu("query", config, range(LAST_QUERY, config.tokens), help=None, format_func=query_label)
