"""Pages that show one side of a comparison at a time, and Layers, which shows how much each head changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attention import heads
from attention.codec import CONFIGS
from attention.config import Config
from attention.fitting import layers
from attention.pinned import pin
from attention.trace import trace
from tests.test_model_page import page_text
from tests.test_pages import ROOT, run
from tests.test_softmax_page import tables

SHORT = {"v": "3", "tokens": "6", "heads": "2", "d_model": "16"}
FULL = SHORT | {"mask": "full"}
A = Config(tokens=6, heads=2, d_model=16, mask="full")


def views(page: str, query: dict[str, str]) -> tuple[str, list[dict[str, list]], list[str]]:
    """What a page shows, without the choice of a side: its words, the data of its charts, and what its own parts are sent."""
    test = run(ROOT / "pages" / f"{page}.py", query)
    assert not test.exception and not test.warning
    words = [line for line in page_text(test).splitlines() if not line.startswith("**A** ")]
    parts = [each.proto.json or each.proto.mixed.json for each in test.get("bidi_component") if each.proto.id]
    return "\n".join(words), tables(test), [part for part in parts if "link" not in part]


@pytest.mark.parametrize("page", ["softmax", "steps", "layers", "masks"])
def test_side_a_is_the_page_of_what_was_pinned(page):
    assert views(page, SHORT | {"against": pin(A), "side": "a"}) == views(page, FULL)


@pytest.mark.parametrize("page", ["softmax", "steps", "masks"])
@pytest.mark.parametrize("side", ["b", "difference", "both"])
def test_any_other_side_is_the_page_of_the_settings(page, side):
    shown = views(page, SHORT | {"against": pin(A), "side": side})
    assert shown == views(page, SHORT) != views(page, FULL)


def test_layers_shows_how_much_a_number_of_each_head_changed():
    a = Config.of("recorded:smollm2-repeated", layer=18, head=6)
    query = CONFIGS.to_query(replace(a, temperature=3.0, layer_map="entropy", upwards="entropy", against=pin(a)))
    test = run(ROOT / "pages" / "layers.py", query)
    assert not test.exception
    wanted = {}
    for layer in layers(a.source):
        sides = (trace(replace(a, layer=layer, temperature=temperature)) for temperature in (1.0, 3.0))
        before, after = (heads.row_entropy(found.weights).mean(-1) for found in sides)
        wanted |= {(layer, head): float(after[head] - before[head]) for head in range(a.heads)}
    (cells,) = (table for table in tables(test) if "share" in table)
    assert dict(zip(zip(cells["layer"], cells["head"], strict=True), cells["value"], strict=True)) == pytest.approx(
        wanted, abs=1e-5
    )
    most = max(wanted, key=lambda cell: abs(wanted[cell]))
    assert f"Layer {most[0]}, head {most[1]} changed most of {len(wanted)} heads" in page_text(test)
    (points,) = (table for table in tables(test) if "x_before" in table)
    moved = [y - before for y, before in zip(points["y"], points["y_before"], strict=True)]
    assert moved == pytest.approx(list(wanted.values()), abs=1e-5)


def test_layers_without_a_change_say_so():
    same = run(ROOT / "pages" / "layers.py", FULL | {"against": pin(A)})
    assert "No head changed" in page_text(same) and not same.exception


def test_layers_of_another_number_of_heads_have_no_difference_and_show_the_settings():
    other = pin(Config(tokens=6, heads=4, d_model=16))
    test = run(ROOT / "pages" / "layers.py", SHORT | {"against": other})
    assert not test.exception and not any("share" in table for table in tables(test))


@pytest.mark.parametrize(("page", "labels"), [("softmax", ["A", "B"]), ("layers", ["A", "B", "B − A"])])
def test_a_side_is_chosen_on_the_page(page, labels):
    test = run(ROOT / "pages" / f"{page}.py", SHORT | {"against": pin(A)})
    (choice,) = [each for each in test.button_group if each.key and each.key.startswith("side of this page")]
    assert choice.options == labels
    choice.set_value("a").run()
    assert test.query_params["side"] == "a" and not test.exception
    test.button(key="unpin").click().run()
    assert "against" not in test.query_params and not test.exception


def test_masks_counts_the_pairs_that_one_side_alone_has():
    test = run(ROOT / "pages" / "masks.py", SHORT | {"mask": "window", "span": "2", "against": pin(A)})
    assert "Visible pairs: 36 in A, 11 in B; 25 in A only, 0 in B only." in page_text(test)
    other = run(ROOT / "pages" / "masks.py", SHORT | {"against": pin(Config(tokens=5, heads=2, d_model=16))})
    assert "Visible pairs" not in page_text(other) and not other.exception


@pytest.mark.parametrize("page", ["softmax", "steps"])
def test_a_page_without_a_difference_says_so(page):
    assert "its steps are not subtracted" in page_text(run(ROOT / "pages" / f"{page}.py", SHORT | {"against": pin(A)}))
