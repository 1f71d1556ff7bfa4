"""A button that measures attention on the visitor's own GPU, in the browser, and sends the timings to this visit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attention.components.registry import component

KEY = "gpu_timing"


def gpu_timing(
    plan: Mapping[str, Any] | None, lacking: str, answered: bool, finished: int, *, on_measured: Callable[[], None]
) -> None:
    """Draws the button. `plan` is what is measured (`timing.webgpu.plan`); None if nothing can be, and `lacking` says why.

    `answered`: whether the headline of the page says what this visit measured, to which a second button then leads.
    `finished`: the number of measurements on the server that ended in this visit; the headline comes into view after each.
    `on_measured` runs before the rerun that a result causes; `st.session_state[KEY]["measured"]` then contains it.
    """
    data = {"plan": plan, "lacking": lacking, "answered": answered, "finished": finished}
    component("gpu_timing")(key=KEY, data=data, on_measured_change=on_measured)
