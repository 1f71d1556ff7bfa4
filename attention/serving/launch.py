"""Starts the app as a server process: for `attention.show` in a program, and for the command `attention-lab`."""

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
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep

from attention.serving.settings import environment

PACKAGE = Path(__file__).parents[1]
HOST = "127.0.0.1"
PATIENCE = 120.0  # seconds until the server must answer


def app_file() -> Path:
    """`app.py`: next to the package in a checkout, in its folder `app` if it is installed from a wheel."""
    installed = PACKAGE / "app" / "app.py"
    return installed if installed.is_file() else PACKAGE.parent / "app.py"


def is_available() -> bool:
    """Whether the app is installed and can run."""
    return app_file().is_file() and find_spec("streamlit") is not None


def run(files: Sequence[Path] = (), port: int = 0, open_browser: bool = True, log: bool = False) -> None:
    """Serves the app with these files open until it is stopped (Ctrl+C).

    `port` 0 takes a free one; `log` prints what the server logs. Raises RuntimeError if the port is in use or the
    server does not start, and SystemExit if this program is asked to end (SIGTERM).
    """
    with exit_on_signals(), suppress(KeyboardInterrupt), running(files, port, open_browser, log) as (server, _):
        server.wait()


@contextmanager
def running(
    files: Sequence[Path], port: int = 0, open_browser: bool = True, log: bool = False, background: bool = False
) -> Iterator[tuple[subprocess.Popen, str]]:
    """Yields the process and address of a server with these files open, once it answers; it ends with the context.

    `background`: it is in a process group of its own, so that Ctrl+C in a terminal does not stop it.
    """
    if port and is_used(port):
        raise RuntimeError(f"Port {port} is in use. Choose another one; 0 takes a free one.")
    port = port or free_port()
    address = f"http://{HOST}:{port}"
    server = start(files, port, log, background)
    try:
        wait_until_healthy(server, f"{address}/_stcore/health")
        address += "/your_data" if files else ""
        stop = "It stops when Python does, or by close()." if background else "Press Ctrl+C to stop it."
        print(f"Attention Lab is at {address}. {stop}", flush=True)
        if open_browser:
            webbrowser.open(address)
        yield server, address
    finally:
        server.terminate()
        server.wait()


def start(files: Sequence[Path], port: int, log: bool = False, background: bool = False) -> subprocess.Popen:
    """Starts the process of a server with these files open."""
    app = app_file()
    options = [f"--server.port={port}", f"--server.address={HOST}", "--server.headless=true"]
    command = [sys.executable, "-m", "streamlit", "run", str(app), *options]
    env = environment(open=os.pathsep.join(str(file.resolve()) for file in files))
    group = 0 if background else None
    return subprocess.Popen(
        command, cwd=app.parent, env=env, stdout=None if log else subprocess.DEVNULL, process_group=group
    )


@contextmanager
def exit_on_signals() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP raise SystemExit, so that no process is left, unless this program handles them."""
    names = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    main = threading.current_thread() is threading.main_thread()
    taken = [name for name in names if main and signal.getsignal(name) == signal.SIG_DFL]
    for name in taken:
        signal.signal(name, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        for name in taken:
            signal.signal(name, signal.SIG_DFL)


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


def is_used(port: int) -> bool:
    """Whether something on this machine answers at a port."""
    with socket.socket() as tried:
        tried.settimeout(1)
        return tried.connect_ex((HOST, port)) == 0
