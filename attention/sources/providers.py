"""Every origin by its kind, and what is asked of the one that a config names.

To add one: a file of this wing with an `Origin`, and a line in `ORIGINS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from typing import Protocol

from jaxtyping import Bool, Float
from torch import Tensor

from attention.config import GENERATED, TRAINED, Config, fixed_by_source, shape
from attention.imported import registry
from attention.inputs import BEFORE
from attention.recorded.file import RecordingError
from attention.recorded.shipped import SHIPPED
from attention.sources import chunks
from attention.sources.chunks import queries_and_keys
from attention.sources.generated import LATER, Generated, other_tokens
from attention.sources.layer_inputs import PARTS, LayerInputs, Source, Tokens
from attention.sources.recorded import Recorded
from attention.sources.trained import Trained
from attention.sources.uploaded import Uploaded
from attention.training import shipped as trainings


class SourceProvider(Protocol):
    """Who makes queries, keys and values, or weights alone.

    `idle`: the knobs that do nothing here, each with why; they are shown disabled. Whoever gives a square of its own names
    those of the mask; where there are weights alone, those of mask and scores are idle without being named.

    Its sizes are below the knobs, in `config.SHAPES`, as a config must fit its source.
    """

    idle: Mapping[str, str]

    def tokens(self, source: Source, config: Config) -> Tokens:
        """The tokens of a source by themselves, before anything is computed."""
        ...

    def provenance(self, source: Source, config: Config) -> str:
        """Who made it of what, in a sentence or two."""
        ...

    def label(self, source: Source, config: Config) -> str:
        """The same in two or three words."""
        ...

    def layer_inputs(self, source: Source, config: Config) -> LayerInputs:
        """One layer under the settings of a config."""
        ...


WEIGHTS_ONLY = (
    "Does nothing here: of this attention there are the weights, and no queries and keys to compute others from."
)
OWN_SQUARE = "Does nothing here: which pairs take part came with this attention."
OWN_RULES = "Does nothing here: each layer has the mask that came with it."
OF_MASK = ("mask", "combine", "second", "span")
UPLOADED = Uploaded()
PROVIDERS: dict[str, SourceProvider] = {"generated": Generated(), "recorded": Recorded(), TRAINED: Trained()}
PROVIDERS |= dict.fromkeys(registry.KINDS, UPLOADED)
TITLES = {GENERATED: "Made from the settings"} | {f"recorded:{name}": each.title for name, each in SHIPPED.items()}
TITLES |= {f"{TRAINED}:{name}": title for name, title in trainings.TITLES.items()}


def layer_inputs(config: Config) -> LayerInputs:
    """The layer that a config names, under its settings."""
    source = Source.of(config)
    return PROVIDERS[source.kind].layer_inputs(source, config)


def tokens(config: Config) -> Tokens:
    """The tokens that a config names."""
    source = Source.of(config)
    return PROVIDERS[source.kind].tokens(source, config)


def keys(config: Config) -> Tokens:
    """The tokens that these look at: themselves, or the other sequence of a config or of a source that has one."""
    if registry.is_uploaded(config.source):
        return UPLOADED.keys(Source.of(config), config)
    return other_tokens(config) if config.keys else tokens(config)


def square(config: Config, queries: int, keys: int) -> Bool[Tensor, "q k"]:
    """Which pairs take part: as the source says, or by the rule that is set."""
    sizes = shape(config.source)
    return layer_inputs(config).square if sizes and sizes.square else config.rule.square(queries, keys, config.span)


def mask_name(config: Config) -> str:
    """The mask in force in a few words: a rule, several that are joined, or the one that came with the source."""
    return "own mask" if has_own_mask(config.source) else config.rule_name


def has_own_mask(source: str) -> bool:
    """Does a source say for each pair whether it takes part, so that no mask that is set acts?"""
    sizes = shape(source)
    return bool(sizes and sizes.square)


def mask_in_use(source: str) -> bool:
    """Do the weights of a source depend on a mask that can be drawn: a rule that is set, or one that came with the source?"""
    return has_scores(source) or has_own_mask(source)


def long_vectors(
    config: Config, executor: Executor, heads: range
) -> tuple[Float[Tensor, "h n d"], Float[Tensor, "g n d"]]:
    """Queries of neighbouring heads, and their keys, not repeated, of any number of tokens; threads share what is made."""
    if registry.is_uploaded(config.source):
        return UPLOADED.queries_and_keys(Source.of(config), config, heads)
    return queries_and_keys(config, executor, heads)


def made_of(config: Config) -> int:
    """Bytes that are held beside queries and keys while these are made; nothing where they were brought."""
    return 0 if registry.is_uploaded(config.source) else chunks.made_of(config)


def provenance(config: Config) -> str:
    """Who made what a config names, and of what."""
    source = Source.of(config)
    return PROVIDERS[source.kind].provenance(source, config)


def label(config: Config) -> str:
    """Who made what a config names, in two or three words."""
    source = Source.of(config)
    return PROVIDERS[source.kind].label(source, config)


def unit(config: Config) -> str:
    """What one token is to the reader."""
    if config.source != GENERATED:
        return "token"
    return {"words": "word", BEFORE: "word", "characters": "character"}.get(config.input, "token")


def source_title(source: str) -> str:
    """The name of a source for the reader."""
    kind, _, key = source.partition(":")
    if registry.is_uploaded(source):
        return registry.entry_name(source)
    return TITLES.get(source, f"{kind.capitalize()}: {key}")


def idle(name: str, config: Config) -> str:
    """Why a knob does nothing under the source of a config; empty where it does something."""
    own, sizes = PROVIDERS[Source.of(config).kind].idle.get(name, ""), shape(config.source)
    if sizes and name == "tokens" and "tokens" not in fixed_by_source(config.source):
        return ""
    if sizes and sizes.square and name in OF_MASK:
        return OWN_SQUARE
    if sizes and sizes.square and name == "baseline":
        return ""
    if sizes and sizes.rules and name in OF_MASK:
        return OWN_RULES
    return own or (WEIGHTS_ONLY if name in LATER and not has_scores(config.source) else "")


def has_scores(source: str) -> bool:
    """Do its weights come from queries and keys, so that mask, scale and softmax act on them?"""
    return has(source).issuperset("qk")


def readable(source: str) -> bool:
    """Is its file there and whole? One that is damaged shall not take the others with it."""
    try:
        shape(source)
    except RecordingError:
        return False
    return True


def has(source: str) -> frozenset[str]:
    """The parts that a source has, known before anything is computed."""
    sizes = shape(source)
    return sizes.has if sizes else frozenset(PARTS) - {"weights"}
