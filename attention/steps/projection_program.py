"""Lines of a program that make W_q, W_k, W_v and W_o of a config, in the order in which their numbers are drawn."""

from __future__ import annotations

import inspect
import textwrap

from attention.config import Config
from attention.inputs import BEFORE
from attention.operations.softmax import SOFTMAXES
from attention.sources import constructed

CONSTANTS = "FAST", "SLOW", "SOFT", "SURE", "LEAD", "STEEP", "LIVELY", "EVEN", "OFFSETS", "SHARP"
FEWER = "W_k, W_v = (W.view(d_model, kv_heads, -1, d_head){0} for W in (W_k, W_v))  # heads that share: {1}\n"
MEAN = FEWER.format(".mean(2).flatten(1)", "their mean")
FIRST_OF = FEWER.format("[:, :, 0].flatten(1)", "those of the first")
DRAWN = """\
random = torch.Generator().manual_seed(-1 - seed)
bound = (6 / (2 * d_model + 2 * {width})) ** 0.5
W_q, W_k, W_v = (
    torch.empty(d_model, width).uniform_(-bound, bound, generator=random) for width in (d_model, {width}, {width})
)
W_o = torch.empty(d_model, d_model).uniform_(-1, 1, generator=random) / d_model**0.5
"""


def functions(config: Config) -> list[str]:
    """Returns the source code that constructs hand-built heads; [] for other heads."""
    if config.projections != "constructed":
        return []
    constants = [f"{name} = {getattr(constructed, name)!r}\n" for name in CONSTANTS]
    used = constructed.frequencies, constructed.places, constructed.queries_to_keys, constructed.values_to_output
    return ["".join(constants), *(f"\n{inspect.getsource(function)}" for function in used), ""]


def projections(config: Config) -> str:
    """Returns the lines that define the four matrices."""
    mean = config.sharing == "averaged" and config.n_kv_heads < config.heads
    fewer = config.n_kv_heads < config.heads and not mean
    if config.projections == "constructed":
        own = "plain - plain // 2" if config.input == BEFORE else "plain"
        halves = "2 * " * (SOFTMAXES[config.softmax].halves > 1)
        lines = textwrap.dedent(f"""\
            W_q, W_k = queries_to_keys(d_model, {halves}heads, seed, {own})
            W_v, W_o = values_to_output(d_model, heads, d_head, {own})
            """)
        return lines + (MEAN if mean else FIRST_OF if fewer else "")
    width = "kv_heads * d_head" if fewer else "d_model"
    lines = DRAWN.format(width=width)
    if config.projections == "identity":
        lines = f"W_q = W_o = torch.eye(d_model)\nW_k = W_v = W_q[:, :{width}]\n"
    elif config.projections == "tied":
        lines += f"W_k = W_q[:, :{width}]\n"
    return lines + (MEAN if mean else "")
