"""The app as people start it: a Streamlit server of its own process, on a free port of this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable  # what servers run with; a benchmark may say another
PATIENCE = 60  # seconds until a server must be healthy
TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True)
class Server:
    """A running server: `url` without a slash at its end, its process and the file that it logs to."""

    url: str
    process: subprocess.Popen
    log: Path

    @property
    def threads(self) -> int:
        """Threads of the process now; Linux only."""
        return len(list(Path(f"/proc/{self.process.pid}/task").iterdir()))

    @property
    def cpu(self) -> float:
        """Seconds of processor time that the process has used; Linux only."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def kill(self) -> None:
        """Ends the process as a machine does that runs out of memory: it can do nothing any more."""
        self.process.kill()
        self.process.wait(timeout=20)


@contextmanager
def run_server(script: str | Path = "app.py", folder: Path = ROOT, port: int = 0, **said: str) -> Iterator[Server]:
    """A server of a script, healthy when this returns, ended when the block does; `said`: what its owner sets.

    It starts as on a fresh machine: no settings of the person's own, none from the environment.
    """
    with tempfile.TemporaryDirectory() as home:
        port = port or free_port()
        log = Path(home) / "log"
        settings = {"server.port": port, "server.address": "127.0.0.1", "server.headless": "true"}
        options = [f"--{name}={value}" for name, value in settings.items()] + ["--server.fileWatcherType=none"]
        command = [PYTHON, "-m", "streamlit", "run", str(script), *options]
        with log.open("wb") as out:
            process = subprocess.Popen(command, cwd=folder, env=_clean(home) | said, stdout=out, stderr=out)
        try:
            yield _healthy(Server(f"http://127.0.0.1:{port}", process, log))
        finally:
            process.terminate()
            process.wait(timeout=20)


@contextmanager
def warm_server(**said: str) -> Iterator[Server]:
    """One that has imported everything, so that it lets visitors in at once."""
    with run_server(**said) as server:  # pyright: ignore[reportArgumentType]  what an owner sets
        until = time.monotonic() + PATIENCE
        while not _ready(server) and time.monotonic() < until:
            time.sleep(0.1)
        yield server


def _ready(server: Server) -> bool:
    try:
        with urllib.request.urlopen(f"{server.url}/healthz", timeout=5) as answer:
            return answer.read() == b"ok"
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def free_port() -> int:
    """One that nobody listens to at this moment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _clean(home: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("STREAMLIT_", "ATTENTION_"))}
    compiled_once = {"PYTHONDONTWRITEBYTECODE": ""}  # as anywhere else, whatever the shell says
    return kept | compiled_once | {"HOME": home, "PYTHONUNBUFFERED": "1"}


def _healthy(server: Server) -> Server:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=5) as answer:
                if answer.read() == b"ok":
                    return server
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.05)
    raise RuntimeError(f"The server was not healthy after {PATIENCE} s. Its log:\n{server.log.read_text()}")
