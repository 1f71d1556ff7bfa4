"""Files of PyTorch, .pt and .pth with tensors alone, read in a process of their own that ends with it (`torch_child`).

What that process prints is taken for a stranger's file, and read as one.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from attention.brought import safe_file
from attention.brought.arrays import ARRAYS, AXES, Arrays
from attention.brought.fitting import BroughtError

CHILD = Path(__file__).with_name("torch_child.py")
SECONDS = 25.0  # that it may take: less than after which a lane that waits for it counts as stuck
TAKES = 400 * 2**20  # bytes of memory that such a process takes by itself
SAID = 400  # characters of what the process says
ENDED = (
    "It took more time or memory than a file may take, or could not be read at all; the process that read it was ended."
)


def read(data: memoryview, called: str, most: int) -> Arrays:
    """What a file has; raises BroughtError."""
    command = [sys.executable, "-I", str(CHILD), str(most), str(ARRAYS), str(AXES)]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=SECONDS, env={}, cwd="/", check=False)
    except subprocess.TimeoutExpired:
        raise BroughtError(ENDED) from None
    except OSError as error:
        raise BroughtError(f"The process that reads such files could not be started: {error.strerror}.") from None
    if done.returncode == 1 and done.stderr:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise BroughtError(said[-1][:SAID] if said else ENDED)
    if done.returncode:
        raise BroughtError(ENDED)
    return replace(safe_file.read(memoryview(done.stdout), called, most), called=called)
