"""Do two sweeps agree within the uncertainty that they state? `python -m benchmarks.timing_repeat`

Two sweeps of the same cases in one process, one after the other. A case that settled states that its quickest came again
within 10 %: so must it in the other sweep. What did not settle says of itself that it is not to be trusted, and is counted
apart; so is what was measured under a load that stays for a whole sweep, as both have one yardstick. Where too little
settled, nothing can be said, and both are measured again. Ends with 0 where the sweeps agree, 1 where they don't, 2 where
the machine was never quiet.
"""

from __future__ import annotations

from attention.timing import Sweep, Timing, measure
from attention.timing.units import seconds

SWEEP = Sweep(
    lengths=(64, 256, 1024),
    implementations=("SDPA", "core with weights", "matmul softmax matmul"),
    devices=("cpu",),
    seconds=25.0,
)
BOUND = 0.1
SHARE = 0.8  # of the settled cases that must agree
SETTLED = 0.5  # of the cases that must settle in both
TRIES = 3


def agree(a: Timing, b: Timing) -> bool:
    """Are the quickest near each other?"""
    return abs(a.seconds - b.seconds) <= BOUND * min(a.seconds, b.seconds)


def compare_sweeps(first: list[Timing], second: list[Timing]) -> tuple[int, str]:
    """Prints every case of both sweeps; the verdict as a number and in words."""
    others, agreed = {timing.case: timing for timing in second}, []
    for a in first:
        b = others.get(a.case)
        if b is None or a.error or b.error:
            continue
        settled = a.settled and b.settled
        agreed += [agree(a, b)] * settled
        print(
            f"{a.implementation:24}{a.length:6,}  {seconds(a.seconds):>9} and {seconds(b.seconds):>9}"
            f"  {b.seconds / a.seconds:5.2f} times  {'agree' if agree(a, b) else 'disagree'}"
            f"{'' if settled else ' (not settled)'}"
        )
    if len(agreed) < SETTLED * len(first):
        return 2, f"{len(agreed)} of {len(first)} cases settled in both: nothing can be said"
    fine = sum(agreed) >= SHARE * len(agreed)
    said = f"{sum(agreed)} of {len(agreed)} settled cases agree, at least {SHARE:.0%} must"
    return int(not fine), f"{said}: {'pass' if fine else 'FAIL'}"


def main() -> int:
    """Measures twice, and again while the machine is not left alone."""
    verdict = 2
    for _ in range(TRIES):
        first, second = measure(SWEEP), measure(SWEEP)
        print(f"{first[0].device_name}, {first[0].threads} threads, torch {first[0].torch}")
        verdict, said = compare_sweeps(first, second)
        print(said)
        if verdict != 2:
            break
    return verdict


if __name__ == "__main__":
    raise SystemExit(main())
