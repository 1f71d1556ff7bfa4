"""What a machine has, and how it is waited for."""

from __future__ import annotations

import subprocess
import sys
import types

import pytest
import torch

from attention.timing import IMPLEMENTATIONS, devices, footprint
from attention.timing.visible import Visible

MIB = 2**20


def test_this_machine_has_a_cpu_with_a_name():
    first = devices.devices()[0]
    assert first.key == "cpu"
    assert first.name.endswith(f"{devices.cores()} cores" if devices.cores() > 1 else "1 core")
    assert devices.device("cpu") == first


def test_a_device_that_is_not_here_is_refused_with_those_that_are():
    with pytest.raises(ValueError, match=r"device='cuda:9' is not here\. This machine has: cpu"):
        devices.device("cuda:9")


def test_every_accelerator_that_torch_reports_is_listed(monkeypatch):
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 2)
    named = types.SimpleNamespace(get_device_name=lambda i: f"Card {i}")
    monkeypatch.setattr(torch, "get_device_module", lambda kind: named)
    assert devices.devices()[1:] == [devices.Device("cuda:0", "Card 0"), devices.Device("cuda:1", "Card 1")]


def test_accelerators_of_one_name_are_told_apart(monkeypatch):
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 2)
    monkeypatch.setattr(devices, "_accelerator_name", lambda kind, i: "Card")
    assert [found.name for found in devices.devices()[1:]] == ["Card #0", "Card #1"]


def test_a_dtype_is_real_where_it_is_not_much_slower_than_float32(monkeypatch):
    seconds = {torch.float32: 1.0, torch.bfloat16: devices.REAL, torch.float16: devices.REAL + 0.1}
    monkeypatch.setattr(devices, "_product", lambda key, dtype: seconds[dtype])
    assert devices.dtypes("cpu") == ["float32", "bfloat16"]
    monkeypatch.setattr(devices, "_product", lambda key, dtype: float("inf") if dtype == torch.bfloat16 else 1.0)
    assert devices.dtypes("cpu") == ["float32", "float16"]


def test_float32_is_computed_for_real_here():
    assert "float32" in devices.dtypes("cpu")


@pytest.mark.skipif(not footprint.STATUS.exists(), reason="only Linux keeps the greatest resident size of a process")
@pytest.mark.parametrize("mib", [48, 96])  # the C library keeps no block as large as these
def test_the_peak_is_what_was_held_at_once_not_what_is_left(mib):
    def run() -> None:
        for _ in range(3):
            torch.ones(mib * MIB, dtype=torch.uint8)

    run()
    assert footprint.peak(run, "cpu") == pytest.approx(mib * MIB, abs=2 * footprint.RESOLUTION)


@pytest.mark.skipif(not footprint.STATUS.exists(), reason="only Linux keeps the greatest resident size of a process")
@pytest.mark.parametrize("length", [512, 1024, 1200])
def test_the_peak_counts_memory_that_the_core_keeps_between_calls(length):
    """The weights of 8 heads take 8, 32 and 44 MiB; those of 32 and more reuse what the call before has left."""
    query = torch.zeros(1, 8, length, 64)
    run = IMPLEMENTATIONS["core with weights"].ready(query, query, query, Visible(length, length)).run
    for _ in range(2):
        run()
    weights = 8 * length**2 * 4
    assert weights - footprint.RESOLUTION <= footprint.peak(run, "cpu") <= weights + 16 * MIB


@pytest.mark.skipif(not footprint.STATUS.exists(), reason="only Linux keeps the greatest resident size of a process")
def test_memory_that_is_never_touched_is_no_peak():
    assert footprint.peak(lambda: torch.empty(256 * MIB, dtype=torch.uint8), "cpu") <= 2 * footprint.RESOLUTION


def test_where_the_system_does_not_say_the_peak_is_unknown(monkeypatch, tmp_path):
    monkeypatch.setattr(footprint, "RESET", tmp_path / "none" / "none")
    assert footprint.peak(lambda: None, "cpu") is None


def test_what_is_free_is_bounded_by_a_containers_limit(monkeypatch):
    whole = devices.free_bytes("cpu")
    monkeypatch.setattr(devices, "_left_in_group", lambda: [12345])
    assert devices.free_bytes("cpu") == 12345
    assert whole is None or whole > 12345


@pytest.mark.extended
@pytest.mark.skipif(sys.platform != "linux", reason="a bound on a process's data as Linux has it")
def test_what_a_bound_on_the_process_leaves_is_all_that_is_free():
    """In a process of its own: what is bounded once can't be had again."""
    code = (
        "import resource\n"
        "from attention.timing import devices\n"
        "before, wide = devices.free_bytes('cpu'), devices._left_in_process()\n"
        "used = int(open('/proc/self/status').read().partition('VmData:')[2].split()[0]) * 1024\n"
        f"resource.setrlimit(resource.RLIMIT_DATA, (used + {50 * MIB}, resource.RLIM_INFINITY))\n"
        f"print(wide, before > {50 * MIB}, {40 * MIB} < devices.free_bytes('cpu') <= {50 * MIB})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["[]", "True", "True"], done.stderr
