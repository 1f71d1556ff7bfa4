"""Records a GPU, and the CPU next to it, for the Timing page: `python -m benchmarks.record_gpu --out NAME.json`.

It takes about ten minutes in all. Each part is a sweep of `attention.timing` in a process of its own, so that a part that fails
leaves the others; `--parts` chooses. The file has every case that has a time or ran out of memory.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path

from attention.timing import recordings
from attention.timing.recordings import Timing

KERNELS = "SDPA flash,SDPA memory-efficient,SDPA cuDNN,SDPA math"
OTHERS = (
    "core with weights,matmul softmax matmul,loop over heads,nn.MultiheadAttention,nn.MultiheadAttention with weights,"
    "MultiHeadAttention of the core"
)
TO_8K = "64,128,256,512,1024,2048,4096,8192"
TO_64K = f"{TO_8K},16384,32768,65536"
PAPERS = {"tokens": "16384", "lengths": "512,1024,2048,4096,8192,16384", "passes": "forward,forward + backward"}
SIXTEEN = {"heads": "16", "d-heads": "64,128"}
GPU = {"devices": "cuda:0"}
PARTS: dict[str, dict[str, str]] = {
    "papers-64": GPU | PAPERS | {"heads": "32", "d-heads": "64", "masks": "full,causal", "dtypes": "float16,bfloat16",
                                 "implementations": KERNELS, "seconds": "50"},
    "papers-128": GPU | PAPERS | {"heads": "16", "d-heads": "128", "masks": "full,causal", "dtypes": "float16,bfloat16",
                                  "implementations": KERNELS, "seconds": "50"},
    "lengths": GPU | SIXTEEN | {"lengths": TO_64K, "masks": "full,causal", "dtypes": "float32,float16,bfloat16",
                                "implementations": f"SDPA,{KERNELS}", "seconds": "120"},
    "defaults": GPU | {"lengths": f"{TO_8K},16384", "masks": "full,causal", "dtypes": "float32,bfloat16",
                       "implementations": "SDPA,core with weights,matmul softmax matmul", "seconds": "30"},
    "decode": GPU | {"heads": "16", "d-heads": "128", "kv-heads": "0,4", "batches": "1,32", "queries": "1", "lengths": TO_64K,
                     "dtypes": "bfloat16", "implementations": f"SDPA,{KERNELS},core with weights", "seconds": "45"},
    "others": GPU | {"heads": "16", "d-heads": "64", "lengths": TO_8K, "masks": "causal", "dtypes": "float32,bfloat16",
                     "passes": "forward,forward + backward", "implementations": OTHERS, "seconds": "60"},
    "flex": GPU | PAPERS | {"heads": "16", "d-heads": "128", "masks": "causal", "dtypes": "bfloat16",
                            "implementations": "flex_attention compiled", "seconds": "45"},
    "window": GPU | {"heads": "16", "d-heads": "128", "masks": "causal", "windows": "1024", "lengths": "2048,8192,32768,65536",
                     "dtypes": "bfloat16", "implementations": "SDPA,flex_attention compiled", "seconds": "30"},
    "cpu": SIXTEEN | {"devices": "cpu", "lengths": TO_8K, "masks": "full,causal", "dtypes": "float32,bfloat16",
                      "implementations": "SDPA,core with weights", "seconds": "60"},
    "cpu-decode": {"devices": "cpu", "heads": "16", "d-heads": "128", "kv-heads": "0,4", "queries": "1", "lengths": TO_8K,
                   "dtypes": "float32,bfloat16", "implementations": "SDPA,core with weights", "seconds": "20"},
    "cpu-papers": {"devices": "cpu", "tokens": "16384", "lengths": "512,1024,2048,4096", "heads": "16", "d-heads": "128",
                   "masks": "causal", "dtypes": "float32,bfloat16", "implementations": "SDPA", "seconds": "30"},
}  # fmt: skip


def record() -> int:
    """Runs the chosen parts and writes the file after each."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the recording that is written")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of: {', '.join(PARTS)}")
    parser.add_argument("--seconds", type=float, default=1.0, help="multiplies the time budget of every part")
    given = parser.parse_args()
    found: list[Timing] = []
    for name in given.parts.split(","):
        found += _useful(_part(name, given.seconds))
        given.out.write_text(recordings.write_recording(found))
        print(f"{name}: {len(found)} timings so far", flush=True)
    return 0 if found else 1


def _part(name: str, scale: float) -> list[Timing]:
    knobs = PARTS[name] | {"seconds": f"{scale * float(PARTS[name]['seconds']):g}"}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "timings.json"
        flags = [part for knob, text in knobs.items() for part in (f"--{knob}", text)]
        command = [sys.executable, "-m", "attention.timing", *flags, "--out", str(file)]
        done = subprocess.run(command, check=False, text=True, capture_output=True)
        if done.returncode or not file.exists():
            print(f"{name} failed: {done.stderr[-1500:]}", flush=True)
            return []
        return [replace(timing, source="") for timing in recordings.read_recording(file.read_bytes(), file.name)]


def _useful(timings: list[Timing]) -> list[Timing]:
    """Leaves out what a device does not support and what there was no time for."""
    return [timing for timing in timings if timing.error is None or timing.error.startswith("out of memory")]


if __name__ == "__main__":
    raise SystemExit(record())
