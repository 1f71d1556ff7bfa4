"""Hand-built heads of plain linear maps: of every eight, six have a role, one is uniform, one random; none is learned.

Half of a token's channels describe the token, half are sines and cosines of its position, in pairs whose frequencies
fall geometrically; the last pair is constant. A rotation of the pairs by an offset is a linear map (Vaswani et al.
2017, section 3.5), so a query can select the token a fixed number of positions back. Summed over such frequencies, the
cosines of a distance fall as its logarithm: after the softmax, weights fall as a power of the distance, whatever the
length.

The program of a config (steps/program.py) prints these functions and constants unchanged: they need torch alone. To add
a role, add a branch to `queries_to_keys`, and its name to `ROLES`.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

ROLES = ("same word", "one back", "first token", "three back", "near", "same word and one back", "broad", "random")
FAST, SLOW, SOFT = 2.2, 1e-4, 0.3  # radians per token: first pair, last that is not constant, first of the role "near"
SURE = 5.0  # logit of the same word above any other
LEAD = 0.78  # of that, if the word before is to be as heavy
STEEP = 2.5  # power of the distance by which weights fall
LIVELY = 1.5  # standard deviation of the logits of a random head
EVEN = 0.004  # the same of a broad one: its weights are within 2% of uniform
OFFSETS = (1, 3), (2, 6), (4, 8), (5, 10)  # offsets of the second and the fourth role in each repetition of the roles
SHARP = 1.0, 0.8, 1.3, 0.6  # sharpness of all roles in each repetition


def frequencies(pairs: int) -> Float[Tensor, " m"]:
    """Returns radians per token of each pair of positional channels, the fastest first; the last one is zero."""
    steps = torch.arange(max(pairs - 1, 0), dtype=torch.float64) / max(pairs - 2, 1)
    return torch.cat([FAST * (SLOW / FAST) ** steps, torch.zeros(min(pairs, 1), dtype=torch.float64)])


def places(first: int, last: int, pairs: int) -> Float[Tensor, "n s"]:
    """Returns cosine and sine of some positions at each frequency, of unit variance."""
    angles = torch.arange(first, last, dtype=torch.float64)[:, None] * frequencies(pairs)
    return torch.stack([angles.cos(), angles.sin()], -1).flatten(1).mul_(2**0.5).float()


def queries_to_keys(c: int, heads: int, seed: int, own: int) -> tuple[Float[Tensor, "c h_d"], Float[Tensor, "c h_d"]]:
    """Returns the maps to queries and to keys of all heads, side by side, for tokens of c channels.

    The first `own` channels are the token itself; other channels that are no positions are the token before.
    """
    d, pairs = c // heads, c // 4
    before, moving = c - 2 * pairs - own, frequencies(pairs)[:-1]
    random = torch.Generator().manual_seed(-1 - seed)
    to_q, to_k = torch.zeros(2, heads, c, d, dtype=torch.float32)

    def words(h, sure, keys=0, room=d):  # equal vectors have the largest product; `keys`: the first channel of the keys
        many = min(room, own)
        same = torch.eye(many, dtype=torch.float32) * (sure * d**0.5 / max(many, 1)) ** 0.5
        to_q[h, :many, :many], to_k[h, keys : keys + many, :many] = same, same

    def positions(h, steep, back=None, fastest=FAST, begin=0):  # `back` positions back, or the first token if None
        some = (moving <= fastest).nonzero().flatten()
        many = min((d - begin) // 2, len(some))
        if not many:
            return
        some = some[torch.linspace(0, len(some) - 1, many).round().long()]
        size = (steep * math.log(fastest / SLOW) * d**0.5 / (2 * many)) ** 0.5
        turn = moving[some] * (back or 0)
        cosine, sine = c - 2 * pairs + 2 * some, c - 2 * pairs + 2 * some + 1
        first, second = begin + 2 * torch.arange(many), begin + 2 * torch.arange(many) + 1
        to_k[h, cosine, first] = to_k[h, sine, second] = torch.full((many,), size, dtype=torch.float32)
        if back is None:
            to_q[h, c - 2, first] = size  # the constant channel
            return
        to_q[h, cosine, first] = to_q[h, sine, second] = (size * turn.cos()).float()
        to_q[h, sine, first], to_q[h, cosine, second] = (size * turn.sin()).float(), -(size * turn.sin()).float()

    for h in range(heads):
        sharp, (short, long) = SHARP[h // 8 % 4], OFFSETS[h // 8 % 4]
        sure, steep, half = sharp * SURE, sharp * STEEP, (d + 2) // 4 * 2
        if h % 8 == 0:
            words(h, sure)
        elif h % 8 == 1:
            positions(h, steep, short)
        elif h % 8 == 2:
            positions(h, steep)
        elif h % 8 == 3:
            positions(h, steep, long)
        elif h % 8 == 4:
            positions(h, steep, 0, SOFT / 2 ** (h // 8))
        elif h % 8 == 5:
            words(h, LEAD * sure, room=d - half)
            positions(h, steep, short, begin=d - half)
        elif h % 8 == 7 and before:
            words(h, sure, keys=own)
        else:
            size = ((EVEN if h % 8 == 6 else LIVELY * sharp) / c) ** 0.5
            to_q[h], to_k[h] = (size * torch.randn(2, c, d, generator=random, dtype=torch.float32)).unbind()
    return to_q.transpose(0, 1).flatten(1), to_k.transpose(0, 1).flatten(1)


def random(head: int) -> bool:
    """Whether the head has no role and is random. A broad head is random, too, but attends to all keys alike."""
    return head % 8 == 7


def rule(head: int) -> tuple[str | int, ...]:
    """Returns the kinds of keys that a head was built to attend to, as `analysis.built_roles` names them.

    A number is that of tokens back, and `{unit}` is what a token is called. Where a head compares words and positions, earlier
    copies of a word are too far away: of equal words, only the word itself has weight.
    """
    short, long = OFFSETS[head // 8 % 4]
    first, same = "first {unit}", "same {unit}"
    return ((same,), (short,), (first,), (long,), ("nearby",), ("itself", short), ("uniform",), ("random",))[head % 8]


def values_to_output(c: int, heads: int, width: int, own: int) -> tuple[Float[Tensor, "c h_e"], Float[Tensor, "h_e c"]]:
    """Returns the maps to values and to the output: each head carries some channels of the token itself, side by side."""
    channels = torch.arange(heads * width)
    value = torch.zeros(c, heads * width, dtype=torch.float32)
    value[channels % own, channels] = 1
    return value, torch.eye(heads * width, c, dtype=torch.float32)
