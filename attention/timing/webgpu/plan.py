"""What the visitor's browser is asked to measure: cases, tiles, and numbers of exact results that kernels must agree with."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import cache
from typing import Any

from attention.timing.cpu_gpu_settings import CpuGpuSettings
from attention.timing.cpu_gpu_summary import name_lengths
from attention.timing.published import LENGTHS, TOKENS, WIDTH
from attention.timing.recordings.timing import WEBGPU
from attention.timing.sweep import Case, Sweep
from attention.timing.webgpu import proof
from attention.timing.webgpu.tiles import D_HEADS, DECODING, TILES, decode_values

SECONDS = 60.0  # of a measurement at most
CASES = 32  # of the sweep at most
SAMPLED = 48  # numbers of each exact result
PROOFS = (
    ("full", 4, 2, 130, 0),
    ("causal", 3, 1, 193, 0),
    ("window", 2, 1, 300, 77),
    ("local", 2, 2, 190, 40),
)  # mask, heads, group, length, span
FEW_PROOFS = ((("causal", 4, 2, 150, 0), 70), (("window", 2, 1, 300, 77), 16))  # the last tokens alone are queries
DECODING_PROOFS = (("full", 4, 2, 130, 0), ("full", 3, 1, 1000, 0), ("window", 2, 1, 700, 77))
SENT = ("length", "batch", "heads", "d_head", "tokens", "mask", "queries", "kv_heads", "window")  # sizes of a case


def cases(sweep: Sweep, versus: CpuGpuSettings) -> list[Case]:
    """Returns the cases of a sweep that the kernels can compute, the shortest first, then those of CPU against GPU."""
    d_head = int(versus.d_head)
    picture = Sweep(lengths=LENGTHS, heads=(WIDTH // d_head,), d_heads=(d_head,), tokens=TOKENS, masks=(versus.mask,))
    asked = [case for case in _forward_cases(sweep) if _is_computable(case)]
    return list(dict.fromkeys([*asked[:CASES], *_forward_cases(picture)]))


def _forward_cases(sweep: Sweep) -> list[Case]:
    if "forward" not in sweep.passes:
        return []
    return replace(sweep, dtypes=("float32",), passes=("forward",)).cases([WEBGPU], ["WebGPU"])


def _is_computable(case: Case) -> bool:
    """Whether the kernels can compute a case, and it is no larger than those of the picture."""
    right = case.queries <= case.length and case.d_head in D_HEADS and case.heads % case.key_heads == 0
    return right and not _is_too_large(case)


def _is_too_large(case: Case) -> bool:
    vectors = max(case.heads * (case.queries or case.length), case.key_heads * case.length)
    return case.batch * vectors * case.d_head > TOKENS * WIDTH


def _too_long(found: list[Case]) -> str:
    """The lengths of cases that are too large for the browser."""
    lengths = sorted({case.length for case in found if _is_too_large(case)})
    return name_lengths(lengths) if lengths else ""


def left_out(sweep: Sweep) -> str:
    """Says which cases of a sweep the browser does not time, and why; empty if it times all."""
    found = _forward_cases(sweep)
    computable = sum(map(_is_computable, found))
    reasons = {
        "backward passes": sweep.passes != ("forward",),
        "more queries than tokens": any(case.queries > case.length for case in found),
        "a d_head other than 32, 64, 96 and 128": any(case.d_head not in D_HEADS for case in found),
        "key-value heads that do not divide the heads": any(case.heads % case.key_heads for case in found),
        f"{_too_long(found)} (over {TOKENS * WIDTH:,} numbers in the queries or the keys)": bool(_too_long(found)),
        f"more than {CASES} cases": computable > CASES,
    }
    told = "; ".join(reason for reason, applies in reasons.items() if applies)
    return f"Of the sizes that are set, the browser leaves out: {told}." if told else ""


def plan(sweep: Sweep, versus: CpuGpuSettings) -> dict[str, Any]:
    """Returns what the browser measures for these settings, as JSON: a part for each d_head, that of the picture last."""
    parts: dict[int, list[Case]] = {}
    for case in cases(sweep, versus):
        parts.setdefault(case.d_head, []).append(case)
    shown = int(versus.d_head)
    return {
        "mask": versus.mask,
        "d_head": shown,
        "seconds": SECONDS,
        "parts": [_part(d_head, parts[d_head]) for d_head in sorted(parts, key=lambda d_head: d_head == shown)],
    }


def _part(d_head: int, found: list[Case]) -> dict[str, Any]:
    sizes = [{name: value for name, value in asdict(case).items() if name in SENT} for case in found]
    decode = {"name": DECODING, "memory": 0, "values": decode_values(d_head, False)}
    return {"d_head": d_head, "cases": sizes, "tiles": _tiles(d_head), "decode": decode, "proofs": _proofs(d_head)}


def _tiles(d_head: int) -> list[dict[str, Any]]:
    return [
        {"name": tile.label, "memory": tile.memory(d_head), "values": tile.values(d_head, False)}
        for tile in TILES
        if tile.fits(d_head)
    ]


@cache
def _proofs(d_head: int) -> list[dict[str, Any]]:
    whole = [exact_numbers(*how, d_head) for how in PROOFS]
    few = [exact_numbers(*how, d_head, queries=queries) for how, queries in FEW_PROOFS]
    return [*whole, *few, *(exact_numbers(*how, d_head, queries=1) for how in DECODING_PROOFS)]


def exact_numbers(
    mask: str, heads: int, group: int, length: int, span: int, d_head: int, queries: int = 0
) -> dict[str, Any]:
    """Returns a shape, and numbers of its exact result with their positions: evenly spread, with the last one."""
    q, k, v = proof.inputs(heads, heads // group, length, d_head, queries=queries)
    ahead, back = proof.reach(mask, length, span)
    exact = proof.exact_outputs(q, k, v, ahead, back).flatten()
    at = [i * (len(exact) - 1) // (SAMPLED - 1) for i in range(SAMPLED)]
    sizes = {"heads": heads, "group": group, "length": length, "queries": queries or length, "d_head": d_head}
    return {**sizes, "ahead": ahead, "back": back, "at": at, "exact": [float(exact[i]) for i in at]}
