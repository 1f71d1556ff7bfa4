"""Formats of shares, weights, means, tokens and heads in text and tables, the same as in the browser and its charts.

A share of pairs, of work, or of the weight of several keys is a percentage, as is the weight of one key if rows are
distributions; otherwise that is a decimal with three significant digits. A head statistic has three decimals. Halves are
rounded up, as by `toFixed`, `toPrecision` and d3; Python's own formats would round 0.03125 down.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from math import isfinite

PERCENT = ".1%"  # `format_percent` in d3
MEAN = ".3f"  # `format_mean` in d3
LONG = Context(prec=400)  # enough digits for every float
SMALL = 1e-6  # weights below it are written with a power of ten, as by `toPrecision` and by ".3g" of d3


def format_percent(part: float) -> str:
    """Returns a share as a percentage with one decimal; 0% and 100% are exact."""
    if 0 < part < 0.001 or 0.999 < part < 1:
        return "under 0.1%" if part < 0.5 else "over 99.9%"
    return f"{100 * part:.0f}%" if part in (0, 1) else f"{_round_half_up(100 * part, 1)}%"


def format_short_percent(part: float, limit: float | None = None) -> str:
    """Returns a share as a percentage without decimals, for a cell.

    One that is only rounded to 0%, to 100% or to a `limit` has a sign that says on which side it is.

    >>> [format_short_percent(part, 0.5) for part in (0.003, 0.43, 0.498, 0.5, 0.503, 0.997, 1)]
    ['<1%', '43%', '<50%', '50%', '>50%', '>99%', '100%']
    >>> [format_short_percent(part) for part in (0.498, 0.503)]
    ['50%', '50%']
    """
    said = f"{_round_half_up(100 * part, 0)}%"
    if said == "100%" and part < 1:
        return ">99%"
    if said == "0%" and part > 0:
        return "<1%"
    if limit is not None and part != limit and said == f"{100 * limit:.0f}%":
        return f"{'>' if part > limit else '<'}{said}"
    return said


def format_weight(weight: float) -> str:
    """Returns a weight with three significant digits: 0.430, 0.000462, 4.62e-7."""
    if weight == 0 or not isfinite(weight):
        return f"{weight:.0f}"
    digits = Context(prec=3, rounding=ROUND_HALF_UP).create_decimal(Decimal(weight))
    if abs(weight) >= SMALL:
        return f"{digits:.{max(0, 2 - digits.adjusted())}f}"
    number, _, power = f"{digits:.2e}".partition("e")
    return f"{number}e{int(power)}"


def format_share(weight: float) -> str:
    """Returns a weight as a percentage of its row with three significant digits, however small: 43.0%, 0.0462%."""
    if 0.999 < weight < 1:
        return ">99.9%"
    return f"{format_weight(100 * weight)}%" if weight else "0"


def format_mean(value: float) -> str:
    """Returns a statistic of a head or of a row with three decimals."""
    return _round_half_up(value, 3)


def format_change(value: float, plus: bool = True, places: int = 2) -> str:
    """Returns a logit, a loss or a cosine, or its change, with a minus sign; what rounds to zero has no sign."""
    said = f"{value:z.{places}f}"
    signed = plus and value > 0 and float(said)
    return f"+{said}" if signed else said.replace("-", "−")


def format_token(text: str, position: int, kind: str = "query") -> str:
    """Returns a token by its text and its position, “boat” (17), or `query 17` if it has no text."""
    return f"“{text}” ({position:,})" if text else f"{kind} {position:,}"


def format_head(head: int, layer: int | None = None) -> str:
    """Returns a head in words, `Head 3`, with its layer if one is given, `Layer 5, head 3`."""
    return f"Head {head}" if layer is None else f"Layer {layer}, head {head}"


def weight_text(field: str) -> str:
    """Returns `format_weight` of a field of a chart, as a Vega expression."""
    value = f"datum['{field}']"
    return f"{value} == 0 ? '0' : format({value}, '.3g')"


def share_text(field: str) -> str:
    """Returns a field of a chart as a percentage with three significant digits, as a Vega expression."""
    return f"format(100 * datum['{field}'], '.3~g') + '%'"


def _round_half_up(value: float, places: int) -> str:
    if not isfinite(value):
        return f"{value}"
    return f"{Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, LONG)}"
