"""Starts the app as a server of its own process: for `attention.show` in a program, and for the command `attention-lab`."""

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

from attention.serving.settings import environment

PACKAGE = Path(__file__).parents[1]
HOST = "127.0.0.1"
PATIENCE = 120.0  # seconds until the server must answer


def app_file() -> Path:
    """`app.py`: beside the package in a checkout, in its folder `app` where it is installed from a wheel."""
    installed = PACKAGE / "app" / "app.py"
    return installed if installed.is_file() else PACKAGE.parent / "app.py"


def is_available() -> bool:
    """Is the app there, and can it run?"""
    return app_file().is_file() and find_spec("streamlit") is not None


def run(files: Sequence[Path] = (), port: int = 0, open_browser: bool = True, log: bool = False) -> None:
    """Serves the app with these files open until it is stopped (Ctrl+C).

    `port` 0 takes a free one; `log` prints what the server logs. Raises RuntimeError if the server ends by itself, and
    SystemExit if this program is asked to end (SIGTERM).
    """
    port = port or free_port()
    address = f"http://{HOST}:{port}"
    with _exit_on_sigterm():
        server = start(files, port, log)
        try:
            wait_until_healthy(server, f"{address}/_stcore/health")
            address += "/your_data" if files else ""
            print(f"Attention Lab is at {address}. Press Ctrl+C to stop it.", flush=True)
            if open_browser:
                webbrowser.open(address)
            server.wait()
        except KeyboardInterrupt:
            pass
        finally:
            server.terminate()
            server.wait()


def start(files: Sequence[Path], port: int, log: bool = False) -> subprocess.Popen:
    """The process of a server with these files open."""
    app = app_file()
    options = [f"--server.port={port}", f"--server.address={HOST}", "--server.headless=true"]
    command = [sys.executable, "-m", "streamlit", "run", str(app), *options]
    env = environment(open=os.pathsep.join(str(file.resolve()) for file in files))
    return subprocess.Popen(command, cwd=app.parent, env=env, stdout=None if log else subprocess.DEVNULL)


@contextmanager
def _exit_on_sigterm() -> Iterator[None]:
    """Has SIGTERM raise SystemExit, so that nothing is left running, unless this program handles it itself."""
    handled = (
        threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
    )
    if handled:
        yield
        return
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def wait_until_healthy(server: subprocess.Popen, url: str) -> None:
    """Returns when the server answers; raises RuntimeError if it ends or does not answer in time."""
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


def free_port() -> int:
    """A port of this machine that is free at this moment."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        return free.getsockname()[1]
