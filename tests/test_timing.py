"""A real sweep, small: what comes out of it, not how fast it was."""

from __future__ import annotations

import threading
from contextlib import ExitStack

import pytest
import torch

from attention.timing import IMPLEMENTATIONS, Sweep, devices, history, measure, one_at_a_time, roofline, stopwatch
from attention.timing import rounds as timing
from attention.timing.implementations import Implementation
from attention.timing.roofline import Peaks

SMALL = {"lengths": (8, 16), "heads": (2,), "d_heads": (4,), "devices": ("cpu",), "threads": 1, "seconds": 60.0}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Known peaks and short visits, so that the structure of a sweep takes no time."""
    monkeypatch.setattr(roofline, "peaks", lambda *_: Peaks(matmul=1e18, copy=1e18))
    monkeypatch.setattr(devices, "dtypes", lambda key: ["float32", "bfloat16"])
    monkeypatch.setattr(timing, "VISIT", (0.001, 0.002))
    monkeypatch.setattr(history, "ENOUGH", history.VISITS)


def test_a_sweep_gives_every_case_with_its_spread():
    heard = []
    timings = measure(Sweep(**SMALL, masks=("full", "causal")), on_timing=lambda found, _: heard.append(found))
    lacks = ("SDPA memory-efficient", "SDPA cuDNN")  # on a CPU
    has = [name for name, how in IMPLEMENTATIONS.items() if not how.asked and name not in lacks]
    assert {(found.implementation, found.length, found.mask) for found in timings} == {
        (name, n, mask) for name in has for n in (8, 16) for mask in ("full", "causal")
    }
    for found in timings:
        assert found.error is None
        assert 0 < found.lower <= found.median <= found.upper
        assert found.repeats >= 3
        assert found.first > 0
        assert (found.to_device, found.from_device, found.source) == (0, 0, "")
        assert found.threads == 1
        assert found.device_name == devices.cpu_name()
        assert found.torch == torch.__version__
    assert {found.case for found in heard} == {found.case for found in timings}


def test_every_case_is_visited_at_least_three_times_and_in_shuffled_rounds():
    heard = []
    measure(
        Sweep(**SMALL, implementations=("SDPA", "SDPA math", "core with weights")),
        on_timing=lambda found, _: heard.append(found.case),
    )
    rounds = [heard[i : i + 6] for i in range(0, 24, 6)]
    assert all(set(each) == set(rounds[0]) for each in rounds)
    assert rounds[0] == sorted(rounds[0], key=lambda case: case.length), "shortest first, to know what will fit"
    assert len({tuple(each) for each in rounds}) >= 3


def test_first_calls_leave_time_for_visits_and_those_that_must_wait_are_called_later(monkeypatch):
    """On a busy machine first calls alone would take the budget; the clock here moves by a second a first call."""
    heard, now = [], [0.0]
    monkeypatch.setattr(timing, "perf_counter", lambda: now[0])
    scout = history.CaseHistory.scout

    def slow(course: history.CaseHistory, seed: int) -> None:
        now[0] += 1.0
        scout(course, seed)

    monkeypatch.setattr(history.CaseHistory, "scout", slow)
    sweep = Sweep(**SMALL | {"lengths": tuple(range(8, 16)), "seconds": 10.0}, implementations=("SDPA",))
    found = measure(sweep, on_timing=lambda found, _: heard.append((found.length, found.visits)))
    assert [length for length, visits in heard[:5]] == [8, 9, 10, 11, 12], "until 40 % of ten seconds are gone"
    assert heard[5][1] == 1, "then visits, before the other lengths"
    assert [timing.length for timing in found] == list(range(8, 16)), "which are called once there is time again"


def test_where_time_is_short_the_shortest_are_visited_until_they_are_known(monkeypatch):
    """Each visit takes two seconds more than it was given, of ten: there is time for one case of three."""
    now = [0.0]
    monkeypatch.setattr(timing, "perf_counter", lambda: now[0])
    visit = stopwatch.samples

    def slow(*given) -> list[float]:
        now[0] += 2.0
        return visit(*given)

    monkeypatch.setattr(stopwatch, "samples", slow)
    sweep = Sweep(**SMALL | {"lengths": (8, 12, 16), "seconds": 18.0}, implementations=("SDPA",))
    visits = [found.visits for found in measure(sweep)]
    assert visits[0] >= history.VISITS, "enough of the shortest, not one of each"
    assert sum(visits) > visits[0]
    assert visits == sorted(visits, reverse=True)


def test_progress_only_grows_and_ends_at_one():
    told = []
    measure(Sweep(**SMALL, implementations=("SDPA",)), on_timing=lambda _, progress: told.append(progress))
    assert told == sorted(told, key=lambda progress: (progress.share, progress.seconds))
    assert (told[-1].done, told[-1].cases, told[-1].share) == (2, 2, 1)


def test_what_the_device_does_not_have_is_a_result_where_it_was_asked_for():
    (found,) = measure(Sweep(**SMALL | {"lengths": (8,)}, implementations=("SDPA cuDNN",)))
    assert found.error.startswith("RuntimeError: No viable backend")
    assert (found.median, found.lower, found.upper, found.repeats, found.settled) == (None, None, None, 0, False)


SHORT = [
    MemoryError("oh"),
    RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes"),
    torch.OutOfMemoryError("CUDA out of memory."),
]


@pytest.mark.parametrize("error", SHORT)
def test_running_out_of_memory_is_a_result_and_the_others_go_on(monkeypatch, error):
    def ready(q, k, v, visible):
        if q.shape[-2] == 16:
            raise error
        return IMPLEMENTATIONS["SDPA"].ready(q, k, v, visible)

    monkeypatch.setitem(IMPLEMENTATIONS, "SDPA math", Implementation(ready))
    fine, short = measure(Sweep(**SMALL, implementations=("SDPA math",)))
    assert fine.median > 0
    assert short.error == f"out of memory: {error}"


def test_what_would_not_fit_is_not_tried(monkeypatch):
    monkeypatch.setattr(devices, "free_bytes", lambda key: 2**20)
    sweep = Sweep(**SMALL | {"lengths": (16, 4096)}, implementations=("SDPA math",))
    fine, short = measure(sweep)
    assert fine.median > 0
    assert short.error == "out of memory: about 0.4 GiB by count, 0.0 GiB are free"
    assert short.first is None


def test_what_would_outlast_the_budget_is_not_tried(monkeypatch):
    monkeypatch.setattr(timing.stopwatch, "once", lambda run, clock: 0.01)  # seconds a call of the shorter case
    found = measure(Sweep(**SMALL | {"lengths": (16, 8192), "seconds": 2.0}, implementations=("SDPA",)))
    assert found[1].error.startswith("over the time budget: about 2.6e+03 s a call, ")


def test_who_stops_keeps_what_was_measured():
    heard = []
    found = measure(
        Sweep(**SMALL, implementations=("SDPA", "SDPA math")),
        on_timing=lambda timing, _: heard.append(timing),
        should_stop=lambda: len(heard) >= 2,
    )
    assert [timing.case for timing in found] == [timing.case for timing in heard]
    assert len(found) == 2


def test_a_device_that_is_not_here_is_refused():
    with pytest.raises(ValueError, match="device='cuda:7' is not here"):
        measure(Sweep(**SMALL | {"devices": ("cuda:7",)}))


def test_the_threads_are_those_asked_for_and_given_back(monkeypatch):
    before, seen = torch.get_num_threads(), []

    def ready(q, k, v, visible):
        seen.append(torch.get_num_threads())
        return IMPLEMENTATIONS["SDPA"].ready(q, k, v, visible)

    monkeypatch.setitem(IMPLEMENTATIONS, "SDPA math", Implementation(ready))
    measure(Sweep(**SMALL | {"threads": 2, "lengths": (8,)}, implementations=("SDPA math",)))
    assert set(seen) == {2}
    assert torch.get_num_threads() == before


def test_one_sweep_at_a_time_and_who_waits_is_told():
    waiting, go, order = threading.Event(), threading.Event(), []

    def first() -> None:
        measure(
            Sweep(**SMALL | {"lengths": (8,)}, implementations=("SDPA",)),
            on_timing=lambda *_: (order.append(1), go.set(), waiting.wait(10)),
        )

    def second() -> None:
        go.wait(10)
        measure(
            Sweep(**SMALL | {"lengths": (8,)}, implementations=("SDPA",)),
            on_wait=waiting.set,
            on_timing=lambda *_: order.append(2),
        )

    both = [threading.Thread(target=target) for target in (first, second)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join(30)
    assert waiting.is_set()
    assert order == sorted(order)
    assert set(order) == {1, 2}


def test_other_processes_on_the_machine_wait_too(monkeypatch, tmp_path):
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(one_at_a_time.tempfile, "gettempdir", lambda: str(tmp_path))
    told = []
    with open(tmp_path / f"attention-timing-{one_at_a_time.os.getuid()}.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)

        def let_go() -> None:
            told.append("waiting")
            fcntl.flock(file, fcntl.LOCK_UN)

        found = measure(
            Sweep(**SMALL | {"lengths": (8,)}, implementations=("SDPA",)),
            on_wait=let_go,
            on_turn=lambda: told.append("its turn"),
            on_timing=lambda *_: told.append("measured"),
        )
    assert told[:3] == ["waiting", "its turn", "measured"]
    measure(Sweep(**SMALL | {"lengths": (8,)}, implementations=("SDPA",)), on_wait=pytest.fail, on_turn=pytest.fail)
    assert len(found) == 1 and not list(tmp_path.iterdir()), "the lock file is removed"


def test_a_lock_file_is_removed_unless_another_process_holds_it(monkeypatch, tmp_path):
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(one_at_a_time.tempfile, "gettempdir", lambda: str(tmp_path))
    path = tmp_path / f"attention-timing-{one_at_a_time.os.getuid()}.lock"
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        one_at_a_time.remove_lock()
        assert path.exists()
    one_at_a_time.remove_lock()
    assert not path.exists()


def test_a_process_that_waited_for_a_lock_file_which_was_removed_locks_the_next_one(monkeypatch, tmp_path):
    """The one before it removes the file; a third may have made the next one meanwhile."""
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(one_at_a_time.tempfile, "gettempdir", lambda: str(tmp_path))
    path, waits = tmp_path / f"attention-timing-{one_at_a_time.os.getuid()}.lock", []

    def locked() -> ExitStack:
        with ExitStack() as stack:
            fcntl.flock(stack.enter_context(open(path, "w")), fcntl.LOCK_EX)
            return stack.pop_all()

    holders = [locked()]

    def wait() -> None:
        waits.append(len(holders))
        if len(waits) == 1:
            path.unlink()
            holders.append(locked())
        holders.pop(0).close()

    with one_at_a_time._machine(wait), open(path) as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert waits == [1, 1] and not path.exists()


def test_bfloat16_and_the_backward_pass_are_timed_as_well():
    sweep = Sweep(**SMALL | {"lengths": (8,)}, dtypes=("bfloat16",), passes=("forward + backward",))
    found = measure(sweep)
    assert "core into a reused buffer" not in {timing.implementation for timing in found}
    assert {timing.error for timing in found} == {None}
    assert {(timing.dtype, timing.passes) for timing in found} == {("bfloat16", "forward + backward")}


@pytest.mark.parametrize(
    ("reached", "looks"), [([1e18, 2e18], 2), ([1.0, 2.0, 3.0, 4.0, 5.0], 4), ([1.0, 1.0, 1e18], 3)]
)
def test_peaks_are_looked_at_twice_and_again_while_a_case_is_above_them(monkeypatch, reached, looks):
    seen, heard = [], {}

    def peaks(*_) -> Peaks:
        seen.append(reached[len(seen)])
        return Peaks(matmul=seen[-1], copy=1.0)

    monkeypatch.setattr(roofline, "peaks", peaks)
    monkeypatch.setattr(history.CaseHistory, "is_stable", True)
    found = measure(
        Sweep(**SMALL | {"lengths": (8,)}, implementations=("SDPA",)),
        on_timing=lambda timing, _: heard.update({timing.case: timing}),
    )
    assert len(seen) == looks
    assert [timing.peak_operations for timing in found] == [max(seen)]
    assert list(heard.values()) == found, "who listens hears of the better peak too"


def test_all_of_a_sweep_have_one_time_and_so_one_day():
    found = measure(Sweep(**SMALL, implementations=("SDPA", "SDPA math")))
    assert len({timing.when for timing in found}) == 1


def test_a_dtype_that_is_emulated_is_not_timed_and_says_so():
    sweep = Sweep(**SMALL | {"lengths": (8,)}, dtypes=("float32", "float16"), implementations=("SDPA",))
    real, emulated = measure(sweep)
    assert (real.dtype, real.error, real.peak_operations) == ("float32", None, 1e18)
    assert (emulated.dtype, emulated.median, emulated.peak_operations) == ("float16", None, None)
    assert emulated.error.startswith("emulated: float16 is not computed by this device")
    emulated, real = measure(Sweep(**SMALL | {"lengths": (8,)}, dtypes=("float16",), implementations=("SDPA",)))
    assert (emulated.dtype, emulated.median) == ("float16", None)
    assert (real.dtype, real.error) == ("float32", None), "it is timed instead"
