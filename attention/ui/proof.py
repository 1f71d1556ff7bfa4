"""The badge next to every picture, which says how closely the picture agrees with PyTorch."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from attention.analysis.parity import Parity
from attention.config import Config
from attention.operations.softmax import SOFTMAXES
from attention.ui import results

LARGE = " Scores as large as here are rounded by up to {:.0e}, and a weight by as much of its size."


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
    said = verdict(max(found.weights, found.output or 0.0), found.agrees, rounded=found.agrees and not found.close)
    blind = f" · {_blind_count(found.blind)} no key, so {'its' if found.blind == 1 else 'their'} weights are zero"
    some = f" · {found.rows:,} of {config.tokens:,} queries compared"
    said += blind * bool(found.blind) + some * (found.rows != config.tokens)
    st.badge(said, icon=icon, color=color, help=_explain(found, config))


def verdict(far: float, agrees: bool, rounded: bool = False) -> str:
    """The result of a comparison whose largest difference is `far`, in a sentence."""
    if not agrees:
        return f"Not the same as PyTorch's own attention: off by up to {figure(far)}"
    same = "the same as PyTorch's own attention" + ", but for rounding" * rounded
    return f"Checked: {same} (largest difference {figure(far)})" if far else f"Checked: exactly {same}"


def figure(number: float) -> str:
    """A number with one significant digit and no exponent if it is below 1 (0.0000002), else with three digits."""
    return f"{Decimal(f'{number:.0e}'):f}" if number < 1 else f"{number:.3g}"


def _blind_count(blind: int) -> str:
    return "1 query sees" if blind == 1 else f"{blind:,} queries see"


def _sums(found: Parity, config: Config) -> None:
    """Draws the badge of weights that came without queries and keys."""
    total = SOFTMAXES[config.softmax].total
    verdict, place = f"Checked: every row of weights sums to {total}", ""
    if found.blind:
        verdict = f"Checked: every row of weights that sees a key sums to {total}"
    if not found.agrees:
        verdict = f"Rows of weights don't sum to {total}"
        place = ", query {1:,} of head {0}".format(*found.farthest) if found.farthest else ""
    blind = f" · {_blind_count(found.blind)} nothing, so its sum is 0" if found.blind == 1 else ""
    blind = f" · {_blind_count(found.blind)} nothing, so their sums are 0" if found.blind > 1 else blind
    alone = "no queries and keys came with them to compute them anew"
    st.badge(
        f"{verdict} (off by {figure(found.row_sum)} at most{place}){blind} · {alone}",
        icon=":material/functions:" if found.agrees else ":material/error:",
        color="blue" if found.agrees else "red",
        help="These weights came as they are, without queries and keys, so no other way can compute them again, PyTorch's "
        "neither. What can be checked is that each row sums to one, within what 16 bits round: "
        f"{found.rounding:.0e}. Greatest difference {found.row_sum:.2e}.",
    )


def _explain(found: Parity, config: Config) -> str:
    some = "every row" if found.rows == config.tokens else f"{found.rows:,} of {config.tokens:,} rows, evenly spread,"
    rest = SOFTMAXES[config.softmax].rest
    added = f", with what went to {rest}" if rest else ""
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
