"""The command line: what it says, writes and refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from attention.timing import __main__ as command
from attention.timing import history, recordings, roofline
from attention.timing import rounds as timing
from attention.timing.__main__ import main
from attention.timing.roofline import Peaks
from attention.timing.sweep import SWEEPS
from attention.timing.units import seconds, size
from tests.timings import GPU, failed_timing, line, lowest, make_timing

ROOT = Path(__file__).parents[1]
SMALL = ["--lengths", "8,16", "--heads", "2", "--d-heads", "4"]
TINY = [*SMALL, "--implementations", "SDPA,SDPA cuDNN", "--seconds", "100"]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(roofline, "peaks", lambda *_: Peaks(1e18, 1e18))
    monkeypatch.setattr(timing, "VISIT", (0.001, 0.002))
    monkeypatch.setattr(history, "ENOUGH", history.VISITS)


def test_it_writes_a_file_that_reads_back_to_the_last_digit(tmp_path, capsys):
    path = tmp_path / "mine.json"
    assert main([*TINY, "--out", str(path)]) == 0
    back = recordings.read_recording(path.read_bytes(), path.name)
    rows = [recordings.row(found) | {"source": ""} for found in back]
    assert json.loads(path.read_text())["timings"] == rows
    assert [(found.implementation, found.length, found.error is None) for found in back] == [
        ("SDPA", 8, True), ("SDPA cuDNN", 8, False), ("SDPA", 16, True), ("SDPA cuDNN", 16, False)
    ]  # fmt: skip
    said = capsys.readouterr()
    assert "RuntimeError: No viable backend" in said.out
    assert "4 of 4 cases" in said.err


def test_lines_are_timings_as_they_come(capsys):
    assert main([*TINY, "--lines"]) == 0
    found = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
    assert found[-1]["progress"]["share"] == 1
    assert {recordings.from_row(each["timing"]).implementation for each in found} == {"SDPA", "SDPA cuDNN"}


def test_help_explains_every_knob(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    text = " ".join(capsys.readouterr().out.split())
    for name, knob in SWEEPS.knobs.items():
        assert f"--{name.replace('_', '-')}" in text
        assert knob.help in text
    assert "4 b h n^2 d" in text


def test_the_command_that_pages_and_the_readme_name_is_this_one():
    ended = subprocess.run(
        [sys.executable, "-m", "attention.timing", "--list"], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    known = [f"{name:36}{how.help}" for name, how in command.IMPLEMENTATIONS.items()]
    assert (ended.returncode, ended.stdout.splitlines()[-len(known) :]) == (0, known)


def test_list_names_devices_and_implementations(capsys):
    assert main(["--list"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("cpu")
    assert all(name in text for name in timing.IMPLEMENTATIONS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--masks", "casual"], "masks='casual' is not one of: full, causal. Did you mean 'causal'?"),
        (["--lengths", "1e9"], "lengths='1e9' is not a whole number between 2 and 1,048,576."),
        (["--devices", "cuda:9"], "device='cuda:9' is not here. This machine has: cpu"),
    ],
)
def test_wrong_arguments_are_refused_by_name(arguments, message, capsys):
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith(message)


@pytest.mark.parametrize("name", ["no folder/x.json", "."])
def test_a_file_that_cannot_be_written_is_refused_before_measuring(name, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(command, "measure", lambda *_, **__: pytest.fail("it measures"))
    path = tmp_path / name
    assert main([*TINY, "--out", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"--out {path} can't be written: ")


def test_trying_a_file_leaves_it_as_it_was(monkeypatch, tmp_path):
    monkeypatch.setattr(command, "measure", lambda *_, **__: found())
    path, seen = tmp_path / "x.json", []

    def found() -> list:
        seen.append(path.read_text() if path.exists() else None)
        return [make_timing()]

    for _ in range(2):
        assert main([*TINY, "--out", str(path)]) == 0
    assert seen == [None, recordings.write_recording([make_timing()])]


def test_a_file_that_is_lost_meanwhile_costs_no_report(monkeypatch, tmp_path, capsys):
    folder = tmp_path / "soon gone"
    folder.mkdir()
    monkeypatch.setattr(command, "measure", lambda *_, **__: folder.rmdir() or [make_timing()])
    assert main([*TINY, "--out", str(folder / "x.json")]) == 2
    said = capsys.readouterr()
    assert "1 s" in said.out
    assert said.err.endswith("can't be written: No such file or directory. Name a file in a folder of yours.\n")


BROKEN = """
import sys
from attention.timing import __main__ as command
from tests.timings import make_timing
def measure(sweep, on_timing, **_):
    for i in range(9):
        on_timing(make_timing(64 + i), command.Progress(1, 9, 0.5, 1.0))
    return []
command.measure = measure
sys.exit(command.main(sys.argv[1:]))
"""


@pytest.mark.extended
@pytest.mark.parametrize("arguments", [["--lines"], pytest.param([], marks=pytest.mark.extended)])
def test_who_reads_no_further_gets_no_traceback_and_the_file_all_the_same(arguments, tmp_path):
    path, (reads, writes) = tmp_path / "x.json", os.pipe()
    os.close(reads)
    how = {"stdout": writes, "stderr": subprocess.PIPE, "text": True, "cwd": ROOT}
    ended = subprocess.run([sys.executable, "-c", BROKEN, *arguments, "--out", str(path)], timeout=60, **how)
    os.close(writes)
    assert "Error" not in ended.stderr
    assert len(recordings.read_recording(path.read_bytes(), "x")) == (1 if arguments else 0)


def test_an_interrupt_keeps_what_was_measured(monkeypatch, tmp_path):
    def interrupted(sweep, on_timing, **_):
        on_timing(make_timing(), timing.Progress(1, 2, 0.5, 1.0))
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "measure", interrupted)
    assert main([*TINY, "--out", str(tmp_path / "x.json")]) == 0
    assert len(recordings.read_recording((tmp_path / "x.json").read_bytes(), "x")) == 1


def test_lengths_that_failed_for_the_same_reason_have_one_row():
    text = command.report([*line([64], [0.01]), *(failed_timing(n, "emulated: bfloat16") for n in (128, 256, 512))])
    assert text.count("emulated") == 1 and "  128 to 512: emulated: bfloat16\n" in text
    apart = command.report([failed_timing(128, "one reason"), failed_timing(256, "another")])
    assert "128 one reason\n" in apart and "256 another\n" in apart


def test_the_report_says_what_the_lines_say_about_each_other():
    far = recordings.read_recording(
        recordings.write_recording(line([64, 256], [0.02, 0.02], to_device=0.02, **GPU)), "gpu.json"
    )
    here = [lowest(n, seconds, load=2.0) for n, seconds in ((64, 0.01), (128, 0.04), (256, 0.16))]
    text = command.report([*here, lowest(512, 0.5, 2.0, settled=False), *far, failed_timing(1024)])
    assert "  twice the length takes 4 times as long (exponent 2.00 ± 0.00, 64 to 256 tokens)" in text
    assert "  no growth: it needs 3 lengths with a time; choose more lengths" in text, "of the GPU"
    gpu, cpu = "SDPA · Test GPU, recorded 2026-01-31 (gpu.json)", "Test CPU, 2 cores, 2 threads"
    assert f"{gpu} against {cpu}: faster from about 91 tokens on; including the copy" in text
    assert "including the copy, faster from about 128 tokens on" in text
    assert "     64      10 ms     20 ms         10 ms to 20 ms" in text
    assert "    512 ~   500 ms" in text
    assert "\n~ unstable: no three visits agree" in text
    assert f"Other programs also ran on {cpu} during 67% of its measurements" in text
    assert "1024 out of memory: 9 GiB".replace("1024", "1,024") in text
    calm = command.report(line([64, 256], [0.01, 0.16]))
    assert "~" not in calm
    assert "busy" not in calm
    assert " unknown     10 ms         10 ms to 10 ms" in calm, "a recording of before has no quickest"


def test_seconds_and_bytes_have_units_that_suit_them():
    assert [seconds(value) for value in (12.0, 0.0123, 4.56e-5, 7e-9)] == ["12 s", "12.3 ms", "45.6 µs", "7 ns"]
    assert [size(value) for value in (None, 100, 3 * 2**20, 5 * 2**30)] == ["unknown", "100 bytes", "3 MiB", "5 GiB"]
