"""Attention as it was published: eight ways to write it, on the same weights, with what goes wrong in print.

    weights            one set of weights, in the layouts that the rows ask for
    row                what is known about a row beside its code
    separate_maps head_matrices fused_map functional unrolled
                       one file a document: its functions, as meant and as printed, and its rows
    record cost        shapes line by line, FLOPs, bytes and time of a function, observed while it runs
    compare demands    a row against the reference; what it accepts, found by trying
    slip_lines hunts   the lines in which a print differs from what it means; a bug to find

To add a row: write it in the file of its document, and put it into `ROWS`. The name there is what a link calls it.
"""

from attention.published import functional, fused_map, head_matrices, separate_maps, unrolled
from attention.published.row import Evidence, Row, Slip
from attention.published.weights import Weights

ROWS: dict[str, Row] = {
    "single-unscaled": separate_maps.SINGLE,
    "separate-maps": separate_maps.MULTI,
    "head-matrices": head_matrices.MATRICES,
    "position-weights": head_matrices.POSITIONS,
    "fused": fused_map.FUSED,
    "functional": functional.FUNCTIONAL,
    "single-causal": unrolled.SINGLE,
    "two-heads": unrolled.TWO,
}

__all__ = ["ROWS", "Evidence", "Row", "Slip", "Weights"]
