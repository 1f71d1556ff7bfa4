from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    seconds: float
    bytes: int


def estimate(tokens, heads, d_model, rule, span, rate):
    return Estimate(heads * tokens**2 / 2 / rate, 10**9)


def measured_rate():
    return 2e9
