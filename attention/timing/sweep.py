"""Defines which cases are timed: the knobs of a sweep, one line each, and the link that carries them.

Every knob that is a tuple is an axis: the sweep times each combination. Controls, links and the command line use the knobs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from attention.settings import ConfigError, Settings, axis, real, whole
from attention.timing.devices import DTYPES
from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.visible import Visible

SIZES = {  # fields of a case that are one value of an axis
    "heads": "heads",
    "d_head": "d_heads",
    "queries": "queries",
    "kv_heads": "kv_heads",
    "window": "windows",
}
CASES = 5_000  # largest number of cases of one sweep
DEVICE = r"[a-z]{2,12}(:[0-9]{1,2})?"


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is timed: one implementation on one device, at one size.

    `length`: the number of keys. `tokens`: the constant product of batch and length along the lengths; 0 if the batch is
    constant instead. `queries`: how many of the last tokens are queries; 0 for all. `kv_heads`: heads of keys and values,
    each shared by a group of query heads (Ainslie et al. 2023, GQA, section 2.2); 0 for as many as there are query heads.
    `window`: how many of the nearest keys a query attends to; 0 for all.
    """

    implementation: str
    device: str
    dtype: str
    mask: str
    passes: str
    batch: int
    heads: int
    d_head: int
    length: int
    tokens: int = 0
    queries: int = 0
    kv_heads: int = 0
    window: int = 0

    @property
    def visible(self) -> Visible:
        """Which keys each query attends to."""
        return Visible(self.queries or self.length, self.length, self.mask == "causal", self.window)

    @property
    def key_heads(self) -> int:
        """Number of heads of keys and values."""
        return self.kv_heads or self.heads

    @property
    def number_bytes(self) -> int:
        """Bytes per number of its dtype."""
        return {"float32": 4}.get(self.dtype, 2)

    @property
    def output_bytes(self) -> int:
        """Bytes of its output alone."""
        return self.batch * self.heads * (self.queries or self.length) * self.d_head * self.number_bytes

    @property
    def batching(self) -> str:
        """What all lengths of a line have in common: the batch, or the total number of tokens."""
        return f"{self.tokens:,} tokens in all" if self.tokens else f"batch {self.batch}"


# fmt: off
@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What `timing.measure` times: frozen, hashable and valid. Raises `ConfigError` for an invalid value."""

    lengths: tuple[int, ...] = axis((64, 128, 256, 512, 1024, 2048), "Lengths (tokens)", "Number of keys.", 2, 1_048_576)
    heads: tuple[int, ...] = axis((8,), "Heads", "Number of query heads.", 1, 128)
    d_heads: tuple[int, ...] = axis((64,), "d_head", "Channels of each query, key and value.", 1, 512)
    batches: tuple[int, ...] = axis((1,), "Batch (sequences)", "Sequences per call.", 1, 1024)
    queries: tuple[int, ...] = axis((0,), "Queries (tokens)", "How many of the last tokens are queries. 1: decoding, where one new token attends to all keys. 0: all tokens.", 0, 1_048_576)
    kv_heads: tuple[int, ...] = axis((0,), "Key-value heads", "Number of key and value heads, each shared by several query heads. 0: one per query head.", 0, 128)
    windows: tuple[int, ...] = axis((0,), "Window (tokens)", "A query attends to this many of the last tokens, itself included; under the full mask also to those after it. 0: no window.", 0, 1_048_576)
    tokens: int = whole(0, 0, 1_048_576, "Total tokens", "Chooses the batch of each length so that a call has this many tokens, as in published figures. 0: uses the batches above.")
    masks: tuple[str, ...] = axis(("full",), "Mask", "Full: all keys. Causal: no key after the query; some implementations then skip half of the operations.", choices=("full", "causal"))
    dtypes: tuple[str, ...] = axis(("float32",), "Precision (dtype)", "The dtype of q, k and v.", choices=DTYPES)
    passes: tuple[str, ...] = axis(("forward",), "Pass", "Forward, or forward and the gradients of all inputs.", choices=("forward", "forward + backward"))
    devices: tuple[str, ...] = axis((), "Devices", "Names of torch: cpu, cuda:0. Leave empty for all devices of this machine.", form=DEVICE, formed="a device of torch, like cpu or cuda:0")
    implementations: tuple[str, ...] = axis((), "Implementations", "Leave empty for all that the device supports, except flex_attention, which compiles first, and published ones.", choices=IMPLEMENTATIONS)
    threads: int = whole(0, 0, 512, "CPU threads", "Threads of torch on the CPU. 0: one per core.")
    seconds: float = real(60.0, 1.0, 7200.0, "Time budget (seconds)", "The measurement ends after this time, finished or not.")
    seed: int = whole(0, 0, 9999, "Seed", "Seed of the data and of the order of the cases.")
# fmt: on

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            SWEEPS.check(name, value)
        if (count := self.combinations) > CASES:
            raise ConfigError(f"The sweep has {count:,} cases; {CASES:,} are allowed. Choose fewer values on an axis.")

    @property
    def combinations(self) -> int:
        """Number of cases, for one device if none is named."""
        sizes = {name: len(getattr(self, name)) for name in SWEEPS.axes}
        if self.tokens:
            sizes["batches"] = 1
        return math.prod(size or _unnamed_count(name) for name, size in sizes.items())

    def batches_at(self, length: int) -> tuple[int, ...]:
        """The batches in which a length is timed."""
        return (min(max(1, self.tokens // length), int(SWEEPS.knobs["batches"].high or 1)),) if self.tokens else self.batches

    def cases(self, devices: Sequence[str], implementations: Sequence[str]) -> list[Case]:
        """Returns every combination on these devices, shortest first."""
        axes = {name: getattr(self, axis) for name, axis in SIZES.items()}
        sizes = [
            dict(zip(("length", "batch", *axes), (n, *size), strict=True))
            for n in self.lengths
            for size in itertools.product(self.batches_at(n), *axes.values())
        ]
        kinds = list(itertools.product(self.masks, self.passes, self.dtypes, devices, implementations))
        found = [
            Case(**size, tokens=self.tokens, mask=m, passes=p, dtype=t, device=where, implementation=what)
            for size in sorted(sizes, key=_work)
            for m, p, t, where, what in kinds
        ]
        return list(dict.fromkeys(map(_named_alike, found)))


def is_like(case: Case, sweep: Sweep, any_dtype: bool = False) -> bool:
    """Whether a case is one of a sweep in all but its length, implementation and device, and with `any_dtype` its dtype."""
    return (
        (case.tokens, case.tokens or case.batch) in {(sweep.tokens, sweep.tokens or n) for n in sweep.batches}
        and (case.mask in sweep.masks or case.queries == 1)
        and case.passes in sweep.passes
        and (any_dtype or case.dtype in sweep.dtypes)
        and all(getattr(case, name) in getattr(sweep, axis) for name, axis in SIZES.items())
    )


def _named_alike(case: Case) -> Case:
    """A single query without a window has no mask, whichever is chosen, so that it is one case."""
    return replace(case, mask="full") if case.queries == 1 and not case.window else case


def _work(size: dict[str, int]) -> tuple[int, int, int]:
    """Sort key of sizes: the length, then the numbers of q (b h q d), then those of k."""
    vectors = size["batch"] * size["d_head"]
    return (
        size["length"],
        vectors * size["heads"] * (size["queries"] or size["length"]),
        vectors * (size["kv_heads"] or size["heads"]),
    )


def _unnamed_count(name: str) -> int:
    """Number of values that an axis has if none is named."""
    return sum(not how.asked for how in IMPLEMENTATIONS.values()) if name == "implementations" else 1


def format_axis_value(value: float | str) -> str:
    """Formats a value of a sweep as in a link."""
    if isinstance(value, str):
        return value
    return str(int(value)) if value == int(value) else str(value)


SWEEPS = Settings(Sweep, "a sweep", prefix="sweep_", said=format_axis_value, rising=frozenset({"lengths"}))


def flags(sweep: Sweep) -> list[str]:
    """Returns a sweep as arguments of `python -m attention.timing`."""
    return [part for name, text in SWEEPS.to_query(sweep).items() for part in (f"--{name.replace('_', '-')}", text)]
