"""The settings of the Start page, and the one entry of a link that has them all.

Every other entry of a link at the root belongs to Heads, which was at the root before. So the page packs its settings into
`start`: `start=sentence.account~temperature.0.5`. A sentence of the visitor's own is in it word for word, but for `~` and `%`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from attention.config import Config
from attention.knobs import KNOBS, MAX_TOKENS
from attention.masks import MASKS
from attention.operations.scale import SCALES
from attention.settings import Settings, choice, real, text, whole
from attention.story.head import HEAD, LAYER, LONGEST, OWN, SENTENCES, Sentence

ENTRY = "start"  # the entry of a link
WORD = -1  # the selected token if none was chosen: the word that the story is about
STEPS = ("look", "weigh", "take over")
MOST = 32  # tokens of it that the picture has room for
CHARACTERS = 240  # of it
SIZES = ("tokens", "heads", "d_model")  # no recording can change them: they open Heads
TOKENS = {"river": 11, "account": 15}  # of the sentences that ship
SPECIAL = 2  # tokens that MiniLM adds to a sentence


# fmt: off
@dataclass(frozen=True, kw_only=True)
class Story:
    """What the Start page shows. `tokens`, `heads` and `d_model` begin as those of the picture, and open Heads once one is changed."""

    sentence: str = choice("river", (*SENTENCES, OWN), "Sentence", "The same word in two sentences, and your own one.", about="view")
    own: str = text("", CHARACTERS, "Your own sentence", "Sentence that MiniLM reads on this server. It is part of the link.", about="view")
    query: int = whole(WORD, WORD, MOST - 1, "Selected token", "The token whose weights are shown. -1: the word in both sentences; of your own, the one with the largest weight on a different word.", about="focus")
    step: str = choice("look", STEPS, "Step", "Look: which tokens it attends to. Weigh: what the softmax does. Combine: what the token becomes.", about="view")
    tokens: int = whole(TOKENS["river"], 2, MAX_TOKENS, KNOBS["tokens"].label, "Moving it opens Heads, where attention is computed at any length.")
    heads: int = whole(12, 1, 32, KNOBS["heads"].label, "12 in each layer of MiniLM. Moving it opens Heads, with this many hand-built heads. The model width becomes a multiple of it.")
    d_model: int = whole(384, 1, 2048, KNOBS["d_model"].label, "384 in MiniLM, of which this head has 32. Moving it opens Heads.")
    mask: str = choice("full", MASKS, KNOBS["mask"].label, "Which tokens a token may attend to. MiniLM masks none.")
    span: int = whole(4, 1, LONGEST, KNOBS["span"].label, "The reach of a mask that has one.")
    scale: str = choice("1/sqrt(d_head)", SCALES, KNOBS["scale"].label, "What dot products are multiplied by before the softmax.")
    temperature: float = real(1.0, 0.05, 20.0, KNOBS["temperature"].label, "Divides the scores: below 1 sharpens the weights, above 1 evens them out.")
# fmt: on

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            STORIES.check(name, value)

    @property
    def config(self) -> Config:
        """The head of the story on a sentence that ships, as every page shows it."""
        return self.config_of(self.shipped.source, self.shipped.tokens, self.shipped.word)

    def config_of(self, source: str, tokens: Sequence[str], word: int) -> Config:
        """Returns the head of the story on the tokens of a source; `word` is the position selected if none was chosen."""
        found = Config.of(
            source,
            layer=LAYER,
            query=min(self.query, len(tokens) - 1) if self.query != WORD else word,
            **self.changes("mask", "span", "scale", "temperature"),
        )
        return replace(found, head=min(HEAD, found.heads - 1))  # an owner's model may have fewer

    @property
    def is_own(self) -> bool:
        """Whether the sentence is one that the visitor has typed."""
        return self.sentence == OWN and bool(self.own.strip())

    @property
    def shipped(self) -> Sentence:
        """The selected sentence of those that ship; the first one in place of the visitor's own."""
        return SENTENCES.get(self.sentence, SENTENCES[STORIES.defaults["sentence"]])

    @property
    def resized(self) -> bool:
        """Whether a size was changed, so that Heads has to open."""
        return any(getattr(self, name) != usual for name, usual in self.sizes.items())

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of the picture; the tokens of the visitor's own sentence are its words and signs, with those that are added."""
        found = {name: STORIES.defaults[name] for name in SIZES}
        return found | dict(STORIES.derived_defaults(vars(self)))

    @property
    def at_own_sizes(self) -> Story:
        """The same with the sizes of the picture."""
        return replace(self, **self.sizes)

    @property
    def altered(self) -> dict[str, Any]:
        """Those of the mask, the scale and the temperature that differ from the model's own."""
        return self.changes("mask", "scale", "temperature")

    def changes(self, *names: str) -> dict[str, Any]:
        """Returns those of some knobs that differ from their defaults."""
        return {name: getattr(self, name) for name in names if getattr(self, name) != STORIES.defaults[name]}


class PackedSettings(Settings[Story]):
    """Settings that a link has in a single entry."""

    def to_query(self, setting: Story) -> dict[str, str]:
        """Returns the entry with the knobs that differ from their defaults; empty if none does.

        The visitor's own sentence is left out while another one is shown.
        """
        differing = super().to_query(setting if setting.is_own else replace(setting, own=""))
        quoted = {name: value.replace("%", "%25").replace("~", "%7E") for name, value in differing.items()}
        packed = "~".join(f"{name}.{value}" for name, value in quoted.items())
        return {ENTRY: packed} if packed else {}

    def from_query(self, mapping: Mapping[str, Any]) -> tuple[Story, list[str]]:
        """Returns the settings of the entry, and a sentence for each part that could not be used. Never raises."""
        given = mapping.get(ENTRY, "")
        packed = given if isinstance(given, str) else ""
        parts = (part.partition(".") for part in packed.split("~") if part.strip())
        return super().from_query({name.strip(): unquote(value) for name, _, value in parts})


def _fit_sentence(values: Mapping[str, Any]) -> tuple[Story, list[str]]:
    """The settings with the first sentence in place of one that the visitor has not typed."""
    lacks = values["sentence"] == OWN and not str(values["own"]).strip()
    return Story(**dict(values) | ({"sentence": STORIES.defaults["sentence"]} if lacks else {})), []


def _length(values: Mapping[str, Any]) -> dict[str, int]:
    """The number of tokens of the sentence."""
    words = re.findall(r"\w+|[^\w\s]", str(values["own"])) if values["sentence"] == OWN else []
    return {"tokens": len(words) + SPECIAL if words else TOKENS.get(values["sentence"], TOKENS["river"])}


STORIES = PackedSettings(Story, "the Start page", prefix="story_", nearest=_fit_sentence, derived_defaults=_length)
