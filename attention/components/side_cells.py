"""The cells of side A of a comparison, which a browser keeps for pictures of B minus A: it draws nothing.

They arrive once, while B changes, and a message of differences names them.
"""

from __future__ import annotations

from attention.components.registry import component


def side_cells(data: bytes, *, key: str = "side cells") -> None:
    """Sends a message of `wire.difference_cells.side_payload` to the browser."""
    component("side_cells")(key=key, data=data)
