"""The speed of the core as ratios, each with its bound: `python -m benchmarks.core`.

Attention with the weights of every head against torch's attention without them, against torch's layer with them, and
against the plain matmul, softmax, matmul. 8 heads of 64 channels, float32.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attention import MultiHeadAttention, blocks, scaled_dot_product_attention
from benchmarks.interleaved import Candidates, environment, ratio, times, verdict

HEADS, D_HEAD = 8, 64
FUSED = (1, 1024, 15), (1, 4096, 9), (8, 1024, 9), (8, 2048, 5), (1, 8192, 5)  # sequences, tokens and rounds
QUICK = 2  # of them, where what takes minutes is left out
SLACK = 1.05  # "nowhere slower than the plain one", up to the noise of a measurement


def plain(query: Tensor, key: Tensor, value: Tensor, hidden: Tensor | None) -> tuple[Tensor, Tensor]:
    """Attention as textbooks write it; `hidden` is True where a query may not look."""
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    weights = torch.softmax(scores if hidden is None else scores.masked_fill(hidden, -math.inf), -1)
    return weights @ value, weights


def against_layer(tokens: int, rounds: int) -> Iterator[str]:
    """Our module against torch's, both with the weights of every head, under the causal mask."""
    theirs = nn.MultiheadAttention(HEADS * D_HEAD, HEADS, batch_first=True).eval()
    ours = MultiHeadAttention.from_torch(theirs)
    x, seen = torch.randn(1, tokens, HEADS * D_HEAD), torch.ones(tokens, tokens, dtype=torch.bool).tril()
    candidates = {
        "ours": lambda: ours(x, mask=seen),
        "torch": lambda: theirs(x, x, x, attn_mask=~seen, need_weights=True, average_attn_weights=False),
    }
    found = ratio(times(candidates, rounds), "ours", "torch")
    yield verdict(f"module with weights / nn.MultiheadAttention with weights, {tokens} tokens, causal", found, 0.7)


def against_fused(batch: int, tokens: int, rounds: int) -> Iterator[str]:
    """Our function against torch's without weights, into fresh memory and into a buffer."""
    query, key, value = torch.randn(3, batch, HEADS, tokens, D_HEAD).unbind(0)
    out = torch.zeros(batch, HEADS, tokens, tokens)
    for causal, fresh, reused in ((False, 2.2, 1.4), (True, 4.0, 2.0)):
        found = times(_torch_candidates(query, key, value, out, causal), rounds)
        label = f"function with weights / torch's without, batch {batch}, {tokens} tokens{', causal' * causal}"
        yield verdict(f"{label}, fresh memory", ratio(found, "fresh", "torch"), fresh)
        yield verdict(f"{label}, into a buffer", ratio(found, "reused", "torch"), reused)


def _torch_candidates(query: Tensor, key: Tensor, value: Tensor, out: Tensor, causal: bool) -> Candidates:
    return {
        "fresh": lambda: scaled_dot_product_attention(query, key, value, is_causal=causal),
        "reused": lambda: scaled_dot_product_attention(query, key, value, is_causal=causal, out=out),
        "torch": lambda: F.scaled_dot_product_attention(query, key, value, is_causal=causal),
    }


def against_plain(batch: int, tokens: int, rounds: int) -> Iterator[str]:
    """Our function against the plain one, without and with a mask."""
    query, key, value = torch.randn(3, batch, HEADS, tokens, D_HEAD).unbind(0)
    hidden = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
    seen = ~hidden
    candidates = {
        "ours": lambda: scaled_dot_product_attention(query, key, value),
        "plain": lambda: plain(query, key, value, None),
        "ours, causal": lambda: scaled_dot_product_attention(query, key, value, is_causal=True),
        "ours, mask": lambda: scaled_dot_product_attention(query, key, value, seen),
        "plain, mask": lambda: plain(query, key, value, hidden),
    }
    found = times(candidates, rounds)
    for name, to in (("ours", "plain"), ("ours, causal", "plain, mask"), ("ours, mask", "plain, mask")):
        yield verdict(f"{name} / {to}, batch {batch}, {tokens} tokens", ratio(found, name, to), SLACK)


def lines(quick: bool = False) -> Iterator[str]:
    """Every line of the report; `quick` leaves out what takes minutes."""
    yield from against_layer(1024, 15)
    for batch, tokens, rounds in FUSED[: QUICK if quick else None]:
        yield from against_fused(batch, tokens, rounds)
    for batch, longest in ((1, 4096), (8, 2048)):
        for tokens in (16 << i for i in range(9)):
            if tokens <= (1024 if quick else longest):
                yield from against_plain(batch, tokens, 41 if tokens <= 256 else 15 if tokens <= 1024 else 5)


def choices_in_words() -> str:
    """The sizes of blocks and what begins where, in a line."""
    own, shared = (
        blocks.own_block() // 1024,
        f"blocks of {blocks.BLOCK:,} cells and {blocks.ROWS} rows at the most with a mask",
    )
    return f"{shared}, of {own} kB without one in threads of their own, which there are from {blocks.APART:,} cells on"


def main() -> int:
    """Prints the report; the exit status is 1 where a bound does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="leave out what takes minutes")
    failed = 0
    print(environment(), flush=True)
    print(choices_in_words(), flush=True)
    with torch.inference_mode():
        for line in lines(parser.parse_args().quick):
            failed += line.startswith("FAIL")
            print(line, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
