"""The row above the chart of Timing: at which sizes, and which chart of these.

A choice of sizes sets the measurement settings, which the page then follows, or one of the two comparisons of a CPU and GPUs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from attention.timing.cpu_gpu_settings import BREAK_EVEN, CHARTS, LINES, ONE_TEXT_HEADS, SIZES, Timed, is_one_text
from attention.timing.subject import Subject
from attention.timing.sweep import SWEEPS, Case, is_like
from attention.ui import results
from attention.ui.controls import knobs
from attention.ui.session import page
from attention.ui.text import timing as text

FIRST: dict[str, Any] = {name: getattr(Timed(), name) for name in SIZES}
WIDE: dict[str, Any] = {"heads": (16,), "d_heads": (128,)}
DECODING: dict[str, Any] = {"queries": (1,), "dtypes": ("bfloat16",), "lengths": tuple(2**i for i in range(6, 14))}
*ONE_TEXT, PUBLISHED, OWN = text.SIZES
OFFERED: dict[str, dict[str, Any]] = {
    **{name: FIRST | {"heads": heads, "picture": LINES} for name, heads in zip(ONE_TEXT, ONE_TEXT_HEADS, strict=True)},
    PUBLISHED: FIRST | {"picture": "time", "chart": BREAK_EVEN},
    "16 heads of 128, 16-core CPU": FIRST | WIDE,
    "Decoding, 16-core CPU": FIRST | WIDE | DECODING,
    "Decoding, GQA, 16-core CPU": FIRST | WIDE | DECODING | {"kv_heads": (4,)},
}
NAMED = [
    name for name in SIZES if name not in ("lengths", "masks", "dtypes", "passes")
]  # those that the names are about
KEPT = {
    "masks": "mask",
    "dtypes": "dtype",
    "passes": "passes",
    "lengths": "length",
}  # between sizes, by field of a timing
YOURS = "measure-it-yourself"  # the anchor of the part of the page that measures
CHART, OTHER = "timing_chart", "timing_other_chart"
LEFT = "timing_chart_left"  # the chart that was left for the published sizes
TIME, RATIO = "time", "speed-up"  # one choice of a chart, with a switch between the two
LIKE_PUBLISHED = {"time": TIME, "times faster": RATIO, "limits": "roofline"}  # charts that other sizes have, too


def draw(timed: Timed, found: Subject, charts: list[str], crosses: bool) -> None:
    """Draws the row. `charts`: those of the timings line by line; `crosses`: whether the page shows the break-even."""
    sizes = _sizes(timed, found, crosses)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="sizes-and-chart"):
        left_out = {PUBLISHED} if found.apart else set()  # an opened file stays the subject of the page
        offered = [name for name in OFFERED if name not in left_out] + [OWN] * (sizes == OWN)
        key = (
            f"timing_sizes {sizes}"  # with the value, so that a slow browser's answer about an earlier one is no choice
        )
        page.widgets()[key] = sizes
        set_sizes = partial(_set_sizes, timed, key, sizes, _shown_chart(timed, found, charts, crosses))
        how: Any = {"key": key, "on_change": set_sizes, "width": 250, "help": text.SIZES_HELP}
        st.selectbox(text.SIZES_LABEL, offered, offered.index(sizes), **how)
        if sizes == PUBLISHED:
            _published(timed)
        else:
            one_text = sizes if sizes in ONE_TEXT and (crosses or is_one_text(timed.sweep)) else ""
            choose_chart(list(dict.fromkeys([*[BREAK_EVEN] * bool(one_text), *charts])), crosses, one_text)
        st.markdown(text.TO_YOURS.format(anchor=YOURS), width="content")


def settings_text(shown: Sequence[Case]) -> str:
    """The masks, dtypes and passes of what a chart shows, in words."""
    axes = {"masks": "mask", "dtypes": "dtype", "passes": "passes"}
    values = {name: dict.fromkeys(getattr(each, axis) for each in shown) for name, axis in axes.items()}
    return text.SETTINGS.format(**{name: text.AND.join(found) for name, found in values.items()})


def _sizes(timed: Timed, found: Subject, crosses: bool) -> str:
    """The name of the sizes that the page shows."""
    if not found.follows:
        return ONE_TEXT[ONE_TEXT_HEADS.index(timed.one_text.heads)] if crosses else PUBLISHED
    is_of_others = found.apart and not any(is_like(each, timed.sweep, any_dtype=True) for each in found.timings[:1])
    own = {name: getattr(timed, name) for name in NAMED}
    others = (name for name in OFFERED if name != PUBLISHED and not (is_of_others and name in ONE_TEXT))
    return next((name for name in others if {key: OFFERED[name][key] for key in NAMED} == own), OWN)


def has_one_text(timed: Timed) -> bool:
    """Whether the sizes are those of one text, with any masks, dtypes, passes and lengths."""
    return any(all(getattr(timed, key) == OFFERED[name][key] for key in NAMED) for name in ONE_TEXT)


def _shown_chart(timed: Timed, found: Subject, charts: list[str], crosses: bool) -> str:
    """The chart that the page shows, by the name that other sizes than the published ones have for it."""
    if found.follows:
        return timed.chart if timed.chart in charts else TIME
    return BREAK_EVEN if crosses else LIKE_PUBLISHED.get(timed.picture, TIME)


def _set_sizes(timed: Timed, key: str, shown: str, chart: str) -> None:
    """Shows other sizes with what is set of `KEPT` and the same chart, or with the times if they do not have it.

    After the published sizes, which begin with the times, that is the break-even again if it was left for them.
    """
    name, state = page.widgets()[key], page.widgets()
    if name == shown or name not in OFFERED:
        return
    if shown == PUBLISHED and chart == TIME and state.get(LEFT) == BREAK_EVEN:
        chart = BREAK_EVEN
    state[LEFT] = chart if name == PUBLISHED else None
    if name == PUBLISHED:
        pictures = {of_lines: picture for picture, of_lines in LIKE_PUBLISHED.items()}
        page.change(**OFFERED[name] | {"picture": pictures.get(chart, "time")})
    elif name in ONE_TEXT and chart == BREAK_EVEN:
        page.change(**OFFERED[name] | _kept_settings(timed, shown, name) | {"picture": BREAK_EVEN, "chart": BREAK_EVEN})
    else:
        page.change(**OFFERED[name] | _kept_settings(timed, shown, name), chart=chart)


def _kept_settings(timed: Timed, shown: str, name: str) -> dict[str, tuple[Any, ...]]:
    """What is set of `KEPT` otherwise than the sizes that are left have it by themselves, and was recorded at other sizes."""
    every = {axis: SWEEPS.knobs[axis].choices for axis in KEPT if axis != "lengths"}
    own = OFFERED.get(shown, {})
    found = results.timing.recorded_like(replace(Timed(**OFFERED[name]).sweep, **every))
    kept: dict[str, tuple[Any, ...]] = {}
    for axis, entry in KEPT.items():
        values = getattr(timed, axis)
        known = tuple(value for value in values if any(getattr(each, entry) == value for each in found))
        if known and values != own.get(axis):
            kept[axis] = known
        ticked = kept.get(axis, OFFERED[name][axis])
        found = [each for each in found if getattr(each, entry) in ticked]
    return kept


def _published(timed: Timed) -> None:
    """Draws the choice of the chart at published sizes."""
    pictures = [name for name in text.PICTURES if name != BREAK_EVEN or timed.picture == BREAK_EVEN]
    knobs.segments(
        "picture",
        timed,
        options=pictures,
        format_func=text.PICTURES.__getitem__,
        width="content",
        help=text.PICTURES_HELP,
    )


def follow(timed: Timed) -> None:
    """Chooses the chart of lines of a link. Call it before the choice is drawn."""
    page.widgets()[CHART] = timed.chart


def choose_chart(offered: list[str], crosses: bool = False, one_text: str = "") -> None:
    """Draws the choice of a chart of lines; if the page shows the break-even (`crosses`), that is the chosen one.

    `one_text`: the sizes of one text of which the break-even is, empty if it is one of what was ticked.
    """
    key = OTHER if crosses else CHART
    if crosses or page.widgets().get(key) not in offered:
        page.widgets()[key] = BREAK_EVEN if crosses else "time"
    named, chosen = text.PICTURES | text.CHART_NAMES, page.widgets()[key]
    offered = [name for name in offered if name != (TIME if chosen == RATIO else RATIO)]
    how: Any = {"key": key, "required": True, "on_change": partial(_set_chart, key, one_text), "width": "content"}
    st.segmented_control(text.CHART, offered, format_func=named.__getitem__, **how)


def choose_ratio() -> None:
    """Draws the switch between times and ratios of times."""
    is_ratio = page.widgets().get(CHART) == RATIO
    key = f"timing_ratio {is_ratio}"  # with the value, so that a chart that is chosen otherwise moves it
    page.widgets()[key] = is_ratio
    st.toggle(text.AS_RATIO, is_ratio, key=key, on_change=_switch_ratio)


def _switch_ratio() -> None:
    page.change(chart=TIME if page.widgets().get(CHART) == RATIO else RATIO)


def _set_chart(key: str, one_text: str) -> None:
    """Shows the break-even, or another chart of the same sizes."""
    chosen = page.widgets()[key]
    if one_text and chosen == BREAK_EVEN:
        page.change(**OFFERED[one_text] | {"picture": BREAK_EVEN, "chart": BREAK_EVEN})
    elif key == OTHER and chosen in CHARTS:
        page.change(**OFFERED[one_text], chart=chosen)
    elif chosen in CHARTS:
        page.change(chart=chosen)
