"""A Dask cluster on this machine: a scheduler and two workers, each a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent


class Running:
    """A scheduler and two workers of one thread each, which may be killed; their files lie in a folder."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "scheduler.json"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": ROOT}
        environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        start = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file)]
        self.scheduler = subprocess.Popen([*start, *options], env=environment, **quiet)
        start = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(self.file)]
        options = ["--no-dashboard", "--nthreads", "1", "--no-nanny", "--local-directory", str(folder)]
        self.workers = [subprocess.Popen([*start, *options], env=environment, **quiet) for _ in range(2)]

    @property
    def address(self) -> str:
        deadline = time.monotonic() + 60
        while not self.file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        return json.loads(self.file.read_text())["address"]

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
