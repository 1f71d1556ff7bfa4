"""The knobs of a model's run, and their link: the model, its input, and what is shown of its attention."""

from __future__ import annotations

from dataclasses import dataclass, replace

from attention.models.summaries import WAYS
from attention.settings import Settings, choice, whole
from attention.settings import text as typed

SENTENCE = "The animal didn't cross the street because it was too tired."
ALL, PLAIN, WORDS = "all", "without marks", "words"


# fmt: off
@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A model, its input, and what is shown of it: frozen, hashable, valid. Raises `ConfigError` on anything else."""

    model: str = typed("", 96, "Model", "Which model reads: one of this host's, by its name.")
    text: str = typed(SENTENCE, 2000, "Text", "What the model reads. It stays on this server, in your visit, and in the link.")
    second: str = typed("", 2000, "Second text", "Of a model that reads pairs, the other text; of one that reads a text and writes another, what it should have written. May be empty.")
    part: str = typed("", 80, "Attention of", "Of a model that reads one text and writes another: how the read text looks at itself (encoder), the written one at itself (decoder), or the written one at the read one (cross-attention). Of a model whose layers have masks of their own, some of its layers.", about="view")
    summary: str = choice("heads", WAYS, "Show", "Every head, or what several of them make together.", about="view")
    tokens: str = choice(ALL, (ALL, PLAIN, WORDS), "Tokens", "All: as the model has them. Without marks: without those that it puts in itself, like [CLS]; rows sum to one over the others. Words: tokens of a word together: the weight on it is that on all of them, its row the mean of theirs.", about="view")
    layer_map: str = typed("auto", 20, "Number in the map", "What the map of layers and heads is coloured by. Auto: induction where it is known, else the weight on the previous token.", about="view")
    layer: int = whole(0, 0, 127, "Layer", "The layer in focus, counted from 0.", about="focus")
    head: int = whole(-1, -1, 127, "Head", "The head in focus; -1: over a picture, the mean of all of its layer.", about="focus")
    patch: int = whole(0, 0, 4095, "From", "Whose weights are laid over the picture: a patch, or one of the model's own marks.", about="focus")
# fmt: on

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            PROMPTS.check(name, value)

    @property
    def alone(self) -> Prompt:
        """The prompt with defaults for all knobs that only affect what is shown."""
        return replace(self, **{name: PROMPTS.defaults[name] for name, knob in PROMPTS.knobs.items() if knob.about != "tensors"})


PROMPTS = Settings(Prompt, "a model's prompt", prefix="model_")
