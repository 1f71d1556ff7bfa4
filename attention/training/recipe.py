"""Defines how a small model is trained: the knobs, one line each, and the link that carries them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import Generator

from attention.masks import MASKS, Rule
from attention.operations.gate import GATES
from attention.operations.positions import POSITIONS, Positions
from attention.operations.qk_norm import OFF, ON
from attention.operations.scale import SCALES
from attention.operations.softmax import SOFTMAXES, TRAINABLE
from attention.settings import ConfigError, Settings, asking, axis, choice, real, whole
from attention.training.tasks import TASKS, Task

NARROWEST, WIDEST = 8, 256  # channels
BATCH = 64  # sequences of a step
LAST = -1  # default of the step that is shown and of the selected query
TELLING = -1  # default of the selected head: the one that does most for the task
WEIGHTS, FRESH, TEST, GATE, STREAMS = 0, 1, 2, 3, 4  # streams of a seed, and streams reserved per seed
LAYERS, HEADS = 3, 8  # at most
OWN = "own"  # the task's own metric of a head
NUMBERS = (OWN, "previous", "induction", "same", "first")


def learned() -> None:
    """A learned vector per position is added to the token's embedding (Gehring et al. 2017, section 3.1; GPT-2)."""


LEARNED = "learned"
PLACES: dict[str, Positions] = {name: rule for name, rule in POSITIONS.items() if not rule.learned}
PLACES[LEARNED] = Positions(learned)  # its vectors are parameters of the model
REPLACED = {  # what heads that are off are replaced by, as in `interventions.ablation.WAYS`
    "zero": "Zero",
    "mean": "Mean over test sequences",
    "resample": "Output on another sequence",
}


def head_names(layers: int, heads: int) -> tuple[str, ...]:
    """The heads of a model, each as layer.head."""
    return tuple(f"{layer}.{head}" for layer in range(layers) for head in range(heads))


# fmt: off
@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The settings of a training: frozen, hashable and valid. Raises `ConfigError` if not; `heads` divide `d_model`."""

    task: str = choice("induction", TASKS, "Task", "Next-token prediction that the model learns.")
    layers: int = whole(2, 1, LAYERS, "Layers", "Number of attention layers. The model has no MLP layers.")
    heads: int = whole(4, 1, HEADS, "Heads", "Heads per layer. Each has d_model / heads channels.")
    d_model: int = whole(64, NARROWEST, WIDEST, "Model width (d_model)", "Channels per token, a multiple of the number of heads.")
    positions: str = choice("rotary", PLACES, "Positions", "How positions are encoded.")
    mask: str = choice("causal", MASKS, "Mask", "Which keys a query may attend to. If later tokens are visible, the model can copy the answer.")
    span: int = whole(8, 1, 64, "Span (tokens)", "Span of the mask, if it has one.")
    scale: str = choice("1/sqrt(d_head)", SCALES, "Scale", "Factor of the dot products before the softmax, also during training. Without it, training starts with larger scores.")
    softmax: str = choice("standard", TRAINABLE, "Softmax", "Standard; with a term in the denominator, so a head can attend to nothing: 1 (softmax₁), or a learned sink per head, 1 before training; or differential: two per head, a learned λ per layer.", names={"plus one": "softmax₁ (plus one)"})
    qk_norm: str = choice(OFF, (OFF, ON), "QK-norm", "Divides every query and key by its root mean square, as in Qwen 3 and Gemma 3, here with a gain of 1: scaled scores are at most √d_head, so weights stay below 1.")
    gate: str = choice("off", GATES, "Output gate", "Multiplies the output of a head by learned numbers between 0 and 1 that depend on the query's token (Qwen3-Next): one per head, or one per channel. Weights are shown before the gate.")
    steps: int = whole(1000, 20, 3000, "Steps", f"Number of weight updates, each on {BATCH} new sequences.")
    rate: float = real(0.003, 0.0001, 1.0, "Learning rate", "Peak learning rate of AdamW, with one warmup and decay. If it is too large, nothing is learned.")
    seed: int = whole(0, 0, 9999, "Seed", "Determines the initial weights and all sequences.")
    at: int = whole(LAST, LAST, 3000, "Step shown", "Training step that is shown. -1: the last.", about="view")
    number: str = choice(OWN, NUMBERS, "Head metric", "Metric that the curves of the heads show.", about="view")
    head: int = whole(TELLING, TELLING, 23, "Selected head", "Shown enlarged; counted through all layers. -1: the head that does most for the task.", about="focus")
    query: int = whole(LAST, LAST, 63, "Selected query", "Token whose row is shown. -1: the last.", about="focus")
    off: tuple[str, ...] = axis((), "Heads switched off", "Heads that the trained model does without, each as layer.head.", choices=head_names(LAYERS, HEADS), about="view")
    how: str = choice("zero", REPLACED, "What replaces them", "What a head's output is replaced by.", names=REPLACED, about="view")
    ask: str = asking()
# fmt: on

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            RECIPES.check(name, value)
        for name, value in _fit_recipe(vars(self)).items():
            if value != getattr(self, name):
                raise ConfigError(_misfit(vars(self), name, value))

    @property
    def what(self) -> Task:
        """The task."""
        return TASKS[self.task]

    @property
    def d_head(self) -> int:
        """Channels of one head."""
        return self.d_model // self.heads

    @property
    def halves(self) -> int:
        """The number of softmaxes of a head, each of a part of its channels."""
        return SOFTMAXES[self.softmax].halves

    @property
    def factor(self) -> float:
        """The factor of the dot products."""
        return SCALES[self.scale](self.d_head // self.halves)

    @property
    def rule(self) -> Rule:
        """The mask."""
        return MASKS[self.mask]

    @property
    def row(self) -> int:
        """The selected query as a position from 0."""
        return self.query if self.query != LAST else self.what.tokens - 1

    def random(self, stream: int) -> Generator:
        """Returns a generator of one of the seed's streams: `WEIGHTS`, `FRESH` for training sequences, `TEST`, or `GATE` for gates and lambdas."""
        return Generator().manual_seed(STREAMS * self.seed + stream)

    @property
    def alone(self) -> Recipe:
        """The recipe with default view and focus: only what determines the training."""
        return replace(self, **{name: RECIPES.defaults[name] for name, knob in RECIPES.knobs.items() if knob.about != "tensors"})


def _task_defaults(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The layers, steps and positions that suffice for a task."""
    task = TASKS[values["task"]]
    return {"layers": task.layers, "steps": task.steps, "positions": task.positions}


def _fit_recipe(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns values, each valid on its own, moved to the nearest that are valid together."""
    heads, layers, n = values["heads"], values["layers"], TASKS[values["task"]].tokens
    unit = heads * SOFTMAXES[values["softmax"]].halves
    return {
        **values,
        "d_model": min(max(-(-NARROWEST // unit), round(values["d_model"] / unit)), WIDEST // unit) * unit,
        "at": min(values["at"], values["steps"]),
        "head": min(values["head"], layers * heads - 1),
        "query": min(values["query"], n - 1),
        "off": tuple(each for each in values["off"] if each in head_names(layers, heads)),
    }


def _misfit(values: Mapping[str, Any], name: str, nearest: Any) -> str:
    two = " of two halves" if SOFTMAXES[values["softmax"]].halves > 1 else ""
    why = {
        "d_model": f"it is a multiple of heads={values['heads']}{two}, at most {WIDEST}",
        "at": f"there are {values['steps']:,} steps",
        "head": f"there are {values['layers'] * values['heads']} heads, counted from 0",
        "query": f"there are {TASKS[values['task']].tokens} tokens, counted from 0",
        "off": f"there are {values['layers']} layers of {values['heads']} heads, counted from 0",
    }[name]
    given, nearest = (", ".join(each) if isinstance(each, tuple) else each for each in (values[name], nearest))
    return f"{name}={given}: {why}. The nearest that fits is {nearest if nearest != '' else 'none'}."


def nearest(values: Mapping[str, Any]) -> tuple[Recipe, list[str]]:
    """Returns the nearest valid recipe to values that are each valid on their own, and a message for each changed value."""
    fitting = _fit_recipe(values)
    notes = [_misfit(values, name, value) for name, value in fitting.items() if value != values[name]]
    return Recipe(**fitting), notes


EDITIONS: tuple[dict[str, Any], ...] = ({"head": 0}, {})  # earlier defaults that have changed since
RECIPES = Settings(
    Recipe, "a training", prefix="train_", linked="train_", nearest=nearest, derived_defaults=_task_defaults, editions=EDITIONS
)
