"""Pages that show one side of a comparison at a time, and Layers, which shows how much each head changed."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import pytest
import torch

from attention import heads
from attention.codec import CONFIGS
from attention.config import Config
from attention.fitting import layers
from attention.number_format import format_mean, format_percent
from attention.pinned import pin, sides_of
from attention.trace import trace
from attention.ui import results
from attention.ui.text import comparing
from tests import drawings
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


@pytest.mark.parametrize(
    ("page", "side"),
    [*((page, "b") for page in ("softmax", "steps", "masks")), ("softmax", "both")],
)
def test_any_other_side_is_the_page_of_the_settings(page, side):
    shown = views(page, SHORT | {"against": pin(A), "side": side})
    assert shown == views(page, SHORT) != views(page, FULL)


def test_layers_shows_how_much_a_number_of_each_head_changed():
    a = Config.of("recorded:smollm2-repeated", layer=18, head=6)
    query = CONFIGS.to_query(replace(a, temperature=3.0, layer_map="entropy", upwards="entropy", against=pin(a)))
    test = run(ROOT / "pages" / "layers.py", query)
    assert not test.exception
    wanted, maps = {}, {}
    for layer in layers(a.source):
        sides = (trace(replace(a, layer=layer, temperature=temperature)) for temperature in (1.0, 3.0))
        before, after = sides
        moved = (after.weights - before.weights).double().abs().sum(-1).mean(-1) / 2
        maps |= {(layer, head): float(moved[head]) for head in range(a.heads)}
        before, after = (heads.row_entropy(found.weights).mean(-1) for found in (before, after))
        wanted |= {(layer, head): float(after[head] - before[head]) for head in range(a.heads)}
    (cells,) = (table for table in tables(test) if "share" in table)
    assert dict(zip(zip(cells["layer"], cells["head"], strict=True), cells["value"], strict=True)) == pytest.approx(
        wanted, abs=1e-5
    )
    most = max(wanted, key=lambda cell: abs(wanted[cell]))
    assert f"Layer {most[0]}, head {most[1]} changed most of {len(wanted)} heads: “Entropy” is" in page_text(test)
    assert " nats in A and " in page_text(test)
    largest = sorted(maps, key=maps.__getitem__)[:-4:-1]
    named = ", ".join(f"layer {layer}, head {head} ({format_mean(maps[layer, head])})" for layer, head in largest)
    assert comparing.MAPS_CHANGED.format(measure="total variation", heads=named) in page_text(test)
    label = comparing.OPEN_CHANGED.format(head="layer {}, head {}".format(*largest[0]))
    (there,) = [each.proto.url for each in test.get("link_button") if each.proto.label == label]
    opened = sides_of(CONFIGS.from_query(dict(parse_qsl(urlsplit(there).query)))[0])
    assert (opened.b.layer, opened.b.head) == largest[0] and opened.a.layer == opened.b.layer
    (points,) = (table for table in tables(test) if "x_before" in table)
    moved = [y - before for y, before in zip(points["y"], points["y_before"], strict=True)]
    assert moved == pytest.approx(list(wanted.values()), abs=1e-5)


def test_layers_without_a_change_say_so():
    same = run(ROOT / "pages" / "layers.py", FULL | {"against": pin(A)})
    assert "No head changed" in page_text(same) and comparing.SAME_MAPS in page_text(same) and not same.exception


def test_layers_of_another_number_of_heads_have_no_difference_and_show_the_settings():
    other = pin(Config(tokens=6, heads=4, d_model=16))
    test = run(ROOT / "pages" / "layers.py", SHORT | {"against": other})
    assert not test.exception and not any("share" in table for table in tables(test))


@pytest.mark.parametrize(
    ("page", "topic", "labels"),
    [
        ("softmax", {"topic": "scaling"}, ["A", "B"]),
        ("softmax", {}, ["A", "B", "B − A"]),
        ("softmax", {"topic": "all"}, ["A", "B", "B − A"]),
        ("layers", {}, ["A", "B", "B − A"]),
        ("masks", {}, ["A", "B", "B − A"]),
        ("steps", {}, ["A", "B", "B − A", "side by side"]),
    ],
)
def test_a_side_is_chosen_on_the_page(page, topic, labels):
    test = run(ROOT / "pages" / f"{page}.py", SHORT | topic | {"against": pin(A)})
    (choice,) = [each for each in test.button_group if each.key and each.key.startswith("side of this page")]
    assert choice.options == labels
    choice.set_value("a").run()
    assert test.query_params["side"] == "a" and not test.exception
    test.button(key="unpin").click().run()
    assert "against" not in test.query_params and not test.exception


def test_masks_counts_the_pairs_that_one_side_alone_has():
    test = run(ROOT / "pages" / "masks.py", SHORT | {"mask": "window", "span": "2", "against": pin(A)})
    assert "Visible pairs: 36 in A, 11 in B; 25 in A only, 0 in B only." in page_text(test)
    assert "In use in B:" in page_text(test)
    other = run(ROOT / "pages" / "masks.py", SHORT | {"against": pin(Config(tokens=5, heads=2, d_model=16))})
    assert "Visible pairs" not in page_text(other) and "masks of equal size" in page_text(other) and not other.exception


@pytest.mark.parametrize("tokens", [40, 700, 3000])
def test_the_map_of_two_masks_has_the_pairs_that_one_alone_keeps(tokens):
    a, b = Config(tokens=tokens, mask="window", span=5), Config(tokens=tokens, mask="strided", span=9, combine="and")
    found = results.masks.difference(a, b)
    one, two = (side.rule.square(tokens, tokens, side.span) for side in (a, b))
    tile = found.tile
    assert tile == -(-tokens // 256)

    def count(pairs: torch.Tensor) -> torch.Tensor:
        padded = torch.nn.functional.pad(pairs, (0, -tokens % tile, 0, -tokens % tile))
        return padded.unfold(0, tile, tile).unfold(1, tile, tile).flatten(2).sum(-1)

    for counted, pairs in ((found.both, one & two), (found.only_a, one & ~two), (found.only_b, two & ~one)):
        assert torch.equal(counted, count(pairs))
    all_pairs, in_a, in_b = count(torch.ones_like(one)), count(one & ~two), count(two & ~one)
    cells = torch.where(in_a > in_b, -in_a, in_b) / all_pairs
    neither = count(one | two) == 0
    assert torch.equal(found.cells.isnan(), neither) and neither.any()
    assert torch.allclose(found.cells[~neither], cells[~neither])


def test_layers_says_whose_number_the_selected_head_has():
    a = Config.of("recorded:minilm-street", layer=1, head=3)
    query = CONFIGS.to_query(replace(a, temperature=3.0, layer_map="entropy", against=pin(a)))
    test = run(ROOT / "pages" / "layers.py", query)
    before, after = (
        float(heads.row_entropy(trace(replace(a, temperature=each)).weights).mean(-1)[3]) for each in (1.0, 3.0)
    )
    assert f"Layer 1, head 3 (selected): {before:.3f} nats in A, {after:.3f} nats in B." in page_text(test).replace(
        "\\", ""
    )
    assert any(each.value == "**B**" for each in test.caption)


def test_a_page_without_a_difference_says_so():
    said = page_text(run(ROOT / "pages" / "softmax.py", SHORT | {"topic": "scaling", "against": pin(A)}))
    assert "*All rows and heads* have B − A" in said


def test_softmax_shows_how_the_selected_row_changed():
    b = replace(A, temperature=3.0, head=1, query=2)
    test = run(ROOT / "pages" / "softmax.py", CONFIGS.to_query(replace(b, against=pin(A))))
    assert not test.exception and not test.warning
    (before, after) = (trace(side).weights[1, 2].double() for side in (A, b))
    (row, _) = [table for table in tables(test) if "change" in table]
    assert row["a"] == pytest.approx(before.tolist(), abs=1e-6) and row["b"] == pytest.approx(after.tolist(), abs=1e-6)
    assert row["change"] == pytest.approx((after - before).tolist(), abs=1e-6)
    half = float((after - before).abs().sum()) / 2
    assert f"in head 1: {format_percent(half)} of its weight moved. Largest weight: A " in page_text(test)


def test_the_largest_weight_of_a_compared_row_has_all_keys_with_it():
    for head, said in ((0, "A 43.0% each on “boat” (7) and “boat” (17), B "), (6, "A 5.6% each on 13 keys, B ")):
        b = Config(head=head, temperature=0.5)
        test = run(ROOT / "pages" / "heads.py", CONFIGS.to_query(replace(b, against=pin(Config()))))
        assert f"Largest weight: {said}" in page_text(test)


def steps(query: dict[str, str]) -> tuple[str, list[dict[str, torch.Tensor]]]:
    """The words of Steps, and the numbers of each picture that it draws: by step, those of B − A as A, B and their difference."""
    test = run(ROOT / "pages" / "steps.py", query)
    assert not test.exception and not test.warning
    sent = [each.proto.bytes for each in test.get("bidi_component") if "matrices" in each.proto.component_name]
    return page_text(test), [step_numbers(each) for each in sent]


def step_numbers(message: bytes) -> dict[str, torch.Tensor]:
    header, at, found = drawings.header(message), 4 + int.from_bytes(message[:4], "little"), {}
    at += -at % 4

    def numbers(shape: list[int], exponent: int) -> torch.Tensor:
        nonlocal at
        codes = torch.frombuffer(bytearray(message[at : at + 2 * math.prod(shape)]), dtype=torch.float16)
        at += 2 * len(codes)
        return codes.view(shape).double() * 2.0**exponent

    for each in header["matrices"]:
        shape = [each["sent"], each["high"], each["broad"]]
        own = numbers(shape, each["exponent"])
        assert not each["places"]
        sides = [numbers(shape, exponent) for exponent in each.get("sides", [])]
        found[each["name"]] = torch.stack([*sides, own])
    return found


def test_steps_subtracts_every_matrix_of_equal_size():
    b = {"mask": "causal", "scale": "none", "steps": "all"}
    said, (found,) = steps(FULL | b | {"against": pin(A)})
    assert "**mask** is the first of 18 matrices that differs; 12 are equal in A and B." in said
    assert "Only in A: scaled." in said
    a, b = trace(A), trace(replace(A, mask="causal", scale="none"))
    triangle = torch.ones(6, 6, dtype=torch.bool).tril()
    wanted = {
        "weights": (a.weights, b.weights),
        "mask": (torch.ones(1, 6, 6), triangle[None].float()),
        "logits": (a.scores, b.scores),
        "context": (a.context, b.context),
    }
    for name, (before, after) in wanted.items():
        one, two, change = found[name]
        seen = triangle.expand_as(two) if name != "context" else torch.ones_like(two, dtype=torch.bool)
        assert torch.equal(two.isneginf(), ~seen) and not one.isinf().any()
        assert torch.allclose(one, before.double(), rtol=2e-3, atol=1e-6)
        assert torch.allclose(two[seen], after.double()[seen], rtol=2e-3, atol=1e-6)
        exact = after.double() - before.double()
        exact = exact if name != "logits" else exact.masked_fill(~seen, -math.inf)
        assert torch.allclose(change, exact, rtol=2e-3, atol=1e-6)
    assert not found["x"][2].any()


def test_steps_says_which_matrices_have_no_difference():
    said, (found,) = steps(SHORT | {"d_model": "32", "step": "q", "against": pin(A)})
    assert "**q** can't be subtracted: it is 2 × 6 × 8 in A and 2 × 6 × 16 in B." in said
    assert [len(each) for each in found.values()] == [1, 1]
    said, (found,) = steps(SHORT | {"d_model": "32", "step": "context", "against": pin(A)})
    assert "**context** can't be subtracted" in said and "sizes differ or A has none: v, context" in said
    assert {name: len(each) for name, each in found.items()} == {"weights": 3, "v": 1, "context": 1}


def test_a_button_of_steps_shows_the_first_matrix_that_differs():
    test = run(ROOT / "pages" / "steps.py", FULL | {"mask": "causal", "scale": "none", "step": "q", "against": pin(A)})
    (button,) = [each for each in test.button if each.label == comparing.SHOW_STEP.format(step="mask")]
    button.click().run()
    assert test.query_params["step"] == "mask" and not test.exception
    assert button.label not in [each.label for each in test.button]


def test_steps_compares_one_head_with_another_alone():
    _, (found,) = steps(FULL | {"step": "weights", "head": "1", "against": pin(A, 0)})
    weights = trace(A).weights.double()
    assert torch.allclose(
        found["weights"][:, 0], torch.stack([weights[0], weights[1], weights[1] - weights[0]]), atol=1e-3
    )


def test_steps_shows_both_sides_beside_each_other_whatever_their_sizes():
    said, pictures = steps(SHORT | {"d_model": "32", "step": "x", "side": "both", "against": pin(A)})
    assert [picture["x"].shape[-1] for picture in pictures] == [16, 32] and "**A**" in said


def test_softmax_shows_how_the_distributions_of_each_head_changed():
    b = replace(A, temperature=3.0)
    test = run(ROOT / "pages" / "softmax.py", FULL | {"temperature": "3", "topic": "all", "against": pin(A)})
    assert not test.exception
    before, after = (trace(side).weights.double() for side in (A, b))
    entropies = [torch.special.entr(each).sum(-1) for each in (before, after)]
    sizes, queries = (table for table in tables(test) if "change" in table)
    wanted = dict(
        zip(itertools.product(range(2), range(6)), (entropies[1] - entropies[0]).flatten().tolist(), strict=True)
    )
    found = zip(queries["strip"], queries["query"], queries["change"], strict=True)
    assert {(head, query): change for head, query, change in found} == pytest.approx(wanted, abs=1e-5)
    for head in range(2):
        at = [place for place, strip in enumerate(sizes["strip"]) if strip == head]
        for place in at:
            low, high = (sizes[name][place] * (1 + 1e-5) for name in ("low", "high"))
            a, b = (float(((each[head] >= low) & (each[head] < high)).double().mean()) for each in (before, after))
            assert (sizes["a"][place], sizes["change"][place]) == pytest.approx((a, b - a), abs=1e-9)
        assert sum(sizes["change"][place] for place in at) == pytest.approx(0, abs=1e-9)
    most = int((entropies[1] - entropies[0]).mean(-1).abs().argmax())
    assert f"Head {most} changed most: the mean entropy" in page_text(test)


def test_softmax_compares_one_head_with_another_alone():
    query = FULL | {"topic": "all", "against": pin(A, 1)}
    test = run(ROOT / "pages" / "softmax.py", query)
    weights = trace(A).weights.double()
    entropy = torch.special.entr(weights).sum(-1)
    queries = [table for table in tables(test) if "change" in table][-1]
    assert set(queries["head"]) == {0} and not test.exception
    assert queries["change"] == pytest.approx((entropy[0] - entropy[1]).tolist(), abs=1e-5)


@pytest.mark.parametrize(("name", "share"), [("first", True), ("entropy", False)])
def test_layers_says_changes_of_a_share_in_percentage_points(name, share):
    a = Config.of("recorded:smollm2-street", layer=16, head=0)
    test = run(
        ROOT / "pages" / "layers.py", CONFIGS.to_query(replace(a, temperature=3.0, layer_map=name, against=pin(a)))
    )
    chart = test.get("vega_lite_chart")[0].proto.spec
    assert not test.exception and ('".0%"' in chart) is share
    assert ("B − A in percentage points. Green" in page_text(test)) is share and "Full colour: ±" in page_text(test)
