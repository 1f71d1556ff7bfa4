"""A button that copies the link to what is on the screen."""

from __future__ import annotations

from attention.components.mounted import component


def copy_link(key: str = "copy_link") -> None:
    """Draws the button. The link is the address of the page, which `ui.session.page` keeps up to date."""
    component("copy_link")(key=key, data={})
