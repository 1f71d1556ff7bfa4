"""Every benchmark, one after the other; an error in the end where one of them missed its bound or could not tell."""

import subprocess
import sys

NAMES = (
    *("core", "maps", "cluster", "paint", "rows", "long", "storm", "timing_repeat", "training", "beside"),
    *("model", "fuzz", "host"),
)

UNTOLD = 2  # what a benchmark ends with where the machine was too busy to tell

if __name__ == "__main__":
    ends = {name: subprocess.run([sys.executable, "-m", f"benchmarks.{name}"]).returncode for name in NAMES}
    found = {"Bounds missed": [n for n in NAMES if ends[n] not in (0, UNTOLD)]}
    found |= {"The machine was too busy to tell": [n for n in NAMES if ends[n] == UNTOLD]}
    sys.exit(". ".join(f"{what}: {', '.join(names)}" for what, names in found.items() if names) or None)
