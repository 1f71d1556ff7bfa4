"""The knobs of CPU against GPU, one line each, and everything that a link of the Timing page carries.

`cpu_gpu_series` has the lines that the picture shows for these knobs, `cpu_gpu_summary` the sentences about them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from attention.settings import Settings, asking, axis, choice
from attention.timing.data_sheets import BUSES, DATA_SHEETS
from attention.timing.published import methods
from attention.timing.sweep import SWEEPS, Sweep, format_axis_value

FASTEST = "fastest"
BREAK_EVEN = "break-even"  # of one text a picture; of other sizes a chart of their lines
LINES = "lines"  # the charts of one text, line by line
ONE_TEXT_HEADS = (16,), (8,)  # heads of 64 whose break-even for one text was recorded, those of the default first
SIZES = (
    "lengths", "heads", "d_heads", "batches", "queries", "kv_heads", "windows", "tokens", "masks", "dtypes", "passes",
)  # fmt: skip
CHARTS = ("time", "speed-up", "memory", "transfer", "roofline", BREAK_EVEN)  # line by line
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

    picture: str = choice(BREAK_EVEN, (BREAK_EVEN, LINES, "time", "times faster", "rate", "limits"), "Chart", "Break-even: from which length a GPU is faster. Time: per call, or as a ratio to the CPU's. Rate: operations per second. Limits: the rate and its limits.")
    chart: str = choice(BREAK_EVEN, CHARTS, "Chart line by line", "Break-even: from which length a GPU is faster. Time per call, or as a ratio to the CPU's. Memory beyond the inputs. Share of the copy. Rate and its limits.")
    mask: str = choice("causal", ("full", "causal"), "Mask", "Full: all keys. Causal: no key after the query, which halves the operations.")
    d_head: str = choice("64", ("64", "128"), "d_head", "Channels per head. All heads have 2,048 together: 32 heads of 64, or 16 of 128.")
    work: str = choice("forward", PASSES, "Pass", "Forward: inference. Forward + backward: with the gradients that training needs.")
    method: str = choice(FASTEST, METHODS, "GPU method", "How the GPU computes attention. Fastest: the method that is fastest at 4,096 tokens, for each GPU.")
    cpu_dtype: str = choice("float32", ("float32", "bfloat16"), "CPU precision", "The CPU's dtype. Published figures of GPUs are float16 or bfloat16.")
    lines: str = choice("few", ("few", "all"), "Lines", "Few: the CPU and GPUs that were timed. All: also published GPUs, with rates only if they were timed at other sizes. GPUs selected below override this.")
    gpus: tuple[str, ...] = axis((), "GPUs", "Leave empty for all with published figures. The others have a data sheet only, for Limits.", choices=tuple(DATA_SHEETS))
    transfer: str = choice("without and with", ("without and with", "without", "with"), "CPU–GPU copy", "Copying q, k and v to the GPU and the results back. Data that stay on the GPU need none.")
    bus: str = choice("PCIe 4.0 x16", BUSES, "Bus", "Assumed speed of the copy for published GPUs: 12.5, 25 or 50 GB/s, about 80% of the bus's bandwidth.")
# fmt: on

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            VERSUS.check(name, value)


@dataclass(frozen=True, kw_only=True)
class Timed(Sweep, CpuGpuSettings):
    """All settings in a link of the Timing page: those of a sweep, those of CPU against GPU, and the custom question."""

    heads: tuple[int, ...] = field(default=ONE_TEXT_HEADS[0], metadata={"knob": SWEEPS.knobs["heads"]})
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

    @property
    def one_text(self) -> Sweep:
        """The sweep of the break-even of one text: this one, or that of 8 heads for other sizes, as in links of before."""
        return self.sweep if is_one_text(self.sweep) else Sweep()

    @property
    def has_own_sizes(self) -> bool:
        """Whether sizes were set, so that the page shows the lines of a sweep unless the published sizes are what was set.

        Links of earlier editions have another default `chart`: those with 16 heads open the lines, as they always did.
        """
        return not is_one_text(self.sweep) or (self.heads == ONE_TEXT_HEADS[0] and self.chart != BREAK_EVEN)


def is_one_text(sweep: Sweep) -> bool:
    """Whether the sizes of a sweep are those by default, with the heads of one of the two recorded break-evens of one text."""
    return sweep.heads in ONE_TEXT_HEADS and all(
        getattr(sweep, name) == getattr(Sweep(), name) for name in SIZES if name != "heads"
    )


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
    return Timed(**{**values, "method": FASTEST}), [f"There are no published figures of {method} for {work}; the fastest method is shown."]


EDITIONS: tuple[dict[str, Any], ...] = (  # earlier defaults that have changed since
    {"lines": "all", "picture": "time", "chart": "time", "heads": (8,)},
    {"picture": "time", "chart": "time", "heads": (8,)},
    {"chart": "time", "heads": (8,)},
    {},
)
VERSUS = Settings(
    CpuGpuSettings,
    "CPU against GPU",
    prefix="sweep_",
    editions=tuple({name: value for name, value in each.items() if name != "heads"} for each in EDITIONS),
)
TIMED = Settings(
    Timed,
    "the timings",
    prefix="sweep_",
    nearest=_nearest,
    said=format_axis_value,
    rising=frozenset({"lengths"}),
    editions=EDITIONS,
)
