"""Components from the files beside this one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from streamlit.components import v2


@cache
def component(name: str, *more: str) -> Callable[..., Any]:
    """What mounts the component `name`: its .html, .css and .js, before which the scripts named in `more` are put.

    Not in a shadow root: whoever reads the page, a test or a screen reader, finds the component in it.
    """
    scripts = [_bare(_text(f"{part}.js")) for part in (*more, name)]
    html, css = _text(f"{name}.html"), _text(f"{name}.css")
    return v2.component(f"attention_{name}", html=html, css=css, js="\n".join(scripts), isolate_styles=False)


def nothing() -> None:
    """A callback for what nobody asks about: what has none is missing from a component's result."""


def _text(file: str) -> str:
    return Path(__file__).with_name(file).read_text("utf-8")


def _bare(script: str) -> str:
    """A script without indentation and comment lines: it travels with every message."""
    lines = (line.strip() for line in script.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))
