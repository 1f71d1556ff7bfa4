"""A button that copies the link to the current page and its settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from attention.components.registry import component


def copy_link(
    key: str = "copy_link",
    label: str = "Copy link",
    adds: Mapping[str, str] | None = None,
    drops: Collection[str] = (),
    lacking: str = "",
    copies: str = "",
) -> None:
    """Draws the button. The link is the address of the page, which `ui.session.address_bar` keeps up to date.

    `adds`: entries that are added to the copied link, `drops`: names of entries that are left out. `lacking`: why there is
    nothing to copy; shown when the button is clicked. `copies`: a text that is copied instead of the link.
    """
    data = {"label": label, "adds": dict(adds or {}), "drops": list(drops), "lacking": lacking, "copies": copies}
    component("copy_link")(key=key, data=data)
