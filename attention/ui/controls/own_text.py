"""The user's own text: what typing it implies for other knobs, and messages if it is not shown word for word.

As long as there are as many tokens as the text has words, their number follows the text, unless the user changes it. It
also follows the first text that replaces the sample where a page opens with the sample's first words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attention.config import Config
from attention.examples import EXAMPLES
from attention.imported.registry import is_uploaded
from attention.inputs import SPLIT
from attention.knobs import GENERATED, KNOBS, PASSAGE, SENTENCE
from attention.sources.providers import source_title, unit
from attention.summary import legible
from attention.ui.text import controls as words
from attention.ui.text import model_run as run_text

LONGEST = int(KNOBS["text"].high or 0)  # characters
LAST = int(KNOBS["query"].low or 0)  # the query that follows the last token
LEAST = int(KNOBS["tokens"].low or 0)
_SMALL = EXAMPLES["small"].config
assert isinstance(_SMALL, Config)
OFTEN = 4  # times that the sample comes again, from which on a longer one shows more
OPENED = _SMALL.tokens  # Steps opens with the first words of the sample


def implied_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The other knobs that typing another text implies, and a message for each part of it that cannot be kept.

    The user wants to see the text: if the tokens come from elsewhere, they come from its words from now on. Knobs that
    were moved at the same moment keep their new values.
    """
    if now["text"] == before["text"] or not all(isinstance(now[name], str) for name in ("text", "input")):
        return {}, []  # or not a text, which is refused when values are checked
    text, notes = fit_text(now["text"])
    found: dict[str, Any] = {"text": text}
    if now["source"] == before["source"]:
        found["source"] = GENERATED
        if before["source"] != GENERATED:
            notes.append(run_text.HAND_BUILT_NOW.format(source=source_title(before["source"])))
    if now["input"] == before["input"]:
        found["input"] = _split(before["input"])
    if now["tokens"] == before["tokens"] and follows(before):
        found["tokens"] = fitting(text, found.get("input") or now["input"])
        if now["query"] == before["query"] in (LAST, last_word(before["text"], before["input"])):
            found["query"] = last_word(text, found.get("input") or now["input"])  # all of its words are tokens now
    return found, notes


def last_word(text: str, input: str) -> int:
    """The query to select for a text: its last word, or letter, if other signs follow, otherwise `LAST`, the last token."""
    found = SPLIT[_split(input)](text)
    named = [at for at, token in enumerate(found) if any(sign.isalnum() for sign in token)]
    return named[-1] if named and named[-1] < len(found) - 1 else LAST


def fit_text(text: str) -> tuple[str, list[str]]:
    """The part of a typed text that fits into a link, in whole words, and a message for each kind of omission."""
    first, notes = text[: 2 * LONGEST], []
    found = legible(first)
    if found != first:
        notes.append(words.CONTROL_CHARACTERS)
    if len(found) > LONGEST:
        found = found[:LONGEST] if found[LONGEST].isspace() else _whole(found[:LONGEST])
        notes.append(words.LONG_TEXT.format(characters=len(text), kept=len(found)))
    return found, notes


def follows(values: Mapping[str, Any]) -> bool:
    """Whether the number of tokens is to follow the text: it equals the text's, or a recording or a page set it."""
    opened = values["text"] == SENTENCE and values["tokens"] == OPENED
    return opened or values["source"] != GENERATED or values["tokens"] == fitting(values["text"], values["input"])


def fitting(text: str, input: str) -> int:
    """The number of tokens that show a text word by word or character by character; at least two, as attention needs two."""
    return max(LEAST, len(SPLIT[_split(input)](text)))


def text_notice(config: Config) -> str:
    """A message if a text is cut, repeated or not in use; empty if every word of it is shown once."""
    if not uses_text(config):
        recorded = words.UPLOAD_SHOWN if is_uploaded(config.source) else words.RECORDING_SHOWN
        other = words.OTHER_INPUT.format(input=config.input)
        return recorded if config.source != GENERATED else other
    many, what = len(SPLIT[config.input](config.text)), unit(config)
    if not many:
        return words.NO_TOKENS.format(unit=what)
    if many > config.tokens:
        return words.FIRST_TOKENS.format(tokens=config.tokens, many=many, unit=what)
    if many < config.tokens:
        return words.REPEATED.format(tokens=config.tokens)
    return ""


def offer_length(config: Config) -> tuple[str, dict[str, Any]]:
    """A button label and the knobs that show a text once and in full; an empty label if nothing would."""
    if not uses_text(config):
        label = words.SAMPLE if config.text == SENTENCE else words.USE_TEXT
        return label, {"source": GENERATED, "input": _split(config.input)}
    fit = fitting(config.text, config.input)
    if not SPLIT[config.input](config.text):
        return words.SAMPLE, {"text": SENTENCE, "tokens": fitting(SENTENCE, config.input)}
    if config.tokens == fit:
        return "", {}
    if config.text == SENTENCE and config.tokens > OFTEN * fit:
        return words.LONGER, {"text": PASSAGE}
    return (words.SHOW_ALL.format(tokens=fit) if config.tokens < fit else words.SHOW_ONCE), {"tokens": fit}


def uses_text(config: Config) -> bool:
    """Whether the tokens come from the text."""
    return config.source == GENERATED and config.input in SPLIT


def _whole(text: str) -> str:
    """A text that was cut, without its last, incomplete word if it has more than one."""
    return text.rpartition(" ")[0] or text


def _split(input: str) -> str:
    """`input` itself if its tokens come from a text, otherwise "words"."""
    return input if input in SPLIT else "words"
