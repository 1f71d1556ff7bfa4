"""One head as pixels, one per cell, in the colours and on the scale of the page that shows it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, UInt8
from torch import Tensor

from attention.charts import theme
from attention.charts.thumbnail import interpolate, rgb

DECADES = 4  # of the logarithmic scale of differences
MASKED = theme.NEUTRALS["light"]["masked"]


@dataclass(frozen=True, eq=False)
class HeadMap:
    """A head, or a part of it: pixels, and what is written beside them.

    `pixels`: one per cell of `tile` tokens per side. `first`: the first query and key shown. `queries`, `keys`: the tokens
    shown, () if they have no texts. `query`: the selected one. `heaviest`: its largest weights, as key, token and weight.
    """

    pixels: UInt8[np.ndarray, "p r 3"]
    tile: int
    first: tuple[int, int]
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    query: int
    heaviest: tuple[tuple[int, str, float], ...]

    @property
    def masked(self) -> Bool[np.ndarray, "p r"]:
        """The cells that are masked: hatched in every picture."""
        return (self.pixels == np.array(rgb(MASKED), np.uint8)).all(-1)


def color_cells(
    cells: Float[Tensor, "p r"], seeing: Float[Tensor, "p r"], scale: str, signed: bool = False, page: str = "light"
) -> UInt8[np.ndarray, "p r 3"]:
    """Returns the colours of cells on a colour scale, grey where they are NaN; `seeing`: visible keys of their queries.

    `page`: whether it is drawn on a light or a dark page.
    """
    size = cells.abs()
    if scale == "times even":
        share = 0.5 + (size * seeing).log10() / (2 * np.log10(theme.TIMES))
    elif scale == "log":
        share = 1 - size.log10() / np.log10(theme.LOG_FLOOR)
    else:
        share = size / (_largest(size, seeing) if scale == "own maximum" else 1)
    share = share.clamp(0, 1)
    values = ((1 + share * cells.sign()) / 2 if signed else share).nan_to_num()
    pixels = interpolate(values.numpy(), (theme.SIGNED if signed else theme.WEIGHTS)[page])
    pixels[cells.isnan().numpy()] = rgb(MASKED)
    return pixels.round().astype(np.uint8)


def color_changes(
    change: Float[Tensor, "p r"], seen: Bool[Tensor, "p r"], colors: str, scale: str
) -> UInt8[np.ndarray, "p r 3"]:
    """Returns the colours of differences on the diverging map of the app, whose middle is the page; grey where not `seen`.

    `colors` is the colour scale that was chosen, `scale` the one in use: linear if it was chosen, by the square root if it is
    linear by default, otherwise logarithmic.
    """
    size = change.abs().clamp(max=1)
    if colors != "linear":
        size = size.sqrt() if scale == "linear" else (1 + size.log10() / DECADES).clamp(0, 1)
    share = size.numpy()[..., None]
    ink = np.where((change < 0).numpy()[..., None], rgb(theme.LESS), rgb(theme.MORE))
    pixels = (1 - share) * 255.0 + share * ink
    pixels[~seen.numpy()] = rgb(MASKED)
    return pixels.round().astype(np.uint8)


def _largest(size: Float[Tensor, "p r"], seeing: Float[Tensor, "p r"]) -> float:
    """The largest of some weights, without rows that have a single visible key unless all rows have."""
    several = size[seeing > 1].nan_to_num()
    found = several if len(several) else size.nan_to_num()
    return float(found.amax()) or 1.0 if found.numel() else 1.0
