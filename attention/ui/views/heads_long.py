"""Heads of a long sequence: a preview at once, then every head exactly; zoom down to single tokens."""

from __future__ import annotations

from functools import partial

import pyarrow as pa
import streamlit as st
import torch

from attention.charts import row
from attention.components.heads_grid import heads_grid
from attention.components.large_head import large_head
from attention.config import Config
from attention.imported.registry import is_uploaded
from attention.knobs import MAX_TRACE_TOKENS
from attention.maps.picture import join_maps, split
from attention.number_format import format_share, format_weight
from attention.operations.softmax import SOFTMAXES
from attention.runtime.threads import one_thread
from attention.sources.providers import distributes, unit
from attention.steps import file_program, program
from attention.tables import rows as tables
from attention.ui import proof, results
from attention.ui.controls import knobs
from attention.ui.empty_states import too_large
from attention.ui.heading import reserve_finding
from attention.ui.jobs.map_jobs import MapJob
from attention.ui.markdown import escape
from attention.ui.session import address_bar, browser_yield, gestures, page
from attention.ui.text import heads as text
from attention.ui.views import head_statistics, heads_compared, job_status
from attention.ui.views import heads_parts as parts
from attention.wire.cells import pixel_cells

TICK = 0.4  # seconds between two updates of a map job
ASKS = 2.0  # seconds between two checks whether there is room for one
BARS = 512  # of a row at most
NEAR = 64  # tokens to which a button zooms in
LONG_PROGRAM = "long program"  # key of the expander with the code
TOP = 8  # keys of a row that are listed
# Pixels of columns, for the longest number of each; all are visible in a window of 1280 pixels.
WIDTHS = {"key": 64, "token": 84, "weight": 102}


def view(config: Config) -> None:
    """Draws the page of a config that is too long for a trace. The grid comes first, or the zoomed head if there is one."""
    if refused := _refusal(config):
        too_large(*refused, text.SMALLER.format(tokens=refused[1].tokens))
        if results.long.STUDIO.waits(page.visitor()):
            st.fragment(_asking, run_every=ASKS)(config)
        return
    drawing = current_drawing(config)
    exact = config.head < len(drawing.heads)
    finding = reserve_finding()
    roles = results.long.roles(config, drawing) if drawing.state == "done" else []
    if note := parts.mask_rule(config) + parts.in_brackets(config, roles):
        st.caption(note.rstrip())
    above, proven = st.container(), st.container()
    left, right = parts.beside()
    pictures = [(above, _every_head), (left, _large)]
    first, second = reversed(pictures) if config.rows or config.cols else pictures
    with first[0]:
        first[1](config, drawing)
    browser_yield.yield_to_browser()
    with proven:
        said, help = _finding(config, drawing)
        finding.markdown(said, help=help)
        _proof(config, drawing)
        _row(config, drawing)
    with second[0]:
        second[1](config, drawing)
    with right:
        if drawing.state == "done":
            head_statistics.numbers(
                lambda: results.long.map_numbers(config, drawing),
                config,
                lambda: results.long.roles(config, drawing),
            )
        else:
            st.caption(text.STATISTICS_LATER)
    _take_away(config, drawing)
    if drawing.state == "done" and not exact:  # it has ended meanwhile, and nothing else triggers a rerun
        st.rerun()


def _finding(config: Config, drawing: MapJob) -> tuple[str, str | None]:
    """What the selected head does and on how many other texts, or that it may be a preview."""
    if drawing.state == "done":
        role = results.long.roles(config, drawing)[config.head]
        return parts.does(config, role), parts.elsewhere(config, role)
    return text.LONG.format(heads=parts.head_count(config), tokens=f"{config.tokens:,}"), None


def _every_head(config: Config, drawing: MapJob) -> None:
    """Draws two blocks, one of them empty: next to a timer, a browser keeps what nothing replaces."""
    drawing = current_drawing(config)  # on a busy machine it may have been given up meanwhile, as not viewed
    if _is_awaited(drawing):
        st.fragment(_growing, run_every=TICK)(config, drawing)
        st.empty()
    else:
        st.empty()
        with st.container():
            _show_end(drawing)
            _squares(config, drawing)


def _asking(config: Config) -> None:
    """Draws nothing: reruns the page once there is room, which starts the job."""
    if not _refusal(config):
        st.rerun()


def begin(config: Config) -> None:
    """Starts the map job of a config if there is room."""
    if not _refusal(config):
        current_drawing(config)


def _refusal(config: Config) -> tuple[str, Config] | None:
    """Why a map job can't start, and a config whose job could; None if it can or need not."""
    stays = page.visit_state().stopped == config.for_page() and results.long.STUDIO.find(config.for_page()) is not None
    return None if stays else results.long.STUDIO.refusal(config, page.visitor())


def current_drawing(config: Config) -> MapJob:
    """The map job of a config, started if there is none; in its current state if the visitor has cancelled it."""
    kept = results.long.STUDIO.find(config.for_page()) if page.visit_state().stopped == config.for_page() else None
    return kept or results.long.drawing(config, page.visitor())


def _is_awaited(drawing: MapJob) -> bool:
    """Whether the job has not ended and this visitor waits for it."""
    return drawing.open and page.visit_state().stopped != drawing.settings


def _cancel(drawing: MapJob) -> None:
    drawing.leave(page.visitor())
    page.visit_state().stopped = drawing.settings
    page.change()


def _again(drawing: MapJob) -> None:
    if drawing.state == "failed":
        results.long.STUDIO.line.forget(drawing)
    page.visit_state().stopped = None
    page.change()


def _proof(config: Config, drawing: MapJob) -> None:
    if drawing.state == "done":
        proof.show_badge(results.long.map_parity(config, drawing), config)
    else:
        st.badge(
            text.CHECKED_LATER.format(reference=SOFTMAXES[config.softmax].reference),
            icon=":material/pending:",
            color="gray",
        )


def _growing(config: Config, drawing: MapJob) -> None:
    """Draws the grid of a job that has not ended, updated as heads are finished."""
    one_thread()
    if current_drawing(config) is not drawing or not _is_awaited(drawing):
        st.rerun()
    done, size = len(drawing.heads), tables.quantity(drawing.claim, "B")
    said = text.EXACT_HEADS.format(done=done, heads=config.heads, memory=size)
    job_status.show_progress(drawing, results.long.STUDIO.line, said, partial(_cancel, drawing))
    _squares(config, drawing)


def _show_end(drawing: MapJob) -> None:
    """Draws why a job has ended if it was not finished, and a button that starts it again."""
    if drawing.state == "done":
        return
    why = escape(drawing.said.rstrip(".")) if drawing.state == "failed" else text.CANCELLED
    said = text.ENDED.format(why=why, done=len(drawing.heads), heads=drawing.settings.heads)
    job_status.show_end(drawing, said, partial(_again, drawing))


def _hides_pattern(config: Config, drawing: MapJob) -> bool:
    """Whether pooling hides on which keys the large weights of the selected head are; False until it is exact."""
    if config.head >= len(drawing.heads) or config.pool != "max" or not distributes(config):
        return False
    return results.long.is_pattern_hidden(config, drawing.heads[config.head])


def _offer_zoom(config: Config) -> None:
    """Draws a button that zooms in on some tokens up to the selected query, with colours that show single weights."""
    last = min(config.tokens - 1, max(config.query_index, NEAR - 1))
    near = f"{last + 1 - NEAR}-{last}"
    label = text.ZOOM_IN.format(first=last + 1 - NEAR, last=last)
    then = {"rows": near, "cols": near, "colors": "auto"}
    st.button(
        label, on_click=page.change, kwargs=then, key="zoom in", icon=":material/zoom_in:", help=text.ZOOM_IN_HELP
    )


def _squares(config: Config, drawing: MapJob) -> None:
    """Draws what a pixel is, and the grid of heads: exact ones, and the preview for the others."""
    sketch = drawing.on_behalf_of(drawing.preview, page.visitor())
    heads = drawing.heads[:]
    shown = [
        *(head.pooled_by(config.pool).pixels for head in heads),
        sketch.pooled_by(config.pool).pixels[len(heads) :],
    ]
    seen = results.long.tiles_seen(config, sketch.tile)
    seeing = results.long.keys_seen(config)
    signed = config.head_softmax.signed
    cells = pixel_cells(torch.cat(shown), seen, sketch.tile, seeing, config.tokens, signed)
    preview = text.PREVIEW.format(done=len(heads)) if len(heads) < config.heads else ""
    note = text.PIXELS.format(pool=text.POOLS[config.pool], tile=sketch.tile, preview=preview)
    if _hides_pattern(config, drawing):
        note += text.PATTERN_HIDDEN.format(head=config.head)
    st.caption(note)
    roles = results.long.roles(config, drawing) if drawing.state == "done" else []
    heads_grid(
        config,
        cells,
        on_pin=gestures.on_grid_pin,
        names=parts.names(config, roles),
        short_names=parts.short_names(config, roles),
        on_percent=gestures.on_percent,
        certain=len(heads),
        address=address_bar.address(),
    )


def _row(config: Config, drawing: MapJob) -> None:
    found = results.long.long_row(config, drawing)
    bars, tile = tables.bin_row(found, BARS)
    if not found.seeing:
        st.caption(text.BLIND.format(query=escape(parts.query_name(found))))
        return
    has_bars = config.row_as in ("auto", "bars")
    said = text.LONG_ROW.format(
        query=parts.query_name(found),
        head=found.head,
        most=tables.mostly(found, unit(config)),
        support=tables.support_text(found, config),
        missing=tables.missing_share(found, config),
        entropy=tables.entropy_text(config, found.entropy),
        exact=text.EXACT if distributes(config) else "",
        tile=tile,
        forms="" if has_bars else text.FORMS.format(most=MAX_TRACE_TOKENS),
    )
    scale, seeing = parts.bars(config, found)
    parts.said_of_row(said, config, scale)
    chart, top = st.columns([7, 3], gap="medium")
    spec = row.weights((), config.tokens, scale, seeing, distributes(config))
    chart.vega_lite_chart(pa.table(bars), spec, key="row", width="stretch", alt=text.ROW_ALT)
    key, token, weight = text.TOP
    columns = {
        "key": st.column_config.NumberColumn(key, width=WIDTHS["key"]),
        "token": st.column_config.TextColumn(token, width=WIDTHS["token"]),
        "weight": st.column_config.TextColumn(weight, width=WIDTHS["weight"], alignment="right"),
    }
    order = ("key", "token", "weight") if found.label else ("key", "weight")
    heaviest = tables.heaviest(found, TOP)
    form = format_share if distributes(config) else format_weight
    listed = pa.table(heaviest | {"weight": list(map(form, heaviest["weight"]))})
    top.dataframe(listed, column_config=columns, column_order=order, hide_index=True, height=180, key="top")


def _large(config: Config, drawing: MapJob) -> None:
    """Draws the selected head, or the selected part of it."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        parts.focus(config, 150)
        knobs.segments("pool", config)
        if not page.setting().against:
            heads_compared.offer()
    exact = config.head < len(drawing.heads)
    rows, cols = config.window if exact else ((0, config.tokens), (0, config.tokens))
    maps = (
        drawing.heads[config.head]
        if exact
        else split(drawing.on_behalf_of(drawing.preview, page.visitor()))[config.head]
    )
    cells = results.long.part(config, drawing, maps, rows, cols)
    if exact:
        parts.extent(rows, cols, cells.tile)
        if not (config.rows or config.cols) and _hides_pattern(config, drawing):
            _offer_zoom(config)
    else:
        st.caption(text.NO_ZOOM)
    large_head(config, cells, (rows[0], cols[0]), zooms=exact, on_frame=gestures.on_part_choice)


def _take_away(config: Config, drawing: MapJob) -> None:
    uploaded = is_uploaded(config.source)
    parts.code(LONG_PROGRAM, lambda: (file_program if uploaded else program).long_source(config, drawing.side))
    if drawing.state != "done":
        st.empty()  # replaces the expander of another job
        return
    with st.expander(text.DOWNLOADS, icon=":material/download:"):
        if uploaded:
            st.download_button(
                text.VECTORS,
                lambda: tables.vectors_npz(config),
                file_program.FILE,
                on_click="ignore",
                key="vectors",
            )
        st.download_button(
            text.MAPS,
            lambda: tables.maps_npz(config, join_maps(drawing.heads)),
            "maps.npz",
            on_click="ignore",
            key="npz",
        )
