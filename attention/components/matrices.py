"""Matrices of a pass side by side: pointing at a cell highlights the cells that it was computed from.

A diagram of the pass above them links to its parts, and a button plays the pass step by step. The browser receives the cells
as bytes and the plan of the pass with one rule per source, and finds the cells to highlight by itself. It sends the selected
step and the pinned cell to the server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attention.charts import theme
from attention.codec import link
from attention.components.registry import component, nothing
from attention.config import Config
from attention.operations.differential import FIRST, SECOND
from attention.operations.positions import turned_pairs
from attention.sources.providers import keys, tokens
from attention.sources.spec import lengths, spec_of
from attention.steps.parts import parts
from attention.steps.plan import by_name
from attention.steps.step import Step
from attention.steps.values import pairs
from attention.wire.matrix_cells import Matrix, payload


def matrices(
    config: Config,
    drawn: dict[str, Matrix],
    *,
    step: str = "",
    key: str = "matrices",
    on_turn: Callable[[], None] | None = None,
    on_pin: Callable[[], None] | None = None,
) -> dict[str, Any] | None:
    """Draws the matrices, which are given by the names of their steps; the last one is computed from the others.

    With `step`, which is the first of them, the others are computed from it.

    Returns a step that was selected in this run as `{"step"}` or `{"step", "steps"}`, otherwise None; `on_turn` runs before
    that rerun. `on_pin` runs before the rerun that a pin causes; `st.session_state[key]["pin"]` then is `{"head", "query"}`
    or one of the two.
    """
    mount = component("matrices")
    data = message(config, drawn, step)
    return mount(key=key, data=data, on_turn_change=on_turn or nothing, on_pin_change=on_pin or nothing).turn


def message(config: Config, drawn: dict[str, Matrix], step: str = "") -> bytes:
    """Returns the message to the browser; `step`: the current one, if it is not the last."""
    plan = by_name(config)
    mask = pairs(config) if "mask" in plan else None
    return payload(header(config, list(drawn), step), list(drawn.values()), mask)


def header(config: Config, names: Sequence[str], step: str = "") -> dict[str, Any]:
    """Returns the header of the message: everything but the cells."""
    plan, sizes, shown = by_name(config), lengths(config), parts(config)
    order = [
        name for part in shown for name in part.steps
    ]  # part by part: from x to the queries of each head, then to keys
    return {
        "painted": link(config),
        "matrices": [describe_step(plan[name]) for name in names],
        "order": order,
        "parts": [vars(part) for part in shown],
        "ends": not any(part.place == "values" for part in shown),  # at the weights: the source has no values
        "step": (step or names[-1]) if config.steps == "one" else None,
        "focus": {"head": config.head, "query": config.query_index},
        "heads": config.heads,
        "repeats": config.heads // config.n_kv_heads,
        "lengths": sizes | {"m": turned_pairs(spec_of(config))},  # pairs of channels that positions turn
        "tokens": {"q": list(tokens(config).labels), "k": list(keys(config).labels)},
        "ramps": theme.WEIGHTS,
        "signed": [theme.LESS, theme.MORE],
        "stripe": theme.ONE_SIDE,
        "neutrals": theme.NEUTRALS,
        "accent": theme.QUERY,
    }


def describe_step(step: Step) -> dict[str, Any]:
    """Returns a step as a dictionary for the browser; `scale` is the colour scale of its values."""
    scale = {"weights": "weights", "mask": "mask", FIRST: "weights", SECOND: "weights"}.get(step.name, "signed")
    if any(source.name == SECOND for source in step.sources):
        scale = "signed"  # a difference of weights
    sources = [{"name": source.name, "rule": source.rule, "sign": source.sign} for source in step.sources]
    sizes = " × ".join(f"{size:,}" for size in step.sizes)
    letters = {"heads": step.shape[0] if step.by_head else 1, "rows": step.shape[-2], "columns": step.shape[-1]}
    return letters | {
        "name": step.name,
        "title": step.title,
        "axes": step.axes,
        "sizes": sizes,
        "says": step.says,
        "sources": sources,
        "scale": scale,
    }
