"""Escaping of text from outside, before it is shown as Markdown, and lists within a sentence."""

from __future__ import annotations

import re

MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:^&])")
# Bare addresses become links after the escapes are removed. With a word joiner inside they do not, and look the same.
ADDRESS = re.compile(r"(?<=://)|(?<=www)(?=\.)|(?<=@)(?=[\w-])", re.IGNORECASE)
JOINT = "\u2060"  # a word joiner, which has no width


def escape(text: str) -> str:
    """Escapes text so that Markdown shows it verbatim: foreign text must not become links, pictures or markup."""
    return MARKDOWN.sub(r"\\\1", ADDRESS.sub(JOINT, text))


def join_words(words: list[str]) -> str:
    """Returns words as a list within a sentence, like "a, b and c"."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
