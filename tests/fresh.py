"""Code in a fresh interpreter, which has imported nothing yet."""

from __future__ import annotations

import subprocess
import sys

from tests.server import ROOT


def ran(code: str) -> None:
    """Runs it to its end; an assertion that fails there fails here."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
