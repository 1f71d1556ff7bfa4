"""The Chromium that browser tests and benchmarks drive. `python -m tests.chromium` installs one where there is none.

A browser that is already there is taken: $CHROMIUM, one on the path, Chrome on a Mac, or Playwright's own. Else, on a
Debian or Ubuntu, one of the distribution's packages is installed, with sudo where that is needed. Debian's Chromium
without windows loads a page with a quarter less of the processor than the one with windows, so it comes first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

PACKAGES = ("chromium-headless-shell", "chromium")
NAMES = (*PACKAGES, "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",  # a container's /dev/shm is small
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # nothing leaves this machine
)
ADVICE = (
    "No Chromium was found, and browser tests need one. Install the package chromium (Debian: `sudo apt-get install "
    "chromium`), Google Chrome, or Playwright's own (`.venv/bin/playwright install chromium`), or name one: "
    "CHROMIUM=/path/to/it."
)


def find_chromium() -> str | None:
    """The path of a Chromium on this machine, None where there is none."""
    named = os.environ.get("CHROMIUM")
    places = [named] if named else [*filter(None, map(shutil.which, NAMES)), MAC, *_playwrights_own()]
    return next((place for place in places if Path(place).is_file()), None)


def _playwrights_own() -> Iterator[str]:
    for folder in ("~/.cache/ms-playwright", "~/Library/Caches/ms-playwright"):
        for name in ("chrome", "Chromium"):
            yield from map(str, sorted(Path(folder).expanduser().glob(f"chromium-*/**/{name}"), reverse=True))


@contextmanager
def launch_browser(*more: str) -> Iterator[Browser]:
    """A headless browser, with `more` flags, closed in the end. Raises FileNotFoundError with the way out."""
    path = find_chromium()
    if path is None:
        raise FileNotFoundError(ADVICE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=[*QUIET, *more])
        yield browser
        browser.close()


def apt_get(packages: Sequence[str], there: Callable[[], object]) -> None:
    """Installs the first of Debian's packages after which it is `there`; nothing without apt-get or a way to become root."""
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    if not shutil.which("apt-get") or not all(map(shutil.which, as_root)):
        return
    _apt_get(as_root, "update", "-qq")
    for package in packages:
        _apt_get(as_root, "install", "-y", "-qq", "--no-install-recommends", package)
        if there():
            return


def _apt_get(as_root: list[str], *words: str) -> None:
    settings = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run([*as_root, "apt-get", *words], env=settings, stdout=subprocess.DEVNULL, check=False)


if __name__ == "__main__":
    if not find_chromium():
        print("No Chromium here: installing one.", flush=True)
        apt_get(PACKAGES, find_chromium)
    sys.exit(None if find_chromium() else ADVICE)
