"""Words from outside, made harmless before they are shown."""

from __future__ import annotations

import re

MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:^&])")
# A browser makes links of bare addresses after the escapes are gone; one with such a joint is none, and looks the same.
ADDRESS = re.compile(r"(?<=://)|(?<=www)(?=\.)|(?<=@)(?=[\w-])", re.IGNORECASE)
JOINT = "\u2060"  # a word joiner: as wide as nothing


def escape(text: str) -> str:
    """Text that markdown shows as it is: a stranger's words must not become links, pictures or markup."""
    return MARKDOWN.sub(r"\\\1", ADDRESS.sub(JOINT, text))
