"""Proves and times the browser's WebGPU kernels without a browser, beside torch's own attention where there is CUDA.

    python benchmarks/webgpu.py [--lengths 256,1024,4096] [--out FOLDER] [--quick]

It needs PyPI's `wgpu` and a Vulkan (or Metal) driver, and of this repository `attention/timing/webgpu` and the templates in
`attention/components/browser/webgpu`. It prints a table, and writes `webgpu.json` to FOLDER, else to $OUT, else not at all.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

ROOT = Path(__file__).parents[1]
SAMPLES, SHORTEST = 5, 0.01  # timed passes, and seconds that each takes at least
HEADS = {32: 64, 64: 32, 96: 20, 128: 16}  # heads that are timed, by d_head: about 2,048 channels
DTYPES = ("float32", "float16")
BACKENDS = ("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "MATH", "CUDNN_ATTENTION")


def load(name: str) -> Any:
    """Imports a module of `attention/timing/webgpu` by its path, without all that `attention` needs."""
    spec = importlib.util.spec_from_file_location(
        f"webgpu_{name}", ROOT / "attention" / "timing" / "webgpu" / f"{name}.py"
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def count_operations(case: dict[str, Any]) -> float:
    """4 n n d h, half of it under a causal mask, 4 n span d h with a window; 4 n d h for one query."""
    n = case["n"]
    if case.get("queries") == 1:
        return 4.0 * n * case["d"] * case["heads"]
    pairs = {"full": n * n, "causal": n * n / 2, "window": n * min(n, case.get("span", n))}[case["mask"]]
    return 4.0 * pairs * case["d"] * case["heads"]


class Gpu:
    """A device of wgpu with the kernels of the browser."""

    def __init__(self) -> None:
        import wgpu

        self.wgpu, self.template, self.tiles = wgpu, load("template"), load("tiles")
        adapters = wgpu.gpu.enumerate_adapters_sync()
        order = ["DiscreteGPU", "IntegratedGPU", "VirtualGPU", "CPU"]
        self.adapter = min(adapters, key=lambda each: (each.info["backend_type"] == "OpenGL", _place(order, each)))
        wanted = ("timestamp-query", "shader-f16", "subgroup")
        features = [name for name in wanted if name in self.adapter.features]
        names = (
            "max-compute-workgroup-storage-size",
            "max-compute-invocations-per-workgroup",
            "max-storage-buffer-binding-size",
            "max-buffer-size",
        )
        self.limits = {name: self.adapter.limits[name] for name in names}
        self.device = self.adapter.request_device_sync(required_features=features, required_limits=self.limits)
        self.half, self.stamps, self.subgroups = (
            "shader-f16" in features,
            "timestamp-query" in features,
            "subgroup" in features,
        )
        self.pipelines: dict[Any, Any] = {}
        self.last = self.buffer(16)

    def pipeline(self, kernel: str, values: dict[str, Any]) -> Any:
        """The pipeline of a template for these values, with the seconds that it took to make."""
        key = kernel, tuple(sorted(values.items()))
        if key not in self.pipelines:
            code = self.template.expand(self.template.source(kernel), values)
            code = code.replace("enable subgroups;\n", "")  # which wgpu does not know, and does not need
            start = time.perf_counter()
            module = self.device.create_shader_module(code=code)
            stage = {"module": module, "entry_point": "main"}
            self.pipelines[key] = self.device.create_compute_pipeline(layout="auto", compute=stage)
            self.built = time.perf_counter() - start
        return self.pipelines[key]

    def buffer(self, data: Tensor | int) -> Any:
        """A storage buffer with these numbers, or of so many bytes."""
        usage = self.wgpu.BufferUsage
        how = usage.STORAGE | usage.COPY_SRC | usage.COPY_DST
        if isinstance(data, int):
            return self.device.create_buffer(size=data, usage=how)
        return self.device.create_buffer_with_data(data=data.contiguous().numpy(), usage=how)

    def uniform(self, *numbers: int | float) -> Any:
        """A uniform buffer of 32-bit numbers."""
        import struct

        data = struct.pack("".join("f" if isinstance(x, float) else "I" for x in numbers), *numbers)
        return self.device.create_buffer_with_data(data=data, usage=self.wgpu.BufferUsage.UNIFORM)

    def dispatch(self, pipeline: Any, buffers: list[Any], groups: tuple[int, ...]) -> tuple[Any, Any, tuple[int, ...]]:
        """A dispatch for `seconds` and `run`."""
        entries = [{"binding": at, "resource": {"buffer": buffer}} for at, buffer in enumerate(buffers)]
        layout = pipeline.get_bind_group_layout(0)
        return pipeline, self.device.create_bind_group(layout=layout, entries=entries), groups

    def wait(self) -> None:
        """Waits until all is done: reading a buffer comes after what was submitted before."""
        self.device.queue.read_buffer(self.last)

    def run(self, calls: list[Any], repeats: int = 1) -> tuple[float, float]:
        """Runs dispatches `repeats` times in one pass; returns its seconds by timestamps (nan without) and by the clock."""
        wgpu, device = self.wgpu, self.device
        usage = wgpu.BufferUsage
        encoder, how = device.create_command_encoder(), {}
        if self.stamps:
            stamps = device.create_query_set(type="timestamp", count=2)
            found = device.create_buffer(size=16, usage=usage.QUERY_RESOLVE | usage.COPY_SRC)
            writes = {"query_set": stamps, "beginning_of_pass_write_index": 0, "end_of_pass_write_index": 1}
            how = {"timestamp_writes": writes}
        once = encoder.begin_compute_pass(**how)
        for _ in range(repeats):
            for pipeline, group, groups in calls:
                once.set_pipeline(pipeline)
                once.set_bind_group(0, group)
                once.dispatch_workgroups(*groups)
        once.end()
        if self.stamps:
            encoder.resolve_query_set(stamps, 0, 2, found, 0)
        commands = encoder.finish()
        start = time.perf_counter()
        device.queue.submit([commands])
        self.wait()
        clock = time.perf_counter() - start
        if not self.stamps:
            return math.nan, clock
        begin, end = device.queue.read_buffer(found).cast("Q").tolist()
        return (end - begin) * 1e-9, clock

    def seconds(self, calls: list[Any], most: float = 1.0) -> dict[str, float]:
        """Seconds of one round of dispatches: quartiles over passes that are long enough, and the clock's median."""
        once = self.run(calls)[1]
        once = min(once, self.run(calls)[1]) if once < most else once
        repeats = max(1, min(2000, math.ceil(SHORTEST / max(once, 1e-6))))
        count = SAMPLES if once < most else 2
        found = [self.run(calls, repeats) for _ in range(count)]
        stamps, clocks = ([each[at] / repeats for each in found] for at in (0, 1))
        times = clocks if math.isnan(stamps[0]) else stamps
        lower, median, upper = statistics.quantiles(times, n=4, method="inclusive")
        return {"lower": lower, "median": median, "upper": upper, "quickest": min(times), "clock": min(clocks)}


def _place(order: list[str], adapter: Any) -> int:
    kind = adapter.info["adapter_type"]
    return order.index(kind) if kind in order else len(order)


class Attention:
    """One case on a GPU: its input, its result, and the dispatches of both ways."""

    def __init__(self, gpu: Gpu, case: dict[str, Any]) -> None:
        self.gpu, self.case = gpu, case
        self.proof = load("proof")
        self.half = case["dtype"] == "float16"
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.queries = case.get("queries") or case["n"]
        sizes = case["heads"], case["kv_heads"], case["n"], case["d"]
        self.exact = self.proof.inputs(*sizes, self.device, case.get("queries", 0))
        sent = [(x.half() if self.half else x.float()).cpu() for x in self.exact]
        self.sent = [gpu.buffer(x) for x in sent]
        self.out = gpu.buffer(sent[0].nbytes)

    def uniform(self, scale: float) -> Any:
        """The arguments of a call over all rows and heads."""
        case, rows = self.case, self.queries
        ahead, back = self.proof.reach(case["mask"], case["n"], case.get("span", 0))
        group, factor = case["heads"] // case["kv_heads"], scale / math.sqrt(case["d"])
        return self.gpu.uniform(case["n"], 0, 0, group, ahead, back, factor, rows, rows, 0, 0, 0)

    def fused(self, tile: Any) -> list[Any]:
        """The dispatch of the fused kernel."""
        pipeline = self.gpu.pipeline("fused", tile.values(self.case["d"], self.half))
        groups = -(-self.queries // tile.tile_queries), self.case["heads"]
        return [self.gpu.dispatch(pipeline, [self.uniform(math.log2(math.e)), *self.sent, self.out], groups)]

    def materialised(self, tile: Any) -> list[Any]:
        """The three dispatches of the textbook."""
        n, heads, gpu = self.case["n"], self.case["heads"], self.gpu
        q, k, v = self.sent
        values, call = tile.values(self.case["d"], self.half), self.uniform(1.0)
        scores = gpu.buffer(4 * n * self.queries * heads)
        tiles = -(-self.queries // tile.tile_queries)
        keys = -(-n // (4 * tile.columns * tile.keys))
        return [
            gpu.dispatch(gpu.pipeline("scores", values), [call, q, k, scores], (keys, tiles, heads)),
            gpu.dispatch(gpu.pipeline("softmax", values), [call, scores], (self.queries, heads)),
            gpu.dispatch(gpu.pipeline("values", values), [call, scores, v, self.out], (tiles, heads)),
        ]

    def parts(self, first: int) -> tuple[Any, int]:
        """The arguments of a call of one query whose keys begin at `first`, and the number of its parts; see kernels.js."""
        case, visible = self.case, self.case["n"] - first
        wanted = min(-(-visible // 256), 64, -(-2048 // case["heads"]))
        chunk = -(-visible // wanted // 64) * 64
        count, group = -(-visible // chunk), case["heads"] // case["kv_heads"]
        factor = math.log2(math.e) / math.sqrt(case["d"])
        return self.gpu.uniform(case["n"], first, 0, group, chunk, count, factor, 0), count

    def decode(self, subgroups: bool) -> list[Any]:
        """The dispatches of the fused kernel for one query."""
        case, gpu = self.case, self.gpu
        back = self.proof.reach(case["mask"], case["n"], case.get("span", 0))[1]
        call, count = self.parts(max(0, case["n"] - 1 - back))
        values, heads = gpu.tiles.decode_values(case["d"], self.half, subgroups), case["heads"]
        partial = gpu.buffer(16 * heads * count * (case["d"] // 4 + 1))
        return [
            gpu.dispatch(gpu.pipeline("decode", values), [call, *self.sent, partial], (heads, count)),
            gpu.dispatch(gpu.pipeline("combine", values), [call, partial, self.out], (heads,)),
        ]

    def materialised_decode(self, subgroups: bool) -> list[Any]:
        """The dispatches of the textbook for one query."""
        case, gpu, (q, k, v) = self.case, self.gpu, self.sent
        (part, count), call = self.parts(0), self.uniform(1.0)
        values, heads = gpu.tiles.decode_values(case["d"], self.half, subgroups), case["heads"]
        scores, partial = gpu.buffer(4 * case["n"] * heads), gpu.buffer(16 * heads * count * (case["d"] // 4 + 1))
        return [
            gpu.dispatch(gpu.pipeline("query_scores", values), [call, q, k, scores], (heads, -(-case["n"] // 64))),
            gpu.dispatch(gpu.pipeline("softmax", values), [call, scores], (1, heads)),
            gpu.dispatch(gpu.pipeline("query_values", values), [part, scores, v, partial], (heads, count)),
            gpu.dispatch(gpu.pipeline("combine", values), [part, partial, self.out], (heads,)),
        ]

    def error(self, calls: list[Any], rows: list[int] | None = None) -> float:
        """The largest difference from the result in float64, of these rows or of all."""
        case = self.case
        self.gpu.run(calls)
        kind = torch.float16 if self.half else torch.float32
        data = bytearray(self.gpu.device.queue.read_buffer(self.out))
        found = torch.frombuffer(data, dtype=kind).reshape(case["heads"], self.queries, case["d"]).double()
        reach = self.proof.reach(case["mask"], case["n"], case.get("span", 0))
        exact = self.proof.exact_outputs(*self.exact, *reach, rows).cpu()
        return float((found - exact if rows is None else found[:, rows] - exact).abs().max())


def fma_rate(gpu: Gpu) -> dict[str, float]:
    """Floating-point operations a second of the loop of fused multiply-adds."""
    pipeline, steps, groups = gpu.pipeline("fma", {}), 64, 4096
    buffers = [gpu.uniform(steps, 0.999, 0.001, 0.0), gpu.buffer(16)]
    while True:
        buffers[0] = gpu.uniform(steps, 0.999, 0.001, 0.0)
        call = gpu.dispatch(pipeline, buffers, (groups,))
        once = min(gpu.run([call])[1] for _ in range(2))
        if once > 0.005 or steps >= 2048:
            break
        steps *= 2 if once > 0.002 else 4
    found = gpu.seconds([call])
    operations = 2.0 * 4 * 8 * 16 * 256 * groups * steps
    return {"seconds": found["quickest"], "rate": operations / found["quickest"], "steps": steps}


def copy_rate(gpu: Gpu, megabytes: int = 64) -> dict[str, float]:
    """Bytes a second to the GPU and back."""
    data = torch.zeros(megabytes * 2**18)
    buffer = gpu.buffer(data.nbytes)
    to, back = [], []
    for _ in range(3):
        start = time.perf_counter()
        gpu.device.queue.write_buffer(buffer, 0, data.numpy())
        gpu.wait()
        to.append(time.perf_counter() - start)
        start = time.perf_counter()
        gpu.device.queue.read_buffer(buffer)
        back.append(time.perf_counter() - start)
    return {"to_bytes_per_s": data.nbytes / min(to), "from_bytes_per_s": data.nbytes / min(back)}


def candidates(tiles: Any) -> list[Any]:
    """Tiles that are compared: those of the app, and others."""
    new = tiles.Tile
    others = [
        new(keys=1, part=4),
        new(keep=True),
        new(rows=16, keep=True),
        new(columns=16, keys=1),
        new(rows=16, columns=16, queries=1, keys=1),
        new(channels=32, part=4),
        new(rows=16, channels=32, part=4),
        new(unroll=1),
        new(unroll=8),
        new(rows=16, channels=32, part=4, unroll=8),
        new(rows=16, part=4, channels=32, keep=True),
        new(rows=32),
        new(queries=4, keys=1, part=4),
        new(rows=16, columns=16),
    ]
    return list(dict.fromkeys([*tiles.TILES, *others]))


def torch_rows(case: dict[str, Any], note: Callable[..., None]) -> None:
    """Times torch's scaled dot-product attention on CUDA by each of its backends."""
    dtype = getattr(torch, case["dtype"])
    rows = case.get("queries") or case["n"], case["n"], case["n"]
    q, k, v = (torch.randn((1, case["heads"], n, case["d"]), device="cuda", dtype=dtype) for n in rows)
    for name in BACKENDS:
        try:
            with sdpa_kernel(getattr(SDPBackend, name)), torch.inference_mode():
                run = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=case["mask"] == "causal")  # noqa: E731
                times = cuda_seconds(run)
        except RuntimeError as error:
            note(case | {"how": f"torch {name.lower()}", "error": str(error).splitlines()[0][:120]})
            continue
        note(case | {"how": f"torch {name.lower()}", **times})


def cuda_seconds(run: Callable[[], object]) -> dict[str, float]:
    """Seconds of a call by CUDA's events."""
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    start = time.perf_counter()
    run()
    torch.cuda.synchronize()
    once = time.perf_counter() - start
    repeats = max(1, min(2000, math.ceil(SHORTEST / max(once, 1e-6))))
    times = []
    for _ in range(SAMPLES if once < 1 else 2):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(repeats):
            run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3 / repeats)
    lower, median, upper = statistics.quantiles(times, n=4, method="inclusive")
    return {"lower": lower, "median": median, "upper": upper, "quickest": min(times)}


def cuda_fma_free_rate() -> dict[str, float]:
    """Rates of torch's products on the same device: float32 without TF32, and float16."""
    found = {}
    for dtype in (torch.float32, torch.float16):
        a = torch.randn(8192, 8192, device="cuda", dtype=dtype)
        found[str(dtype).removeprefix("torch.")] = 2.0 * 8192**3 / cuda_seconds(lambda a=a: a @ a)["quickest"]
    return found


def prove(gpu: Gpu, tile: Any, d: int, dtype: str, masks: dict[str, int], whole: bool, report: dict[str, Any]) -> bool:
    """Compares kernels with float64 at these masks and lengths, `whole`: the materialised ones too. Are all right?"""
    right = True
    for mask, n in masks.items():
        case = {"heads": 4, "kv_heads": 2, "n": n, "d": d, "mask": mask, "span": 77, "dtype": dtype}
        one = Attention(gpu, case)
        ways = {"fused": one.fused(tile)} | ({"materialised": one.materialised(tile)} if whole else {})
        for way, calls in ways.items():
            right &= compare(one, calls, way, tile.name, report)
    return right


def compare(one: Attention, calls: list[Any], way: str, name: str, report: dict[str, Any]) -> bool:
    """Whether dispatches agree with float64; notes it in the report."""
    error = one.error(calls)
    good = error < (4e-3 if one.half else 1e-5)
    report["proofs"].append(one.case | {"how": way, "tile": name, "error": error, "good": good})
    if not good:
        print(f"WRONG {way} {name} {one.case}: {error:.2e}", flush=True)
    return good


def prove_few_queries(gpu: Gpu, tile: Any, dtypes: list[str], report: dict[str, Any]) -> None:
    """Compares the kernels of the last tokens and of one query with float64, with and without subgroup operations."""
    shapes = [("full", 130, 0), ("causal", 1000, 0), ("window", 700, 77)]
    for d, dtype, (mask, n, span) in itertools.product(gpu.tiles.D_HEADS, dtypes, shapes):
        case = {"heads": 4, "kv_heads": 2, "n": n, "d": d, "mask": mask, "span": span, "dtype": dtype}
        few = Attention(gpu, case | {"queries": 70})
        compare(few, few.fused(tile), "fused, 70 queries", tile.name, report)
        compare(few, few.materialised(tile), "materialised, 70 queries", tile.name, report)
        one = Attention(gpu, case | {"queries": 1})
        for subgroups in (False, True)[: 1 + gpu.subgroups]:
            name = "subgroups" * subgroups
            compare(one, one.decode(subgroups), "decode", name, report)
            compare(one, one.materialised_decode(subgroups), "materialised decode", name, report)


def time_decoding(gpu: Gpu, lengths: list[int], dtypes: list[str], note: Callable[..., None]) -> None:
    """Times one query of 16 heads of 128, with and without subgroup operations, beside torch."""
    for dtype, n in itertools.product(dtypes, lengths):
        case = {"heads": 16, "kv_heads": 16, "n": n, "d": 128, "mask": "full", "dtype": dtype, "queries": 1}
        one = Attention(gpu, case)
        for subgroups in (False, True)[: 1 + gpu.subgroups]:
            name = "subgroups" * subgroups
            note(case | {"how": "decode", "tile": name, **gpu.seconds(one.decode(subgroups))})
            calls = one.materialised_decode(subgroups)
            note(case | {"how": "materialised decode", "tile": name, **gpu.seconds(calls)})
        if torch.cuda.is_available():
            torch_rows(case, note)


def say_proofs(report: dict[str, Any]) -> None:
    """Prints how many results were compared, and the largest differences."""
    proofs = report["proofs"]
    most = {dtype: max((p["error"] for p in proofs if p["dtype"] == dtype), default=math.nan) for dtype in DTYPES}
    print(f"{len(proofs)} proofs, {sum(not p['good'] for p in proofs)} wrong; largest errors {most}", flush=True)


def measure_all() -> None:
    """Runs everything and prints it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", default="256,512,1024,2048,4096,8192,16384")
    parser.add_argument("--compare", type=int, default=4096, help="the length at which tiles are compared")
    parser.add_argument("--out", default=os.environ.get("OUT", ""))
    parser.add_argument("--seconds", type=float, default=120.0, help="after which nothing more is begun")
    parser.add_argument("--tiles", type=int, default=99, help="how many tiles are compared")
    parser.add_argument("--quick", action="store_true", help="fewer proofs, as for a device of software")
    args = parser.parse_args()
    started, gpu = time.perf_counter(), Gpu()
    late = lambda: time.perf_counter() - started > args.seconds  # noqa: E731
    info = dict(gpu.adapter.info)
    report: dict[str, Any] = {"adapter": info, "limits": gpu.limits, "proofs": [], "timings": []}
    print(info["device"], info["description"], gpu.limits, f"f16 {gpu.half}, timestamps {gpu.stamps}", flush=True)
    report["fma"], report["copy"] = fma_rate(gpu), copy_rate(gpu)
    rate = report["fma"]["rate"]
    print(f"fused multiply-adds {rate / 1e12:.2f} TFLOP/s; {report['copy']}", flush=True)

    def note(row: dict[str, Any]) -> None:
        report["timings"].append(row)
        sizes = f"h{row['heads']} d{row['d']} n{row['n']:<6}"
        said = f"{row['how']:<26}{row.get('tile', ''):<38}{row['dtype']:<9}{row['mask']:<7}{sizes}"
        if "error" in row:
            print(f"{said} {row['error']}", flush=True)
            return
        operations = count_operations(row) / row["quickest"]
        row["rate"], row["share"] = operations, operations / rate
        far = f", differs by {row['difference']:.1e}" if "difference" in row else ""
        took = f", built in {row['built']:.2f} s" if "built" in row else ""
        times = f"{row['quickest'] * 1e3:10.3f} ms {operations / 1e12:8.2f} TFLOP/s {100 * operations / rate:6.1f} %"
        print(f"{said}{times}{took}{far}", flush=True)

    def case(n: int, d: int, mask: str, dtype: str) -> dict[str, Any]:
        return {"heads": HEADS[d], "kv_heads": HEADS[d], "n": n, "d": d, "mask": mask, "dtype": dtype}

    dtypes = ["float32", *(["float16"] if gpu.half else [])]
    default = gpu.tiles.TILES[1]
    for d in gpu.tiles.D_HEADS:
        for dtype in dtypes:
            if not late():
                masks = {"causal": 130} if args.quick else {"full": 193, "causal": 130, "window": 300}
                prove(gpu, default, d, dtype, masks, True, report)
    prove_few_queries(gpu, default, dtypes, report)
    say_proofs(report)
    lengths = list(map(int, args.lengths.split(",")))
    time_decoding(gpu, lengths, dtypes, note)
    best: dict[tuple[int, str], Any] = {}
    ranking: list[Any] = candidates(gpu.tiles)[: args.tiles]
    for d, dtype in [(64, "float32"), (128, "float32"), (64, "float16"), (32, "float32"), (128, "float16")]:
        if dtype not in dtypes:
            continue
        one, times = Attention(gpu, case(args.compare, d, "full", dtype)), {}
        for tile in ranking:
            if not tile.fits(d) or tile.memory(d) > gpu.limits["max-compute-workgroup-storage-size"] or late():
                continue
            gpu.built = 0.0
            calls = one.fused(tile)
            built = gpu.built
            if not prove(gpu, tile, d, dtype, {"causal": 193}, False, report):
                continue
            found = one.case | {"how": "fused", "tile": tile.name, "built": built, **gpu.seconds(calls)}
            note(found)
            times[tile] = found["quickest"]
        if times:
            best[d, dtype] = min(times, key=times.get), min(times.values())
        if (d, dtype) == (64, "float32"):  # the others take those that were fastest, and wide ones
            ranking = [
                *sorted(times, key=times.get)[:5],
                *(tile for tile in candidates(gpu.tiles) if tile.columns == 16),
            ]
            ranking = list(dict.fromkeys(ranking))
    say_proofs(report)
    report["best"] = {f"{d} {dtype}": tile.name for (d, dtype), (tile, _) in best.items()}
    print("best", report["best"], flush=True)
    for d, dtype in [(64, "float32"), (64, "float16"), (128, "float32")]:
        if (d, dtype) not in best:
            continue
        for n in lengths:
            for mask in ("full", "causal"):
                if late():
                    continue
                one = Attention(gpu, case(n, d, mask, dtype))
                tile = best[d, dtype][0]
                calls = one.fused(tile)
                far = one.error(calls, [0, n // 2, n - 1])
                note(one.case | {"how": "fused", "tile": tile.name, "difference": far, **gpu.seconds(calls)})
                if 4 * n * n * one.case["heads"] <= gpu.limits["max-storage-buffer-binding-size"] and mask == "full":
                    calls = one.materialised(tile)
                    note(one.case | {"how": "materialised", "tile": tile.name, **gpu.seconds(calls)})
                if torch.cuda.is_available() and n >= 1024:
                    torch_rows(one.case, note)
    if torch.cuda.is_available():
        report["torch"] = {
            "version": torch.__version__,
            "device": torch.cuda.get_device_name(),
            "products": cuda_fma_free_rate(),
        }
        print(report["torch"], flush=True)
    report["seconds"] = time.perf_counter() - started
    print(f"{report['seconds']:.0f} s", flush=True)
    if args.out:
        (Path(args.out) / "webgpu.json").write_text(json.dumps(report, default=str))


if __name__ == "__main__":
    measure_all()
