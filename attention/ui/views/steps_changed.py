"""Steps of two sides: which matrices are equal, which can't be subtracted, and both sides beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from attention.components.matrices import matrices
from attention.config import Config
from attention.pinned import Sides
from attention.sources.providers import has
from attention.steps.compared import comparable, plans
from attention.ui import results
from attention.ui.markdown import escape
from attention.ui.session import gestures, page
from attention.ui.text import comparing as text
from attention.ui.views import heads_compared


def has_sides(sides: Sides) -> bool:
    """Whether both sides have steps, and these fit into memory."""
    return all(
        {"q", "k"} <= set(has(side.source)) and side.truncated is side and not results.steps.refusal(side)
        for side in sides[:2]
    )


def has_step_difference(sides: Sides) -> bool:
    """Whether a matrix of B minus A exists."""
    return has_sides(sides) and bool(comparable(sides[:2], sides.heads is not None))


def finding(sides: Sides, step: str) -> str:
    """Which matrix is the first that differs, and how many are equal; or why the `step` that is shown has no difference.

    `step` is empty if all are shown.
    """
    before, after = plans(sides[:2])
    known = comparable(sides[:2], sides.heads is not None)
    if step and step not in known:
        if step not in before:
            return text.STEP_IN_B.format(step=escape(step))
        sizes = {"a": _size(before[step].shape), "b": _size(after[step].shape)}
        return text.STEP_SIZES.format(step=escape(step), **sizes)
    changed = _differing_steps(sides)
    equal = len(known) - len(changed)
    if not (changed and equal):
        return (text.NO_STEP_EQUAL if changed else text.STEPS_EQUAL).format(count=len(known))
    return text.STEP_CHANGED.format(step=escape(changed[0]), count=len(known), equal=equal)


def draw_way(sides: Sides, step: str) -> None:
    """Draws a button that shows the first matrix that differs, unless it is the `step` that is shown."""
    if (first := next(iter(_differing_steps(sides)), step)) != step:
        st.button(
            text.SHOW_STEP.format(step=escape(first)),
            icon=":material/arrow_forward:",
            key="first step that differs",
            on_click=page.change,
            kwargs={"step": first},
        )


def _differing_steps(sides: Sides) -> list[str]:
    """The matrices that differ, in the order of computation."""
    same = results.steps.equal_steps(sides)
    return [name for name in comparable(sides[:2], sides.heads is not None) if name not in same]


def draw_legend(sides: Sides, names: Sequence[str]) -> None:
    """Says what the colours mean, and which of the matrices that are drawn, `names`, can't be subtracted."""
    before, after = plans(sides[:2])
    known = comparable(sides[:2], sides.heads is not None)
    said = [text.STEPS_SCALE]
    if other := [escape(name) for name in names if name not in known]:
        said.append(text.STEPS_OTHER_SIZES.format(steps=", ".join(other)))
    if only := [escape(name) for name in before if name not in after]:
        said.append(text.STEPS_ONLY_A.format(steps=", ".join(only)))
    st.caption(" ".join(said))


def _size(shape: tuple[int, ...]) -> str:
    return " × ".join(f"{size:,}" for size in shape)


def draw_beside(sides: Sides, names: dict[Config, tuple[str, ...]]) -> None:
    """Draws the matrices of both sides; `names`: the steps that are drawn of each."""
    shown = [sides.a, sides.b]
    for place, side in zip(heads_compared.places_of(shown, "both sides"), shown, strict=True):
        key = "matrices" if side is sides.b else "matrices a"
        with place:
            st.caption(heads_compared.side_name(sides, side))
            drawn = dict(zip(names[side], results.steps.matrices(side, names[side]), strict=True))
            on_turn, on_pin = partial(gestures.on_step_choice, key), partial(gestures.on_matrix_pin, key)
            matrices(side, drawn, key=key, on_turn=on_turn, on_pin=on_pin)
