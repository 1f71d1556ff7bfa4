"""The least time that a GPU can take by its data sheet: a bound for sizes at which no GPU was timed.

A call takes at least as long as its operations at the peak rate of dense products, and as its bytes at the bandwidth of the
memory (Williams, Waterman and Patterson 2009), plus the launch of one kernel. Real kernels reach 30 to 75 % of the larger one
at long lengths. Nothing here was measured.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from attention.timing import roofline
from attention.timing.implementations import Implementation, always, fused
from attention.timing.sweep import Case

LAUNCH = 3e-6  # seconds to start one kernel, assumed: the least that is seen of CUDA
FUSED = Implementation(fused, skips=always)  # one kernel that computes visible pairs only, and keeps what it needs


@dataclass(frozen=True)
class DataSheet:
    """Peak rates of a GPU by its data sheet: TFLOP/s of dense float16 and float32 products, and GB/s of its memory.

    `float32` is without TF32. `bfloat16`: whether its rate is that of float16, or it has none.
    """

    name: str
    teraflops: float
    float32: float
    gigabytes: float
    note: str = ""
    bfloat16: bool = True

    @property
    def operations(self) -> float:
        """Peak operations per second in float16."""
        return self.teraflops * 1e12

    @property
    def traffic(self) -> float:
        """Peak bytes per second."""
        return self.gigabytes * 1e9

    def rate(self, dtype: str) -> float | None:
        """Peak operations per second in a dtype; None if it has no units for it."""
        if dtype == "bfloat16" and not self.bfloat16:
            return None
        return self.float32 * 1e12 if dtype == "float32" else self.operations


DATA_SHEETS: dict[str, DataSheet] = {
    "A100": DataSheet("A100 80GB SXM", 312, 19.5, 2039),
    "H100": DataSheet("H100 SXM5", 989.4, 66.9, 3350),
    "H200": DataSheet("H200 SXM", 989, 67, 4800),
    "T4": DataSheet("T4", 65, 8.1, 320, "not bfloat16", bfloat16=False),
    "L4": DataSheet("L4", 121, 30.3, 300),
    "RTX 4090": DataSheet("RTX 4090", 165.2, 82.6, 1008, "accumulated in float32"),
}
BUSES: dict[str, float] = {  # assumed bytes per second: about four fifths of the bandwidth of 16 lanes
    "PCIe 3.0 x16": 12.5e9,
    "PCIe 4.0 x16": 25e9,
    "PCIe 5.0 x16": 50e9,
}


def sheet_name(device: str) -> str:
    """Returns the short name of a GPU that has a data sheet, like "H100"; empty for other devices."""
    return next((name for name in DATA_SHEETS if name in device), "")


@dataclass(frozen=True)
class Limit:
    """The least seconds of one call on a GPU: its products, its traffic in the GPU's memory, the launch, the transfers."""

    products: float
    traffic: float
    transfer: float

    @property
    def seconds(self) -> float:
        """The least time if the data are on the GPU."""
        return max(self.products, self.traffic) + LAUNCH

    @property
    def with_transfer(self) -> float:
        """The least time if the inputs are copied to the GPU and the results back."""
        return self.seconds + self.transfer

    @property
    def reason(self) -> str:
        """What limits it."""
        parts = {
            "the launch": LAUNCH,
            "its matrix products": self.products,
            "its memory's bandwidth": self.traffic,
        }
        return max(parts, key=lambda name: parts[name])


def limit(case: Case, sheet: DataSheet, bus: float) -> Limit | None:
    """Returns the limit of a case on a GPU, with transfers at `bus` bytes per second; None if the GPU lacks its dtype."""
    rate = sheet.rate(case.dtype)
    if rate is None:
        return None
    there = replace(case, device="cuda:0")
    moved = roofline.traffic(replace(there, passes="forward"), FUSED)
    if case.passes != "forward":  # three gradients come back instead of the output
        moved += 2 * case.batch * case.key_heads * case.length * case.d_head * roofline.size(case.dtype)
    return Limit(roofline.operations(there, FUSED) / rate, roofline.traffic(there, FUSED) / sheet.traffic, moved / bus)
