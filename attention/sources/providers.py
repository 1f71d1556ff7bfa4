"""The providers of all kinds of sources, and functions that call the one that a config names.

To add one, add a file with a `SourceProvider` to this package, and a line to `PROVIDERS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import replace
from typing import Protocol

from jaxtyping import Bool, Float
from torch import Tensor

from attention.config import Config
from attention.fitting import MASK_KNOBS, fixed_by_source, shape
from attention.imported import registry
from attention.inputs import BEFORE
from attention.knobs import GENERATED, TRAINED
from attention.operations.qk_norm import ON, rms_norm
from attention.operations.softmax import SOFTMAXES
from attention.recorded.file import RecordingError
from attention.recorded.shipped import SHIPPED
from attention.sources import chunks, constructed
from attention.sources.chunks import queries_and_keys
from attention.sources.generated import LATER, Generated, other_tokens
from attention.sources.layer_inputs import PARTS, LayerInputs, Source, Tokens
from attention.sources.recorded import Recorded
from attention.sources.trained import Trained
from attention.sources.uploaded import Uploaded
from attention.training import shipped as trainings


class SourceProvider(Protocol):
    """Provides queries, keys and values, or weights alone.

    `idle`: the knobs that have no effect here, each with the reason; they are shown disabled. Mask knobs of a source
    with a mask of its own, and mask and score knobs of weights alone, are idle without being listed.

    The sizes of its sources are not here but in `fitting.SHAPES`, as a config must fit its source.
    """

    idle: Mapping[str, str]

    def tokens(self, source: Source, config: Config) -> Tokens:
        """Returns the tokens of the queries, before anything is computed."""
        ...

    def provenance(self, source: Source, config: Config) -> str:
        """Returns how the attention was made, and from what, in a sentence or two."""
        ...

    def label(self, source: Source, config: Config) -> str:
        """Returns the same in two or three words."""
        ...

    def layer_inputs(self, source: Source, config: Config) -> LayerInputs:
        """Returns one layer under the settings of a config."""
        ...


WEIGHTS_ONLY = "No effect: this source has weights only, without queries and keys to compute other weights from."
OVER_ONE = "some rows of this file sum to more than one"
OWN_SQUARE = (
    "No effect: the mask comes with this source. To try other masks, upload queries and keys without their mask."
)
UPLOADED = Uploaded()
PROVIDERS: dict[str, SourceProvider] = {"generated": Generated(), "recorded": Recorded(), TRAINED: Trained()}
PROVIDERS |= dict.fromkeys(registry.KINDS, UPLOADED)
TITLES = {GENERATED: "Built from these settings"} | {f"recorded:{name}": each.title for name, each in SHIPPED.items()}
TITLES |= {f"{TRAINED}:{name}": title for name, title in trainings.TITLES.items()}


def layer_inputs(config: Config) -> LayerInputs:
    """Returns the layer that a config names, under its settings."""
    source = Source.of(config)
    found = PROVIDERS[source.kind].layer_inputs(source, config)
    if config.qk_norm != ON or config.source == GENERATED or found.q is None or found.k is None:
        return found  # generated queries and keys have it before their positions
    return replace(found, q=rms_norm(found.q), k=rms_norm(found.k))


def tokens(config: Config) -> Tokens:
    """Returns the tokens of the queries of a config."""
    source = Source.of(config)
    return PROVIDERS[source.kind].tokens(source, config)


def keys(config: Config) -> Tokens:
    """Returns the tokens of the keys: those of the queries, or of another sequence that a config or a source has."""
    if registry.is_uploaded(config.source):
        return UPLOADED.keys(Source.of(config), config)
    return other_tokens(config) if config.keys else tokens(config)


def square(config: Config, queries: int, keys: int) -> Bool[Tensor, "q k"]:
    """Returns which pairs take part: the mask of the source, or the rule that is set."""
    sizes = shape(config.source)
    return layer_inputs(config).square if sizes and sizes.square else config.rule.square(queries, keys, config.span)


def mask_name(config: Config) -> str:
    """Returns the mask in use in a few words: a rule, several combined ones, or the source's own."""
    return "own mask" if has_own_mask(config.source) else config.rule_name


def has_own_mask(source: str) -> bool:
    """Whether a source has a mask of its own, so that the mask setting has no effect."""
    sizes = shape(source)
    return bool(sizes and sizes.square)


def own_mask_label(config: Config) -> str:
    """Returns the source's own mask in a few words, with the rule that it is or that is nearest; "" if it has none."""
    if not has_own_mask(config.source):
        return ""
    return UPLOADED.mask_label(Source.of(config))


def mask_in_use(source: str) -> bool:
    """Whether the weights of a source depend on a mask that can be shown: a rule that is set, or the source's own."""
    return has_scores(source) or has_own_mask(source)


def long_vectors(
    config: Config, executor: Executor, heads: range
) -> tuple[Float[Tensor, "h n d"], Float[Tensor, "g n d"]]:
    """Returns queries of neighbouring heads, and their keys, not repeated, of any length; threads share the computation."""
    if registry.is_uploaded(config.source):
        return UPLOADED.queries_and_keys(Source.of(config), config, heads)
    return queries_and_keys(config, executor, heads)


def made_of(config: Config) -> int:
    """Returns the bytes held in addition to queries and keys while these are computed; 0 for uploaded ones."""
    return 0 if registry.is_uploaded(config.source) else chunks.made_of(config)


def provenance(config: Config) -> str:
    """Returns how the attention of a config was made, and from what."""
    source = Source.of(config)
    return PROVIDERS[source.kind].provenance(source, config)


def label(config: Config) -> str:
    """Returns how the attention of a config was made, in two or three words."""
    source = Source.of(config)
    return PROVIDERS[source.kind].label(source, config)


def is_hand_built(config: Config) -> bool:
    """Returns whether its heads were built by hand."""
    return config.source == GENERATED and config.projections == "constructed"


def is_random(config: Config, head: int) -> bool:
    """Returns whether it is a hand-built head with random projections; if tokens know the one before, it has a rule."""
    if config.head_softmax.halves > 1:  # a head has two softmaxes, of which at most one is random
        return False
    return is_hand_built(config) and config.input != BEFORE and constructed.random(head)


def built_rules(config: Config) -> list[tuple[str | int, ...]]:
    """Returns the rule by which each head was built, as `constructed.rule`; [] if they were not, or have two softmaxes."""
    if not is_hand_built(config) or config.head_softmax.halves > 1:
        return []
    rules = [constructed.rule(head) for head in range(config.heads)]
    # if tokens know the one before, no head is random: it attends to what followed the same word
    return [
        ("induction",) if constructed.random(head) and config.input == BEFORE else rule
        for head, rule in enumerate(rules)
    ]


def unit(config: Config) -> str:
    """Returns the reader's word for a token."""
    if config.source != GENERATED:
        return "token"
    return {"words": "word", BEFORE: "word", "characters": "character"}.get(config.input, "token")


def source_title(source: str) -> str:
    """Returns the name of a source for the reader."""
    kind, _, key = source.partition(":")
    if registry.is_uploaded(source):
        return registry.entry_name(source)
    return TITLES.get(source, f"{kind.capitalize()}: {key}")


def idle(name: str, config: Config) -> str:
    """Returns why a knob has no effect under the source of a config; empty if it has one."""
    own, sizes = PROVIDERS[Source.of(config).kind].idle.get(name, ""), shape(config.source)
    if sizes and name == "tokens" and "tokens" not in fixed_by_source(config.source):
        return ""
    if sizes and sizes.square and name in MASK_KNOBS:
        return OWN_SQUARE
    if sizes and sizes.square and name == "baseline":
        return ""
    return own or (WEIGHTS_ONLY if name in (*LATER, "qk_norm", "positions") and not has_scores(config.source) else "")


def has_scores(source: str) -> bool:
    """Whether its weights come from queries and keys, so that mask, scale and softmax act on them."""
    return has(source).issuperset("qk")


def distributes(config: Config) -> bool:
    """Whether every row of weights is a distribution, with what may go to no key; those of a sigmoid are not."""
    if has_scores(config.source):
        return SOFTMAXES[config.softmax].distributes
    return not no_distribution(config)


def no_distribution(config: Config) -> str:
    """Why rows are no distributions, as the beginning of a sentence; "" if they are."""
    if has_scores(config.source):
        return SOFTMAXES[config.softmax].no_distribution
    sizes = shape(config.source)
    return OVER_ONE if sizes and sizes.over else ""


def readable(source: str) -> bool:
    """Whether the file of a source exists and is intact; a damaged one must not make other sources fail."""
    try:
        shape(source)
    except RecordingError:
        return False
    return True


def has(source: str) -> frozenset[str]:
    """Returns the parts that a source has, known before anything is computed."""
    sizes = shape(source)
    return sizes.has if sizes else frozenset(PARTS) - {"weights"}
