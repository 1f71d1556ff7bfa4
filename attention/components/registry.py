"""Components from the files in `browser/`, which are served unchanged.

Streamlit finds the components of an installed package by the table in its `pyproject.toml`, which a wheel contains. It does not
find them in a checkout or in an editable install, so `register_components` adds what is missing. To add a component: a
module here, its script in `browser/streamlit/`, and a line in `pyproject.toml`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from streamlit.components import v2

from attention.streamlit_internals import register_components

PACKAGE = Path(__file__).parents[1]
DISTRIBUTION = "attention-lab"
FOLDER = "components/browser"


def component(name: str) -> Callable[..., Any]:
    """Returns a function that mounts the component of `browser/streamlit/<name>.js`.

    The component is not in a shadow root, so that tests and screen readers find it in the page.
    """

    def mount(**options: Any) -> Any:
        register_components(DISTRIBUTION, names(), FOLDER, PACKAGE)
        return _callable(name)(**options)

    return mount


@cache
def names() -> tuple[str, ...]:
    """The names of all components: the modules of this package that mount one."""
    scripts = (PACKAGE / FOLDER / "streamlit").glob("*.js")
    return tuple(sorted(file.stem for file in scripts if (PACKAGE / "components" / f"{file.stem}.py").exists()))


@cache
def _callable(name: str) -> Callable[..., Any]:
    return v2.component(f"{DISTRIBUTION}.{name}", js=f"streamlit/{name}.js", isolate_styles=False)


def nothing() -> None:
    """A callback that does nothing. Streamlit leaves an event out of the result unless a callback is registered."""
