"""A million mutants of files, each read or refused with a sentence, in little time and memory.

    python -m benchmarks.fuzz [MUTANTS]

Files that miss a bound are kept, and the benchmark says where.
"""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path
from tempfile import gettempdir
from time import perf_counter, process_time

from tests.bad_files import TAKEN, mutants, seeds, try_file
from tests.peak_memory import peak_memory

MUTANTS = 1_000_000
SAID = 20_000  # mutants between two lines
SLOW = 0.5  # seconds of the processor that a file may take
KEPT = Path(gettempdir()) / "attention-fuzz"  # where those that miss a bound are put


def main(many: int = MUTANTS) -> bool:
    """Prints how many were read whole, the slowest and the largest; False where one missed its bound."""
    read_whole, slowest, largest, missed, start = 0, 0.0, 0, 0, perf_counter()
    for name, data in seeds():
        try_file(name, data)
    for number, (name, data) in enumerate(islice(mutants(1), many), 1):
        begun = process_time()
        with peak_memory() as peak:
            read_whole += try_file(name, data)
        seconds, taken = process_time() - begun, peak[0] - len(data)
        slowest, largest = max(slowest, seconds), max(largest, taken)
        if seconds > SLOW or taken > TAKEN:
            missed += 1
            KEPT.mkdir(parents=True, exist_ok=True)
            (KEPT / f"{number}-{name}").write_bytes(data)
        if number % SAID == 0 or number == many:
            print(
                f"{number:,} mutants: {read_whole:,} read whole, the others refused; slowest {1000 * slowest:.0f} ms of the "
                f"processor, largest {largest / 1e6:.1f} MB beside its own size, {missed} missed a bound, "
                f"{number / (perf_counter() - start):,.0f} a second",
                flush=True,
            )
    if missed:
        print(f"Those that missed a bound are in {KEPT}.")
    return not missed


if __name__ == "__main__":
    sys.exit(not main(int(sys.argv[1]) if sys.argv[1:] else MUTANTS))
