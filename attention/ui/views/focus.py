"""Menus of the selected head and query, for pages without a picture of all heads."""

from __future__ import annotations

from attention.config import Config
from attention.knobs import LAST_QUERY
from attention.number_format import format_token
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
        place = at if at != LAST_QUERY else config.tokens - 1
        token = format_token(names[place], place) if names[place] else f"{place:,}"
        return token if at != LAST_QUERY else f"last: {token}"

    page.resend_menu("query", query_label(config.query))
    knobs.menu("query", config, range(LAST_QUERY, config.tokens), help=None, format_func=query_label)
