"""Words from outside, made harmless before they are shown."""

from __future__ import annotations

import re

MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:^&])")


def plain(text: str) -> str:
    """Text that markdown shows as it is: a stranger's words must not become links, pictures or markup."""
    return MARKDOWN.sub(r"\\\1", text)
