"""A third kind of settings, as small as can be: what it takes to have one, for tests of what all kinds share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from attention.settings import ConfigError, Settings, axis, choice, real, text, whole
from attention.ui.controls import knobs
from attention.ui.controls.kind import Change, Kind, Stops


@dataclass(frozen=True, kw_only=True)
class Training:
    """How a model would be trained."""

    steps: int = whole(100, 1, 1000, "Steps", "How many batches.")
    rate: float = real(0.1, 0.0, 1.0, "Rate", "How far a step goes.")
    task: str = choice("copy", ("copy", "sort"), "Task", "What is learned.")
    note: str = text("", 20, "Note", "Whatever you like.")
    widths: tuple[int, ...] = axis((8,), "Widths", "Channels of each layer.", 1, 64)

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            TRAININGS.check(name, value)
        if self.steps * max(self.widths) > 32_000:
            raise ConfigError("That would take all day.")


TRAININGS = Settings(Training, "a training", prefix="train_", rising=frozenset({"widths"}))


def draw(training: Training, stops: Stops, change: Change) -> None:
    """A widget a knob."""
    knobs.number("steps", training, on_change=change)
    knobs.slider("rate", training, on_change=change)
    knobs.menu("task", training, on_change=change)
    knobs.line("note", training, on_change=change)
    knobs.several("widths", training, [8, 16, 32, 64], on_change=change)


TRAINING = Kind(TRAININGS, draw, lambda training: (), frozenset(TRAININGS.knobs))


def view(training: Any) -> None:
    """What it is, in words."""
    st.markdown(f"{training.steps} steps of {training.task} over {training.widths}")
