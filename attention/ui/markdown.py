"""Escaping of text from outside, before it is shown as Markdown."""

from __future__ import annotations

import re

MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:^&])")
# Bare addresses become links after the escapes are removed. With a word joiner inside they do not, and look the same.
ADDRESS = re.compile(r"(?<=://)|(?<=www)(?=\.)|(?<=@)(?=[\w-])", re.IGNORECASE)
JOINT = "\u2060"  # a word joiner, which has no width


def escape(text: str) -> str:
    """Escapes text so that Markdown shows it verbatim: foreign text must not become links, pictures or markup."""
    return MARKDOWN.sub(r"\\\1", ADDRESS.sub(JOINT, text))
