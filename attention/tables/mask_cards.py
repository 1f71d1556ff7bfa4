"""What the card of a mask shows: its name, its share of pairs, what a kernel saves and how far it reaches."""

from __future__ import annotations

from typing import Any

from attention.analysis.mask_gallery import BLOCK, Exhibit
from attention.config import Config
from attention.masks import COMBINATIONS, MASKS
from attention.number_format import format_percent
from attention.sources.providers import has_own_mask, idle, mask_in_use, mask_name


def mask_card(config: Config, exhibit: Exhibit) -> dict[str, Any]:
    """Returns what a mask's card shows: name, share of pairs, up to three lines, and its relation to the rule in use."""
    rule, single = exhibit.rule, exhibit.name in MASKS
    locked, own = bool(idle("mask", config)), has_own_mask(config.source)
    used, mark = exhibit.name == mask_name(config), "in use" if mask_in_use(config.source) else "chosen"
    joined = config.combine if single and config.combine != "none" and exhibit.name == config.second else ""
    share, masked = format_percent(exhibit.share), f"{exhibit.blind:,} fully masked" if exhibit.blind else ""
    lines = [
        f"{share} of pairs" + (f"; {masked}" if masked else ""),
        _saved_text(exhibit),
        _reach_text(exhibit, config.depth),
    ]
    told = [
        rule.help,
        *filter(None, lines),
        *([f"Used by: {rule.users}"] if rule.users else []),
        f"Source: {rule.source}",
    ]
    return {
        "name": exhibit.name,
        "single": single,
        "used": used,
        "mark": mark if used else joined or ("first" if single and exhibit.name == config.mask and not own else ""),
        "shows": rule.shows,
        "purpose": rule.purpose,
        "share": share,
        "masked": masked,
        "lines": lines,
        "title": "\n".join(told),
        "joins": [how for how in COMBINATIONS if how != "none"]
        if single and exhibit.name != config.mask and not locked
        else [],
        "joined": joined,
    }


def _saved_text(exhibit: Exhibit) -> str:
    """What a kernel saves; "" if there is only one block, so that the share of pairs says all."""
    if max(exhibit.tokens, exhibit.keys) <= BLOCK:
        return ""
    return f"saves {format_percent(1 - exhibit.share)} in theory, {format_percent(1 - exhibit.blocks)} in blocks"


def _reach_text(exhibit: Exhibit, layers: int) -> str:
    """How far the last query is reached through stacked layers, or the number of keys of another sequence."""
    if exhibit.back is None or exhibit.ahead is None:
        return f"{exhibit.keys:,} keys of another sequence"
    if exhibit.back == exhibit.ahead:
        far = f"{exhibit.back:,} tokens both ways"
    else:
        far = f"{exhibit.back:,} back, {exhibit.ahead:,} ahead" if exhibit.ahead else f"{exhibit.back:,} tokens back"
    return f"{f'{layers} layers reach' if layers > 1 else 'reaches'} {far}"
