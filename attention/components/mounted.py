"""Components from the files in `browser/`, which are served as they stand.

`pyproject.toml` names each of them, and `attention.dist-info` at the root says that this is a package of components:
Streamlit looks for it among all that is on the path when it starts, where the folder of `app.py` is by then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from streamlit.components import v2


@cache
def component(name: str) -> Callable[..., Any]:
    """What mounts the component of `browser/streamlit/<name>.js`.

    Not in a shadow root: whoever reads the page, a test or a screen reader, finds the component in it.
    """
    return v2.component(f"attention.{name}", js=f"streamlit/{name}.js", isolate_styles=False)


def nothing() -> None:
    """A callback for what nobody asks about: what has none is missing from a component's result."""
