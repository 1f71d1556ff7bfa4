"""The badge next to every picture, which says how closely the picture agrees with PyTorch."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from attention.analysis.parity import Parity
from attention.config import Config
from attention.operations.normalisers import TORCH
from attention.operations.softmax import SOFTMAXES
from attention.ui import results

PER = "the sum of its row of weights", "the keys with weight of its row"
LARGE = " Scores of this size are rounded by up to {:.0e}, and weights by the same relative amount."


def badge(config: Config) -> None:
    """Draws the badge of a config: whether PyTorch computes the same, the largest difference, and fully masked rows."""
    show_badge(results.heads.parity(config), config)


def show_badge(found: Parity, config: Config) -> None:
    """Draws the badge of a comparison, or of the row sums if there is nothing to compare with."""
    if found.weights is None:
        _sums(found, config)
        return
    icon, color = (":material/verified:", "green") if found.agrees else (":material/error:", "red")
    if found.agrees and found.blind:
        icon, color = ":material/visibility_off:", "orange"
    far, rounded = max(found.weights, found.output or 0.0), found.agrees and not found.close
    said = verdict(far, found.agrees, rounded, SOFTMAXES[config.softmax].reference)
    blind = f" · {_count_blind(found.blind)}, with zero weights"
    some = f" · {found.rows:,} of {config.tokens:,} queries compared"
    said += blind * bool(found.blind) + some * (found.rows != config.tokens)
    st.badge(said, icon=icon, color=color, help=_explain(found, config))


def verdict(far: float, agrees: bool, rounded: bool = False, reference: str = TORCH) -> str:
    """The result of a comparison with `reference` whose largest difference is `far`, in a sentence."""
    if not agrees:
        return f"Differs from {reference} by up to {figure(far)}"
    same = f"the same as {reference}" + ", up to rounding" * rounded
    return f"Checked: {same} (largest difference {figure(far)})" if far else f"Checked: exactly {same}"


def figure(number: float) -> str:
    """A number with one significant digit and no exponent if it is below 1 (0.0000002), else with three digits."""
    return f"{Decimal(f'{number:.0e}'):f}" if number < 1 else f"{number:.3g}"


def _count_blind(blind: int) -> str:
    return f"{blind:,} fully masked {'query' if blind == 1 else 'queries'}"


def _sums(found: Parity, config: Config) -> None:
    """Draws the badge of weights that came without queries and keys."""
    total = SOFTMAXES[config.softmax].total
    verdict, place = f"Checked: every row of weights sums to {total}", ""
    if found.blind:
        verdict = f"Checked: every row with a visible key sums to {total}"
    if not found.agrees:
        verdict = f"Rows of weights don't sum to {total}"
        place = ", query {1:,} of head {0}".format(*found.farthest) if found.farthest else ""
    blind = f" · {_count_blind(found.blind)}, with sum 0" if found.blind else ""
    alone = "no queries and keys to recompute them"
    st.badge(
        f"{verdict} (off by at most {figure(found.row_sum)}{place}){blind} · {alone}",
        icon=":material/functions:" if found.agrees else ":material/error:",
        color="blue" if found.agrees else "red",
        help="These weights came without queries and keys, so PyTorch can't recompute them. Checked: each row sums to one, "
        f"within 16-bit rounding ({found.rounding:.0e}). Largest difference: {found.row_sum:.2e}.",
    )


def _explain(found: Parity, config: Config) -> str:
    some = "every row" if found.rows == config.tokens else f"{found.rows:,} of {config.tokens:,} rows, evenly spaced,"
    softmax = SOFTMAXES[config.softmax]
    added = f", plus {softmax.rest}," if softmax.rest else ""
    one = "one" if softmax.distributes else "those of the formula"
    called = "`torch.nn.functional.scaled_dot_product_attention`" if softmax.reference == TORCH else softmax.reference
    blind = "1 row" if found.blind == 1 else f"{found.blind:,} rows"
    large = LARGE.format(found.rounding) if found.agrees and not found.close else ""
    per = f" (divided by {PER[softmax.distributes]})" if softmax.reference != TORCH else ""
    output = "" if found.output is None else f", of an output{per} {found.output:.2e}"
    return (
        f"Compares the weights{' and outputs' * bool(output)} shown with {called} on the same "
        f"q, k{', v' * bool(output)} and mask: {some} of each head. Largest difference of a weight "
        f"{found.weights:.2e}{output}. Row sums{added} differ from {one} by at most {found.row_sum:.2e}.{large} Fully masked: "
        f"{blind} per head, with zero weights and outputs."
    )
