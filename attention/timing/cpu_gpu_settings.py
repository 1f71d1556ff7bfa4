"""The knobs of CPU against GPU, one line each, and everything that a link of the Timing page carries.

`cpu_gpu_series` has the lines that the picture shows for these knobs, `cpu_gpu_summary` the sentences about them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from attention.settings import Settings, asking, axis, choice
from attention.timing.data_sheets import BUSES, DATA_SHEETS
from attention.timing.published import methods
from attention.timing.sweep import Sweep, format_axis_value

FASTEST = "fastest"
PASSES = ("forward", "forward + backward")
METHODS = (
    FASTEST,
    "FlashAttention-3",
    "FlashAttention-2",
    "FlashAttention",
    "cuDNN",
    "Triton",
    "xformers",
    "PyTorch",
    "standard attention",
)


# fmt: off
@dataclass(frozen=True, kw_only=True)
class CpuGpuSettings:
    """The settings of CPU against GPU: frozen, hashable and valid. Raises `ConfigError` for an invalid value."""

    picture: str = choice("time", ("time", "times faster", "rate", "limits"), "Picture", "Time: seconds a call. Times faster: the CPU's time over the GPU's. Rate: operations a second. Limits: the same under what each can do at best.")
    mask: str = choice("causal", ("full", "causal"), "Mask", "Full: every key. Causal: no key after the query, which is half of the work.")
    d_head: str = choice("64", ("64", "128"), "d_head", "Channels of a head. There are 2,048 in all: 32 heads of 64, or 16 of 128.")
    work: str = choice("forward", PASSES, "Pass", "Forward: attention as it is used. With backward: and the gradients that training needs.")
    method: str = choice(FASTEST, METHODS, "GPU's method", "How the GPU computes attention. Fastest: of each GPU whichever was fastest at 4,096 tokens.")
    cpu_dtype: str = choice("float32", ("float32", "bfloat16"), "CPU's numbers", "What the vectors are made of on the CPU. Those that were published of GPUs are fp16 or bf16.")
    lines: str = choice("few", ("few", "all"), "Lines", "Few: the CPU, GPUs that were timed, and those of which others have published this. All: in the table also those that were published with other sizes, which have rates alone. Where GPUs are chosen below, these.")
    gpus: tuple[str, ...] = axis((), "GPUs", "None chosen: all of which attention was published. Of the others there is a data sheet alone, for Limits.", choices=tuple(DATA_SHEETS))
    transfer: str = choice("without and with", ("without and with", "without", "with"), "The way there and back", "Moving queries, keys and values from the CPU's memory to the GPU, and the results back. Who keeps them there needs none.")
    bus: str = choice("PCIe 4.0 x16", BUSES, "Over which bus", "What carries them, at a speed that is assumed: 12.5, 25 and 50 GB/s, about four fifths of what it could carry.")
# fmt: on

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            VERSUS.check(name, value)


@dataclass(frozen=True, kw_only=True)
class Timed(Sweep, CpuGpuSettings):
    """All settings in a link of the Timing page: those of a sweep, those of CPU against GPU, and the custom question."""

    ask: str = asking()

    def __post_init__(self) -> None:
        _ = self.sweep, self.versus
        TIMED.check("ask", self.ask)

    @property
    def sweep(self) -> Sweep:
        """The settings of the measurement."""
        return Sweep(**_own(Sweep, vars(self)))

    @property
    def versus(self) -> CpuGpuSettings:
        """The settings of CPU against GPU."""
        return CpuGpuSettings(**_own(CpuGpuSettings, vars(self)))


def _own(kind: type[Sweep] | type[CpuGpuSettings], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values whose names are fields of a class."""
    return {entry.name: values[entry.name] for entry in fields(kind)}


def is_published(method: str, work: str) -> bool:
    """Whether there are published figures of this method for this pass."""
    return method == FASTEST or method in methods(work)


def _nearest(values: Mapping[str, Any]) -> tuple[Timed, list[str]]:
    """Returns valid settings and notes: a method that was not published for the pass is replaced by the fastest."""
    method, work = values["method"], values["work"]
    if is_published(method, work):
        return Timed(**values), []
    return Timed(**{**values, "method": FASTEST}), [f"{method} was not published of {work}: the fastest is shown."]


EDITIONS: tuple[dict[str, Any], ...] = ({"lines": "all"}, {})  # earlier defaults that have changed since
VERSUS = Settings(CpuGpuSettings, "CPU against GPU", prefix="sweep_", editions=EDITIONS)
TIMED = Settings(
    Timed,
    "the timings",
    prefix="sweep_",
    nearest=_nearest,
    said=format_axis_value,
    rising=frozenset({"lengths"}),
    editions=EDITIONS,
)
