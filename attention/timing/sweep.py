"""Which cases are timed: the knobs of a sweep, one line each, and the link that carries them.

Every knob that is a tuple is an axis: the sweep times each combination. Controls, link and command line read the knobs.
"""

from __future__ import annotations

import difflib
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from attention.config import ConfigError, Knob, short
from attention.timing.devices import DTYPES
from attention.timing.implementations import IMPLEMENTATIONS

CASES = 5_000  # of one sweep at the most
DEVICE = re.compile(r"[a-z]{2,12}(:[0-9]{1,2})?")
NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,20})?(e[+-]?[0-9]{1,3})?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is timed: one implementation on one device, at one size."""

    implementation: str
    device: str
    dtype: str
    mask: str
    passes: str
    batch: int
    heads: int
    d_head: int
    length: int


def _axis(
    default: tuple, label: str, help: str, low: int | None = None, high: int | None = None, choices: Any = ()
) -> Any:
    return field(default=default, metadata={"knob": Knob(label, help, low, high, tuple(choices))})


def _number(default: Any, low: Any, high: Any, label: str, help: str) -> Any:
    return field(default=default, metadata={"knob": Knob(label, help, low, high)})


# fmt: off
@dataclass(frozen=True, kw_only=True)
class Sweep:
    """What `timing.measure` times: frozen, hashable, valid. Raises `ConfigError` on anything else."""

    lengths: tuple[int, ...] = _axis((64, 128, 256, 512, 1024, 2048), "Lengths (tokens)", "How many tokens attend to each other.", 2, 1_048_576)
    heads: tuple[int, ...] = _axis((8,), "Heads", "Heads of each sequence.", 1, 128)
    d_heads: tuple[int, ...] = _axis((64,), "Channels of a head (d_head)", "The width of each query, key and value.", 1, 512)
    batches: tuple[int, ...] = _axis((1,), "Batch (sequences)", "Sequences that are computed together.", 1, 1024)
    masks: tuple[str, ...] = _axis(("full",), "Mask", "Full: every key. Causal: no key after the query; some implementations then skip half of the work.", choices=("full", "causal"))
    dtypes: tuple[str, ...] = _axis(("float32",), "Numbers (dtype)", "What the vectors are made of.", choices=DTYPES)
    passes: tuple[str, ...] = _axis(("forward",), "Pass", "Forward alone, or forward and the gradients of all inputs.", choices=("forward", "forward + backward"))
    devices: tuple[str, ...] = _axis((), "Devices", "As torch names them: cpu, cuda:0. None chosen: all that this machine has.")
    implementations: tuple[str, ...] = _axis((), "Implementations", "None chosen: all of torch and of the core that the device has; flex_attention, which compiles first, and the published ones are timed where they are named.", choices=IMPLEMENTATIONS)
    threads: int = _number(0, 0, 512, "CPU threads", "Threads that torch may use on the CPU. 0: one for each core.")
    seconds: float = _number(60.0, 1.0, 7200.0, "Time budget (seconds)", "Measuring ends then, whatever is left to do.")
    seed: int = _number(0, 0, 9999, "Seed", "Draws the data and the order of the cases.")
# fmt: on

    def __post_init__(self) -> None:
        for name in KNOBS:
            check(name, getattr(self, name))
        if (count := self.combinations) > CASES:
            raise ConfigError(f"The sweep has {count:,} cases; {CASES:,} are allowed. Choose fewer values on an axis.")

    @property
    def combinations(self) -> int:
        """How many cases there are, on one device where none is named."""
        sizes = {name: len(getattr(self, name)) for name in AXES}
        return math.prod(size or _unnamed(name) for name, size in sizes.items())

    def cases(self, devices: Sequence[str], implementations: Sequence[str]) -> list[Case]:
        """Every combination on these devices, shortest first."""
        sizes = itertools.product(self.lengths, self.batches, self.heads, self.d_heads)
        kinds = list(itertools.product(self.masks, self.passes, self.dtypes, devices, implementations))
        return [
            Case(length=n, batch=b, heads=h, d_head=d, mask=m, passes=p, dtype=t, device=where, implementation=what)
            for n, b, h, d in sorted(sizes, key=lambda size: (size[0], math.prod(size)))
            for m, p, t, where, what in kinds
        ]


def _unnamed(name: str) -> int:
    """How many there are of what is not named."""
    return sum(not how.asked for how in IMPLEMENTATIONS.values()) if name == "implementations" else 1


KNOBS: dict[str, Knob] = {entry.name: entry.metadata["knob"] for entry in fields(Sweep)}
DEFAULTS: dict[str, Any] = {entry.name: entry.default for entry in fields(Sweep)}
AXES = tuple(name for name, default in DEFAULTS.items() if isinstance(default, tuple))
MAY_BE_EMPTY = ("devices", "implementations")


def check(name: str, value: Any) -> None:
    """Raises ConfigError unless this is a value, or a tuple of values, that the knob allows."""
    if name not in AXES:
        _check_one(name, value)
        return
    if not isinstance(value, tuple) or not (value or name in MAY_BE_EMPTY):
        raise ConfigError(f"{name}={short(value)} is not a tuple of values. The default is {DEFAULTS[name]!r}.")
    if len(set(value)) < len(value):
        raise ConfigError(f"{name}={short(value)} names a value twice. Name each once.")
    for each in value:
        _check_one(name, each)


def _check_one(name: str, value: Any) -> None:
    knob = KNOBS[name]
    if name == "devices":
        right, allowed = isinstance(value, str) and DEVICE.fullmatch(value), "a device of torch, like cpu or cuda:0"
    else:
        right, allowed = knob.allows(value), knob.allowed
    if not right:
        near = difflib.get_close_matches(str(value), knob.choices, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"The default is {DEFAULTS[name]!r}."
        raise ConfigError(f"{name}={short(value)} is not {allowed}. {hint}")


def to_query(sweep: Sweep) -> dict[str, str]:
    """The knobs that differ from their defaults, as text; `from_query` gives the same sweep back."""
    changed = {name: value for name, value in vars(sweep).items() if value != DEFAULTS[name]}
    return {name: _text(value) for name, value in changed.items()}


def flags(sweep: Sweep) -> list[str]:
    """The same as arguments of `python -m attention.timing`."""
    return [part for name, text in to_query(sweep).items() for part in (f"--{name.replace('_', '-')}", text)]


def from_query(mapping: Mapping[str, Any]) -> tuple[Sweep, list[str]]:
    """The sweep that a query describes, and a sentence for each thing in it that could not be used. Never raises."""
    values, notes = dict(DEFAULTS), []
    for name, given in mapping.items():
        text = given if isinstance(given, str) else given[-1] if isinstance(given, Sequence) and given else ""
        try:
            values[name] = parsed(name, text if isinstance(text, str) else "")
        except ConfigError as error:
            notes.append(str(error))
    try:
        return Sweep(**values), notes
    except ConfigError as error:
        return Sweep(), [*notes, str(error)]


def parsed(name: str, text: str) -> Any:
    """The value of a knob from its text, the values of an axis separated by commas; raises ConfigError."""
    if name not in KNOBS:
        raise ConfigError(f"{short(name)} is not a setting of a sweep; it was ignored.")
    if name in AXES:
        parts = tuple(dict.fromkeys(_parsed_one(name, part.strip()) for part in text.split(",") if part.strip()))
        check(name, parts)
        return parts
    value = _parsed_one(name, text.strip())
    check(name, value)
    return value


def _parsed_one(name: str, text: str) -> Any:
    if KNOBS[name].low is None or not NUMBER.fullmatch(text):
        return text
    return float(text) if not KNOBS[name].whole else int(text) if text.isdigit() else text


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(int(value)) if value == int(value) else str(value)
