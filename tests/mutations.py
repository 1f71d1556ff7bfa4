"""Would the tests notice? Breaks 40 lines of the package one by one, and runs the tests that execute each of them.

    python -m tests.mutations record FOLDER    runs the suite without browsers once, and writes which test executes which line
    python -m tests.mutations check FOLDER [FIRST]   breaks each line, from this number on, and prints which test noticed

The suite is collected once; each line is broken in a process that is forked from there, by replacing the code of its function,
so no file changes. It gets 60 seconds of processor time and 40 tests, those first that execute the fewest lines of the
package, and stops at the first that fails. A line that only processes of their own execute has no tests here. In the end the
tests that noticed run once more with nothing broken. `record` needs `coverage` (requirements-dev.txt).
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 60  # of processor time for each line
MOST = 40  # tests for each line
OPTIONS = ("-q", "-m", "not extended", "--ignore=tests/browser")


class Mutant(NamedTuple):
    """A text that occurs once in a file of the package, and what it is replaced by."""

    file: str
    old: str
    new: str


MUTANTS = [Mutant(*line) for line in [
    ("masks.py", "return (q >= 0) & (k >= 0)", "return (q >= 0) & (k > 0)"),
    ("operations/rotary.py", "angles = positions[:, None] / periods", "angles = positions[:, None] * periods"),
    ("operations/rotary.py", "math.floor(first), 0)", "math.ceil(first), 0)"),
    ("operations/distance_bias.py", "4 * (2 * (head - power) + 1) / power", "4 * (2 * (head - power) + 2) / power"),
    ("blocks.py", "mask != HIDDEN).any(-1, keepdim=True)", "mask != HIDDEN).all(-1, keepdim=True)"),
    ("attend.py", "and (mask is not None or added is not None) and _astray", "and added is not None and _astray"),
    ("layer.py", "self.q_proj.out_features + 2 * self", "self.q_proj.out_features + 3 * self"),
    ("heads.py", "counted.sum(-1).clamp(min=1)", "counted.sum(-1).clamp(min=2)"),
    ("trace.py", "added.masked_fill_(~mask, HIDDEN)", "added.masked_fill_(mask, HIDDEN)"),
    ("inputs.py", "n, c, generator=random) * (1 - NEARNESS**2)", "n, c, generator=random) * (1 - NEARNESS)"),
    ("codec.py", "f\"0-{values['tokens'] - 1}\"", "f\"0-{values['tokens']}\""),
    ("number_format.py", "if weight == 0 or not isfinite(weight):", "if weight == 0:"),
    ("summary.py", "and len(value) > 4:", "and len(value) > 40:"),
    ("maps/bounds.py", "None if self.drift is None else self.drift * other", "None if self.drift is None else self.drift"),
    ("maps/quadtree.py", "q - apart.clamp(max=0)", "q"),
    ("maps/strips.py", "+ total * (start - rows)", "+ total * start"),
    ("analysis/head_kinds.py", "out=on_alike), after.any(-1)", "out=on_alike), after.all(-1)"),
    ("operations/bias.py", "values[\"scores\"] + values[\"bias\"]", "values[\"scores\"] - values[\"bias\"]"),
    ("sources/constructed.py", "words(h, sure, keys=own)", "words(h, sure)"),
    ("published/separate_maps.py", "output = weights @ value  # b n c", "output = weights.mT @ value  # b n c"),
    ("training/tasks.py", "m + torch.arange(m), places] = True", "m + torch.arange(m), places.flip(-1)] = True"),
    ("tracing/torch_layers.py", "_joint(attn_mask, padding, len(q)", "_joint(attn_mask, None, len(q)"),
    ("tracing/layer_names.py", "if len(names) == 1 and len(columns) == 1:", "if len(names) == 1 and len(columns) == 2:"),
    ("wire/cells.py", "upper.sub_(coding.shift).clamp_(LEAST, one)", "upper.sub_(coding.shift).clamp_(ZERO, one)"),
    ("steps/projection_program.py", "if config.projections == \"identity\":", "if config.projections != \"identity\":"),
    ("operations/scale.py", "lambda spec: factor(spec) != 1", "lambda spec: factor(spec) > 1"),
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
    ("ui/session/page.py", "elsewhere = state.page != name", "elsewhere = False"),
    ("ui/views/training_course.py", "if task.state == \"done\":", "if task.state != \"done\":"),
]]  # fmt: skip


def record(folder: Path) -> None:
    """Runs the suite under coverage, with one context per test."""
    environment = os.environ | {"CONTEXTS": str(folder.resolve())}
    parallel = ("--numprocesses", "2", "--dist", "loadscope", "-p", "tests.contexts")
    subprocess.run([sys.executable, "-m", "pytest", *OPTIONS, *parallel], cwd=ROOT, env=environment, check=False)
    (folder / "tests.json").write_text(json.dumps(tests_of_lines(folder), indent=1))


def tests_of_lines(folder: Path) -> list[list[str]]:
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
                    source = Path(name).read_text()
                    for line in lines_of(source, mutant.old):
                        found[at].update(filter(None, by_line.get(line, [])))
    return [sorted(tests, key=lambda test: (sizes[test], test)) for tests in found.values()]


def read_source(mutant: Mutant) -> str:
    return (ROOT / "attention" / mutant.file).read_text()


def lines_of(source: str, text: str) -> range:
    """The numbers of the lines that a text is on."""
    before, found, _ = source.partition(text)
    assert found, f"{text!r} is not in the file any more: change MUTANTS"
    first = before.count("\n") + 1
    return range(first, first + text.count("\n") + 1)


def codes(code: CodeType) -> Iterator[CodeType]:
    """A code and all codes within it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from codes(part)


def break_line(mutant: Mutant) -> int:
    """Replaces the code of the functions that have this line, and returns how many there are."""
    file = str(ROOT / "attention" / mutant.file)
    source = Path(file).read_text()
    whole, broken = (
        {(code.co_qualname, code.co_firstlineno): code for code in codes(compile(text, file, "exec"))}
        for text in (source, source.replace(mutant.old, mutant.new))
    )
    changed = {key: code for key, code in broken.items() if code != whole[key] and code.co_name != "<module>"}
    found = 0
    for function in gc.get_objects():
        if type(function) is FunctionType and function.__code__.co_filename == file:
            old = function.__code__
            for (name, line), code in changed.items():
                same = old.co_qualname == name and (code.co_name != "<lambda>" or old.co_firstlineno == line)
                if same and old.co_freevars == code.co_freevars:
                    function.__code__ = code
                    found += 1
    return found


def still_there(tests: list[str], items: list[pytest.Item]) -> list[pytest.Item]:
    """The items of these tests, and where the suite has changed since the recording, other cases of the same functions."""
    by_id = {item.nodeid.partition("@")[0]: item for item in items}
    by_function: dict[str, list[pytest.Item]] = {}
    for item in items:
        by_function.setdefault(item.nodeid.partition("[")[0], []).append(item)
    found: dict[pytest.Item, None] = {}
    for test in tests:
        found.update(dict.fromkeys([by_id[test]] if test in by_id else by_function.get(test.partition("[")[0], [])))
    return list(found)


def first_failure(items: list[pytest.Item]) -> str:
    """Runs tests until one fails, and returns its name; nothing if all pass."""
    for item, after in zip(items, [*items[1:], None], strict=True):
        reports = runtestprotocol(item, log=False, nextitem=after)
        if any(report.failed for report in reports):
            item.session._setupstate.teardown_exact(None)
            return item.nodeid
    return ""


class Check:
    """Takes the place of pytest's loop over tests."""

    def __init__(self, tests: list[list[str]], first: int) -> None:
        self.tests = tests
        self.first = first

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Runs each mutant in a process of its own."""
        gc.unfreeze()  # functions that are frozen can't be found
        caught: dict[str, None] = {}
        for at, (mutant, tests) in [*enumerate(zip(MUTANTS, self.tests, strict=True))][self.first :]:
            items = still_there(tests, session.items)[:MOST]
            failed = _run_apart(items, mutant)
            caught |= {failed: None} if "::" in failed else {}
            print(f"\n{at:2} {mutant.file}: {mutant.new!r}, {len(items)} tests: {failed or 'NOT CAUGHT'}", flush=True)
        items = [item for item in session.items if item.nodeid in caught]
        print(f"\nWith nothing broken: {_run_apart(items, None) or 'all of them pass'}", flush=True)
        return True


def _run_apart(items: list[pytest.Item], mutant: Mutant | None) -> str:
    """The name of the first test that fails in a process where the mutant's line is broken, or why there is none."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS) if mutant else (10 * SECONDS, 10 * SECONDS))
        answer = "NOT CAUGHT: no function has this line" if mutant and not break_line(mutant) else first_failure(items)
        os.write(writer, answer.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        answer = told.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return f"NOT CAUGHT: ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return answer


if __name__ == "__main__":
    what, folder, *first = sys.argv[1:]
    if what == "record":
        record(Path(folder))
    else:
        tests = json.loads((Path(folder) / "tests.json").read_text())
        files = {test.partition("::")[0] for each in tests for test in each}
        there = sorted(file for file in files if (ROOT / file).exists())
        sys.exit(pytest.main([*OPTIONS, "-s", "-p", "no:cacheprovider", *there], plugins=[Check(tests, int(*first))]))
