"""Results of the Training page: the heads of a checkpoint for the grid, and a trained model's predictions."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import torch

from attention.analysis.head_roles import roles
from attention.charts import theme
from attention.interventions import trained
from attention.interventions.ablation import Outputs
from attention.interventions.projections import Head
from attention.operations.softmax import SOFTMAXES
from attention.runtime.tensor_cache import tensor_lru_cache
from attention.training.head_scores import even, texts, weights
from attention.training.history import TrainingHistory, frame_weights
from attention.training.recipe import TEST, Recipe
from attention.training.run import HELD_OUT, Checkpoint, Drawn, Run, Stacked, draw_sequences, probe, stack_layers
from attention.training.tasks import GUESS
from attention.ui.results.shared import run_shared
from attention.wire.cells import Cells, cells

Off = tuple[Head, ...]  # heads that are switched off
SEEN = 64  # pictures of checkpoints that are kept, of at most 0.4 MB each
LEARNS = (
    0.9  # of the loss of a uniform guess: a model with a larger loss has learned too little for its heads to have roles
)
FEW = 10  # tasks with at most this many different tokens
TRIED = 128  # results about a model that are kept


class Picture(NamedTuple):
    """The heads of a checkpoint, layer after layer: what the grid draws, the tokens, and what each head does.

    The cells are followed by those of the same heads before training, if these were asked for.
    """

    cells: Cells
    tokens: tuple[str, ...]
    names: tuple[str, ...]
    even: float  # the task's own head score for uniform weights
    last: str  # the token that follows the last one
    several: bool  # whether a token that occurs again says something, as there are many different ones
    over: float = 1.0  # what weights are divided by in the cells, as those of a difference may be above one


class Said(NamedTuple):
    """What a model predicts for a sequence: per position the id of the most likely next token, and its probability."""

    ids: tuple[int, ...]
    next: tuple[int, ...]
    sure: tuple[float, ...]
    weights: torch.Tensor  # (l h n n)


def picture(recipe: Recipe, moment: Checkpoint, first: Checkpoint | None = None) -> Picture:
    """What the grid shows of a checkpoint, and of the `first` one beside it; pass the recipe's `alone`."""
    return run_shared(_picture, recipe, moment, first)


def before_training(recipe: Recipe) -> TrainingHistory:
    """The history before the first step; pass the recipe's `alone`."""
    return run_shared(_initial_course, recipe)


def without(course: TrainingHistory, off: Off, how: str = "zero") -> tuple[float, float]:
    """Loss and accuracy on held-out sequences, without some heads; `how`: what replaces their outputs."""
    return run_shared(_without, course, off, how)


def read_sequence(course: TrainingHistory, ids: tuple[int, ...], off: Off, how: str = "zero") -> Said:
    """What the model predicts for a sequence, without some heads."""
    return run_shared(_forward_sequence, course, ids, off, how)


def heads_without(course: TrainingHistory, moment: Checkpoint, off: Off, how: str = "zero") -> Checkpoint:
    """A checkpoint with the queries and keys of the trained model on the probe, without some heads."""
    found = run_shared(_probe_heads, course, off, how)
    return replace(moment, q=found.q, k=found.k, sinks=found.sinks, gates=found.gates)


@tensor_lru_cache(8)
def _probe_heads(course: TrainingHistory, off: Off, how: str) -> Stacked:
    model, ids = course.model(), probe(course.recipe).ids[:, :-1]
    test, usual = _usual(course)
    other = trained.record_outputs(model, test.ids[:, :-1].flatten()[None, : ids.shape[1]])
    with torch.inference_mode(), trained.heads_off(model, off, how, usual, other):
        return stack_layers(model.forward_with_scores(ids)[1])


@tensor_lru_cache(SEEN)
def _picture(recipe: Recipe, moment: Checkpoint, first: Checkpoint | None) -> Picture:
    drawn_from, found = probe(recipe), frame_weights(recipe, moment)
    words = texts(recipe, drawn_from)
    mask = recipe.rule.square(len(words), len(words), recipe.span)
    several = (
        words if len(set(recipe.what.texts)) > FEW else ()
    )  # among few different tokens nearly all repeat, which says nothing
    signed = SOFTMAXES[recipe.softmax].signed
    learns = moment.loss <= LEARNS * GUESS  # weights of a model that has learned nothing agree with a role by chance
    named = [
        role.name if role and learns and not signed else "" for layer in found for role in roles(layer, mask, several)
    ]
    shown = torch.cat([found, frame_weights(recipe, first)] if first else [found]).flatten(0, 1)
    over = max(1.0, float(shown.abs().max())) if signed else 1.0
    squares = cells(shown / over, mask, theme.side(recipe.layers * recipe.heads), signed=signed)
    last = recipe.what.texts[int(drawn_from.ids[0, -1])]
    return Picture(squares, words, tuple(named), even(recipe, drawn_from), last, bool(several), over)


@tensor_lru_cache(16)
def _initial_course(recipe: Recipe) -> TrainingHistory:
    return TrainingHistory(recipe, (Run(recipe).checkpoint(),), None)


@tensor_lru_cache(2)
def _usual(course: TrainingHistory) -> tuple[Drawn, Outputs]:
    """The test sequences, and the outputs of all heads on them: 16 MB for the largest model."""
    test = draw_sequences(course.recipe, HELD_OUT, TEST)
    return test, trained.record_outputs(course.model(), test.ids[:, :-1])


@tensor_lru_cache(TRIED)
def _without(course: TrainingHistory, off: Off, how: str) -> tuple[float, float]:
    test, usual = _usual(course)
    return trained.evaluate_without(course.model(), test, off, how, usual)


@tensor_lru_cache(TRIED)
def _forward_sequence(course: TrainingHistory, ids: tuple[int, ...], off: Off, how: str) -> Said:
    model, (test, usual) = course.model(), _usual(course)
    other = trained.record_outputs(model, test.ids[:, :-1].flatten()[None, : len(ids)])
    with torch.inference_mode(), trained.heads_off(model, off, how, usual, other):
        logits, heads = model.forward_with_scores(torch.tensor([ids]))
        sure, best = logits[0].softmax(-1).max(-1)
        kept = stack_layers(heads)
        found = weights(course.recipe, kept.q, kept.k, kept.sinks)
    return Said(ids, tuple(best.tolist()), tuple(sure.tolist()), found)
