"""Two long sequences compared: B − A of every head from a job, the selected row and head, and the numbers of every head."""

from __future__ import annotations

from functools import partial

import pyarrow as pa
import streamlit as st

from attention.charts import row_change
from attention.comparison import head_changes
from attention.comparison.head_changes import Changes
from attention.comparison.sampled_rows import ROWS
from attention.comparison.sides import why_not_subtracted
from attention.components.heads_grid import difference_grid
from attention.components.large_head import large_difference
from attention.config import Config
from attention.pinned import Sides, sides_of
from attention.sources.providers import distributes
from attention.tables import rows as tables
from attention.ui import results
from attention.ui.controls import knobs
from attention.ui.heading import reserve_finding
from attention.ui.jobs.difference_jobs import DifferenceJob
from attention.ui.markdown import escape
from attention.ui.session import address_bar, browser_yield, gestures, page
from attention.ui.text import comparing as text
from attention.ui.views import heads_compared, heads_long, job_status, pinned_sides, questions, row_compared
from attention.ui.views import heads_parts as parts


def shown_alone(config: Config) -> Config | None:
    """Returns the side that is shown by itself: B where nothing is compared; None where B − A is shown."""
    if (sides := sides_of(config)) is None:
        return config
    if config.side == "a" and sides.a.truncated is not sides.a:
        return sides.a
    return None if config.side == "difference" and not why_not(sides) else config


def why_not(sides: Sides) -> str:
    """Why both sides have no difference; "" if they have one."""
    if differ := why_not_subtracted(sides.a, sides.b):
        return differ
    return text.LONG_SOURCE if sides.a.truncated is sides.a else ""


def view(sides: Sides) -> None:
    """Draws the choice of a side, and B − A, or the page of one side."""
    reason = why_not(sides)
    st.caption(pinned_sides.differences_text(sides, not reason))
    with st.container(horizontal=True, vertical_alignment="bottom", key="comparison"):
        knobs.segments("side", sides.b, on_change=page.change, label_visibility="collapsed")
        heads_compared.draw_head_of_a(sides)
        pinned_sides.draw_buttons()
    alone = shown_alone(sides.b)
    if alone is None:
        _compare(sides)
        return
    results.long_differences.leave(page.visitor())
    if alone is sides.b and sides.b.side != "b":
        st.caption(escape(f"{reason} {text.ONLY_B}" if reason else text.ALONE))
    heads_long.view(alone)


def _compare(sides: Sides) -> None:
    """Draws the job, and its results once it is done."""
    if not _has_cancelled(sides) and (refused := results.long_differences.refusal(sides, page.visitor())):
        st.warning(refused, icon=":material/memory:")
        return
    job = _current_job(sides)
    if _is_awaited(sides, job):
        st.fragment(_growing, run_every=heads_long.TICK)(sides, job)
        return
    st.empty()  # next to a timer, a browser keeps what nothing replaces
    if job.state == "done":
        _results(sides, job)
    else:
        why = escape(job.said.rstrip(".")) if job.state == "failed" else text.CANCELLED
        said = text.ENDED.format(why=why, done=len(job.heads), heads=len(job.pairs))
        job_status.show_end(job, said, partial(_again, job))


def _has_cancelled(sides: Sides) -> bool:
    return page.visit_state().stopped == results.long_differences.settings(sides)


def _current_job(sides: Sides) -> DifferenceJob:
    """The job of both sides, started if there is none; in its current state if the visitor has cancelled it."""
    kept = results.long_differences.find(sides) if _has_cancelled(sides) else None
    return kept or results.long_differences.job(sides, page.visitor())


def _is_awaited(sides: Sides, job: DifferenceJob) -> bool:
    return job.open and not _has_cancelled(sides)


def _growing(sides: Sides, job: DifferenceJob) -> None:
    """Draws the progress of a job that has not ended."""
    if _current_job(sides) is not job or not _is_awaited(sides, job):
        st.rerun()
    template = text.RUNNING if job.state == "running" else text.WAITING
    done, size = len(job.heads), tables.quantity(job.claim, "B")
    said = template.format(head=done + 1, done=done, heads=len(job.pairs), memory=size)
    job_status.show_progress(job, results.long.STUDIO.line, said, partial(_cancel, job))


def _cancel(job: DifferenceJob) -> None:
    job.leave(page.visitor())
    page.visit_state().stopped = job.settings
    page.change()


def _again(job: DifferenceJob) -> None:
    if job.state == "failed":
        results.long.STUDIO.line.forget(job)
    page.visit_state().stopped = None
    page.change()


def _results(sides: Sides, job: DifferenceJob) -> None:
    """Draws every head, the sentence on what changed most, the selected row and head, and the numbers of every head."""
    finding, config = reserve_finding(), sides.b
    cells = results.long_differences.every_head(job)
    difference_grid(config, cells, on_pin=gestures.on_grid_pin, address=address_bar.address())
    browser_yield.yield_to_browser()
    found = results.long_differences.changes(sides, job)
    withheld = questions.unsaid(config)
    finding.markdown(
        questions.unsaid_finding(text.UNSAID) if withheld else escape(head_changes.sentence(found, config.head))
    )
    _row(sides, found, job)
    left, right = parts.beside()
    with left:
        _large(sides, job)
    with right:
        heads_compared.table(found, text.SAMPLED.format(rows=ROWS))


def _row(sides: Sides, found: Changes, job: DifferenceJob) -> None:
    """Draws a sentence on the selected row of both sides, and its difference as bars."""
    rows, bars, tile = results.long_differences.row_bars(sides, job, heads_long.BARS)
    st.caption(escape(f"{row_compared.row_sentence(sides, found, rows)} {text.LONG_BARS.format(tile=tile)}"))
    shares = all(map(distributes, sides[:2]))
    spec = row_change.change((), sides.b.tokens, row_change.change_end(bars["change"]), shares)
    st.vega_lite_chart(pa.table(bars), spec, key="row change", width="stretch", alt=row_compared.CHANGE_ALT)


def _large(sides: Sides, job: DifferenceJob) -> None:
    """Draws the difference of the selected head, or of the selected part of it."""
    config = sides.b
    with st.container(horizontal=True, vertical_alignment="bottom"):
        parts.focus(config, 150)
    rows, cols = config.window
    cells = results.long_differences.part(sides, job, rows, cols)
    parts.extent(rows, cols, cells.tile, text.STRIPES)
    large_difference(config, cells, (rows[0], cols[0]), on_frame=gestures.on_part_choice)
