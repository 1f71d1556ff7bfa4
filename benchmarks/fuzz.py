"""A million mutants of good files, each read or refused with a sentence: `python -m benchmarks.fuzz [MUTANTS]`."""

from __future__ import annotations

import resource
import sys
from itertools import islice
from time import perf_counter

from tests.bad_files import mutants, tried

MUTANTS = 1_000_000
SAID = 100_000  # mutants between two lines


def main(many: int = MUTANTS) -> None:
    """Prints how many were read whole, the slowest, and the peak of memory."""
    read_whole, slowest, start = 0, 0.0, perf_counter()
    for number, (name, data) in enumerate(islice(mutants(1), many), 1):
        begun = perf_counter()
        read_whole += tried(name, data)
        slowest = max(slowest, perf_counter() - begun)
        if number % SAID == 0 or number == many:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{number:,} mutants: {read_whole:,} read whole, the others refused; slowest {1000 * slowest:.1f} ms, "
                f"{number / (perf_counter() - start):,.0f} a second, peak {peak:,.0f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else MUTANTS)
