"""Eight published implementations of attention, run on the same weights, with the mistakes that they were published with.

    weights            one set of weights, in the layouts that the rows need
    row                the properties of a row besides its code
    separate_maps head_matrices fused_map functional unrolled
                       one module per document: its functions, corrected and as published, and its rows
    record cost        shapes line by line, FLOPs, bytes and time of a function, observed while it runs
    compare supported_inputs    compares a row with the reference; finds the inputs that it supports by trying
    diff_lines hunts   the lines in which published and corrected code differ; quizzes about a mistake

To add a row, write it in the module of its document, and add it to `ROWS`. Its name there is also its name in a link, except
if the link asks for the mistake: then `hunt_name` gives a name that does not reveal the row and must never change.

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
    """The name of a row in a link that asks for its mistake."""
    return blake2s(name.encode(), digest_size=3, person=b"hunt").hexdigest()


HUNTS: dict[str, str] = {hunt_name(name): name for name in ROWS}


def link_name(name: str, asked: bool) -> str:
    """The name of a row in a link, from either of its names.

    If the link asks for the mistake and the row has none, it is the name of the first row that has one.
    """
    name = HUNTS.get(name, name)
    wrong = [other for other, row in ROWS.items() if row.as_printed]
    return hunt_name(name if name in wrong else wrong[0]) if asked else name


__all__ = ["HUNTS", "ROWS", "Evidence", "Row", "Slip", "Weights", "hunt_name", "link_name"]
