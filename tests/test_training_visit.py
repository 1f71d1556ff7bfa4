"""What one does with a training besides watching it: other pages and back, its heads elsewhere, what is too long, what fails."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from attention import Config, trace
from attention.charts import training as charts
from attention.codec import from_query
from attention.pinned import sides_of
from attention.training import pace, shipped
from attention.training.head_scores import weights
from attention.training.recipe import Recipe
from attention.training.run import probe, stack_layers
from attention.training.tasks import TASKS
from attention.ui.jobs import training_jobs
from attention.ui.jobs.job_queue import JOBS
from attention.ui.jobs.training_jobs import LONGEST, TrainingJob
from attention.ui.session import training_heartbeat as looks
from attention.ui.session.visit_state import KEY
from attention.ui.views import training_course as courses
from attention.ui.views import training_curves
from tests.test_job_queue import ME, a_line
from tests.test_pages import ROOT, SECONDS
from tests.test_training_page import PAGE, SMALL, _nobody_else, learning, link, page_text, run, until  # noqa: F401  a fixture


def menu(query: dict[str, str]) -> AppTest:
    """The Training page as one comes to it by the menu."""
    test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS)
    test.run().query_params.update({"v": "2"} | {f"train_{name}": value for name, value in query.items()})
    return test.switch_page("pages/training.py").run()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("task", ["induction", "reverse"])
def test_every_page_that_is_offered_has_something_to_show(task):
    test = run({"task": task, "head": "2", "at": "200"})
    leads = [each.proto for each in test.get("link_button") if each.proto.label.startswith("Open on")]
    pages = "Heads", "Layers", "Softmax", "Masks", "Steps"
    assert [lead.label for lead in leads] == [f"Open on {name}" for name in pages]
    for lead in leads:
        query = dict(parse_qsl(urlsplit(lead.url).query))
        config, notes = from_query(query)
        assert notes == [] and (config.source, config.head) == (f"trained:{task}", 2)
        assert config.training_step == shipped.course(task).nearest_frame(200).step
        name = urlsplit(lead.url).path.strip("/") or "heads"
        there = AppTest.from_file(str(ROOT / "pages" / f"{name}.py"), default_timeout=SECONDS)
        there.query_params.update(query)
        there.run()
        assert not there.exception and not there.warning and "This needs" not in page_text(there), name


@pytest.mark.extended
def test_the_heads_of_ones_own_training_go_to_other_pages_and_make_way_for_later_ones():
    test = menu(SMALL | {"seed": "11"})
    assert not [each for each in test.button if each.label.startswith("Open on")], "it is untrained"
    test.button(key="train").click().run()
    task = learning(test)
    until(lambda: task.state == "done")
    for step, name in ((30, "layers"), (0, "softmax"), (6, "masks"), (12, "steps"), (24, "heads")):
        test.query_params.clear()
        test.switch_page("pages/training.py").run()
        test.select_slider(key="moment").set_value(step).run()
        test.button(key=f"open {name}").click().run()
        assert not test.exception and not test.error and "This needs" not in page_text(test)
        source = test.selectbox(key="source").value
        assert source.startswith("training:") and source.endswith(f":reverse after {step} steps")
        assert "Trained here" in page_text(test)
        moment = task.course.nearest_frame(step)
        torch.testing.assert_close(trace(Config.of(source)).weights, weights(task.settings, moment.q, moment.k)[0])
    held = test.session_state[KEY].kept.uploaded
    assert [source.rpartition(":")[2] for source in held] == [f"reverse after {step} steps" for step in (0, 6, 12, 24)]
    stranger = AppTest.from_file(str(ROOT / "pages" / "heads.py"), default_timeout=SECONDS)
    stranger.query_params.update(link(test))
    assert "a training of another visit" in page_text(stranger.run())


def test_a_trained_model_with_heads_off_is_compared_with_all_of_its_heads():
    test = menu({"task": "induction", "off": "0.1"})
    test.button(key="compare without").click().run()
    assert not test.exception and not test.error
    said, query = page_text(test), link(test)
    assert (
        "**A** source: induction after 1,000 steps · **B** source: induction after 1,000 steps, layer 0 head 1 off"
        in said
    )
    sides = sides_of(from_query(query)[0])
    model = shipped.course("induction").model()
    wide = model.recipe.d_model // model.recipe.heads
    ids = probe(model.recipe).ids[:, :-1]
    for side in (sides.a, sides.b):
        with torch.no_grad():
            found = stack_layers(model.forward_with_scores(ids)[1])
            expected = weights(model.recipe, found.q, found.k, found.sinks)
            first: Any = model.layers[0]
            first.attention.out_proj.weight[:, wide : 2 * wide] = 0  # for the second side
        for layer in (0, 1):
            torch.testing.assert_close(trace(side.of_layer(layer)).weights, expected[layer])
    assert side.layer == sides.a.layer == 1
    assert torch.equal(*(trace(each.of_layer(0)).weights for each in (sides.a, sides.b)))


def test_a_training_goes_on_while_its_visitor_reads_other_pages(monkeypatch):
    monkeypatch.setattr(JOBS, "take", lambda: None)
    test = run(SMALL | {"seed": "13"})
    test.button(key="train").click().run()
    task, state = learning(test), test.session_state[KEY]
    clock = task.clock()
    task.clock = lambda: clock
    heads = AppTest.from_file(str(ROOT / "pages" / "heads.py"), default_timeout=SECONDS)
    heads.session_state[KEY] = state
    for _ in range(3):
        clock += 0.9 * task.leave_after_s
        assert not heads.run().exception and task.update_state() == "waiting"
    again = AppTest.from_file(str(PAGE), default_timeout=SECONDS)
    again.session_state[KEY] = state
    clock += 0.9 * task.leave_after_s
    assert "0 of 40 steps" in again.run().get("progress")[0].proto.text and task.open
    clock += 1.1 * task.leave_after_s
    assert task.update_state() == "left", "of one who has gone it ends"


def test_every_page_asks_again_while_a_training_goes_on(monkeypatch):
    """Nobody who only reads sends anything: the page itself looks, more often than a visitor is taken to have left."""
    beats = list[float | None]()
    fragment = looks.st.fragment
    monkeypatch.setattr(looks.st, "fragment", lambda *a, **k: (beats.append(k.get("run_every")), fragment(*a, **k))[1])
    monkeypatch.setattr(JOBS, "take", lambda: None)
    test = run(SMALL | {"seed": "14"})
    test.button(key="train").click().run()
    heads = AppTest.from_file(str(ROOT / "pages" / "heads.py"), default_timeout=SECONDS)
    heads.session_state[KEY] = test.session_state[KEY]
    beats.clear()
    heads.run()
    assert looks.LOOK in beats and TrainingJob.leave_after_s > 2 * looks.LOOK


def test_a_training_that_takes_too_long_is_refused_with_fewer_steps():
    longest = {"layers": "3", "heads": "8", "d_model": "256", "steps": "3000"}
    test = run(longest)
    assert "would take about 12 min of processor time" in test.warning[0].value and test.button(key="train").disabled
    test.button(key="smaller").click().run()
    assert not test.warning and not test.button(key="train").disabled
    smaller = test.session_state[KEY].here.setting
    assert (smaller.d_model, smaller.layers) == (256, 3) and 2000 < smaller.steps < 3000
    assert pace.seconds(smaller) <= LONGEST < pace.seconds(Recipe(**{**vars(smaller), "steps": smaller.steps + 50}))
    assert "Training: about 10 min" in page_text(test)


@given(st.sampled_from(list(TASKS)), st.integers(1, 3), st.integers(20, 3000), st.sampled_from([8, 64, 256]))
def test_there_is_something_new_to_see_every_second_or_so(task, layers, steps, d_model):
    recipe = Recipe(task=task, layers=layers, steps=steps, d_model=d_model)
    found = pace.moments(recipe)
    assert found[0] == 0 and found[-1] == steps and list(found) == sorted(set(found))
    apart = max(after - before for before, after in pairwise(found))
    assert apart * pace.step(recipe) <= pace.APART or apart <= 20
    assert len(found) <= pace.MOST + 1


def test_a_loss_that_is_no_number_is_not_shown(monkeypatch):
    """The page after it: the last moment that was sound, why it ended, and no model to be asked."""
    seen = training_jobs.train

    def broken(recipe):
        for run_, moment in seen(recipe):
            if run_.done == 5:
                run_.optimizer.values.fill_(torch.nan)
            yield run_, moment

    monkeypatch.setattr(training_jobs, "train", broken)
    test = run(SMALL | {"seed": "15"})
    test.button(key="train").click().run()
    task = learning(test)
    until(lambda: task.state == "failed")
    test.run()
    assert not test.exception and [moment.sound for moment in task.moments] == [True] * 6 + [False]
    assert "After **5** steps" in page_text(test) and "Training diverged after 6 steps" in test.error[0].value
    assert "nan" not in page_text(test).lower() and not test.text_input and not test.metric
    assert list(test.select_slider(key="moment").options) == [f"Step {step}" for step in range(6)]
    assert not [each for each in test.get("download_button") if "Weights" in each.proto.label]


def test_what_was_learned_when_it_is_stopped_is_there():
    line, _, begun = a_line()
    task = line.request(TrainingJob, Recipe(task="reverse", layers=1, steps=400, d_model=16, heads=2), ME)
    ask = task.should_stop

    def should_stop() -> bool:
        if task.steps == 6:
            line.pause(task, ME)
        if task.steps == 11:
            task.leave(ME)
        return ask()

    task.should_stop = should_stop  # type: ignore[method-assign]
    begun.pop()()
    assert task.state == "paused" and [moment.step for moment in task.moments] == [0], "it goes on from here"
    line.go_on(task, ME)
    begun.pop()()
    assert task.state == "cancelled" and [moment.step for moment in task.moments] == [0, 8, 11]


def test_the_loss_is_never_off_its_axis():
    """Whatever it is; and the axis is the same for a while."""
    for loss in (0.01, 3.9, 5.0, 61.0, 1e9, 3e38):
        least, most = charts.loss(1000, charts.ceiling(loss))["layer"][1]["encoding"]["y"]["scale"]["domain"]
        assert least == 0 and loss <= most < math.inf
    assert charts.ceiling(0.01) == charts.ceiling(4.9) == 5 and charts.ceiling(55) == charts.ceiling(99) == 100


def test_lessons_train_at_once_what_goes_wrong(monkeypatch):
    monkeypatch.setattr(JOBS, "take", lambda: None)
    for lesson, sets, watch in (
        ("without scaling", {"scale": "none", "heads": 1}, "the softmax is saturated from the start"),
        ("rate of 1", {"rate": 1.0}, "Each step overshoots"),
    ):
        test = run({"task": "sort"})
        next(each for each in test.button if lesson in each.label).click().run()
        assert not test.exception
        assert learning(test).settings == Recipe(**sets) and learning(test).open
        assert test.session_state[KEY].here.setting.alone == Recipe(**sets)
        assert next(each for each in test.button if lesson in each.label).disabled
        assert any(watch in each.value for each in test.markdown) and not any(
            watch in each.value for each in test.caption
        )


def test_the_head_that_comes_first_stands_beside_the_task_s_own():
    rows = list(training_curves._before(Recipe(), courses.Shown(shipped.course("induction"))))
    own = {each.step: float(each.scores["own"].max()) for each in shipped.course("induction").moments}
    first = next(row.step for row in rows if row.value > 0.5)
    assert {row.series for row in rows} == {charts.EARLIER} and first <= next(s for s in own if own[s] > 0.5)
    lines = [
        any("Wide grey line" in each.proto.body for each in run(link).caption)
        for link in ({}, {"task": "sort"}, {"number": "same"})
    ]
    assert lines == [True, False, False]
