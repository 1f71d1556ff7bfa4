"""Components from the files in `browser/`, which are served unchanged.

Streamlit finds the components of an installed package by the table in its `pyproject.toml`, which a wheel contains. It does not
find them in a checkout or in an editable install, so `register` adds what is missing. To add a component: a module here, its
script in `browser/streamlit/`, and a line in `pyproject.toml`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from streamlit.components import v2
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

PACKAGE = Path(__file__).parents[1]
DISTRIBUTION = "attention-lab"
FOLDER = "components/browser"


def component(name: str) -> Callable[..., Any]:
    """Returns a function that mounts the component of `browser/streamlit/<name>.js`.

    The component is not in a shadow root, so that tests and screen readers find it in the page.
    """

    def mount(**options: Any) -> Any:
        register(get_bidi_component_manager())
        return _callable(name)(**options)

    return mount


def register(manager: BidiComponentManager) -> None:
    """Registers the components that a manager does not know yet."""
    missing = [name for name in names() if manager.get(f"{DISTRIBUTION}.{name}") is None]
    if missing:
        components = [ComponentConfig(name, FOLDER) for name in missing]
        manager.register_from_manifest(ComponentManifest(DISTRIBUTION, "", components), PACKAGE)


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
