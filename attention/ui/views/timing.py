"""Timing: measures here, opens recordings, and shows time, speed-up, roofline, memory and transfer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from attention.timing import devices
from attention.timing.cpu_gpu_settings import Timed
from attention.timing.recordings import Timing
from attention.timing.sweep import Sweep
from attention.ui import results
from attention.ui.jobs.timing_jobs import TIMING_JOBS
from attention.ui.jobs.timing_process import TimingJob
from attention.ui.limits import limits
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.views import job_status, questions, timing_browser, timing_recordings, timing_results, timing_versus

EVERY = 1.5  # seconds between two updates during a measurement
LEAVING = f"If nobody looks at this page for {TimingJob.leave_after_s:g} seconds, the sweep ends."
WHY = {"done": " before the time was up"}
HELD = " for another program on this host, which is measuring."
METHOD = """
- **What is timed** is a whole call, with the memory that it asks for. Inputs, masks and layers are made before, and what
  compiles has been compiled (*first call* has that). Data are normal and drawn anew for each visit; a GPU is waited for
  before the clock is read.
- **The quickest.** What is drawn and compared is the least that any block of calls took. A machine that does something else
  only ever adds time, so that the quickest comes down to what a call takes on a machine left alone, where median and quartiles
  move with the load (Chen and Revels 2016, *Robust benchmarking in noisy environments*, arXiv:1608.04295). Blocks are short, a
  quarter of a millisecond where a call is, to fall between two disturbances. Median and quartiles stand beside it in tables,
  files and under the pointer. Recordings from before have no quickest: their median is drawn, settled where the quartiles of
  three calls or more are within 10 % of it.
- **Order.** Each case is visited in rounds that are shuffled anew, until three visits that count came within 10 % of the
  quickest, or until twelve visits or the budget are spent; a case that ends so is marked as not settled. The threads are those
  that are stated.
- **A quiet machine.** Before and after each visit a small product is timed, always the same. Visits during which it took
  over 15 % longer than in the quickest moment of the run are left out of median and quartiles where there are three others,
  as others then used the machine. The three quickest visits to a short call (up to 2 ms) count if the product had a quick
  moment around one of them; a longer call needs three that were quiet. A load that stays for the whole run is not seen by
  this: it makes everything slower alike.
- **Operations** are those of the products that are computed: 4 b h n² d for a forward pass (the softmax is not counted),
  and half of it under a causal mask where the implementation skips the future. With the backward pass it is 3.5 times that
  where a fused kernel computes the scores again, as FlashAttention-2 (Dao 2023, section 4.1) counts it, and 3 times where
  the weights were kept. A layer adds 2 b n (h d)² for each of its maps. *Of matmul peak* and *of copy speed* compare with
  the best product and the best copy on the same device, in the same run; the least traffic counts, so that caches can take
  it over 100 %.
- **Transfer** is from and to ordinary memory: q, k and v there, all results back, the weights included where they are. Of a
  published GPU it is assumed, not measured: q, k and v there, the output back (with the backward pass three gradients in its
  place), two bytes a number, at the speed that is said.
- **Running out of memory** is a result. What would not fit by count, or outlast the budget, is not tried and says so; so
  does a dtype that the device emulates, whose product takes over four times as long as float32's.
- **Memory** that a call asks for is part of its time and counts in its peak. On a CPU, touching fresh memory for the first time
  takes a good part of a large attention. Weights of the core of 32 to 256 MiB get huge pages (2 MiB), and those of up to 64 MiB
  reuse what the call before has left, so they spend no time on fresh memory; the others get what torch's allocator gives.
- nn.MultiheadAttention runs in eval mode forward (without a mask it then uses no fused kernel) and in train mode
  backward. An explicit mask, which it needs for causal, forfeits the causal skip.
"""


def view(timed: Timed) -> None:
    """The page of a sweep, with the comparison of a CPU and GPUs first."""
    if questions.question_closes(timed):
        return
    sweep = timed.sweep
    st.markdown("**Timing.** How long does this attention take, and from which length on does a GPU pay?")
    task = _task(sweep)
    measured = task.timings.values() if task else ()
    others = [*measured, *timing_recordings.opened_timings(), *results.timing.shipped_timings()]
    timing_versus.draw(timed, [*timing_browser.timings(), *others])
    st.markdown("**Your own GPU**, measured in this browser at the settings of the chart.")
    timing_browser.draw(timed, others)
    st.markdown("**Measured line by line**, here and in recordings: any implementation, any size.")
    _start(sweep, task)
    st.fragment(_live, run_every=EVERY if task and task.open else None)(sweep)
    timing_recordings.draw(sweep)
    with st.expander("How it is measured"):
        st.markdown(METHOD)


def _task(sweep: Sweep) -> TimingJob | None:
    """This visitor's measurement, or the last one of this sweep on this host."""
    found = page.visit_state().sweep or TIMING_JOBS.last_measurement(sweep)
    if found is not None:
        found.look(page.visitor())
        TIMING_JOBS.line.tidy()  # what it waited for may be available now
    return found


def _start(sweep: Sweep, task: TimingJob | None) -> None:
    """Draws the button, and a caption with what it does."""
    button, told = st.columns([1, 4], vertical_alignment="center")
    going = task is not None and task.open
    off = going or not limits().measure or bool(_absent(sweep))
    how = {"on_click": _measure, "args": (sweep,), "disabled": off, "type": "secondary" if off else "primary"}
    button.button("Measure here", key="measure", width="stretch", **how)
    told.caption(LEAVING if going else _estimate(sweep))


def _measure(sweep: Sweep) -> None:
    page.visit_state().sweep = TIMING_JOBS.submit(sweep, page.visitor())


def _estimate(sweep: Sweep) -> str:
    if not limits().measure:
        return escape(f"{limits().why} Recordings can still be shown.")
    if absent := _absent(sweep):
        here = ", ".join(f"{key} ({name})" for key, name in results.timing.devices().items())
        return escape(f"Not on this host: {', '.join(absent)}. It has {here}. Choose other devices, or none for all.")
    names = ", ".join(
        name for key, name in results.timing.devices().items() if not sweep.devices or key in sweep.devices
    )
    count = sweep.combinations * (1 if sweep.devices else len(results.timing.devices()))
    threads, seconds = sweep.threads or devices.cores(), min(sweep.seconds, limits().seconds)
    return escape(
        f"Up to {count:,} case{'s' * (count != 1)} in at most {seconds:g} seconds, the shortest first, on {names}, with "
        f"{threads} CPU thread{'s' * (threads != 1)}, in a process of its own."
    )


def _absent(sweep: Sweep) -> list[str]:
    """The devices of a sweep that this host does not have; a link may name any."""
    return [key for key in sweep.devices if key not in results.timing.devices()]


def _live(sweep: Sweep) -> None:
    """Draws what changes during a measurement: its progress, the charts and the table."""
    task = _task(sweep)
    if task is not None:
        _progress(task)
        ended, page.visit_state().going = page.visit_state().going and not task.open, task.open
        if ended:
            st.rerun()
    found = [
        *(task.timings.values() if task else ()),
        *results.timing.recorded_like(sweep),
        *timing_recordings.opened_timings(),
        *(timing for timing in timing_browser.timings() if timing.tokens == sweep.tokens),
    ]
    _gpu_or_how(sweep, found)
    if found:
        timing_results.draw(found, task.settings.lengths if task else ())


def _progress(task: TimingJob) -> None:
    """Draws the progress of a sweep, or how it ended and the results of its cases."""
    measured = sum(timing.error is None for timing in task.timings.values())
    said, rest = _outcome_text(task, measured), _rest(task, measured)
    if task.open:
        cancel = partial(task.leave, page.visitor())
        job_status.show_progress(task, TIMING_JOBS.line, said + rest, cancel, f"What was measured stays. {LEAVING}")
    elif task is not page.visit_state().sweep:
        job_status.show_end(task, f"Measured here {ago(task.clock() - (task.ended or 0))}: {_cases(measured)}.{rest}")
    elif task.state == "failed":
        st.error("\n\n".join(filter(None, (said, rest.strip()))), icon=":material/error:")
    else:
        job_status.show_end(task, said + rest)


def _outcome_text(task: TimingJob, measured: int) -> str:
    """The state of a measurement in words; `_rest` has the cases that need a comment."""
    cases, stay = _cases(measured), "was measured and stays" if measured == 1 else "were measured and stay"
    held = f" The first waits{HELD}" if TIMING_JOBS.is_blocked else ""
    return {
        "waiting": escape(task.lacks) or f"One sweep or map at a time is computed on this host.{held}",
        "running": f"Waiting{HELD} The time budget starts after that." if task.held else f"Measuring: {cases} so far.",
        "done": f"Measured {cases}.",
        "left": f"Ended, as nobody looked at this page for {task.leave_after_s:g} seconds; {cases} {stay}.",
        "cancelled": f"Cancelled; {cases} {stay}.",
        "failed": f"{'Not measured' if task.started is None else 'Measuring failed'}. {escape(task.said)}",
    }[task.state]


def _cases(measured: int) -> str:
    return f"{measured} case{'s' * (measured != 1)}"


def ago(seconds: float) -> str:
    """A time span since an event, in words."""
    minutes = int(seconds // 60)
    if minutes < 1:
        return "less than a minute ago"
    return f"{minutes} minute{'s' * (minutes != 1)} ago" if minutes < 100 else f"{minutes / 60:.0f} hours ago"


def _rest(task: TimingJob, measured: int) -> str:
    """Sentences about the cases that are not stable, failed or were not begun."""
    loose = sum(timing.error is None and not timing.settled for timing in task.timings.values())
    nothing, unbegun = len(task.timings) - measured, task.unbegun
    said = [
        f" {loose} did not settle: the host was busy, or the budget short." * (loose > 0 and not task.open),
        f" {nothing} came to nothing; *Every case* says why." * (nothing > 0),
        f" {unbegun} {'was' if unbegun == 1 else 'were'} not begun{WHY.get(task.state, '')}."
        * (unbegun > 0 and not task.open),
    ]
    return "".join(said)


def _gpu_or_how(sweep: Sweep, found: Sequence[Timing]) -> None:
    """If there is no GPU and no recording of one, says so, and which command records one."""
    if len(results.timing.devices()) > 1 or any(timing.device != "cpu" for timing in found):
        return
    here = ": what is measured here is the CPU alone" * limits().measure
    text = (
        f"No GPU here, and no recording of one{here}. On a machine with a GPU, run "
        f"`{timing_recordings.command(sweep)}` and open the file below under *Recordings*; its lines then stand "
        f"{'beside these' if found else 'here'}."
    )
    st.caption(text) if found else st.info(text, icon=":material/info:")
