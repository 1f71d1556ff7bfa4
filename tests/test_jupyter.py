"""`attention.show` in the kernel of a notebook: a widget, and without anywidget a frame that holds the whole page."""

from __future__ import annotations

import pytest

from tests.notebooks import environment, notebook
from tests.served import ROOT

pytest.importorskip("nbclient", reason="nbclient is not installed: requirements-dev.txt has it")


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What the cells of a notebook gave."""
    import nbclient

    made = notebook(
        "shown = attention.show(weights, tokens=tokens)\nshown",
        "shown.pinned, shown.place",
        "import sys\nsys.modules['anywidget'] = None\nattention.notebook.widget.kind.cache_clear()\n"
        "framed = attention.show(weights, tokens=tokens, title='Mine')",
        "attention.show(weights * 9)",
    )
    env = environment(tmp_path_factory.mktemp("jupyter"))
    client = nbclient.NotebookClient(made, timeout=120, allow_errors=True, resources={"metadata": {"path": str(ROOT)}})
    client.execute(env=env)
    return client.nb.metadata.get("widgets", {}), [cell.outputs for cell in client.nb.cells]


def test_a_widget_is_shown_once(outputs):
    widgets, (_, shown, pinned, *_) = outputs
    assert [set(each["data"]) for each in shown if each["output_type"] == "display_data"] == [
        {"application/vnd.jupyter.widget-view+json", "text/plain"}
    ]
    assert pinned[0]["data"]["text/plain"] == "({}, None)"
    (states,) = (each["state"] for each in widgets.values())
    (heads,) = (each["state"] for each in states.values() if "places" in each["state"])
    assert heads["about"]["parts"] == [
        {"name": "", "what": "3 layers of 3 heads, given as weights.", "layers": [0, 1, 2], "note": ""}
    ] and heads["places"] == [0]
    assert "export default" in heads["_esm"] and ".heads-layers" in heads["_css"]


def test_without_anywidget_a_frame_has_the_page(outputs):
    _, (*_, framed, _) = outputs
    (text,) = (each["data"]["text/html"] for each in framed if each["output_type"] == "display_data")
    assert text.startswith('<iframe sandbox="allow-scripts allow-downloads"') and text.count("<") == 2
    assert "&lt;h1&gt;Mine&lt;/h1&gt;" in text


def test_what_cannot_be_shown_is_named(outputs):
    _, (*_, failed) = outputs
    assert failed[0]["ename"] == "ValueError" and "is not from 0 to 1" in failed[0]["evalue"]
