"""Implementations: published ways to write attention, each against the reference, and what its print does."""

from __future__ import annotations

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from attention import codec
from attention.charts import heatmap, lesson
from attention.components.heads_grid import heads_grid
from attention.config import KNOBS, Config
from attention.effect import tiled
from attention.published import ROWS, Evidence, Row
from attention.published.case import left_out, longest
from attention.published.compare import Comparison, Error, Judgement
from attention.ui import compute, page
from attention.ui.views import questions
from attention.ui.words import plain

COLORS = {"agrees": "green", "disagrees": "orange", "raises": "red"}
MASKS = {"none": "none", "causal": "its own", "added": "added", "boolean": "boolean"}
ERROR = 64  # characters of an error in the overview; it stands in full beside its row
GRID_HEIGHT = 360
INFLUENCE = (
    "Every token in turn becomes another; how much each output changes, over the mean size of an output. White is "
    "exactly nothing. Under a causal mask, colour above the diagonal is the future, seen."
)


def view(config: Config) -> None:
    """The page of a config."""
    if questions.closed(config):
        return
    asked = config.bug == "question"
    names = [name for name, row in ROWS.items() if row.as_printed or config.bug == "off"]
    name = config.implementation if config.implementation in names else names[0]
    if name != config.implementation:
        page.put(implementation=name)
    row = ROWS[name]
    printed = bool(row.as_printed) and (config.version == "as printed" or config.bug != "off")
    _intro(config)
    _controls(names, config)
    found = compute.comparison(compute.published(config), name, printed)
    if not asked:
        if config.bug == "off":
            _overview(config, name)
        _about(row, found, printed)
    if found.judgement.error:
        st.error(f"{plain(found.judgement.error)}  \nin `{found.raised_at}`")
    _squares(config, name, printed, found)
    if asked:
        st.markdown("Which line is wrong, and what does it do to these pictures? Then choose: **answer**.")
        with st.expander("The code as it runs"):
            st.code(found.source, language="python")
        return
    _details(config, name, printed, found)


def _intro(config: Config) -> None:
    n = longest(config)
    notes = [f"Compared on the first {n:,} of {config.tokens:,} tokens."] if n < config.tokens else []
    if odd := left_out(config):
        notes.append(f"Left out here, as no document knows them: {', '.join(odd)}.")
    st.markdown(
        "**Implementations.** Public write-ups of attention, written anew and run on the same weights and input as the "
        f"reference, in float64: what differs is a mistake, not rounding. {plain(' '.join(notes))}"
    )


def _controls(names: list[str], config: Config) -> None:
    asked, off = config.bug == "question", config.bug == "off"
    numbers = {name: f"Number {i}" for i, name in enumerate(names, 1)}
    called = numbers.get if asked else lambda name: ROWS[name].name
    knob = KNOBS["implementation"]
    st.pills(knob.label, names, key="implementation", required=True, format_func=called, label_visibility="collapsed")
    version, bug, batch = st.columns([2, 2, 3], gap="medium")
    for column, name in ((version, "version"), (bug, "bug")):
        knob = KNOBS[name]
        column.segmented_control(
            knob.label, knob.choices, key=name, help=knob.help, required=True, disabled=name == "version" and not off
        )
    knob = KNOBS["batch"]
    batch.slider(knob.label, int(knob.low), int(knob.high), key="batch", help=knob.help)


def _overview(config: Config, chosen: str) -> None:
    found = compute.judgements(compute.published(config))
    lines = [_line(row, found[name, False], found[name, True], name == chosen) for name, row in ROWS.items()]
    st.table(pd.DataFrame(lines), hide_index=True, border="horizontal")


def _line(row: Row, meant: Judgement, printed: Judgement, chosen: bool) -> dict[str, str]:
    """A row of the overview; errors are those of the print."""
    return {
        "Implementation": f"**{row.name}**" if chosen else row.name,
        "As meant": _badge(meant.verdict),
        "As printed": _badge(printed.verdict),
        "Output off by": _size(printed.output),
        "Weights off by": _size(printed.square),
        "Mask": MASKS[row.mask],
        "Error of the print": plain(_short(printed.error)),
    }


def _short(text: str) -> str:
    """The beginning of a text."""
    return text if len(text) <= ERROR else text[: ERROR - 1] + "…"


def _badge(verdict: str) -> str:
    return f":{COLORS[verdict]}-badge[{verdict}]"


def _size(error: Error | None) -> str:
    """Greatest difference, and all over the reference; rounding is called none."""
    if error is None:
        return ""
    return "none" if error.agrees else f"{error.greatest:.2g} ({error.relative:.0%})"


def _about(row: Row, found: Comparison, printed: bool) -> None:
    version = ("as printed" if printed else "as meant") if row.as_printed else "the print is right"
    st.markdown(f"#### {row.name} {_badge(found.judgement.verdict)}")
    st.caption(f"Document {row.document}; {version}. {row.particular}")
    st.latex(row.formula)
    st.markdown(f"**{row.mistake}** {row.lesson}" if row.mistake else row.lesson)
    with st.container(horizontal=True):
        for label, knobs in row.tries:
            st.button(label, on_click=page.put, kwargs=knobs, key=f"try {label}")


def _squares(config: Config, name: str, printed: bool, found: Comparison) -> None:
    """All heads of the first sequence, then one against the reference, and who reaches whom."""
    key = compute.published(config)
    cells = compute.published_cells(key, name, printed)
    if cells is not None:
        heads_grid(_shown(config, found), cells, height=GRID_HEIGHT, on_pin=page.pinned, note="weights of this version")
    head = min(config.head, len(found.reference) - 1)
    left, middle, right = st.columns(3, gap="small")
    with left:
        st.caption(f"Weights of the reference, head {head}")
        square, tile = _pooled(found.reference[head], ~found.mask)
        _plot(heatmap.weights(square, tile, config.colors, []), "reference")
    with middle:
        st.caption("This version less the reference", help="Weights of the same head; zero is nearly white.")
        if found.difference is None:
            st.info("It raises before there are weights.")
        else:
            square, tile = _pooled(found.difference[head], ~found.visible[head])
            _plot(heatmap.difference(square, tile, []), "difference")
    with right:
        st.caption("Influence of tokens on outputs", help=INFLUENCE)
        reach = compute.influences(key, name, printed)
        if reach is None:
            st.info("It raises before there is an output." if found.weights is None else "All tokens get one output.")
        else:
            _plot(heatmap.influence(reach.float()), "influence")


def _shown(config: Config, found: Comparison) -> Config:
    """The config whose heads and tokens are those that were compared: what the grid draws."""
    changed = {"heads": len(found.reference), "tokens": len(found.mask), "kv_heads": 0}
    return codec.fit(vars(config) | changed)[0]


def _pooled(cells: Tensor, hidden: Tensor) -> tuple[Tensor, int]:
    square, tile = tiled(cells.float(), heatmap.PIXELS)
    return (square.masked_fill(hidden, torch.nan) if tile == 1 else square), tile


def _plot(figure: object, key: str) -> None:
    st.plotly_chart(heatmap.narrow(figure), key=key, width="stretch", config={"displaylogo": False})


def _details(config: Config, name: str, printed: bool, found: Comparison) -> None:
    row = ROWS[name]
    if row.evidence:
        _evidence(row.evidence())
    st.markdown("**The code as it runs**")
    st.code(found.source, language="python")
    for slip in row.slips:
        st.caption(f"Mended here: {plain(slip.what)} {plain(slip.error)}")
    shapes, costs = st.columns([3, 2], gap="medium")
    with shapes:
        st.markdown("**Shapes, line by line**")
        st.dataframe(_shapes(found), hide_index=True, height=300, key="shapes")
    with costs:
        _costs(config, name, printed, found)
    st.markdown(f"**What it accepts, found by trying.** {row.demand}")
    st.dataframe(_demands(name, printed), hide_index=True, height="content", key="demands")


def _costs(config: Config, name: str, printed: bool, found: Comparison) -> None:
    leak = "may be seen" if found.leak is None else "none" if found.leak == 0 else f"up to {found.leak:.2g}"
    costs = {
        "Parameters": f"{found.parameters:,}",
        "FLOPs of its products": f"{found.cost.flops:,}",
        "Peak of new tensors": f"{found.cost.peak:,} bytes",
        "Leak of the last token": leak,
    }
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Costs**")
        timed = st.toggle("Time it", key="timed", help="In turns with the reference, on this machine, float64.")
    if timed and found.judgement.verdict != "raises":
        pace = compute.pace(compute.published(config), name, printed)
        costs["Time"] = f"{pace.seconds * 1e3:.2f} ms"
        costs["Over the reference's"] = f"{pace.ratio:.2f} ({pace.low:.2f} to {pace.high:.2f})"
    st.table(costs, border="horizontal")


def _shapes(found: Comparison) -> pd.DataFrame:
    names = ("Variable", "Axes", "Sizes", "Function")
    lines = [(step.name, step.axes, " ".join(map(str, step.sizes)), step.function) for step in found.steps]
    return pd.DataFrame(lines, columns=list(names))


def _demands(name: str, printed: bool) -> pd.DataFrame:
    tried = compute.demands(name, printed)
    return pd.DataFrame([(one.trial, one.outcome, one.error) for one in tried], columns=["Given", "It", "Error"])


def _evidence(found: Evidence) -> None:
    data = pd.DataFrame(found.points, columns=["series", "x", "y"])
    series, widths = list(dict.fromkeys(data.series)), sorted(set(data.x))
    st.markdown(f"**{found.title}**")
    st.vega_lite_chart(data, lesson.lines(found.x, found.y, series, widths), key="evidence")
