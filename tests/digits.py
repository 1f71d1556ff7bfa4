"""Three digits of a number, as a browser shows them."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal


def three_digits(number: float) -> Decimal:
    """Halves away from zero, as a browser's toPrecision."""
    return Context(prec=3, rounding=ROUND_HALF_UP).create_decimal(Decimal(number))
