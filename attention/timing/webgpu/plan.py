"""What the visitor's browser is asked to measure: cases, tiles, and numbers of exact results that kernels must agree with."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from attention.timing.cpu_gpu_settings import CpuGpuSettings
from attention.timing.published import LENGTHS, TOKENS, WIDTH
from attention.timing.sweep import Sweep
from attention.timing.webgpu import proof
from attention.timing.webgpu.tiles import D_HEADS, TILES

SECONDS = 60.0  # of a measurement at most
CASES = 16  # of the sweep at most
SAMPLED = 48  # numbers of each exact result
PROOFS = (
    ("full", 4, 2, 130, 0),
    ("causal", 3, 1, 193, 0),
    ("window", 2, 1, 300, 77),
)  # mask, heads, group, length, span


@dataclass(frozen=True)
class BrowserCase:
    """A case by its sizes; `tokens`: the constant product of batch and length, 0 if there is none."""

    length: int
    batch: int
    heads: int
    tokens: int
    mask: str


def cases(sweep: Sweep, versus: CpuGpuSettings) -> list[BrowserCase]:
    """Returns the cases of a sweep that the kernels can compute, the shortest first, then those of CPU against GPU."""
    heads = WIDTH // int(versus.d_head)
    found = [BrowserCase(n, TOKENS // n, heads, TOKENS, versus.mask) for n in LENGTHS]
    alike = int(versus.d_head) in sweep.d_heads and "forward" in sweep.passes
    plain = {tuple(getattr(sweep, name)) <= (0,) for name in ("queries", "kv_heads", "windows")} == {True}
    if not (alike and plain):
        return found
    small = [
        BrowserCase(n, batch, sweep.heads[0], sweep.tokens, mask)
        for n in sweep.lengths
        for batch in sweep.batches_at(n)[:1]
        for mask in sweep.masks
        if n * batch * sweep.heads[0] * int(versus.d_head) <= TOKENS * WIDTH
    ]
    return list(dict.fromkeys([*small[:CASES], *found]))


def plan(sweep: Sweep, versus: CpuGpuSettings) -> dict[str, Any]:
    """Returns what the browser measures for these settings, as JSON."""
    d_head = int(versus.d_head)
    return {
        "mask": versus.mask,
        "d_head": d_head,
        "cases": [asdict(each) for each in cases(sweep, versus)],
        "seconds": SECONDS,
        "tiles": _tiles(d_head),
        "proofs": _proofs(d_head),
    }


def _tiles(d_head: int) -> list[dict[str, Any]]:
    assert d_head in D_HEADS
    return [
        {"name": tile.label, "memory": tile.memory(d_head), "values": tile.values(d_head, False)}
        for tile in TILES
        if tile.fits(d_head)
    ]


@cache
def _proofs(d_head: int) -> list[dict[str, Any]]:
    return [exact_numbers(*how, d_head) for how in PROOFS]


def exact_numbers(mask: str, heads: int, group: int, length: int, span: int, d_head: int) -> dict[str, Any]:
    """Returns a shape, and numbers of its exact result with their positions: evenly spread, with the last one."""
    q, k, v = proof.inputs(heads, heads // group, length, d_head)
    ahead, back = proof.reach(mask, length, span)
    exact = proof.exact_outputs(q, k, v, ahead, back).flatten()
    at = [i * (len(exact) - 1) // (SAMPLED - 1) for i in range(SAMPLED)]
    shape = {"heads": heads, "group": group, "length": length, "d_head": d_head, "ahead": ahead, "back": back}
    return {**shape, "at": at, "exact": [float(exact[i]) for i in at]}
