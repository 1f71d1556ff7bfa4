"""Drawings of long sequences: the exact maps in the end, one after the other, stopped by hand or when nobody looks."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import torch

from attention import Config, head_maps
from attention.maps.jobs import Cancelled
from attention.maps.picture import HeadMaps
from attention.sources.chunks import queries_and_keys
from attention.ui.jobs import map_jobs as drawing
from attention.ui.jobs.map_jobs import MapJob, MapJobs, head_maps_arguments

SIDE, ME, YOU = 64, "me", "you"
SMALL = Config(tokens=1500, heads=3, d_model=24, mask="window", span=500, positions="alibi")


def until(true: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert true()


@pytest.fixture
def slow(monkeypatch):
    """Heads that take until they are let go."""
    gate = {"open": False}
    made = drawing.each_head

    def each(*tensors, cancelled, **options):
        for head in made(*tensors, cancelled=cancelled, **options):
            yield head
            until(lambda: gate["open"] or cancelled())
            if cancelled():
                raise Cancelled

    monkeypatch.setattr(drawing, "each_head", each)
    return gate


def test_a_drawing_ends_as_the_exact_maps_of_its_config():
    studio = MapJobs()
    found = studio.ask(SMALL, SIDE, ME)
    assert not found.on_behalf_of(found.preview, ME).exact
    until(lambda: not found.open)
    assert found.state == "done" and found.share == 1 and studio.ask(SMALL, SIDE, ME) is found
    want = head_maps(*queries_and_keys(SMALL), side=SIDE, **head_maps_arguments(SMALL))
    for name in ("mean", "most", "lse", "entropy"):
        assert torch.equal(getattr(found.maps, name), getattr(want, name)), name


def test_a_cancelled_drawing_keeps_what_is_finished_and_can_be_begun_anew(slow):
    studio = MapJobs()
    found = studio.ask(SMALL, SIDE, ME)
    until(lambda: len(found.heads) == 1)
    found.leave(ME)
    assert found.state == "cancelled" and studio.find(SMALL) is found
    assert found.maps is None and isinstance(found.heads[0], HeadMaps)
    slow["open"] = True
    again = studio.ask(SMALL, SIDE, ME)
    until(lambda: again.state == "done")
    assert len(again.heads) == 3 and again is not found


def test_a_paused_drawing_lets_others_by_and_goes_on_with_the_head_that_it_was_at(slow):
    studio, other = MapJobs(), Config(tokens=1100, heads=1, d_model=4)
    found = studio.ask(SMALL, SIDE, ME)
    until(lambda: len(found.heads) == 1)
    first = found.heads[0]
    studio.line.pause(found, ME)
    slow["open"] = True
    until(lambda: studio.ask(other, SIDE, YOU).state == "done")
    until(lambda: found not in studio.line.busy)
    assert (found.state, len(found.heads), found.share) == ("paused", 1, 1 / 3)
    studio.line.go_on(found, ME)
    until(lambda: studio.ask(SMALL, SIDE, ME).state == "done")
    want = head_maps(*queries_and_keys(SMALL), side=SIDE, **head_maps_arguments(SMALL))
    assert found.heads[0] is first and found.share == 1
    assert torch.equal(found.maps.most, want.most) and torch.equal(found.maps.lse, want.lse)


def test_a_drawing_goes_on_while_another_visitor_waits_for_it(slow):
    studio = MapJobs()
    found = studio.ask(SMALL, SIDE, ME)
    assert studio.ask(SMALL, SIDE, YOU) is found
    until(lambda: found.heads)
    found.leave(ME)
    assert found.open
    found.leave(YOU)
    assert found.state == "cancelled"


def test_who_asks_for_another_picture_turns_away_from_the_last_one_at_once(slow):
    studio = MapJobs()
    first = studio.ask(SMALL, SIDE, ME)
    until(lambda: first.heads)
    studio.ask(Config(tokens=1200, heads=2, d_model=8), SIDE, ME)
    assert first.state == "cancelled"


def test_who_leaves_stops_the_drawing_and_who_waits_gets_the_next_turn(slow):
    studio = MapJobs()
    left, other = studio.ask(SMALL, SIDE, ME), Config(tokens=1200, heads=2, d_model=8)
    until(lambda: left.heads)
    waits = studio.ask(other, SIDE, YOU)
    assert studio.line.before(waits) == 1 and waits.on_behalf_of(waits.preview, YOU).tokens == 1200
    slow["open"] = True
    left.looks[ME] -= MapJob.leave_after_s  # nobody has looked for so long

    def looked() -> bool:
        return studio.ask(other, SIDE, YOU).state == "done"

    until(looked)
    assert left.state in ("left", "done") and studio.line.before(waits) == 0


def test_a_drawing_that_fails_says_so_and_others_go_on(monkeypatch, caplog):
    def fails(*tensors, **options):
        raise MemoryError("no room")

    studio = MapJobs()
    with monkeypatch.context() as patch:
        patch.setattr(drawing, "each_head", fails)
        found = studio.ask(SMALL, SIDE, ME)
        until(lambda: not found.open)
    assert found.state == "failed" and "no room" in caplog.text
    assert found.on_behalf_of(found.preview, ME).tokens == 1500
    assert studio.ask(SMALL, SIDE, YOU) is found
    studio.line.forget(found)
    again = studio.ask(SMALL, SIDE, YOU)
    until(lambda: again.state == "done")


def test_only_a_few_finished_drawings_are_kept():
    studio = MapJobs()
    for seed in range(MapJob.history + 3):
        studio.ask(Config(tokens=1100, heads=1, d_model=4, seed=seed), SIDE, ME)
        until(lambda: not any(each.open for each in studio.line.tasks))
    assert len(studio.line.tasks) == MapJob.history
