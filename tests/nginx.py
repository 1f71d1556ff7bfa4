"""The nginx that stands before two replicas in a test. `python -m tests.nginx` installs one where there is none.

One that is already on the path is taken; else, on a Debian or Ubuntu, the smallest of the distribution's packages.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.chromium import apt_get
from tests.server import ROOT, free_port

PACKAGES = ("nginx-light", "nginx")
PLACES = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])  # of root's programs
ADVICE = "No nginx was found, and two replicas are tested behind one. Install it (Debian: `sudo apt-get install nginx-light`)."


def find_nginx() -> str | None:
    """The path of an nginx on this machine, None where there is none."""
    return shutil.which("nginx", path=PLACES)


@contextmanager
def before(replicas: Sequence[str], folder: Path) -> Iterator[str]:
    """The address of an nginx with the file that ships, before these two replicas (`host:port`); `folder` is its own."""
    port = free_port()
    text = (ROOT / "deploy" / "nginx.conf").read_text()
    for old, new in zip(
        ("one:8501", "two:8501", "listen 8080", "/tmp/"),
        (*replicas, f"listen 127.0.0.1:{port}", f"{folder}/"),
        strict=True,
    ):
        assert old in text
        text = text.replace(old, new)
    (folder / "nginx.conf").write_text(text)
    as_root = "user root;" * (os.geteuid() == 0)  # who may write into the folder of a test
    command = [find_nginx() or "nginx", "-p", f"{folder}", "-c", f"{folder}/nginx.conf", "-g", f"daemon off; {as_root}"]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            yield _there(f"http://127.0.0.1:{port}", process, folder / "log")
        finally:
            process.terminate()
            process.wait(timeout=20)


def _there(url: str, process: subprocess.Popen, log: Path) -> str:
    for _ in range(600):
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5):
                return url
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.05)
    raise RuntimeError(f"nginx does not answer. Its log:\n{log.read_text()}")


if __name__ == "__main__":
    if not find_nginx():
        print("No nginx here: installing one.", flush=True)
        apt_get(PACKAGES, find_nginx)
    sys.exit(None if find_nginx() or os.environ.get("CI") != "true" else ADVICE)
