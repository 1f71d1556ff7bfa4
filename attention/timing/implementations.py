"""The implementations of attention that can be timed, each a function with a name in `IMPLEMENTATIONS`.

A function takes `query, key, value (b h n d)` and whether it is causal, prepares what is not to be timed (a mask, a layer with
its weights, a buffer) and returns `Ready`: the call that is timed, and the leaves whose gradients a backward pass computes. All
memory that the call itself allocates is part of its time. To add an implementation, write the function and add its name to
`IMPLEMENTATIONS`; the sweep, the charts and the command line follow.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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

COMPILED = 256  # largest number of flex_attention kernels that a process compiles: each takes seconds
Vectors = Float[Tensor, "b h n d"]


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


def never(device: str, length: int, learns: bool) -> bool:
    """Every pair is computed, and future keys are masked afterwards."""
    return False


def always(device: str, length: int, learns: bool) -> bool:
    """The kernel skips the pairs that a causal mask removes."""
    return True


def in_blocks(device: str, length: int, learns: bool) -> bool:
    """The core skips future keys if it works in blocks: on a CPU, for long sequences, without gradients."""
    return device == "cpu" and length**2 > SMALL and not learns


@dataclass(frozen=True)
class Implementation:
    """How to prepare an implementation, and its properties.

    `weights`: it returns the weights of every head. `maps`: the number of linear maps that it includes; a layer has four.
    `used(heads)`: how many of the heads it computes, and how many matrices of weights it returns.
    `skips(device, length, learns)`: whether future keys are skipped under a causal mask. `kernel`: the only kernel that
    torch may choose. `asked`: it is timed only if it is named. `squares`: how many n x n matrices per head a forward pass
    holds at once, to reject what would not fit before it runs. `recomputes`: its backward pass computes the scores again,
    as a fused kernel does, instead of keeping their softmax.
    """

    ready: Callable[[Tensor, Tensor, Tensor, bool], Ready]
    weights: bool = False
    maps: int = 0
    used: Callable[[int], tuple[int, int]] = every_head
    skips: Callable[[str, int, bool], bool] = never
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


def core(q: Vectors, k: Vectors, v: Vectors, causal: bool) -> Ready:
    """Our attention with the weights of every head; weights of 32 to 64 MiB reuse the memory of a call before on a CPU."""
    return Ready(lambda: attend(q, k, v, is_causal=causal), (q, k, v))


def buffered(q: Vectors, k: Vectors, v: Vectors, causal: bool) -> Ready:
    """Our attention with the weights of every head, written into the same memory at each call."""
    out = q.new_empty(*q.shape[:-1], k.shape[-2])
    return Ready(lambda: attend(q, k, v, is_causal=causal, out=out), (q, k, v))


def textbook(q: Vectors, k: Vectors, v: Vectors, causal: bool) -> Ready:
    """Matmul, softmax, matmul, each step into fresh memory."""
    hidden = _future(q, k) if causal else None

    def run() -> Attention:
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if hidden is not None:
            scores = scores.masked_fill(hidden, float("-inf"))
        weights = torch.softmax(scores, -1)
        return Attention(weights @ v, weights)

    return Ready(run, (q, k, v))


def looped(q: Vectors, k: Vectors, v: Vectors, causal: bool) -> Ready:
    """The same three steps in a Python loop over sequences and heads."""
    hidden = _future(q, k) if causal else None

    def one(query: Tensor, key: Tensor, value: Tensor) -> Attention:
        scores = query @ key.T / query.shape[-1] ** 0.5
        if hidden is not None:
            scores = scores.masked_fill(hidden, float("-inf"))
        weights = torch.softmax(scores, -1)
        return Attention(weights @ value, weights)

    def run() -> Attention:
        heads = [one(*each) for each in zip(q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1), strict=True)]
        outputs, weights = (torch.stack(parts).unflatten(0, q.shape[:2]) for parts in zip(*heads, strict=True))
        return Attention(outputs, weights)

    return Ready(run, (q, k, v))


def fused(q: Vectors, k: Vectors, v: Vectors, causal: bool) -> Ready:
    """torch.nn.functional.scaled_dot_product_attention, without weights."""
    return Ready(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal), (q, k, v))


def layer(q: Vectors, k: Vectors, v: Vectors, causal: bool) -> Ready:
    """nn.MultiheadAttention without weights, its four linear maps included."""
    return _layer(q, causal, need_weights=False)


def layer_with_weights(q: Vectors, k: Vectors, v: Vectors, causal: bool) -> Ready:
    """nn.MultiheadAttention with the weights of every head, its four linear maps included."""
    return _layer(q, causal, need_weights=True)


def core_layer(q: Vectors, k: Vectors, v: Vectors, causal: bool) -> Ready:
    """Our MultiHeadAttention, which always gives the weights of every head, its four linear maps included."""
    x, mask = _tokens(q), ~_future(q, q) if causal else None
    module = _in_mode(MultiHeadAttention(x.shape[-1], q.shape[1]), q)
    return Ready(lambda: module(x, mask=mask), (x, *module.parameters()))


def flex(q: Vectors, k: Vectors, v: Vectors, causal: bool) -> Ready:
    """flex_attention, compiled, without weights; a causal block mask skips what is hidden. Forward alone on a CPU."""
    if q.requires_grad and q.device.type == "cpu":
        raise NotImplementedError("flex_attention has no backward pass on a CPU")
    blocks = (
        create_block_mask(lambda b, h, i, j: i >= j, None, None, q.shape[-2], k.shape[-2], str(q.device))
        if causal
        else None
    )
    compiled = _compiled_attention()
    return Ready(lambda: compiled(q, k, v, block_mask=blocks), (q, k, v))


def _published_implementation(row: Row) -> Implementation:
    """Returns a published implementation of attention, corrected, with the masks that it supports."""

    def ready(q: Vectors, k: Vectors, v: Vectors, causal: bool) -> Ready:
        if causal != (row.mask == "causal") and (row.mask == "causal" or FORMS[row.mask] is None):
            raise ValueError("it is always causal" if row.mask == "causal" else "it takes no mask")
        x, layer = _tokens(q), _in_mode(MultiHeadAttention(q.shape[1] * q.shape[-1], q.shape[1]), q)
        w = row.part(Weights.from_layer(layer, batch=x.shape[0], tokens=x.shape[1]))  # pyright: ignore[reportArgumentType]  this case has it
        form, inputs = FORMS[row.mask], (x, x, x) if row.crosses else (x,)
        mask = form((~_future(q, q)).expand(x.shape[0], -1, -1), x) if causal and form else None
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
    "SDPA": Implementation(fused, recomputes=True, skips=always),
    "SDPA math": Implementation(fused, kernel=SDPBackend.MATH, squares=3),
    "SDPA flash": Implementation(fused, recomputes=True, skips=always, kernel=SDPBackend.FLASH_ATTENTION),
    "SDPA memory-efficient": Implementation(fused, recomputes=True, skips=always, kernel=SDPBackend.EFFICIENT_ATTENTION),
    "SDPA cuDNN": Implementation(fused, recomputes=True, skips=always, kernel=SDPBackend.CUDNN_ATTENTION),
    "nn.MultiheadAttention": Implementation(layer, recomputes=True, maps=4, squares=2),
    "nn.MultiheadAttention with weights": Implementation(layer_with_weights, weights=True, maps=4, squares=3),
    "MultiHeadAttention of the core": Implementation(core_layer, weights=True, maps=4, skips=in_blocks, squares=1),
    "flex_attention compiled": Implementation(flex, recomputes=True, skips=always, asked=True),
}
# fmt: on
IMPLEMENTATIONS |= {f"published: {name}": _published_implementation(row) for name, row in ROWS.items()}


def _future(q: Tensor, k: Tensor) -> Tensor:
    return torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).triu_(1)


@functools.cache
def _compiled_attention() -> Callable[..., Tensor]:
    """Compiled for every size and dtype that occurs; above the default limit of 8, torch would run it uncompiled."""
    return torch.compile(flex_attention, fullgraph=True, recompile_limit=COMPILED)  # pyright: ignore[reportCallIssue]  new in torch 2.12


def _layer(q: Vectors, causal: bool, need_weights: bool) -> Ready:
    x, mask = _tokens(q), _future(q, q) if causal else None
    module = _in_mode(nn.MultiheadAttention(x.shape[-1], q.shape[1], batch_first=True), q)
    how = {"need_weights": need_weights, "average_attn_weights": False, "attn_mask": mask, "is_causal": causal}

    def run() -> Tensor | Attention:
        output, weights = module(x, x, x, **how)
        return output if weights is None else Attention(output, weights)

    return Ready(run, (x, *module.parameters()))


def _tokens(q: Vectors) -> Float[Tensor, "b n c"]:
    return rearrange(q.detach(), "b h n d -> b n (h d)").contiguous().requires_grad_(q.requires_grad)


def _in_mode(module: nn.Module, like: Tensor) -> nn.Module:
    """Moves the layer to the tensor's device and dtype; in training mode if gradients are needed, else in evaluation mode."""
    return module.to(like).train(like.requires_grad).requires_grad_(like.requires_grad)
