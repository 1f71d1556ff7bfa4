"""QK-norm: every query and key of a head is divided by its root mean square, before positions turn it.

Rotary positions do not change the size of a vector, so it may as well be applied to queries and keys that are turned already.
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from attention.operations.operation import Operation, Source, Spec

EPS = 1e-6  # added to the mean square, as in Qwen 3 and Gemma 3
OFF, ON = "off", "on"


def rms_norm(x: Float[Tensor, "*h n d"], eps: float = EPS) -> Float[Tensor, "*h n d"]:
    """Divides the vectors of heads by their root mean square (Zhang and Sennrich 2019, RMSNorm, with a gain of one)."""
    return x * (x.square().mean(-1, keepdim=True) + eps).rsqrt()


def applies(spec: Spec) -> bool:
    """The pass has QK-norm."""
    return spec.qk_norm == ON


def _code(spec: Spec) -> str:
    return f"Q, K = (torch.nn.functional.rms_norm(t, ({spec.width_code},), eps=1e-6) for t in (Q, K))\n"


def _normed(name: str, axes: str, lesson: str) -> Operation:
    hat = rf"\hat {name}"
    return Operation(
        f"normed {name}",
        name,
        f"b {axes} d",
        f"{name} after QK-norm: each row divided by its root mean square",
        lesson,
        rf"{hat}_{{ij}} = \frac{{{name}_{{ij}}}}{{\sqrt{{\frac{{1}}{{d}} \sum_c {name}_{{ic}}^2 + 10^{{-6}}}}}},"
        r"\quad \lVert \hat %s_i \rVert \le \sqrt{d}" % name,
        sources=(Source(name, "left", "="),),
        flops=lambda spec: 3 * spec.cells(f"b {axes} d") + 3 * spec.cells(f"b {axes}"),
        compute=lambda values, spec: rms_norm(values[name]),
        applies=applies,
        updates=name,
        symbol=hat,
        code=_code if name == "q" else "",
    )


OPERATIONS = (
    _normed("q", "h q", "All queries get the same length, so only their directions matter."),
    _normed("k", "g k", "Keys get the same length, too, so no dot product exceeds d_head."),
)
