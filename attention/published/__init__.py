"""Attention as it was published: eight ways to write it, on the same weights, with what goes wrong in print.

    weights            one set of weights, in the layouts that the rows ask for
    row                what is known about a row beside its code
    separate_maps head_matrices fused_map functional unrolled
                       one file a document: its functions, as meant and as printed, and its rows
    record cost        shapes line by line, FLOPs, bytes and time of a function, observed while it runs
    compare supported_inputs    a row against the reference; what it accepts, found by trying
    diff_lines hunts   the lines in which a print differs from what it means; a bug to find

To add a row: write it in the file of its document, and put it into `ROWS`. The name there is what a link calls it, but
where the link asks for the mistake: `hunted` is a name that gives nothing away, and stays what it is.

>>> from attention.published.compare import compare
>>> compare(ROWS["fused"], attention.Config(tokens=8, heads=2, d_model=16)).judgement.verdict
'agrees'
"""

from hashlib import blake2s

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


def hunt_name(name: str) -> str:
    """What a link calls a row whose mistake is looked for."""
    return blake2s(name.encode(), digest_size=3, person=b"hunt").hexdigest()


HUNTS: dict[str, str] = {hunt_name(name): name for name in ROWS}


def link_name(name: str, asked: bool) -> str:
    """What a link calls a row, from either of its names; where its mistake is asked for and it has none, the first that has."""
    name = HUNTS.get(name, name)
    wrong = [other for other, row in ROWS.items() if row.as_printed]
    return hunt_name(name if name in wrong else wrong[0]) if asked else name


__all__ = ["HUNTS", "ROWS", "Evidence", "Row", "Slip", "Weights", "hunt_name", "link_name"]
