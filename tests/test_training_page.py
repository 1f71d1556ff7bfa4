"""The Training page, driven: the film that ships, a training that is begun, paused, stopped, shared, and asked."""

from __future__ import annotations

import json
import math
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import pytest
import streamlit as st
import torch
from streamlit.testing.v1 import AppTest

from attention import Config, trace
from attention.array_files.limits import DataError
from attention.codec import from_query
from attention.imported import registry
from attention.interventions import ablation, trained
from attention.number_format import format_mean, format_percent
from attention.training import history, shipped
from attention.training.head_scores import even, weights
from attention.training.recipe import OWN, RECIPES, REPLACED, TEST, Recipe
from attention.training.run import HELD_OUT, Run, draw_sequences, evaluate, probe
from attention.training.tasks import GUESS, TASKS
from attention.ui import results
from attention.ui.controls.reasons import why
from attention.ui.controls.recipe import RECIPE
from attention.ui.jobs import training_jobs
from attention.ui.jobs.job_queue import JOBS
from attention.ui.jobs.training_jobs import TrainingJob
from attention.ui.session.visit_state import KEY
from attention.ui.text import training as text
from attention.ui.views import (
    training,
    training_after,
    training_costs,
    training_course,
    training_curves,
    training_elsewhere,
    training_heads,
)
from attention.wire.cells import weights as wire_weights
from tests.test_job_queue import ME, YOU, a_line
from tests.test_pages import ROOT, SECONDS

PAGE = ROOT / "pages" / "training.py"
SMALL = {"task": "reverse", "d_model": "16", "heads": "2", "steps": "40"}


@pytest.fixture(autouse=True)
def _nobody_else() -> Iterator[None]:
    """No training of one test is seen by another."""
    yield
    for task in [task for task in JOBS.tasks if isinstance(task, TrainingJob)]:
        for visitor in [*task.looks]:
            task.leave(visitor)
        JOBS.forget(task)


def run(query: dict[str, str]) -> AppTest:
    test = AppTest.from_file(str(PAGE), default_timeout=SECONDS)
    test.query_params.update(query)
    return test.run()


def page_text(test: AppTest) -> str:
    return "\n".join(each.value for each in [*test.markdown, *test.caption, *test.warning, *test.error]).replace(
        "\\", ""
    )


def link(test: AppTest) -> dict[str, str]:
    found = dict(test.query_params)
    return {name: value if isinstance(value, str) else value[-1] for name, value in found.items()}


def until(holds: Callable[[], bool]) -> None:
    """Waits for what goes on in the background."""
    last = time.monotonic() + SECONDS
    while not holds() and time.monotonic() < last:
        time.sleep(0.01)
    assert holds()


def learning(test: AppTest) -> TrainingJob:
    return test.session_state[KEY].kept.learning


@pytest.mark.sampled(1)
@pytest.mark.parametrize("task", TASKS)
def test_what_ships_is_played_from_untrained_to_trained(task):
    course = shipped.course(task)
    test = run({"task": task, "at": "0"})
    assert not test.exception and not test.warning
    assert "Recorded training" in page_text(test) and "Before training, the model predicts" in page_text(test)
    assert test.button(key="play").label == "Play"
    test.button(key="play").click().run()
    assert test.button(key="play").label == "Pause" and "Before training, the model" in page_text(test)
    for _ in training.film_reel(tuple(frame.loss for frame in course.frames.values())):
        test.run()
    first, last = course.moments[0], course.moments[-1]
    accuracy, before = format_percent(last.accuracy), format_percent(first.accuracy)
    count = int((last.scores[OWN] >= training_course.STRONG).sum())
    heads = text.FINDING_HEADS[count == 1].format(count=count)
    said = f"{heads} {text.FINDS.get(task)}; the model gets **{accuracy}** right (before: {before})."
    if even(Recipe(task=task), probe(Recipe(task=task))) >= training_course.STRONG:  # uniform weights find it as well
        said = f"the model predicts {accuracy} of {TASKS[task].counts} correctly; before training, {before}."
    assert f"After **{last.step:,}** steps, {said}" in page_text(test)
    assert test.button(key="play").label == "Play from the start" and "train_at" not in link(test)


def test_a_visit_begins_with_what_was_learned_and_waits():
    test = run({})
    said = (
        "After **1,000** steps, 4 heads find what came next last time; the model gets **99.3%** right (before: 2.7%)."
    )
    rest = results.training.without(training_course.current_training(Recipe()).course, ((0, 1),))[1]
    for _ in range(3):
        assert not link(test) and said in page_text(test), "it plays once one asks it to"
        assert "**Layer 0, head 1** looks one letter back (75.1% of its weight)" in page_text(test)
        found = "finds what followed the current letter earlier (96.0%)."
        assert f"**Layer 1, head 2** {found}" in page_text(test)
        assert "The selected head" not in page_text(test)
        assert f"Without layer 0, head 1, accuracy falls from 99.3% to {format_percent(rest)}; without " in page_text(
            test
        )
        test.run()


def test_a_head_that_was_selected_is_described_by_what_has_most_of_its_weight():
    said = page_text(run({"head": "3"}))
    assert "The selected head, **Layer 0, head 3**, puts 53.2% of its weight on the previous token and " in said
    assert "**Layer 1, head 2** finds what followed" in said, "what the model does stays"


def test_a_film_is_slow_where_the_loss_falls():
    assert training.film_reel((3.0, 3.0, 1.0, 0.0)) == [0, 1, 1, 1, 1, 2, 2, 2, 3] and training.SLOW == 3
    assert training.film_reel((1.0, 2.0)) == [0, 1] and training.film_reel((1.0,)) == [0]


def test_the_speed_of_the_film_is_chosen(monkeypatch):
    every, fragment = list[float | None](), st.fragment

    def watch(*calls: Any, **options: Any) -> Any:
        every.append(options.get("run_every"))
        return fragment(*calls, **options)

    monkeypatch.setattr(st, "fragment", watch)
    test = run({"at": "0"})
    test.segmented_control(key=training.SPEED).set_value(2.0).run()
    test.button(key="play").click().run()
    assert [each for each in every if each] == [training.TICK / 2]


def test_a_film_rests_where_one_stops_it_and_the_link_says_where():
    test = run({})
    test.button(key="play").click().run()
    for _ in range(3):
        test.run()
    shown = next(line for line in page_text(test).splitlines() if line.startswith("After"))
    test.button(key="play").click().run()
    assert shown in page_text(test)
    at = int(link(test)["train_at"])
    assert at in shipped.course("induction").frames and f"After **{at}** steps" in shown
    test.select_slider(key=training.STEP).set_value(1000).run()
    assert "After **1,000** steps" in page_text(test) and not link(test)
    test.button(key="play").click().run()
    assert "Before training, the model predicts 2.7%" in page_text(test)


def test_changed_settings_keep_the_training_that_was_shown_dimmed_until_they_are_trained():
    test = run({})
    test.select_slider(key="train_rate").set_value(0.01).run()
    assert "Settings changed, not trained yet" in page_text(test)
    assert test.button(key="train").label == "Settings changed: train (27 s)"
    assert not [each for each in test.button if each.key == "play"]
    assert grid_header(test)["painted"].endswith(" 1000"), "the step that was shown"
    test.select_slider(key="train_rate").set_value(0.003).run()
    assert test.button(key="play").label == "Play from the start" and "Recorded training" in page_text(test)
    test.slider(key="train_layers").set_value(1).run()
    assert test.button(key="train").label.startswith("Settings changed: train (")
    assert len(grid_header(test)["names"]) == 8, "two layers of four heads, as recorded"
    assert not test.exception


def test_a_link_with_a_step_shows_it_and_does_not_play():
    steps = shipped.steps("sort")
    test = run({"task": "sort", "at": str(steps[4] + 1)})
    assert f"After **{steps[4]:,}** steps" in page_text(test)
    assert test.select_slider(key=training.STEP).value == steps[4]


def test_other_settings_are_untrained_until_somebody_trains_them():
    test = run(SMALL)
    assert "Untrained, random weights" in page_text(test) and "Before training" in page_text(test)
    assert not test.text_input and test.button(key="train").label == "Train: 40 steps"
    test.button(key="train").click().run()
    task = learning(test)
    until(lambda: task.state == "done")
    test.run()
    assert "After **40** steps" in page_text(test) and "Trained here" in page_text(test)
    assert "Trained here in " in page_text(test)
    assert [moment.step for moment in task.moments] == list(range(41))
    assert not [each for each in test.button if each.key == "train"], "it would be the same again"
    again = run(SMALL)
    assert "After **40** steps" in page_text(again), "whoever comes later sees it too"


def test_a_training_is_paused_goes_on_and_is_stopped(monkeypatch):
    """The training's own thread is the test's: it takes a step where the test says so."""
    steps, ask = list[int](), TrainingJob.should_stop

    def should_stop(self: TrainingJob) -> bool:
        if self.steps == 10 and not steps:
            steps.append(10)
            self.pause(next(iter(self.looks)))
        return ask(self)

    monkeypatch.setattr(TrainingJob, "should_stop", should_stop)
    test = run(SMALL | {"seed": "1"})
    test.button(key="train").click().run()
    task = learning(test)
    until(lambda: task not in JOBS.busy and task.steps == 10)
    test.run()
    assert test.get("progress")[0].proto.text.startswith("Paused. 10 of 40 steps")
    assert task.moments[-1].step == 10 and task.parameters is not None
    test.button(key="continue").click().run()
    until(lambda: task.steps == 40)
    whole = [moment.loss for moment in task.moments]
    straight = [seen.loss for _, seen in training_jobs.train(task.settings) if seen]
    assert whole == straight, "a pause changes nothing"


def test_a_training_that_is_stopped_keeps_what_was_seen():
    line, _, begun = a_line()
    task = line.request(TrainingJob, Recipe(task="reverse", layers=1, steps=40, d_model=16, heads=2), ME)
    ask = task.should_stop

    def should_stop() -> bool:
        if task.steps == 6:
            task.leave(ME)
        return ask()

    task.should_stop = should_stop  # type: ignore[method-assign]
    begun.pop()()
    assert task.state == "cancelled" and [moment.step for moment in task.moments] == [*range(7)]
    assert task.parameters is not None


def test_visitors_with_equal_settings_share_one_and_each_has_one():
    line, clock, _ = a_line()
    first = line.request(TrainingJob, Recipe(seed=1), ME)
    assert line.request(TrainingJob, Recipe(seed=1), YOU) is first
    other = line.request(TrainingJob, Recipe(seed=2), ME)
    assert first.open and set(first.looks) == {YOU} and other.open
    clock.move(TrainingJob.leave_after_s + 1)
    line.tidy()
    assert {first.state, other.state} == {"left"}, "all are gone"


def test_a_loss_that_is_no_number_is_said_and_the_curve_stays(monkeypatch):
    line, _, begun = a_line()
    task = line.request(TrainingJob, Recipe(task="reverse", layers=1, steps=40, d_model=16, heads=2), ME)
    seen = training_jobs.train

    def broken(recipe):
        for run, moment in seen(recipe):
            if run.done == 5:
                run.optimizer.values.fill_(torch.nan)
            yield run, moment

    monkeypatch.setattr(training_jobs, "train", broken)
    task.__post_init__()
    begun.pop()()
    assert task.state == "failed" and task.said.startswith("Training diverged after 6 steps")
    assert [moment.step for moment in task.moments] == [*range(7)]


def test_another_setting_says_that_ones_training_goes_on(monkeypatch):
    monkeypatch.setattr(JOBS, "take", lambda: None)
    test = run(SMALL | {"seed": "2"})
    test.button(key="train").click().run()
    test.number_input(key="train_seed").set_value(3).run()
    assert "Your training of reverse with other settings continues: 0%." in page_text(test)
    test.button(key="back").click().run()
    assert link(test)["train_seed"] == "2"
    assert test.button(key="cancel").label == "Stop"
    test.button(key="cancel").click().run()
    assert "Stopped after 0 of 40 steps" in page_text(test)
    assert test.button(key="train").label.startswith("Train again (")


def test_a_head_that_is_switched_off_is_missed():
    test = run({"at": "1000"})
    whole = test.metric[0].value
    assert whole == "99.3%"
    test.pills(key="train_off").set_value(["0.1"]).run()
    course = shipped.course("induction")
    assert test.metric[0].value == format_percent(results.training.without(course, ((0, 1),))[1]) != whole
    assert float(test.metric[0].value.rstrip("%")) < 90
    test.selectbox(key="train_how").set_value("resample").run()
    losses = {how: results.training.without(course, ((0, 1),), how) for how in ablation.WAYS}
    assert test.metric[0].value == format_percent(losses["resample"][1])
    assert text.THREE_WAYS.format(**{how: format_mean(lost) for how, (lost, _) in losses.items()}) in page_text(test)
    assert losses["resample"][0] > losses["zero"][0] + 1 > losses["mean"][0] + 1
    assert link(test).items() >= {"train_off": "0.1", "train_how": "resample"}.items()
    again = run(link(test))
    assert again.metric[0].value == test.metric[0].value and again.pills(key="train_off").value == ["0.1"]


def test_the_ways_to_replace_a_head_are_those_of_other_models():
    assert REPLACED.keys() == ablation.WAYS.keys()


def test_heads_that_a_smaller_model_lacks_are_on_in_it():
    recipe, notes = RECIPES.from_query({"train_off": "0.1,1.3", "train_heads": "2"})
    assert recipe.off == ("0.1",)
    assert notes == ["off=0.1, 1.3: there are 2 layers of 2 heads, counted from 0. The nearest that fits is 0.1."]


@pytest.mark.parametrize("how", ["zero", pytest.param("mean", marks=pytest.mark.extended)])
def test_every_head_and_every_pair_is_missed(how):
    """Layer 0 has two heads that attend to the token before: without one of them the model still knows most answers."""
    test = run({"at": "1000", "how": how})
    test.toggle(key=training_costs.EVERY).set_value(True).run()
    course = shipped.course("induction")
    model, on = course.model(), draw_sequences(course.recipe, HELD_OUT, TEST)
    usual, groups = trained.record_outputs(model, on.ids[:, :-1]), ([(0, 1)], [(0, 3)], [(0, 1), (0, 3)])
    whole = evaluate(model, on)[0]
    alone, other, both = (trained.evaluate_without(model, on, off, how, usual)[0] for off in groups)
    told = page_text(test)
    assert f"Layer 0, head 1 matters most alone:** without it, the loss rises by {alone - whole:.2f}" in told
    rise, one, two = (f"+{each - whole:.2f}" for each in (both, alone, other))
    assert f"head 1 and layer 0, head 3 stand in for each other:** without both, it changes by {rise}" in told
    assert f"without one, by {one} or {two}" in told and not test.exception
    assert any('"0.3"' in each.proto.spec and '"row"' in each.proto.spec for each in test.get("vega_lite_chart"))


def test_of_many_heads_each_is_missed_alone():
    costs = {((0, 0),): 0.2, ((0, 1),): -0.1}
    said = "**Layer 0, head 0 matters most alone:** without it, the loss rises by 0.20 nats."
    assert training_costs._finding(costs) == said
    assert training_costs._finding(costs | {((0, 0), (0, 1)): 0.15}) == f"{said} {text.NO_PAIR}"


def test_one_asks_it_about_a_sequence_of_ones_own():
    test = run({"at": "1000"})
    key = f"{training_after.TYPED} induction"
    test.text_input(key=key).set_value("k w u d o t r i z k w u d").run()
    assert not test.exception and "After “d”, the model predicts **o**" in page_text(test)
    off = run({"at": "1000", "off": "0.1,0.3"})
    assert ", without L0H1, L0H3." in page_text(off) and "Layer 0, head 1 (off)" in str(off.dataframe[-1].value)
    test.text_input(key=key).set_value("k **w** <img> k").run()
    assert "Unknown tokens: **w**, <img>" in page_text(test) and not test.exception
    test.text_input(key=key).set_value("a").run()
    assert "Enter at least two tokens." in page_text(test)
    test.text_input(key=key).set_value("a b " * 90).run()
    assert not test.exception


def test_its_heads_can_be_looked_at_on_other_pages():
    test = run({"head": "6", "at": "200"})
    lead = next(each.proto for each in test.get("link_button") if each.proto.label == "Open on Heads")
    query = dict(parse_qsl(lead.url.partition("?")[2]))
    config, notes = from_query(query)
    step = shipped.course("induction").nearest_frame(200).step
    assert notes == [] and (config.source, config.layer, config.head) == ("trained:induction", 1, 2)
    assert config.training_step == step
    heads = AppTest.from_file(str(ROOT / "pages" / "heads.py"), default_timeout=SECONDS)
    heads.query_params.update(query)
    heads.run()
    assert not heads.exception and f"after {step} steps" in page_text(heads)
    assert "Trained in this app" in page_text(heads)
    heads.select_slider(key="training_step").set_value(0).run()
    assert not heads.exception and "after 0 steps" in page_text(heads)


def test_while_a_training_goes_on_one_looks_back_at_what_was_seen(monkeypatch):
    """It goes on meanwhile, and its slider, which only its visitor moves, leads back to the newest step."""
    held, ask = threading.Event(), TrainingJob.should_stop

    def should_stop(self: TrainingJob) -> bool:
        if self.steps == 10:
            assert held.wait(SECONDS)
        return ask(self)

    monkeypatch.setattr(TrainingJob, "should_stop", should_stop)
    test = run(SMALL | {"seed": "4"})
    test.button(key="train").click().run()
    task = learning(test)
    until(lambda: task.steps == 10)
    test.run()
    assert "After **10** steps" in page_text(test) and not test.select_slider(key="train_steps").disabled
    test.button(key="back_to").click().run()
    slider = test.select_slider(key=training.STEP)
    assert list(slider.options) == [str(step) for step in range(11)] and slider.value == 10
    slider.set_value(3).run()
    assert "After **3** steps" in page_text(test) and link(test)["train_at"] == "3" and task.open
    test.run()
    assert "After **3** steps" in page_text(test), "what comes meanwhile moves nothing"
    test.button(key="newest").click().run()
    assert "After **10** steps" in page_text(test) and "train_at" not in link(test)
    held.set()
    until(lambda: task.state == "done")


def test_the_head_in_focus_is_the_one_that_does_most():
    test = run({})
    assert grid_header(test)["focus"] == {"head": 6, "query": 39} and grid_header(test)["painted"].endswith(" 1000")
    assert "train_head" not in link(test)
    assert grid_header(run({"at": "1000"}))["focus"]["head"] == 0, "a link from before goes on opening the first one"
    untrained = run({"v": "2", **{f"train_{name}": value for name, value in SMALL.items()}})
    assert grid_header(untrained)["focus"]["head"] in (0, 1) and not untrained.exception


@pytest.mark.parametrize("loss", [GUESS, 0.95 * GUESS, math.nan])
def test_the_heads_of_a_model_that_learned_nothing_have_no_roles(loss):
    course = shipped.course("induction")
    assert "induction" in results.training.picture(course.recipe.alone, course.last).names
    assert not any(results.training.picture(course.recipe.alone, replace(course.last, loss=loss)).names)


def test_the_heads_before_training_are_beside_those_after_it():
    course = shipped.course("induction")
    first, last = course.moments[0], course.moments[-1]
    seen = results.training.picture(course.recipe.alone, last, first)
    alone = [results.training.picture(course.recipe.alone, each).cells.codes for each in (last, first)]
    assert torch.equal(seen.cells.codes.int(), torch.cat(alone).int())
    header = grid_header(run({}))
    trained = {"step": 1000, "accuracy": ["2.7%", "99.3%"], "last": "p", "copies": True, "lessons": 0}
    assert header["trained"] == trained and header["heads"] == header["certain"] == 16


def grid_header(test: AppTest) -> dict:
    """What the grid was told beside its cells."""
    (grid,) = [each.proto for each in test.get("bidi_component") if each.proto.component_name.endswith("heads_grid")]
    (length,) = struct.unpack("<I", grid.bytes[:4])
    return json.loads(grid.bytes[4 : 4 + length])


def test_places_that_were_learned_end_where_the_task_does():
    query = {"v": "2"} | {
        f"train_{name}": value for name, value in (SMALL | {"positions": "learned", "steps": "20"}).items()
    }
    test = run(query)
    test.button(key="train").click().run()
    task = learning(test)
    until(lambda: task.state == "done")
    test.run()
    test.text_input(key=f"{training_after.TYPED} reverse").set_value("a b " * 20).run()
    assert not test.exception
    assert "Only the first 24 tokens are used: the model has learned no further positions." in page_text(test)


def test_heads_elsewhere_are_those_of_the_training():
    course = shipped.course("sort")
    for step in (0, 1500):
        config = Config.of("trained:sort", training_step=step)
        moment = course.nearest_frame(step)
        torch.testing.assert_close(trace(config).weights, weights(course.recipe, moment.q, moment.k)[0])
    cool = Config.of("trained:sort", temperature=0.5)
    assert float(trace(cool).weights.amax(-1).mean()) > float(trace(config).weights.amax(-1).mean())


def test_heads_with_sinks_qk_norm_and_a_gate_open_elsewhere_as_they_were_trained():
    knobs = {"softmax": "sink", "qk_norm": "on", "gate": "headwise", "rate": "0.1", "steps": "20"}
    test = run({f"train_{name}": value for name, value in (SMALL | knobs).items()} | {"v": "2"})
    assert {name: test.selectbox(key=f"train_{name}").value for name in ("softmax", "qk_norm", "gate")} == {
        name: knobs[name] for name in ("softmax", "qk_norm", "gate")
    }
    test.button(key="train").click().run()
    task = learning(test)
    until(lambda: task.state == "done")
    recipe, moment = task.settings, task.moments[-1]
    stack = training_elsewhere._stack(recipe, moment)
    held = registry.register(stack, "training", "reverse after 20 steps")
    with pytest.raises(DataError, match=r"it is \(1, 2\)"):
        registry.register(replace(stack, sinks=None))
    rows = history.frame_weights(recipe, moment)
    for layer in range(recipe.layers):
        config = Config.of(held.source, layer=layer)
        assert (config.softmax, config.qk_norm) == ("sink", "on")
        assert config.sinks == pytest.approx(moment.sinks[layer].tolist(), abs=1e-7)
        torch.testing.assert_close(trace(config).weights, rows[layer])
    assert "weights are those before the gate" in stack.what and "No effect" in why("gate", config)
    more = replace(config, sink_logit=2.0)
    assert more.sinks == pytest.approx([each + 2 for each in config.sinks])
    assert float(trace(more).weights.sum()) < float(trace(config).weights.sum())


def test_the_sink_and_the_gate_of_the_head_that_does_most_are_said():
    recipe = Recipe(task="reverse", layers=1, heads=2, d_model=16, softmax="sink", gate="headwise")
    moment = Run(recipe).checkpoint()
    moment = replace(
        moment,
        scores=moment.scores | {"own": torch.tensor([[0.2, 0.9]])},
        sinks=torch.tensor([[0.0, 1.25]]),
        gates=torch.tensor([[0.5, 0.75]]),
    )
    said = " ".join(
        training_heads._heads_text(recipe, moment, results.training.picture(recipe, moment), False)
    ).replace("\\", "")
    assert "Its sink has the logit 1.250" in said and "Its gate is 0.750 on average" in said


def test_a_differential_training_has_signed_weights_and_says_its_lambda():
    knobs = {"softmax": "differential", "task": "reverse", "layers": "1", "steps": "20", "d_model": "19", "heads": "2"}
    test = run({f"train_{name}": value for name, value in knobs.items()} | {"v": "2"})
    assert RECIPES.from_query(link(test))[0].d_model == 20  # two heads of two halves
    test.button(key="train").click().run()
    task = learning(test)
    until(lambda: task.state == "done")
    moment = task.moments[-1]
    seen = results.training.picture(task.settings, moment)
    assert seen.cells.signed and not any(seen.names)
    shown, exact = wire_weights(seen.cells.codes, signed=True), history.frame_weights(task.settings, moment)[0]
    assert float(exact.min()) < -0.005
    torch.testing.assert_close(shown.nan_to_num(), exact, rtol=2e-3, atol=1e-6)
    large = replace(moment, sinks=torch.full((1, 2), -1.5))  # a learned lambda may be negative: rows then sum to 2.5
    exact, drawn = history.frame_weights(task.settings, large)[0], results.training.picture(task.settings, large)
    assert drawn.over == float(exact.max()) > 1.2
    shown = wire_weights(drawn.cells.codes, signed=True).nan_to_num() * drawn.over
    torch.testing.assert_close(shown, exact, rtol=2e-3, atol=1e-6)
    assert training_curves._ends([training_curves.Row("a", 0, 1.7, 0)]) == (0.0, 2.0)
    telling = replace(moment, scores=moment.scores | {"own": torch.tensor([[0.2, 0.9]])})
    said = " ".join(training_heads._heads_text(task.settings, telling, seen, False)).replace("\\", "")
    assert f"Its λ is {float(moment.sinks[0, 1]):.3f}" in said
    assert any("two softmaxes each" in caption.value for caption in test.run().caption)


def test_what_is_downloaded_is_what_was_trained():
    course = shipped.course("brackets")
    about = json.loads(training_after._run(course))
    assert about["settings"] == json.loads(json.dumps(vars(course.recipe)))
    assert about["moments"][-1]["accuracy"] == pytest.approx(course.moments[-1].accuracy)
    assert len(training_after._weights(course)) > 4 * len(course.parameters)


def test_what_a_link_cannot_mean_is_said():
    test = run({"heads": "5", "task": "sortt", "layers": "9"})
    assert not test.exception
    for words in ("Did you mean 'sort'?", "layers=9 is not a whole number between 1 and 3", "multiple of heads=5"):
        assert words in page_text(test), words
    assert link(test) == {"v": "2", "train_heads": "5", "train_d_model": "65", "train_head": "0"}


def test_every_knob_of_what_is_trained_has_its_widget():
    trained = {name for name, knob in RECIPES.knobs.items() if knob.about == "tensors"}
    assert trained == RECIPE.names
    held = run({}).session_state
    assert all(f"train_{name}" in held for name in trained)
