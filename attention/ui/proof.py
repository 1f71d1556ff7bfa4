"""What stands with every picture: the badge that says how near the picture is to PyTorch."""

from __future__ import annotations

import streamlit as st

from attention.analysis.parity import Parity
from attention.config import Config
from attention.ui import compute

LARGE = " Scores as large as here are rounded by up to {:.0e}, and a weight by as much of its size."


def badge(config: Config) -> None:
    """Greatest differences to scaled_dot_product_attention, error of row sums, rows that see nothing."""
    shown(compute.heads.parity(config.tensors), config)


def shown(found: Parity, config: Config) -> None:
    """The badge of a comparison, or of the sums where there is nothing to compare."""
    if found.weights is None:
        _sums(found)
        return
    icon, color = (":material/verified:", "green") if found.agrees else (":material/error:", "red")
    if found.agrees and found.blind:
        icon, color = ":material/visibility_off:", "orange"
    verdict = "equals SDPA" if found.close else "equals SDPA but for rounding" if found.agrees else "differs from SDPA"
    output = [] if found.output is None else [f"output {found.output:.0e}"]
    parts = [f"{verdict}: weights {found.weights:.0e}", *output, f"row sums {found.row_sum:.0e}"]
    parts += ["1 row sees nothing" if found.blind == 1 else f"{found.blind:,} rows see nothing"]
    parts += [] if found.rows == config.tokens else [f"{found.rows:,} of {config.tokens:,} rows compared"]
    st.badge(" · ".join(parts), icon=icon, color=color, help=_explained(found, config))


def _sums(found: Parity) -> None:
    """The badge of weights that came alone."""
    blind = "1 row has no weight" if found.blind == 1 else f"{found.blind:,} rows have no weight"
    verdict = "rows sum to one" if found.agrees else "rows don't sum to one"
    st.badge(
        f"{verdict}: off by {found.row_sum:.0e} at most · {blind} · not compared with SDPA: no queries and keys",
        icon=":material/functions:" if found.agrees else ":material/error:",
        color="blue" if found.agrees else "red",
        help="These weights came as they are, without queries and keys, so no other way can compute them again. What can be "
        f"checked is that each row sums to one, within what 16 bits round: {found.rounding:.0e}. Greatest difference "
        f"{found.row_sum:.2e}.",
    )


def _explained(found: Parity, config: Config) -> str:
    some = "every row" if found.rows == config.tokens else f"{found.rows:,} of {config.tokens:,} rows, evenly spread,"
    added = "" if config.softmax == "standard" else ", with what went to the one that is added to the denominator"
    blind = "1 row" if found.blind == 1 else f"{found.blind:,} rows"
    large = LARGE.format(found.rounding) if found.agrees and not found.close else ""
    output = "" if found.output is None else f", of an output {found.output:.2e}"
    return (
        f"The weights{' and outputs' * bool(output)} on the screen against "
        "`torch.nn.functional.scaled_dot_product_attention` on the same "
        f"q, k{', v' * bool(output)} and mask: {some} of each head compared. Greatest difference of a weight "
        f"{found.weights:.2e}{output}; a row's sum{added} is at most {found.row_sum:.2e} from one.{large} {blind} of each "
        f"head may see no key; weights and outputs of such a row are zero."
    )
