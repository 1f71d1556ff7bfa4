"""`attention.show` in the kernel of a notebook: a widget, and without anywidget a frame that holds the whole page."""

from __future__ import annotations

import base64
import io
import json
import re

import pytest
from PIL import Image

from tests.notebooks import environment, notebook
from tests.server import ROOT

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
    (data,) = (each["data"] for each in shown if each["output_type"] == "display_data")
    assert set(data) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    assert (
        data["text/plain"]
        == "Shown(tokens=<6: '<img src=x onerror=window.ran=1>', …, '.'>, heads=float32 (3, 3, 6, 6))"
    )
    assert pinned[0]["data"]["text/plain"] == "({}, None)"
    (states,) = (each["state"] for each in widgets.values())
    (heads,) = (each["state"] for each in states.values() if "places" in each["state"])
    assert heads["about"]["parts"] == [
        {"name": "", "what": "3 layers of 3 heads, given as weights.", "layers": [0, 1, 2], "note": ""}
    ] and heads["places"] == [0]
    assert "export default" in heads["_esm"] and ".heads-layers" in heads["_css"]


def test_a_saved_notebook_keeps_a_picture(outputs):
    """An image in the output itself, without a script or an address, and small."""
    _, (_, shown, *_) = outputs
    (saved,) = (each for each in shown if each["output_type"] == "display_data")
    assert len(json.dumps(saved)) < 300_000
    text = saved["data"]["text/html"]
    assert re.findall(r"<(\w+)", text) == ["figure", "img", "figcaption"] and "//" not in re.sub(
        'base64,[^"]+', "", text
    )
    picture = Image.open(io.BytesIO(base64.b64decode(re.search('base64,([^"]+)"', text)[1])))
    assert picture.size[0] == picture.size[1] > 3 * 100, "three layers of three heads"


@pytest.mark.extended
def test_without_anywidget_a_frame_has_the_page(outputs):
    _, (*_, framed, _) = outputs
    (text,) = (each["data"]["text/html"] for each in framed if each["output_type"] == "display_data")
    assert text.startswith('<iframe sandbox="allow-scripts allow-downloads"') and text.count("<") == 2
    assert "&lt;h1&gt;Mine&lt;/h1&gt;" in text


def test_what_cannot_be_shown_is_named(outputs):
    _, (*_, failed) = outputs
    assert failed[0]["ename"] == "ValueError" and "is not from 0 to 1" in failed[0]["evalue"]
