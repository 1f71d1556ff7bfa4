"""Buttons that save a picture: as the SVG that the server has written, or as a PNG that the browser renders from it."""

from __future__ import annotations

from attention.components.registry import component


def picture_file(svg: str, name: str, what: str, *, key: str) -> None:
    """Draws the buttons; `name` is the file name without extension, and `what` says what is saved."""
    component("picture_file")(key=key, data={"svg": svg, "name": name, "what": what})


def chart_files(name: str, what: str, *, key: str) -> None:
    """Draws the buttons for every chart of the page that the browser has drawn as an SVG; `what` goes before their numbers."""
    component("picture_file")(key=key, data={"svg": "", "name": name, "what": what})
