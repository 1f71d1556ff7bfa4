"""The memory of all together: who holds how much of it, who gives back, and who is refused."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention import Config
from attention.analysis.map_numbers import numbers as map_profile
from attention.analysis.row_stages import stages
from attention.codec import from_query
from attention.inputs import INPUTS
from attention.maps.exact import head_maps
from attention.runtime import budget, threads
from attention.runtime.budget import LEAST, Budget
from attention.runtime.executors import RankedExecutor
from attention.runtime.result_cache import ResultCache, pieces
from attention.serving.settings import SettingsError, settings
from attention.sources.chunks import queries_and_keys
from attention.sources.generated import maps
from attention.trace import trace
from attention.training.recipe import Recipe
from attention.ui import results
from attention.ui.jobs import training_jobs, vectors
from attention.ui.jobs.job import Job
from attention.ui.jobs.job_queue import JobQueue
from attention.ui.jobs.map_jobs import BUDGET, MapJob, MapJobs, drawing_estimate, head_maps_arguments
from attention.ui.jobs.training_jobs import TrainingJob, refusal
from attention.ui.jobs.vectors import HOLD, Vectors
from attention.ui.limits import limits
from attention.ui.session.visit_state import KEY
from attention.ui.text import jobs as words
from tests.samples import sample
from tests.test_drawing import until

MIB = 2**20
LANE = RankedExecutor("budget", 0, 1)


class Held:
    """Gives back at most 60 MiB at a time."""

    def __init__(self, held: int) -> None:
        self.used_bytes, self.asked = held, 0

    @property
    def unevictable_bytes(self) -> int:
        return self.used_bytes // 2

    def give_back(self, size: int) -> None:
        self.used_bytes -= min(size, 60 * MIB, self.used_bytes)
        self.asked += 1

    def expire(self, before: float) -> None:
        self.used_bytes = 0 if before > 5 else self.used_bytes


def test_room_is_made_by_those_who_can_do_without_and_by_no_more_of_them_than_needed():
    found = Budget(200 * MIB)
    a, b = found.register(Held(100 * MIB)), found.register(Held(80 * MIB))
    assert (found.free_bytes, found.free) == (20 * MIB, 110 * MIB)
    assert found.room(20 * MIB) and not a.asked
    assert found.room(70 * MIB) and (a.asked, b.asked) == (1, 0)
    assert not found.room(190 * MIB) and (a.asked, b.asked) == (2, 1)
    found.tidy(4)
    assert found.free_bytes == 180 * MIB
    found.tidy(6)
    assert found.free_bytes == found.most
    assert Budget(1).most == LEAST


def test_what_the_process_has_too_much_is_given_back_and_nobody_is_refused_for_it():
    there = 500 * MIB
    found = Budget(200 * MIB, lambda: there - held.used_bytes)
    dear, held = found.register(Held(0)), found.register(Held(100 * MIB), cheap=True)
    assert found.room(90 * MIB) and not held.asked
    there = 120 * MIB  # it takes more than anybody claims
    assert found.room(60 * MIB) and (held.asked, held.used_bytes) == (1, 60 * MIB)
    there = 0
    assert found.room(0) and held.used_bytes == 0
    there = -(2**30)
    assert found.room(200 * MIB) and not dear.asked, "what was drawn for minutes is not drawn anew"


def test_the_memory_of_the_machine_is_that_of_its_pages():
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert budget._machine() == ([pytest.approx(pages, rel=0.01)] if Path("/proc/meminfo").is_file() else [])


@pytest.mark.parametrize(("text", "most"), [("723517440\n", 723517440), ("max\n", None)])
def test_a_control_group_bounds_what_is_allowed(monkeypatch, tmp_path, text, most):
    machine = budget.process_limit()
    (tmp_path / "memory.max").write_text(text)
    monkeypatch.setattr(budget, "GROUP", tmp_path)
    assert budget.process_limit() == (most or min(budget._machine(), default=machine))


@pytest.mark.parametrize(("text", "cores"), [("50000 100000", 1), ("100000 100000", 1), ("max 100000", None)])
def test_a_control_group_bounds_the_cores(monkeypatch, tmp_path, text, cores):
    usual = threads.cores()
    (tmp_path / "cpu.max").write_text(text)
    monkeypatch.setattr(threads, "QUOTA", tmp_path / "cpu.max")
    assert threads.cores() == (cores or usual)


def test_an_owner_says_how_much():
    for text, want in (("690", 690.0), (" 2000 MB", 2000.0), ("", 0.0)):
        assert settings({"ATTENTION_MEMORY": text}).memory == want
    for text in ("much", "10", "nan", "-690", "1e9"):
        with pytest.raises(SettingsError, match="is not a number of MB of at least 600, like 690"):
            settings({"ATTENTION_MEMORY": text})


def test_results_that_nobody_has_asked_for_are_forgotten():
    now = [0.0]
    kept = ResultCache(10 * MIB, lambda: now[0])
    for at in range(4):
        now[0] = float(at)
        kept.ask(at, lambda: LANE.submit(torch.zeros, MIB // 4)).result(60)
        LANE.submit(int).result(60)
    kept.ask(0, lambda: LANE.submit(int))
    kept.expire(2.5)
    assert set(kept.entries) == {0, 3}
    kept.give_back(MIB // 2)
    assert set(kept.entries) == {0}


def test_what_was_asked_for_since_a_large_picture_was_begun_stays():
    """Its memory would not be free: whoever draws it holds it, and the next one would take it once more."""
    now, since = [0.0], [1.5]
    kept = ResultCache(2 * MIB, lambda: now[0], lambda: since[0])
    for at in range(4):
        now[0] = float(at)
        kept.ask(at, lambda: LANE.submit(torch.zeros, MIB // 4)).result(60)
        LANE.submit(int).result(60)
    assert set(kept.entries) == {2, 3} and kept.bytes > kept.most - MIB
    kept.give_back(4 * MIB)
    assert set(kept.entries) == {2, 3}
    since[0] = math.inf
    kept.give_back(4 * MIB)
    assert set(kept.entries) == {3}


def test_a_line_counts_what_its_tasks_claim_and_forgets_those_that_have_ended():
    class Claims(Job):
        claim = 5 * MIB  # pyright: ignore[reportAssignmentType]

        def run(self) -> None:
            return

    line = JobQueue(1, lambda call: call(), later=lambda seconds, call: None)
    for at in range(3):
        line.request(Claims, at, f"visitor {at}")
    assert line.used_bytes == 15 * MIB and [task.state for task in line.tasks] == ["done"] * 3
    line.give_back(6 * MIB)
    assert line.used_bytes == 5 * MIB


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kv_heads", sample([0, 3, 1], lambda kv_heads: kv_heads == 3))
def test_some_heads_at_a_time_are_the_same_heads(monkeypatch, kv_heads):
    config = Config(tokens=1100, heads=6, kv_heads=kv_heads, d_model=24, positions="alibi").for_page()
    monkeypatch.setattr(vectors, "ROOM", 2 * 4 * 1100 * 4)  # a head's
    groups = list(Vectors(config, LANE).groups)
    assert [len(group) for group in groups] == [6 // (kv_heads or 6)] * (kv_heads or 6)
    studio = MapJobs()
    found = studio.ask(config, 64, "me")
    until(lambda: not studio.ask(config, 64, "me").open)
    want = head_maps(*queries_and_keys(config), side=64, **head_maps_arguments(config))
    for name in ("mean", "most", "lse", "entropy"):
        torch.testing.assert_close(getattr(found.maps, name), getattr(want, name), rtol=1e-5, atol=1e-7)
    assert [head.first for head in found.heads] == list(range(6))
    monkeypatch.setattr(results.long, "STUDIO", studio)
    row = results.long.long_row(Config(**vars(config) | {"head": 4, "query": 900}), found)
    assert sum(row.keys["weight"]) == pytest.approx(1, abs=1e-4)
    assert row.entropy == pytest.approx(float(want.entropy[4, 900]), abs=1e-4)
    numbers = results.long.map_numbers(config, found)
    assert len(numbers["entropy"]) == len(results.long.roles(config, found)) == 6
    assert numbers["head"] == [0, 1, 2, 3, 4, 5]
    for name, values in vars(map_profile(want, *queries_and_keys(config))).items():
        if values is not None:
            assert numbers[name] == pytest.approx(values.tolist(), abs=1e-5), name
    assert results.long.map_parity(config, found).agrees


@pytest.mark.parametrize(
    ("name", "tokens", "heads", "fits"),
    [
        *((name, 65_536, 32, True) for name in ("words", "characters", "words, and the word before")),
        *((name, 32_768, 32, True) for name in INPUTS),
        ("noise", 65_536, 32, False),
    ],
)
def test_a_host_of_690_mb_draws_the_long_maps_that_the_table_of_hosting_names(monkeypatch, name, tokens, heads, fits):
    monkeypatch.setattr(BUDGET, "most", 690_000_000 - budget.ASIDE)
    config = from_query({"tokens": str(tokens), "heads": str(heads), "d_model": "512", "input": name})[0].for_page()
    assert (config.tokens, config.heads, config.d_model, config.input) == (tokens, heads, 512, name)
    assert (drawing_estimate(config).bytes <= BUDGET.most) == fits


def test_only_a_few_hold_on_to_their_vectors():
    made = [Vectors(Config(tokens=1100 + at, heads=2, d_model=4).for_page(), LANE) for at in range(HOLD + 2)]
    for one in made:
        one.of(0)
    assert [one.bytes > 0 for one in made] == [False] * 2 + [True] * HOLD
    assert made[0].of(1)[0] == range(2)


def test_who_does_not_fit_is_told_so_and_offered_a_smaller_one(monkeypatch):
    monkeypatch.setattr(BUDGET, "most", 100 * MIB)
    test = AppTest.from_file(str(Path(__file__).parents[1] / "pages/heads.py"), default_timeout=60)
    test.query_params.update({"tokens": "65536", "d_model": "512", "input": "noise"})
    test.run()
    assert not test.exception
    assert "needs" in test.warning[0].value and "this server has 100 MiB in total" in test.warning[0].value
    offered = test.button("smaller")
    assert offered.label.startswith("Show ")
    tokens = int(offered.label.split()[1].replace(",", ""))
    assert 2 <= tokens < 65_536


class Firm(Held):
    """What somebody else has and needs."""

    unevictable_bytes = property(lambda self: self.used_bytes)

    def give_back(self, size: int) -> None:
        return


SAID = {"tokens": "16384", "input": "noise"}
LONG = from_query(SAID)[0].for_page()


def test_what_others_need_counts_and_a_picture_begins_once_there_is_room(monkeypatch):
    others = Firm(300 * MIB)
    monkeypatch.setattr(BUDGET, "most", 300 * MIB + drawing_estimate(LONG).bytes // 2)
    monkeypatch.setattr(BUDGET, "claims", [others, Held(10 * MIB), results.long.STUDIO.line])
    test = AppTest.from_file(str(Path(__file__).parents[1] / "pages/heads.py"), default_timeout=60)
    test.query_params.update(SAID)
    test.run()
    assert not test.exception and results.long.STUDIO.find(LONG) is None
    assert "Not enough memory right now" in test.warning[0].value
    tokens = int(test.button("smaller").label.split()[1].replace(",", ""))
    assert 1024 <= tokens < 16_384 and drawing_estimate(replace(LONG, tokens=tokens)).bytes <= BUDGET.free
    others.used_bytes = 0
    test.run()
    assert not test.exception and not test.warning and results.long.STUDIO.find(LONG) is not None
    others.used_bytes = 300 * MIB
    test.run()
    assert not test.warning, "what has begun goes on"
    results.long.STUDIO.line.leave(test.session_state[KEY].visitor)


@pytest.mark.parametrize("mine", [True, False])
def test_what_a_visitor_gives_up_for_another_picture_is_in_nobodys_way(monkeypatch, mine):
    line = JobQueue(1, lambda call: None, later=lambda seconds, call: None)
    studio, first, second = (
        MapJobs(line),
        *(Config(tokens=1500 + at, heads=2, d_model=16).for_page() for at in range(2)),
    )
    monkeypatch.setattr(BUDGET, "most", int(1.5 * drawing_estimate(first).bytes))
    monkeypatch.setattr(BUDGET, "claims", [line])
    assert studio.refusal(first, "me") is None
    begun = studio.ask(first, 64, "me")
    assert studio.refusal(first, "you") is None, "they look along"
    if mine:
        assert studio.refusal(second, "me") is None and begun.given_up
    else:
        why, smaller = studio.refusal(second, "you") or ("", second)
        assert "Not enough memory right now" in why and smaller.tokens < second.tokens and begun.open


@pytest.fixture
def small(monkeypatch):
    """A host with room for one of three pictures at a time, its studio, and a clock that a test moves."""
    now = [0.0]
    line = JobQueue(1, lambda call: None, clock=lambda: now[0], later=lambda seconds, call: None)
    pictures = [Config(tokens=1500 + at, heads=2, d_model=16).for_page() for at in range(3)]
    monkeypatch.setattr(BUDGET, "most", int(1.5 * drawing_estimate(pictures[0]).bytes))
    monkeypatch.setattr(BUDGET, "claims", [line])
    return MapJobs(line), pictures, now


def test_whoever_waits_for_room_gets_it_before_all_who_come_later(small):
    studio, (first, second, third), now = small
    assert studio.refusal(first, "one") is None and not studio.waits("one")
    studio.ask(first, 64, "one")
    why, _ = studio.refusal(second, "two") or ("", None)
    assert why.endswith("It starts automatically when memory is free.") and studio.waits("two")
    why, _ = studio.refusal(third, "three") or ("", None)
    assert why.endswith("It starts automatically when memory is free. 1 visitor is ahead of you.")
    studio.line.leave("one")
    assert studio.refusal(third, "three") is not None, "it is not their turn"
    assert studio.refusal(second, "two") is None and not studio.waits("two")
    studio.ask(second, 64, "two")
    assert studio.refusal(third, "three") is not None
    studio.line.leave("two")
    studio.refusal(first, "one")
    now[0] += MapJob.leave_after_s
    assert studio.refusal(first, "one") is None, "who asks no more has left"
    studio.asking["huge"] = now[0], 3 * drawing_estimate(second).bytes
    assert studio.refusal(second, "small") is None, "for which there is room long before"


def test_a_picture_that_rests_makes_way_after_a_while(small):
    studio, (first, second, _), now = small
    resting = studio.ask(first, 64, "one")
    studio.line.pause(resting, "one")
    now[0] += MapJob.evict_after_s - 1
    assert studio.refusal(second, "two") is not None and resting.state == "paused"
    assert studio.refusal(first, "one") is None, "it is their own"
    now[0] += 1
    assert studio.refusal(second, "two") is None
    assert (resting.state, resting.said) == ("failed", words.MADE_WAY)


def test_a_host_that_can_never_measure_says_so_and_offers_nothing(monkeypatch):
    monkeypatch.setattr(BUDGET, "most", 168 * MIB)
    assert (
        limits().why == "Not enough memory: measuring needs 700 MiB, this server has 168 MiB in total."
        and not limits().measure
    )


def test_steps_that_do_not_fit_are_refused_with_smaller_ones(monkeypatch):
    widest = Config(heads=32, d_model=2048, d_v=256)
    assert results.steps.refusal(widest) is None
    for most, sizes in ((168, (18, 2048, 0)), (100, (18, 1536, 0))):
        monkeypatch.setattr(BUDGET, "most", most * MIB)
        why, smaller = results.steps.refusal(widest) or ("", widest)
        assert "this view needs " in why and f"this server has {most} MiB in total." in why
        assert (smaller.tokens, smaller.d_model, smaller.d_v) == sizes and results.steps.refusal(smaller) is None
    long = Config(tokens=1024, heads=8)
    monkeypatch.setattr(BUDGET, "most", 64 * MIB)
    assert (results.steps.refusal(long) or ("", long))[1].tokens < 1024


@pytest.mark.parametrize("refuse", [results.steps.refusal, results.published.refusal])
def test_a_search_for_smaller_sizes_ends_where_none_fits(refuse, monkeypatch):
    """With two channels per head, three quarters of the channels are rounded to as many."""
    monkeypatch.setattr(BUDGET, "most", 1)
    _, smallest = refuse(Config(heads=8, d_model=64)) or ("", Config())
    assert smallest.d_model == 2 * smallest.heads


def test_a_training_begins_where_others_leave_room(monkeypatch):
    recipe, line = Recipe(seed=3), JobQueue(1, lambda call: None, later=lambda seconds, call: None)
    claim, others = TrainingJob(recipe).claim, Firm(0)
    monkeypatch.setattr(training_jobs, "JOBS", line)
    monkeypatch.setattr(BUDGET, "most", int(1.5 * claim))
    monkeypatch.setattr(BUDGET, "claims", [line, others])
    others.used_bytes = claim
    why, smaller = refusal(recipe, "me") or ("", recipe)
    assert "Not enough memory right now" in why and smaller.d_model < recipe.d_model
    assert training_jobs.begin_training(recipe, "me") is None and not line.tasks
    others.used_bytes = 0
    assert refusal(recipe, "me") is None
    task = training_jobs.begin_training(recipe, "me")
    assert task is not None and task.open
    assert refusal(recipe, "you") is None and training_jobs.begin_training(recipe, "you") is task
    task.leave("you")
    other = Recipe(seed=4)
    assert (
        "Not enough memory right now" in (refusal(other, "you") or ("",))[0]
        and training_jobs.begin_training(other, "you") is None
    )
    assert refusal(other, "me") is None
    assert training_jobs.begin_training(other, "me") is not None and task.given_up


def test_maps_of_an_implementation_that_do_not_fit_are_refused_with_narrower_ones(monkeypatch):
    widest = Config(d_model=2048)
    assert results.published.refusal(widest) is None
    monkeypatch.setattr(BUDGET, "most", 100 * MIB)
    why, narrower = results.published.refusal(widest) or ("", widest)
    assert "2,048 channels need 352 MiB" in why and "50 MiB are available" in why
    assert narrower.d_model < 1100 and results.published.refusal(narrower) is None
    test = AppTest.from_file(str(Path(__file__).parents[1] / "pages/implementations.py"), default_timeout=60)
    test.query_params.update({"d_model": "2048"})
    test.run()
    assert not test.exception and why in test.warning[0].value
    test.button("smaller").click().run()
    assert not test.exception and not test.warning


def test_a_row_holds_no_other_rows():
    found = trace(Config(tokens=300, heads=4, d_model=64))
    row = stages(found)
    assert torch.equal(row.weights, found.weights[found.config.head, found.config.query_index])
    assert row.weights.untyped_storage().nbytes() == row.weights.nbytes


def test_matrices_are_made_again_and_count_for_nothing():
    """Of a short sequence they are larger than all else; whoever asks gets the same ones."""
    config = Config(tokens=16, input="noise", d_model=64, heads=4, seed=5)
    found = trace(config)
    matrices, numbers = found.projections, dict(pieces(found))
    assert sum(numbers.values()) < 4 * 64 * 64 * 4
    for name in ("query", "key", "value", "output"):
        assert torch.equal(getattr(matrices, name), getattr(maps(config), name))
    torch.testing.assert_close(found.q.transpose(0, 1).flatten(1), found.x @ matrices.query)
    with pytest.raises(AttributeError, match="others"):
        matrices.others  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]


def test_a_training_that_does_not_fit_is_refused_with_a_narrower_one(monkeypatch):
    widest = Recipe(d_model=256, heads=8, layers=3)
    assert refusal(widest, "me") is None
    monkeypatch.setattr(BUDGET, "most", 120 * MIB)
    why, smaller = refusal(widest, "me") or ("", widest)
    assert "needs" in why and "this server has 120 MiB in total" in why
    assert smaller.d_model < 256 and TrainingJob(smaller).claim <= 120 * MIB
    test = AppTest.from_file(str(Path(__file__).parents[1] / "pages/training.py"), default_timeout=60)
    test.query_params.update({"d_model": "256", "heads": "8", "layers": "3", "seed": "7"})
    test.run()
    assert not test.exception and test.button("train").disabled and why in test.warning[0].value
    test.button("smaller").click().run()
    assert not test.exception and not test.warning and not test.button("train").disabled
