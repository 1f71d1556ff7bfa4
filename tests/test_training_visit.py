"""What one does with a training besides watching it: other pages and back, its heads elsewhere, what is too long, what fails."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention import Config, trace
from attention.codec import from_query
from attention.training import shipped
from attention.training.head_scores import weights
from attention.training.recipe import Recipe
from attention.ui.background.line import HEAVY
from attention.ui.session.state import KEY
from tests.test_pages import ROOT, SECONDS
from tests.test_training_page import SMALL, _nobody_else, learning, link, run, said, until  # noqa: F401  a fixture


def menu(query: dict[str, str]) -> AppTest:
    """The Training page as one comes to it by the menu."""
    test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS)
    test.run().query_params.update({"v": "2"} | {f"train_{name}": value for name, value in query.items()})
    return test.switch_page("pages/training.py").run()


@pytest.mark.parametrize("task", ["induction", "reverse"])
def test_every_page_that_is_offered_has_something_to_show(task):
    test = run({"task": task, "head": "2", "at": "200"})
    leads = [each.proto for each in test.get("link_button") if each.proto.label.startswith("Open on")]
    assert [lead.label for lead in leads] == ["Open on Heads", "Open on Layers", "Open on Softmax", "Open on Masks"]
    for lead in leads:
        query = dict(parse_qsl(urlsplit(lead.url).query))
        config, notes = from_query(query)
        assert notes == [] and (config.source, config.head) == (f"trained:{task}", 2)
        assert config.training_step == shipped.course(task).shown(200).step
        name = urlsplit(lead.url).path.strip("/") or "heads"
        there = AppTest.from_file(str(ROOT / "pages" / f"{name}.py"), default_timeout=SECONDS)
        there.query_params.update(query)
        there.run()
        assert not there.exception and not there.warning and "This needs" not in said(there), name


def test_the_heads_of_ones_own_training_go_to_other_pages_and_make_way_for_later_ones():
    test = menu(SMALL | {"seed": "11"})
    assert not [each for each in test.button if each.label.startswith("Open on")], "it is untrained"
    test.button(key="train").click().run()
    task = learning(test)
    until(lambda: task.state == "done")
    for step, page in ((30, "layers"), (0, "softmax"), (6, "masks"), (12, "heads"), (24, "heads")):
        test.query_params.clear()
        test.switch_page("pages/training.py").run()
        test.select_slider(key="moment").set_value(step).run()
        test.button(key=f"open {page}").click().run()
        assert not test.exception and not test.error and "This needs" not in said(test)
        source = test.selectbox(key="source").value
        assert source.startswith("training:") and source.endswith(f":reverse after {step} steps")
        assert "trained here" in said(test)
        moment = task.course.shown(step)
        torch.testing.assert_close(trace(Config.of(source)).weights, weights(task.settings, moment.q, moment.k)[0])
    held = test.session_state[KEY].kept.brought
    assert [source.rpartition(":")[2] for source in held] == [f"reverse after {step} steps" for step in (0, 6, 12, 24)]
    stranger = AppTest.from_file(str(ROOT / "pages" / "heads.py"), default_timeout=SECONDS)
    stranger.query_params.update(link(test))
    assert "a training that somebody has watched" in said(stranger.run())
