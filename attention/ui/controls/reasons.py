"""Why a knob has no effect: its widget is disabled, and its help says so. To add a reason, add it to REASONS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attention.config import Config
from attention.operations.differential import NAME as DIFFERENTIAL
from attention.operations.forgetting import ON
from attention.operations.softmax import SOFTMAXES
from attention.sources.providers import idle
from attention.timing.cpu_gpu_settings import Timed
from attention.training.recipe import Recipe
from attention.ui.text import controls as text


def _span(config: Config) -> str:
    return "" if config.rule.span else text.NO_SPAN.format(mask=config.rule_name)


def _sink_logit(config: Config) -> str:
    return "" if SOFTMAXES[config.softmax].learned else text.NO_SINK.format(softmax=config.softmax)


def _sigmoid_length(config: Config) -> str:
    return "" if config.softmax == "sigmoid" else text.NO_SIGMOID.format(softmax=config.softmax)


def _diff_lambda(config: Config) -> str:
    return "" if config.softmax == DIFFERENTIAL else text.NO_DIFFERENCE.format(softmax=config.softmax)


def _keys(config: Config) -> str:
    return text.FORGETTING_NEEDS if config.forgetting == ON else ""


def _forget_bias(config: Config) -> str:
    return "" if config.forgetting == ON else text.FORGETTING_OFF


def _batches(timed: Timed) -> str:
    return text.BATCH_FOLLOWS if timed.tokens else ""


def _span_of_recipe(recipe: Recipe) -> str:
    return "" if recipe.rule.span else text.NO_SPAN.format(mask=recipe.mask)


REASONS: dict[tuple[type, str], Callable[[Any], str]] = {
    (Config, "span"): _span,
    (Config, "sink_logit"): _sink_logit,
    (Config, "sigmoid_length"): _sigmoid_length,
    (Config, "diff_lambda"): _diff_lambda,
    (Config, "keys"): _keys,
    (Config, "forget_bias"): _forget_bias,
    (Recipe, "span"): _span_of_recipe,
    (Timed, "batches"): _batches,
}


def why(name: str, setting: Any) -> str:
    """Why a knob of these settings has no effect; empty if it has one."""
    if isinstance(setting, Config) and (found := idle(name, setting)):
        return found
    reason = REASONS.get((type(setting), name))
    return reason(setting) if reason else ""
