"""Processor seconds of each test file, those of its child processes included. Linux only.

`CPU_REPORT=/tmp/cpu make test ARGS="-p tests.cpu_report"` writes a line per test into that folder, and
`python -m tests.cpu_report /tmp/cpu [/tmp/earlier]` prints the table, beside that of an earlier run.

A fixture of a session or a module counts for the test that is the first to use it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

FOLDER = os.environ.get("CPU_REPORT")
TICK = os.sysconf("SC_CLK_TCK")
START = "(start and collection)"


def process_cpu() -> float:
    """Processor seconds of this process and of all below it, those that have ended included."""
    parents, seconds = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):  # ended meanwhile
            continue
        pid = int(path.parent.name)
        parents[pid] = int(fields[1])
        seconds[pid] = sum(map(int, fields[11:15])) / TICK
    own = os.getpid()
    return sum(spent for pid, spent in seconds.items() if pid != own and _is_below(pid, own, parents)) + sum(
        os.times()[:4]
    )


def _is_below(pid: int, ancestor: int, parents: dict[int, int]) -> bool:
    while pid in parents and pid != ancestor:
        pid = parents[pid]
    return pid == ancestor


def _write(nodeid: str, seconds: float) -> None:
    if FOLDER:
        Path(FOLDER).mkdir(parents=True, exist_ok=True)
        with (Path(FOLDER) / f"{os.getpid()}.jsonl").open("a") as out:
            out.write(json.dumps({"test": nodeid, "cpu": round(seconds, 4)}) + "\n")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Writes what the imports took, of this process only: each worker has its own."""
    if not (session.config.pluginmanager.hasplugin("dsession")):
        _write(START, time.process_time())


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Writes what the test took, its fixtures included."""
    before = process_cpu()
    try:
        return (yield)
    finally:
        _write(item.nodeid, process_cpu() - before)


def read(folder: Path) -> dict[str, tuple[int, float]]:
    """Cases and processor seconds of each file."""
    found: dict[str, list[float]] = defaultdict(list)
    for path in folder.glob("*.jsonl"):
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            found[entry["test"].partition("::")[0]].append(entry["cpu"])
    return {file: (len(each), sum(each)) for file, each in found.items()}


def main() -> None:
    """Prints the files, the most expensive first."""
    now, *earlier = [read(Path(folder)) for folder in sys.argv[1:]]
    before = earlier[0] if earlier else {}
    rows = sorted({*now, *before}, key=lambda file: -max(now.get(file, (0, 0))[1], before.get(file, (0, 0))[1]))
    print(f"{'file':44}{'cases':>8}{'CPU s':>8}" + (f"{'earlier: cases':>17}{'CPU s':>8}" if earlier else ""))
    for file in [*rows, "all"]:
        columns = [
            _total(table) if file == "all" else table.get(file, (0, 0.0)) for table in (now, *([before] * len(earlier)))
        ]
        print(
            f"{file.removeprefix('tests/'):44}"
            + "".join(f"{c:{8 + 9 * at}}{s:8.1f}" for at, (c, s) in enumerate(columns))
        )


def _total(table: dict[str, tuple[int, float]]) -> tuple[int, float]:
    return sum(cases for file, (cases, _) in table.items() if file != START), sum(cpu for _, cpu in table.values())


if __name__ == "__main__":
    main()
