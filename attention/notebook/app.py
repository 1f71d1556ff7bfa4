"""The app, opened on what somebody gives outside of a notebook: a server of this machine's own, for as long as one looks."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep

from serving.settings import environment

APP = Path(__file__).parents[2] / "app.py"
HOST = "127.0.0.1"
PATIENCE = 120.0  # seconds until the server must answer


def there() -> bool:
    """Does the app stand beside the package, and can it run?"""
    return APP.is_file() and find_spec("streamlit") is not None


def run(files: Sequence[Path]) -> None:
    """Serves the app with these files open, asks a browser for it, and returns once somebody stops it (Ctrl+C).

    Raises RuntimeError where the server ends by itself, and SystemExit where this program is asked to end (SIGTERM).
    """
    port = _free()
    options = [f"--server.port={port}", f"--server.address={HOST}", "--server.headless=true"]
    command = [sys.executable, "-m", "streamlit", "run", str(APP), *options]
    env = environment(open=os.pathsep.join(str(file.resolve()) for file in files))
    with _told_to_end():
        server = subprocess.Popen(command, cwd=APP.parent, env=env, stdout=subprocess.DEVNULL)
        try:
            _answers(server, f"http://{HOST}:{port}/_stcore/health")
            address = f"http://{HOST}:{port}/your_data"
            print(f"Attention Lab shows it at {address}. Ctrl+C stops it.", flush=True)
            webbrowser.open(address)
            server.wait()
        except KeyboardInterrupt:
            pass
        finally:
            server.terminate()
            server.wait()


@contextmanager
def _told_to_end() -> Iterator[None]:
    """Has SIGTERM raise SystemExit, so that nothing is left behind, unless this program has its own way with it."""
    own = (
        threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
    )
    if own:
        yield
        return
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _answers(server: subprocess.Popen, url: str) -> None:
    until = monotonic() + PATIENCE
    while monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            sleep(0.1)
    raise RuntimeError(
        "The app did not start; `streamlit run app.py` says why. `attention.html` writes a page without it."
    )


def _free() -> int:
    """A port that nobody listens to at this moment."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        return free.getsockname()[1]
