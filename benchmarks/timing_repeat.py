"""Do two sweeps agree within the uncertainty that they state? `python -m benchmarks.timing_repeat`

Two sweeps of the same cases in one process, one after the other. They agree on a case where the bands between the
quartiles overlap, or where the medians are within 10 % of each other, which is what a settled spread promises. A load
that comes with one of the sweeps and not with the other is seen by neither: run it on a machine that is quiet.
"""

from __future__ import annotations

from attention.command import seconds
from attention.timing import Sweep, Timing, measure

SWEEP = Sweep(
    lengths=(64, 256, 1024),
    implementations=("SDPA", "core with weights", "matmul softmax matmul"),
    devices=("cpu",),
    seconds=25.0,
)
BOUND = 0.1
SHARE = 0.8  # of the cases that must agree; a band between quartiles misses now and then by its nature


def agree(a: Timing, b: Timing) -> bool:
    """Do the bands overlap, or are the medians near each other?"""
    one, other = a.spread, b.spread
    overlap = one.lower <= other.upper and other.lower <= one.upper
    return overlap or abs(one.median - other.median) <= BOUND * min(one.median, other.median)


def main() -> int:
    """Prints every case of both sweeps; 0 where enough of them agree."""
    first = {timing.case: timing for timing in measure(SWEEP)}
    second = {timing.case: timing for timing in measure(SWEEP)}
    some = next(iter(first.values()))
    print(f"{some.device_name}, {some.threads} threads, torch {some.torch}")
    agreed = []
    for case, a in first.items():
        b = second.get(case)
        if b is None or a.error or b.error:
            continue
        settled = a.settled and b.settled
        agreed.append(agree(a, b))
        print(
            f"{case.implementation:24}{case.length:6,}  {seconds(a.spread.median):>9} and {seconds(b.spread.median):>9}"
            f"  {b.spread.median / a.spread.median:5.2f} times  {'agree' if agree(a, b) else 'disagree'}"
            f"{'' if settled else ' (not settled)'}"
        )
    fine = sum(agreed) >= SHARE * len(first)
    print(f"{sum(agreed)} of {len(first)} cases agree, at least {SHARE:.0%} must: {'pass' if fine else 'FAIL'}")
    return 0 if fine else 1


if __name__ == "__main__":
    raise SystemExit(main())
