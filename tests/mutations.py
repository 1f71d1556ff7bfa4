"""Would the tests notice? Breaks 40 lines of the package one by one, and runs the tests that execute each of them.

    python -m tests.mutations record FOLDER    runs the suite without browsers once, and writes which test executes which line
    python -m tests.mutations check FOLDER     breaks each line in a copy of this checkout, and prints what was caught

Each line gets 60 seconds of processor time and stops at the first test that fails; the tests that execute the fewest lines of
the package run first. A line that only processes of their own execute has no tests here. `check FOLDER 3 17` breaks these two
only. `coverage` must be installed (requirements-dev.txt).
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 60  # of processor time for each line
COPIED = (
    "attention",
    "benchmarks",
    "deploy",
    "docs",
    "pages",
    "tests",
    ".streamlit",
    ".github",
)  # and files of the root
PYTEST = (sys.executable, "-m", "pytest", "-q", "-m", "not extended", "--ignore=tests/browser")


class Mutant(NamedTuple):
    """A text that occurs once in a file of the package, and what it is replaced by."""

    file: str
    old: str
    new: str


MUTANTS = [Mutant(*line) for line in [
    ("masks.py", "return (q >= 0) & (k >= 0)", "return (q >= 0) & (k > 0)"),
    ("scores.py", "[a * cos - b * sin, a * sin + b * cos, rest]", "[a * cos + b * sin, a * sin + b * cos, rest]"),
    ("blocks.py", "mask != HIDDEN).any(-1, keepdim=True)", "mask != HIDDEN).all(-1, keepdim=True)"),
    ("attend.py", "if (mask is not None or added is not None) and _astray", "if added is not None and _astray"),
    ("layer.py", "self.q_proj.out_features + 2 * self", "self.q_proj.out_features + 3 * self"),
    ("heads.py", "counted.sum(-1).clamp(min=1)", "counted.sum(-1).clamp(min=2)"),
    ("trace.py", "bias.masked_fill_(~mask, HIDDEN)", "bias.masked_fill_(mask, HIDDEN)"),
    ("inputs.py", "n, c, generator=random) * (1 - NEARNESS**2)", "n, c, generator=random) * (1 - NEARNESS)"),
    ("codec.py", "f\"0-{values['tokens'] - 1}\"", "f\"0-{values['tokens']}\""),
    ("number_format.py", "if weight == 0 or not isfinite(weight):", "if weight == 0:"),
    ("summary.py", "and len(value) > 4:", "and len(value) > 40:"),
    ("maps/bounds.py", "None if self.drift is None else self.drift * other", "None if self.drift is None else self.drift"),
    ("maps/quadtree.py", "q - apart.clamp(max=0)", "q"),
    ("maps/pooling.py", "+ total * (start - rows)", "+ total * start"),
    ("analysis/head_roles.py", "(seen.weights * after).sum(-1), after.any(-1)", "(seen.weights * after).sum(-1), after.all(-1)"),
    ("analysis/number_types.py", "logits + bias[head].to(dtype)", "logits - bias[head].to(dtype)"),
    ("sources/constructed.py", "many = min(room, own, before or own)", "many = min(room, own)"),
    ("published/separate_maps.py", "output = weights @ value  # b n c", "output = weights.mT @ value  # b n c"),
    ("training/tasks.py", "m + torch.arange(m), places] = True", "m + torch.arange(m), places.flip(-1)] = True"),
    ("tracing/torch_layers.py", "mask, is_causal and mask is None, module=layer", "mask, is_causal, module=layer"),
    ("tracing/layer_names.py", "if len(names) == 1 and len(columns) == 1:", "if len(names) == 1:"),
    ("wire/cells.py", ".sub_(SHIFT).clamp_(0, ONE)", ".sub_(SHIFT).clamp_(1, ONE)"),
    ("steps/program.py", "if config.projections == \"identity\" else drawn", "if config.projections != \"identity\" else drawn"),
    ("steps/plan.py", "if config.logit_scale != 1:", "if config.logit_scale > 1:"),
    ("tables/rows.py", "float(weights.max()), int(visible.sum())", "float(weights.max()), int(visible.numel())"),
    ("timing/roofline.py", "if taken > longest:", "if taken >= 0:"),
    ("timing/cpu_gpu_summary.py", "if ratio >= 10 else f\"{ratio:.2g}\"", "if ratio >= 100 else f\"{ratio:.2g}\""),
    ("charts/cpu_gpu.py", "{point.rate / 1e12:,.4g} TFLOP/s", "{point.rate / 1e9:,.4g} TFLOP/s"),
    ("recorded/file.py", "isinstance(text, str) and len(text) <= TEXT and all(", "isinstance(text, str) and all("),
    ("imported/token_file.py", "found if len(found) <= LONGEST else ()", "found if len(found) < LONGEST else ()"),
    ("imported/reading.py", "if given and len(given) != count:", "if given and len(given) < count:"),
    ("array_files/numpy_file.py", "if size != there:", "if size > there:"),
    ("models/summaries.py", "gone = 1 - float(", "gone = float("),
    ("runtime/budget.py", "int(line.split()[1]) * 1024", "int(line.split()[1]) * 1000"),
    ("serving/uploads.py", " + sum(list(self.coming.values()))", ""),
    ("ui/controls/own_text.py", "if many < config.tokens:", "if many <= config.tokens:"),
    ("ui/jobs/job.py", "self.clock() - self.rested >= self.evict_after_s", "self.clock() - self.rested < self.evict_after_s"),
    ("ui/results/layers.py", "room = max(1, COMPARED // config.heads)", "room = max(1, COMPARED)"),
    ("ui/session/page.py", "elsewhere = state.page not in (\"\", name)", "elsewhere = state.page != name"),
    ("ui/views/training_course.py", "if task.state == \"done\":", "if task.state != \"done\":"),
]]  # fmt: skip


def record(folder: Path) -> None:
    """Runs the suite under coverage, with one context per test."""
    environment = os.environ | {"CONTEXTS": str(folder.resolve())}
    parallel = ("--numprocesses", "2", "--dist", "loadgroup", "-p", "tests.contexts")
    subprocess.run([*PYTEST, *parallel], cwd=ROOT, env=environment, check=False)


def tests_of_lines(folder: Path) -> dict[int, list[str]]:
    """The tests that execute each mutant's line, those first that execute the fewest lines."""
    import coverage

    found: dict[int, set[str]] = {at: set() for at in range(len(MUTANTS))}
    sizes: Counter[str] = Counter()
    for part in sorted(folder.glob("contexts*")):
        data = coverage.CoverageData(basename=str(part))
        data.read()
        for name in data.measured_files():
            relative = name.rpartition("/attention/")[2]
            by_line = data.contexts_by_lineno(name)
            sizes.update(context for contexts in by_line.values() for context in contexts)
            for at, mutant in enumerate(MUTANTS):
                if mutant.file == relative:
                    source = Path(name).read_text() if Path(name).exists() else read_source(mutant)
                    for line in lines_of(source, mutant.old):
                        found[at].update(filter(None, by_line.get(line, [])))
    return {at: sorted(tests, key=lambda test: (sizes[test], test)) for at, tests in found.items()}


def read_source(mutant: Mutant) -> str:
    return (ROOT / "attention" / mutant.file).read_text()


def lines_of(source: str, text: str) -> range:
    """The numbers of the lines that a text is on."""
    before, found, _ = source.partition(text)
    assert found, f"{text!r} is not in the file any more: change MUTANTS"
    first = before.count("\n") + 1
    return range(first, first + text.count("\n") + 1)


def collected_tests() -> dict[str, list[str]]:
    """The cases of each test function that is there now."""
    done = subprocess.run([*PYTEST, "--collect-only"], cwd=ROOT, capture_output=True, text=True, check=False)
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        if "::" in line:
            found.setdefault(line.partition("[")[0], []).append(line)
    return found


def still_there(tests: list[str], there: dict[str, list[str]]) -> list[str]:
    """These tests, where the suite has changed since the recording: other cases of the same functions."""
    found: dict[str, None] = {}
    for test in tests:
        name, group, _ = test.partition("@")  # xdist adds the group
        cases = there.get((name if group else test).partition("[")[0], [])
        found.update(dict.fromkeys([test] if test in cases else cases))
    return list(found)


def check(folder: Path, chosen: list[int]) -> None:
    """Breaks each line in a copy, and prints whether its tests notice."""
    tests = tests_of_lines(folder)
    there = collected_tests()
    caught: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "copy"
        _copy_checkout(copy)
        for at in chosen or range(len(MUTANTS)):
            start = time.monotonic()
            chosen_tests = still_there(tests[at], there)
            failed, why = _run_mutant(copy, MUTANTS[at], chosen_tests) if chosen_tests else ("", "no test executes it")
            caught += [failed] if failed else []
            outcome = f"caught by {failed}" if failed else f"NOT CAUGHT: {why}"
            print(f"{at:2} {MUTANTS[at].file}: {MUTANTS[at].new!r}: {outcome} "
                  f"({len(chosen_tests)} tests, {time.monotonic() - start:.0f} s)", flush=True)  # fmt: skip
        print(
            f"{len(caught)} of {len(chosen or MUTANTS)} caught. The tests that caught them, with nothing broken:",
            flush=True,
        )
        (copy / "chosen.txt").write_text("\n".join(dict.fromkeys(caught)))
        subprocess.run([*PYTEST, "-p", "no:cacheprovider", f"@{copy / 'chosen.txt'}"], cwd=copy, check=False)


def _copy_checkout(copy: Path) -> None:
    copy.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.iterdir():
        if file.is_file() and file.name != ".git":
            shutil.copy(file, copy / file.name)


def _run_mutant(copy: Path, mutant: Mutant, tests: list[str]) -> tuple[str, str]:
    """The first test that fails with this line broken, if any, and else why there is none."""
    file = copy / "attention" / mutant.file
    whole = file.read_text()
    chosen = copy / "chosen.txt"
    chosen.write_text("\n".join(tests))
    file.write_text(whole.replace(mutant.old, mutant.new))
    command = [*PYTEST, "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", f"@{chosen}"]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}  # no compiled file of a broken line stays
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))  # noqa: E731
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, timeout=10 * SECONDS, preexec_fn=limit
        )
    except subprocess.TimeoutExpired:
        return "", "it takes forever"
    finally:
        file.write_text(whole)
    failed = [line.split()[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode == 1 and failed:
        return failed[0], ""
    return (
        "",
        "all pass" if done.returncode == 0 else f"pytest ended with {done.returncode}: {done.stdout.strip()[-200:]}",
    )


if __name__ == "__main__":
    what, folder, *numbers = sys.argv[1:]
    record(Path(folder)) if what == "record" else check(Path(folder), [int(number) for number in numbers])
