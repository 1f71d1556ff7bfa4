"""The implementations of attention that can be timed, each a function with a name in `IMPLEMENTATIONS`.

A function takes `query (b h q d)`, `key, value (b g k d)` and which keys are visible, prepares what is not to be timed (a mask,
a layer with its weights, a buffer) and returns `Ready`: the call that is timed, and the leaves whose gradients a backward pass
computes. All memory that the call itself allocates is part of its time. To add an implementation, write the function and add
its name to `IMPLEMENTATIONS`; the sweep, the charts and the command line follow.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from einops import rearrange
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.attention import SDPBackend
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from attention.attend import SMALL, Attention, attend
from attention.layer import MultiHeadAttention
from attention.published import ROWS, Row, Weights
from attention.published.row import FORMS
from attention.timing.visible import Visible

COMPILED = 256  # largest number of flex_attention kernels that a process compiles: each takes seconds
Vectors = Float[Tensor, "b h n d"]
NOT_A_LAYER = "a layer projects all of its tokens: it has as many queries as keys, and as many key-value heads as heads"


class Ready(NamedTuple):
    """What is timed: `run` returns the output, or output and weights; `leaves` are the tensors that get gradients.

    `like`: a tensor of the output's shape, if the first leaf has another shape.
    """

    run: Callable[[], Tensor | Attention]
    leaves: tuple[Tensor, ...]
    like: Tensor | None = None


def every_head(heads: int) -> tuple[int, int]:
    """All heads are computed, and each returns a matrix of weights."""
    return heads, heads


def never(device: str, visible: Visible, learns: bool) -> bool:
    """Every pair is computed, and hidden keys are masked afterwards."""
    return False


def if_causal(device: str, visible: Visible, learns: bool) -> bool:
    """The kernel skips the pairs that `is_causal` removes; it computes every pair under any other mask."""
    return visible.is_causal


def always(device: str, visible: Visible, learns: bool) -> bool:
    """The kernel skips the pairs that are hidden."""
    return True


def in_blocks(device: str, visible: Visible, learns: bool) -> bool:
    """The core skips hidden keys if it works in blocks: on a CPU, for large matrices, without gradients."""
    return device == "cpu" and visible.queries * visible.keys > SMALL and not learns


@dataclass(frozen=True)
class Implementation:
    """How to prepare an implementation, and its properties.

    `weights`: it returns the weights of every head. `maps`: the number of linear maps that it includes; a layer has four.
    `used(heads)`: how many of the heads it computes, and how many matrices of weights it returns.
    `skips(device, visible, learns)`: whether hidden pairs are not computed. `kernel`: the only kernel that
    torch may choose. `asked`: it is timed only if it is named. `squares`: how many n x n matrices per head a forward pass
    holds at once, to reject what would not fit before it runs. `recomputes`: its backward pass computes the scores again,
    as a fused kernel does, instead of keeping their softmax.
    """

    ready: Callable[[Tensor, Tensor, Tensor, Visible], Ready]
    weights: bool = False
    maps: int = 0
    used: Callable[[int], tuple[int, int]] = every_head
    skips: Callable[[str, Visible, bool], bool] = never
    kernel: SDPBackend | None = None
    asked: bool = False
    squares: int = 0
    recomputes: bool = False

    @property
    def layer(self) -> bool:
        """Whether it includes linear maps."""
        return self.maps > 0

    @property
    def help(self) -> str:
        """A sentence or two for the user: the first line of the function's docstring, and the required kernel."""
        about = (self.ready.__doc__ or "").strip().splitlines()[0]
        return f"{about} Only the kernel {self.kernel.name}." if self.kernel is not None else about


def core(q: Vectors, k: Vectors, v: Vectors, visible: Visible) -> Ready:
    """Our attention with the weights of every head; weights of 32 to 64 MiB reuse the memory of a call before on a CPU."""
    how = _mask(q, visible)
    return Ready(lambda: attend(q, _repeat(k, q), _repeat(v, q), **how), (q, k, v))


def buffered(q: Vectors, k: Vectors, v: Vectors, visible: Visible) -> Ready:
    """Our attention with the weights of every head, written into the same memory at each call."""
    out, how = q.new_empty(*q.shape[:-1], k.shape[-2]), _mask(q, visible)
    return Ready(lambda: attend(q, _repeat(k, q), _repeat(v, q), out=out, **how), (q, k, v))


def textbook(q: Vectors, k: Vectors, v: Vectors, visible: Visible) -> Ready:
    """Matmul, softmax, matmul, each step into fresh memory."""
    hidden = _hidden_pairs(q, visible)

    def run() -> Attention:
        scores = q @ _repeat(k, q).mT / q.shape[-1] ** 0.5
        if hidden is not None:
            scores = scores.masked_fill(hidden, float("-inf"))
        weights = torch.softmax(scores, -1)
        return Attention(weights @ _repeat(v, q), weights)

    return Ready(run, (q, k, v))


def looped(q: Vectors, k: Vectors, v: Vectors, visible: Visible) -> Ready:
    """The same three steps in a Python loop over sequences and heads."""
    hidden = _hidden_pairs(q, visible)

    def one(query: Tensor, key: Tensor, value: Tensor) -> Attention:
        scores = query @ key.T / query.shape[-1] ** 0.5
        if hidden is not None:
            scores = scores.masked_fill(hidden, float("-inf"))
        weights = torch.softmax(scores, -1)
        return Attention(weights @ value, weights)

    def run() -> Attention:
        heads = [one(*each) for each in zip(*(x.flatten(0, 1) for x in (q, _repeat(k, q), _repeat(v, q))), strict=True)]
        outputs, weights = (torch.stack(parts).unflatten(0, q.shape[:2]) for parts in zip(*heads, strict=True))
        return Attention(outputs, weights)

    return Ready(run, (q, k, v))


def fused(q: Vectors, k: Vectors, v: Vectors, visible: Visible) -> Ready:
    """torch.nn.functional.scaled_dot_product_attention, without weights."""
    mask, is_causal = _mask(q, visible).values()
    grouped = k.shape[1] != q.shape[1]
    return Ready(
        lambda: F.scaled_dot_product_attention(q, k, v, mask, is_causal=is_causal, enable_gqa=grouped), (q, k, v)
    )


def layer(q: Vectors, k: Vectors, v: Vectors, visible: Visible) -> Ready:
    """nn.MultiheadAttention without weights, its four linear maps included."""
    return _layer(q, k, visible, need_weights=False)


def layer_with_weights(q: Vectors, k: Vectors, v: Vectors, visible: Visible) -> Ready:
    """nn.MultiheadAttention with the weights of every head, its four linear maps included."""
    return _layer(q, k, visible, need_weights=True)


def core_layer(q: Vectors, k: Vectors, v: Vectors, visible: Visible) -> Ready:
    """Our MultiHeadAttention, which always gives the weights of every head, its four linear maps included."""
    x, mask = _tokens(q, k), visible.matrix(q.device)
    module = _in_mode(MultiHeadAttention(x.shape[-1], q.shape[1]), q)
    return Ready(lambda: module(x, mask=mask), (x, *module.parameters()))


def flex(q: Vectors, k: Vectors, v: Vectors, visible: Visible) -> Ready:
    """flex_attention, compiled, without weights; a block mask skips what is hidden. Forward alone on a CPU."""
    if q.requires_grad and q.device.type == "cpu":
        raise NotImplementedError("flex_attention has no backward pass on a CPU")
    compiled, grouped = _compiled_attention(), k.shape[1] != q.shape[1]
    blocks = None
    if not visible.all_pairs:
        sizes = visible.queries, visible.keys, str(q.device)
        blocks = create_block_mask(_mask_function(visible), None, None, *sizes)
    return Ready(lambda: compiled(q, k, v, block_mask=blocks, enable_gqa=grouped), (q, k, v))


def _mask_function(visible: Visible) -> Callable[..., Tensor]:
    """The visible pairs as a function of the indices of a query and of a key, as flex_attention takes them."""
    first, causal, window = visible.keys - visible.queries, visible.causal, visible.window or visible.keys
    nearest = 0 if causal else 1 - window
    # A lambda: torch counts the arguments of its code, and checks of types at run time wrap functions that have a `def`.
    return lambda b, h, i, j: (i + first - j >= nearest) & (i + first - j < window)


def _published_implementation(row: Row) -> Implementation:
    """Returns a published implementation of attention, corrected, with the masks that it supports."""

    def ready(q: Vectors, k: Vectors, v: Vectors, visible: Visible) -> Ready:
        if row.mask == "causal" and not visible.is_causal:
            raise ValueError("it is always causal")
        seen = visible.matrix(q.device)
        if row.mask != "causal" and FORMS[row.mask] is None and seen is not None:
            raise ValueError("it takes no mask")
        x, layer = _tokens(q, k), _in_mode(MultiHeadAttention(q.shape[1] * q.shape[-1], q.shape[1]), q)
        w = row.part(Weights.from_layer(layer, batch=x.shape[0], tokens=x.shape[1]))  # pyright: ignore[reportArgumentType]  this case has it
        form, inputs = FORMS[row.mask], (x, x, x) if row.crosses else (x,)
        mask = form(seen.expand(x.shape[0], -1, -1), x) if seen is not None and form else None
        given = {} if mask is None else {"mask": mask}
        if not x.requires_grad:
            return Ready(lambda: row.as_meant(*inputs, w=w, **given), (x,))
        row.as_meant(*inputs, w=w, **given)  # creates the weight layouts that it uses, which a layer would own
        own, learned = w.learning()
        output = row.as_meant(*inputs, w=own, **given).output
        return Ready(
            lambda: row.as_meant(*inputs, w=own, **given), (x, *_reached_leaves(output, learned)), output.detach()
        )

    ready.__doc__ = f"{row.name}, as meant in {row.document.title_in_words}, its linear maps included."
    maps = 4 if row.maps_back else 3
    return Implementation(
        ready, weights=True, maps=maps, used=functools.partial(_used_sizes, row), asked=True, squares=3
    )


def _reached_leaves(output: Tensor, leaves: Sequence[Tensor]) -> list[Tensor]:
    """The leaves that the output depends on."""
    gradients = torch.autograd.grad(output.sum(), leaves, allow_unused=True)
    return [leaf for leaf, gradient in zip(leaves, gradients, strict=True) if gradient is not None]


def _used_sizes(row: Row, heads: int) -> tuple[int, int]:
    """The numbers of heads that a row computes and of weight matrices that it returns, found with weights of one channel."""
    one = torch.zeros(heads, 1, 1)
    part = row.part(Weights.of(one, one, one, one)).query
    return part.numel(), len(part)


# fmt: off
IMPLEMENTATIONS: dict[str, Implementation] = {
    "core with weights": Implementation(core, weights=True, skips=in_blocks, squares=1),
    "core into a reused buffer": Implementation(buffered, weights=True, skips=in_blocks, squares=1),
    "matmul softmax matmul": Implementation(textbook, weights=True, squares=3),
    "loop over heads": Implementation(looped, weights=True, squares=2),
    "SDPA": Implementation(fused, recomputes=True, skips=if_causal),
    "SDPA math": Implementation(fused, kernel=SDPBackend.MATH, squares=3),
    "SDPA flash": Implementation(fused, recomputes=True, skips=if_causal, kernel=SDPBackend.FLASH_ATTENTION),
    "SDPA memory-efficient": Implementation(fused, recomputes=True, skips=if_causal, kernel=SDPBackend.EFFICIENT_ATTENTION),
    "SDPA cuDNN": Implementation(fused, recomputes=True, skips=if_causal, kernel=SDPBackend.CUDNN_ATTENTION),
    "nn.MultiheadAttention": Implementation(layer, recomputes=True, maps=4, squares=2),
    "nn.MultiheadAttention with weights": Implementation(layer_with_weights, weights=True, maps=4, squares=3),
    "MultiHeadAttention of the core": Implementation(core_layer, weights=True, maps=4, skips=in_blocks, squares=1),
    "flex_attention compiled": Implementation(flex, recomputes=True, skips=always, asked=True),
}
# fmt: on
IMPLEMENTATIONS |= {
    f"published: {name}": _published_implementation(row) for name, row in ROWS.items() if row.mask != "window"
}


def _mask(q: Vectors, visible: Visible) -> dict[str, Any]:
    """The mask as arguments of a function like torch's: `is_causal` where it can say it, else a matrix or None."""
    return {"mask": None if visible.is_causal else visible.matrix(q.device), "is_causal": visible.is_causal}


def _hidden_pairs(q: Vectors, visible: Visible) -> Tensor | None:
    seen = visible.matrix(q.device)
    return None if seen is None else ~seen


def _repeat(k: Vectors, q: Vectors) -> Vectors:
    """The keys or values, each head as often as query heads share it."""
    return k if k.shape[1] == q.shape[1] else k.repeat_interleave(q.shape[1] // k.shape[1], 1)


@functools.cache
def _compiled_attention() -> Callable[..., Tensor]:
    """Compiled for every size and dtype that occurs; above the default limit of 8, torch would run it uncompiled."""
    try:
        return torch.compile(flex_attention, fullgraph=True, recompile_limit=COMPILED)  # pyright: ignore[reportCallIssue]
    except TypeError:  # before torch 2.12, there is one limit for all of a process
        torch._dynamo.config.recompile_limit = COMPILED
        return torch.compile(flex_attention, fullgraph=True)


def _layer(q: Vectors, k: Vectors, visible: Visible, need_weights: bool) -> Ready:
    x, mask = _tokens(q, k), _hidden_pairs(q, visible)
    module = _in_mode(nn.MultiheadAttention(x.shape[-1], q.shape[1], batch_first=True), q)
    how = {
        "need_weights": need_weights,
        "average_attn_weights": False,
        "attn_mask": mask,
        "is_causal": visible.is_causal,
    }

    def run() -> Tensor | Attention:
        output, weights = module(x, x, x, **how)
        return output if weights is None else Attention(output, weights)

    return Ready(run, (x, *module.parameters()))


def _tokens(q: Vectors, k: Vectors) -> Float[Tensor, "b n c"]:
    """The tokens of a layer, which projects them itself: the queries with all heads side by side."""
    if q.shape != k.shape:
        raise ValueError(NOT_A_LAYER)
    return rearrange(q.detach(), "b h n d -> b n (h d)").contiguous().requires_grad_(q.requires_grad)


def _in_mode(module: nn.Module, like: Tensor) -> nn.Module:
    """Moves the layer to the tensor's device and dtype; in training mode if gradients are needed, else in evaluation mode."""
    return module.to(like).train(like.requires_grad).requires_grad_(like.requires_grad)
