"""The knobs of a model's run, and their link: the model, its input, and what is shown of its attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from attention.interventions.ablation import WAYS as ABLATIONS
from attention.interventions.patching import PAIRS
from attention.models.summaries import WAYS
from attention.settings import Settings, choice, real, whole
from attention.settings import text as typed

RUN = "run"  # the entry of a link that names the model of a run, and the beginning of its others
SENTENCE = "The animal didn't cross the street because it was too tired."
OTHER = (
    "On a warm day in May the old bus stopped in a small town by the sea, and a girl with a red umbrella asked the driver "
    "whether the market near the harbour was still open, because her mother needed bread, apples and a new lamp for the kitchen."
)
OWN, FIRST = "own", next(iter(PAIRS))  # texts of the user, and the first pair that ships
COSTS = ("logit", "probability", "loss")  # measures of what the absence of a head changes
ALL, PLAIN, WORDS = "all", "without marks", "words"
SELECT, SWITCH = "select", "switch off"  # what a click in the map does


# fmt: off
@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A model, its input, and what is shown of it: frozen, hashable, valid. Raises `ConfigError` on anything else."""

    model: str = typed("", 96, "Model", "Name of the model that reads the text.")
    text: str = typed(SENTENCE, 2000, "Text", "Text that the model reads. This server keeps it for your visit only; the link of the page holds it.")
    second: str = typed("", 2000, "Second text", "For a model of text pairs: the other text. For an encoder-decoder: the text of the decoder. May be empty.")
    part: str = typed("", 80, "Part of the model", "Encoder, decoder or cross-attention of an encoder-decoder. If layers have different masks: the layers with the same mask.", about="view")
    summary: str = choice("heads", WAYS, "Show", "Every head, or several combined.", about="view")
    tokens: str = choice(ALL, (ALL, PLAIN, WORDS), "Tokens", "All: as the model has them. Without marks: without special tokens such as [CLS]; rows sum to one again. Words: tokens of a word merged; weights on them are added, their rows averaged.", about="view")
    layer_map: str = typed("auto", 20, "Colour the map by", "Head statistic on the map. Auto: induction if a model's text repeats tokens, else previous token; if no head has much weight there, the strongest pattern, or the largest weight.", about="view")
    layer: int = whole(0, 0, 127, "Layer", "Selected layer, counted from 0.", about="focus")
    head: int = whole(-1, -1, 127, "Head", "Selected head. -1, for a picture: the mean over the heads of the layer.", about="focus")
    query: int = whole(-1, -1, 1023, "Query", "Token whose row is shown, counted from 0. -1: the first “it”, or else the one with most weight on another word.", about="focus")
    key: int = whole(-1, -1, 1023, "Key", "Token on which the map shows the weight of the query, counted from 0. -1: the other word with most of it in the selected head.", about="focus")
    at: int = whole(-1, -1, 1023, "After the token", "Position after which the model predicts the next token, counted from 0. -1: the last one.", about="focus")
    temperature: float = real(0.0, 0.0, 2.0, "Temperature", "0: the most probable token is appended. Else one is drawn from softmax(logits / temperature).", about="view")
    seed: int = whole(0, 0, 9999, "Seed", "The same seed draws the same token.", about="view")
    click: str = choice(SELECT, (SELECT, SWITCH), "A click in the map", "Select: shows the head. Switch off: also switches it off, or on again.", about="view")
    off: str = typed("", 400, "Heads off", "Heads that are switched off, each as layer.head.", form=r"(\d{1,3}\.\d{1,3}( \d{1,3}\.\d{1,3})*)?", formed="heads as layer.head, with spaces between them", about="view")
    how: str = choice("zero", ABLATIONS, "What replaces them", "What the layers after a head get in place of its output.", about="view")
    cost: str = choice(COSTS[0], COSTS, "Colour the map by", "Change of a token's logit against another, of its probability, or of the mean loss of the text.", about="view")
    other: str = typed(OTHER, 2000, "Another text", "Text from which the outputs of the heads are taken; it needs as many tokens as the first.", about="view")
    answer: str = typed("", 40, "Token", "Token whose logit is measured. Empty: the most probable one.", about="view")
    against: str = typed("", 40, "Against", "Token whose logit is subtracted. Empty: the second most probable one.", about="view")
    pair: str = choice(FIRST, (*PAIRS, OWN), "Clean and corrupted text", "Two texts of equally many tokens. Own: the text above, and one that you type.", about="view")
    corrupted: str = typed("", 2000, "Corrupted text", "The text above with a word replaced, with as many tokens.", about="view")
    patched: str = choice("heads", ("heads", "residual"), "What is patched", "The output of a head at all positions, or the output of a layer at one position.", about="view")
    patch: int = whole(0, 0, 4095, "Query", "Patch or special token whose weights are shown on the picture.", about="focus")
# fmt: on

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            PROMPTS.check(name, value)

    @property
    def alone(self) -> Prompt:
        """The prompt with defaults for all knobs that only affect what is shown."""
        return replace(self, **{name: PROMPTS.defaults[name] for name, knob in PROMPTS.knobs.items() if knob.about != "tensors"})

    @property
    def heads_off(self) -> tuple[tuple[int, int], ...]:
        """The heads that are off, by layer and head."""
        pairs = (each.split(".") for each in self.off.split())
        return tuple(sorted({(int(layer), int(head)) for layer, head in pairs}))

    @property
    def of_run(self) -> Prompt:
        """The prompt with its heads that are off in order, and with defaults for what such heads alone need, if none needs it."""
        off = " ".join(f"{layer}.{head}" for layer, head in self.heads_off)
        unused = [name for name, used in (("how", off), ("other", off and self.how == "resample")) if not used]
        return replace(self, off=off, **{name: PROMPTS.defaults[name] for name in unused})


def _pair_default(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The user's own texts if there is a corrupted one."""
    return {"pair": OWN if values["corrupted"].strip() else FIRST}


PROMPTS = Settings(Prompt, "a model's prompt", prefix="model_", derived_defaults=_pair_default)
