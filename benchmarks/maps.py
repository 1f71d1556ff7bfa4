"""Maps of any length against their bounds: `python -m benchmarks.maps`.

Long maps are drawn as the app draws them: by as many threads as torch has, each with blocks of its own.

One head of 64 channels, float32, by length: against torch's attention, which gives no weights; the longest against the
floor, the q·k product in blocks of the same size and one exponential a cell; and against the full matrix by matmul and
softmax. Memory is what the process grows by at its peak, each measured in a process of its own. Lines without a bound are
for comparison: under a short triangle too much of each block is cut, and large scores of few tokens are of float64.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from attention import head_maps
from attention.maps import sizes, zoom
from attention.maps.scoring import Scoring, exponential, exponentials
from attention.runtime.threads import started_pool
from benchmarks.interleaved import Ratio, environment, figure, ratio, times, verdict

D_HEAD = 64
ROUNDS = {4096: 15, 8192: 9, 8448: 9, 16_384: 5, 32_768: 3, 65_536: 3}  # by length; tiles of 8,448 are of 17 tokens
SHARP = 4  # times as large as random ones are scores that float32 is not enough for
REST = 0.01  # seconds before each call: threads that torch has woken wait busily for some milliseconds after it
CAUSAL = 16_384  # tokens from which most blocks of a triangle are hidden or shown as a whole


def inputs(tokens: int, heads: int = 1) -> tuple[Tensor, Tensor]:
    """Query and key, the same in every run."""
    random = torch.Generator().manual_seed(0)
    return torch.randn(heads, tokens, D_HEAD, generator=random), torch.randn(heads, tokens, D_HEAD, generator=random)


def floor(query: Tensor, key: Tensor, causal: bool) -> None:
    """What no exact map can do without: every product, and one exponential a cell."""
    height, _, cells = sizes.sizes(torch.float32)
    space, wide, way = torch.empty(cells), cells // height, exponential(query)
    for top in range(0, query.shape[1], height):
        rows = query[0, top : top + height]
        end = min(top + height, query.shape[1]) if causal else query.shape[1]
        for left in range(0, end, wide):
            cols = key[0, left : min(left + wide, end)]
            part = space[: len(rows) * len(cols)].view(len(cols), len(rows))
            exponentials(torch.mm(cols, rows.T, out=part), part, way, faint=False)


def pool() -> ThreadPoolExecutor:
    """As many threads as torch has, of which each computes by itself."""
    return started_pool(torch.get_num_threads(), "blocks")


def matrix(query: Tensor, key: Tensor) -> Tensor:
    """All weights under the causal mask, as textbooks write it."""
    scores = query @ key.mT / math.sqrt(D_HEAD)
    return torch.softmax(scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf), -1)


def against_torch(tokens: int, rounds: int, longest: bool) -> Iterator[str]:
    """Whole maps of a head, without a mask and with the causal one; of the `longest` against the floor and half of it too."""
    query, key = inputs(tokens)
    short = query[:, : tokens // 2], key[:, : tokens // 2]
    drawn = partial(head_maps, executor=pool())
    for mask in ("full", "causal"):
        candidates: dict[str, Callable[[], object]] = {
            "torch": partial(torch_attention, query, key, mask == "causal"),
            "map": partial(drawn, query, key, mask, stats=False, pool="max"),
            "stats": partial(drawn, query, key, mask),
        }
        if longest:
            candidates["floor"] = partial(floor, query, key, mask == "causal")
            candidates["half"] = partial(drawn, *short, mask, stats=False, pool="max")
        found, label = times(candidates, rounds, rest=REST), f"{tokens:,} tokens, {mask}"
        bounded = mask == "full" or tokens >= CAUSAL
        told = partial(verdict, bound=0.85 if mask == "full" else 0.8) if bounded else figure
        yield told(f"map / torch's attention without weights, {label}", ratio(found, "map", "torch"))
        told = partial(verdict, bound=1.5) if bounded else figure
        yield told(f"map with statistics / map, {label}", ratio(found, "stats", "map"))
        if longest:
            yield verdict(f"map / floor of product and exponential, {label}", ratio(found, "map", "floor"), 1.6)
            yield verdict(f"map / map of half the tokens, {label}", ratio(found, "map", "half"), 4.3)


def torch_attention(query: Tensor, key: Tensor, causal: bool) -> Tensor:
    """Torch's attention, of a head whose values are its keys."""
    return F.scaled_dot_product_attention(query[None], key[None], key[None], is_causal=causal)


def sharp(rounds: int, tokens: int = 4096) -> Iterator[str]:
    """The same where scores are too large for float32 to be exact enough."""
    query, key = inputs(tokens)
    query = SHARP * query
    drawn = partial(head_maps, query, key, "full", stats=False, pool="max", executor=pool())
    found = times({"map": drawn, "torch": partial(torch_attention, query, key, causal=False)}, rounds, rest=REST)
    label = f"{tokens:,} tokens, full, scores {SHARP} times as large, in {working(query, key)}"
    yield figure(f"map / torch's attention without weights, {label}", ratio(found, "map", "torch"))


def working(query: Tensor, key: Tensor) -> str:
    """What the map of the first head is computed in."""
    return str(sizes.working(query[0], key[0], Scoring("full", 4, 1 / math.sqrt(D_HEAD)))).removeprefix("torch.")


def choices_in_words(lengths: Iterable[int]) -> str:
    """Pieces, blocks and number types, in a line."""
    kinds = ", ".join(f"{working(*inputs(tokens))} at {tokens:,}" for tokens in lengths)
    return f"pieces of {sizes.piece() // 1024} kB, {sizes.HEIGHT} rows each; scores in {kinds} tokens"


def sparse(tokens: int, rounds: int) -> Iterator[str]:
    """A window costs what it shows; a zoom and a preview next to nothing."""
    query, key = inputs(tokens)
    short, maps = (query[:, : tokens // 2], key[:, : tokens // 2]), head_maps(query, key, stats=False)
    window = tokens // 2, tokens // 2 + 1024
    found = times(
        {
            "map": partial(head_maps, query, key, stats=False),
            "window": partial(head_maps, query, key, "window", 1024, stats=False),
            "half": partial(head_maps, *short, "window", 1024, stats=False),
            "zoom": partial(zoom.window, maps, query, key, window, window),
            "preview": partial(zoom.preview, query, key, stats=False),
        },
        rounds,
    )
    yield verdict(f"window of 1,024 / the same at half of {tokens:,} tokens", ratio(found, "window", "half"), 2.3)
    yield verdict(f"window of 1,024 / causal, {tokens:,} tokens", ratio(found, "window", "map"), 0.2)
    yield verdict(f"preview / map, {tokens:,} tokens, causal", ratio(found, "preview", "map"), 0.2)
    yield verdict("1,024 x 1,024 at full resolution / map", ratio(found, "zoom", "map"), 0.01)


def against_matrix(rounds: int, tokens: int = 4096) -> Iterator[str]:
    """Time where the full matrix still fits."""
    query, key = inputs(tokens)
    found = times({"map": partial(head_maps, query, key), "matrix": partial(matrix, query, key)}, rounds)
    label = f"map with statistics, in {working(query, key)} / full matrix, {tokens:,} tokens"
    yield verdict(label, ratio(found, "map", "matrix"), 1.0)


def of_choices(rounds: int, tokens: int = 8192, heads: int = 8) -> Iterator[str]:
    """Maps of what changes scores or their softmax, against those of the standard softmax: causal, in one thread."""
    query, key = inputs(tokens, heads)
    gates = torch.randn(heads, tokens, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    choices: dict[str, dict[str, Any]] = {
        "standard": {},
        "ALiBi": {"positions": "alibi"},
        "T5": {"positions": "t5"},
        "forgetting": {"kept": F.logsigmoid(2 * gates + 4).cumsum(1)},
        "sink": {"softmax": "sink", "sinks": (0.3,) * heads},
        "log n": {"query_scale": "log n"},
        "scores 9 times as large": {"scale": 9 / math.sqrt(D_HEAD)},
    }
    drawn = partial(head_maps, query, key, stats=False, pool="max")
    found = times({name: partial(drawn, **options) for name, options in choices.items()}, rounds)
    for name in choices:
        told = figure if name == "scores 9 times as large" else partial(verdict, bound=1.15)
        yield told(f"map with {name} / with the standard softmax, {heads} x {tokens:,}", ratio(found, name, "standard"))


def memory(tokens: int) -> Iterator[str]:
    """Peaks of processes that do nothing else."""
    grown = {name: _memory_growth(name, tokens) for name in ("full", "causal")}
    for mask, peak in grown.items():
        label = f"MB that the process grows by, {tokens:,} tokens, {mask}"
        yield verdict(label, Ratio(peak, peak, peak), 150)
    share = _memory_growth("causal", 4096) / _memory_growth("matrix", 4096)
    yield verdict("peak memory of the map / of the full matrix, 4,096 tokens", Ratio(share, share, share), 0.1)


def _memory_growth(what: str, tokens: int) -> float:
    call = [sys.executable, "-m", "benchmarks.maps", "--peak", what, "--tokens", str(tokens)]
    return float(subprocess.run(call, check=True, capture_output=True, text=True).stdout)


def peak(what: str, tokens: int) -> float:
    """Megabytes that this process grows by at its peak, once it has done the same on a few tokens."""
    run: Callable[[Tensor, Tensor], object] = matrix if what == "matrix" else partial(head_maps, mask=what)
    run(*(x[:, :512] for x in inputs(512)))
    query, key = inputs(tokens)
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    before = status("VmRSS")
    run(query, key)
    return max(status("VmHWM") - before, 1024) / 1024


def status(name: str, process: int | str = "self") -> int:
    """A line of what Linux says about a process, in KB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


def main() -> int:
    """Prints one line a bound; 1 where any is missed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tokens", type=int, default=65_536)
    options.add_argument("--rounds", type=int, default=3, help="at the least; more of short ones")
    options.add_argument("--peak", choices=("full", "causal", "matrix"), help="only this, in megabytes")
    asked = options.parse_args()
    with torch.inference_mode():
        if asked.peak:
            print(peak(asked.peak, asked.tokens))
            return 0
        print(environment())
        lengths = [tokens for tokens in ROUNDS if tokens < asked.tokens] + [asked.tokens]
        print(choices_in_words(lengths))
        rounds = {tokens: max(asked.rounds, ROUNDS.get(tokens, 0)) for tokens in lengths}
        missed = False
        for part in (
            against_matrix(max(9, asked.rounds)),
            memory(asked.tokens),
            sparse(asked.tokens, asked.rounds),
            sharp(rounds[lengths[0]]),
            of_choices(asked.rounds),
            *(against_torch(tokens, rounds[tokens], tokens == asked.tokens) for tokens in lengths),
        ):
            for line in part:
                print(line, flush=True)
                missed |= line.startswith("FAIL")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
