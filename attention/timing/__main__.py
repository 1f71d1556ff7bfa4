"""`python -m attention.timing`: measures a sweep, prints the result and writes it to a file."""

from __future__ import annotations

import itertools
import json
import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import torch

from attention.settings import ConfigError
from attention.timing import answers, comparison, convergence, devices, growth, recordings
from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.one_at_a_time import ITS_TURN, WAITING
from attention.timing.recordings import Timing
from attention.timing.rounds import Progress, measure
from attention.timing.sweep import SWEEPS, Sweep, is_like
from attention.timing.units import seconds, size

ABOUT = """\
Times attention on every device of this machine.

Each case is visited several times, in shuffled rounds, until three visits agree within 10 % on its minimum, or until
twelve visits or the budget are spent; ~ marks cases that did not reach this. Other load only adds time, so the minimum
is reliable when the median is not (Chen and Revels 2016, arXiv:1608.04295). Memory that a call allocates is part of its
time, its inputs are not; copying them to a device and the results back is timed separately. Operations are those of the
matrix products that are computed: 4 b h n^2 d forward (fewer if masked pairs are skipped), with the backward pass 3.5
times that if a fused kernel recomputes the scores and 3 times if the weights were kept. They are compared with the
fastest matrix product that was measured here.
"""
MORE = """\
examples:
  python -m attention.timing
  python -m attention.timing --lengths 256,1024,4096 --masks causal --dtypes float32,bfloat16 --out mine.json
  python -m attention.timing --implementations "SDPA,core with weights" --passes "forward + backward" --seconds 30
  python -m attention.timing --heads 16 --d-heads 128 --masks causal --dtypes bfloat16 --queries 0,1 --implementations SDPA \\
      --lengths 64,128,256,512,1024,2048,4096,8192
  python -m attention.timing --tokens 16384 --heads 32 --implementations SDPA --lengths 512,1024,2048,4096 --seconds 600

A file that --out wrote can be uploaded on the app's Timing page, or put into attention/timing/recordings/ to ship with it.
"""


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; returns 0 if something was measured, 2 if the arguments, the device or the file are invalid."""
    given = _parser().parse_args(arguments)
    if given.list:
        print(_inventory())
        return 0
    try:
        sweep = Sweep(
            **{name: SWEEPS.parse(name, text) for name, text in vars(given).items() if name in SWEEPS.knobs and text}
        )
        _try(given.out)
        timings = _measure_sweep(sweep, _json_line if given.lines else _progress_line)
        try:
            _write(given.out, timings)
        finally:
            if not given.lines:
                like = [timing for timing in recordings.shipped_recordings([]) if is_like(timing, sweep)]
                print(report(timings, like), flush=True)
    except BrokenPipeError:
        _unread()
    except (ConfigError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if timings else 2


def _unread() -> None:
    """Discards the remaining output without a traceback after the reader closed the pipe, as `head` does."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _try(out: Path | None) -> None:
    """Raises ValueError if the file cannot be written, before hours are spent on measuring."""
    if out is not None:
        with _name_errors(out):
            new = not out.exists()
            out.open("a").close()
            if new:
                out.unlink()


def _write(out: Path | None, timings: list[Timing]) -> None:
    if out is not None:
        with _name_errors(out):
            out.write_text(recordings.write_recording(timings))


@contextmanager
def _name_errors(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ValueError(f"--out {out} can't be written: {error.strerror}. Name a file in a folder of yours.") from None


def _measure_sweep(sweep: Sweep, show) -> list[Timing]:
    """Returns the timings; only those measured so far after a keyboard interrupt, or when the output is no longer read."""
    found: dict = {}
    cases = 0

    def keep(timing: Timing, progress: Progress) -> None:
        nonlocal cases
        found[timing.case], cases = timing, progress.cases
        show(timing, progress)

    try:
        return measure(sweep, on_timing=keep, on_wait=partial(_aside, WAITING), on_turn=partial(_aside, ITS_TURN))
    except KeyboardInterrupt:
        return list(found.values())
    except BrokenPipeError:
        _unread()
        return list(found.values())
    finally:
        if left := cases - len(found):
            _aside(f"{left} of {cases} cases {'was' if left == 1 else 'were'} not started before the time was up.")


def _parser() -> ArgumentParser:
    texts = {"description": ABOUT, "epilog": MORE, "formatter_class": RawDescriptionHelpFormatter}
    parser = ArgumentParser("python -m attention.timing", **texts)
    for name, knob in SWEEPS.knobs.items():
        default = ",".join(map(str, SWEEPS.defaults[name])) if name in SWEEPS.axes else f"{SWEEPS.defaults[name]:g}"
        allowed = f" {knob.allowed_values[0].upper()}{knob.allowed_values[1:]}." if name != "devices" else ""
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            metavar="A,B" if name in SWEEPS.axes else "N",
            help=f"{knob.help}{allowed}{f' Default: {default}.' if default else ''}".replace("%", "%%"),
        )
    parser.add_argument("--out", type=Path, metavar="FILE", help="Writes the timings to this file, as JSON.")
    parser.add_argument("--lines", action="store_true", help="Prints each estimate as a line of JSON, for programs.")
    parser.add_argument("--list", action="store_true", help="Lists devices, dtypes and implementations, and ends.")
    return parser


def _inventory() -> str:
    lines = [f"{found.key:8}{found.name}: {', '.join(devices.dtypes(found.key))}" for found in devices.devices()]
    return "\n".join([*lines, "", *(f"{name:36}{how.help}" for name, how in IMPLEMENTATIONS.items())])


def _aside(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _json_line(timing: Timing, progress: Progress) -> None:
    row = recordings.row(timing)
    print(json.dumps({"progress": progress._asdict(), "timing": row}, allow_nan=False), flush=True)


def _progress_line(timing: Timing, progress: Progress) -> None:
    found = timing.error or seconds(timing.seconds)
    what = f"{timing.implementation}, {timing.length:,} tokens on {timing.device}: {found}"
    line = f"{progress.seconds:5.0f} s  {progress.done:3} of {progress.cases} cases  {what}"[:118]
    terminal = sys.stderr.isatty()
    print(f"{line:118}" if terminal else line, end="\r" if terminal else "\n", file=sys.stderr, flush=True)


def report(timings: Iterable[Timing], shipped: Iterable[Timing] = ()) -> str:
    """Returns the timings as text: a block for each line of the chart, with the statements about the line.

    The answers compare with `shipped` recordings as well, as the page does.
    """
    timings = list(timings)
    slow, found = comparison.slowdowns(timings), recordings.lines(timings)
    parts = [f"torch {torch.__version__}, {devices.system()}", recordings.place(timings)]
    for label, line in found.items():
        parts += ["", label, HEAD, *_rows(line, slow)]
        rise = growth.growth(line)
        parts.append(f"  {rise.sentence}" if rise else f"  no growth: {growth.why_not(line)}")
    loose = [LOOSE] if any(timing.error is None and not timing.settled for timing in timings) else []
    said = [
        *(each.text for each in answers.answers([*timings, *shipped])),
        *comparison.crossovers(timings),
        *convergence.disturbance_sentences(timings),
        *comparison.busy(timings),
    ]
    return "\n".join([*parts, "", *loose, *said])


TITLES = (
    ("tokens", 9),
    ("minimum", 10),
    ("median", 9),
    ("quartiles", 22),
    ("GFLOP/s", 9),
    ("of peak", 8),
    ("x best", 7),
)
HEAD = "  " + " ".join(f"{name:>{width}}" for name, width in (*TITLES, ("memory", 10)))
LOOSE = "~ unstable: no three visits agree to within 10 %; on an idle machine it takes at most this long"


def _rows(line: list[Timing], slow: dict[Timing, float]) -> list[str]:
    """A row for each length, or one for neighbours that failed for the same reason."""
    found = []
    for error, group in itertools.groupby(line, key=lambda timing: timing.error):
        some = list(group)
        if error and len(some) > 1:
            found.append(f"  {some[0].length:,} to {some[-1].length:,}: {error}")
        else:
            found += [_row(timing, slow) for timing in some]
    return found


def _row(timing: Timing, slow: dict[Timing, float]) -> str:
    if timing.error:
        return f"  {timing.length:>9,} {timing.error}"
    share, found = comparison.share(timing), timing.spread
    band = f"{seconds(found.lower)} to {seconds(found.upper)}" if found.has_quartiles else "too few calls"
    quickest = seconds(found.quickest) if found.quickest is not None else "unknown"
    mark, peak = " " if timing.settled else "~", size(timing.peak_bytes)
    rate = comparison.rate(timing) / 1e9
    percent = f"{share:.0%}" if share is not None else "-"
    transfer = f"  transfer {seconds(timing.transfer)}" if timing.transfer else ""
    return (
        f"  {timing.length:>9,} {mark}{quickest:>9} {seconds(found.median):>9} {band:>22} {rate:>9,.1f} {percent:>8} "
        f"{slow[timing]:>7.2f} {peak:>10}{transfer}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
