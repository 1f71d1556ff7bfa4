"""Every published row by its name in links, and the name that does not reveal it."""

from hashlib import blake2s

from attention.published import functional, fused_map, head_matrices, separate_maps, threads, unrolled
from attention.published.row import Row

ROWS: dict[str, Row] = {
    "single-unscaled": separate_maps.SINGLE,
    "separate-maps": separate_maps.MULTI,
    "head-matrices": head_matrices.MATRICES,
    "position-weights": head_matrices.POSITIONS,
    "fused": fused_map.FUSED,
    "functional": functional.FUNCTIONAL,
    "single-causal": unrolled.SINGLE,
    "two-heads": unrolled.TWO,
    "boolean-mask": threads.BOOLEAN_MASK,
    "window-of-four": threads.TOO_LONG,
    "split-by-view": threads.SPLIT,
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
