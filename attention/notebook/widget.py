"""A picture as a widget of a notebook, whose selection is available in Python. It needs anywidget."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from attention.notebook.bundle import script, style
from attention.notebook.picture import Picture


def widget(picture: Picture) -> Any:
    """The widget; its `pinned` is the last selection: part, layer, head, query, key.

    Raises ImportError without anywidget.
    """
    return kind()(about=picture.about, places=picture.places, layers=list(picture.layers))


def display_widget(view: Any, instead: Mapping[str, str]) -> None:
    """Displays a widget; `instead`, by MIME type, is what a saved notebook shows if the widget can't run."""
    from IPython.core.getipython import get_ipython
    from IPython.display import display

    shell: Any = get_ipython()
    data, metadata = shell.display_formatter.format(view)
    display(dict(data) | dict(instead), metadata=metadata, raw=True)


@cache
def kind() -> type:
    """The class of the widgets, created when it is first needed: anywidget is not installed with the app."""
    import anywidget
    import traitlets

    class Heads(anywidget.AnyWidget):
        _esm = script("notebook/widget.js")
        _css = style()
        about = traitlets.Dict().tag(sync=True)
        places = traitlets.List(traitlets.Int()).tag(sync=True)
        layers = traitlets.List(traitlets.Bytes()).tag(sync=True)
        pinned = traitlets.Dict().tag(sync=True)

    return Heads
