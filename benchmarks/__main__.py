"""Every benchmark, one after the other; an error in the end where one of them missed its bound."""

import subprocess
import sys

NAMES = ("core", "maps", "paint", "rows", "storm", "timing_repeat")

if __name__ == "__main__":
    missed = [name for name in NAMES if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"]).returncode]
    sys.exit(f"Bounds missed: {', '.join(missed)}" if missed else None)
