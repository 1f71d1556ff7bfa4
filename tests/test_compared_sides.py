"""Two sides compared: the difference against float64, its codes, the numbers of rows, what is pinned, and the page."""

from __future__ import annotations

import base64
import gzip
import json
import math
import random
import shutil
import subprocess
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import streamlit
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import attention
from attention.codec import CONFIGS
from attention.comparison.head_changes import columns, compare_sides, most_changed, sentence
from attention.comparison.nearest_heads import nearest_heads
from attention.comparison.pooling import pool_differences
from attention.comparison.row_numbers import EVERY, row_numbers
from attention.comparison.sides import Side, side_of, why_not_comparable
from attention.components import large_head, word_lines
from attention.components.heads_grid import message
from attention.config import Config
from attention.fitting import coerce, layers
from attention.imported.registry import Upload
from attention.knobs import GENERATED
from attention.masks import MASKS
from attention.notebook.compared import compared_picture
from attention.packed_text import pack_text
from attention.pinned import LARGEST, PACKED, differing_knobs, exchange, pin, pinned_query, pinned_source, sides_of
from attention.settings import ConfigError
from attention.trace import Trace, trace
from attention.ui import results
from attention.ui.controls.picture import PICTURE
from attention.ui.session import kept_bytes
from attention.ui.session.settings_state import SettingsState
from attention.ui.session.visit_state import KEY, Session, taken_up
from attention.ui.views import unequal_sides
from attention.wire.cells import WIDEST
from attention.wire.cells import weights as decoded
from attention.wire.difference_cells import (
    IN_A,
    IN_B,
    SIGN,
    SIZE,
    _thresholds,
    difference_codes,
    difference_payload,
    difference_values,
)
from attention.wire.difference_cells import LARGEST as LAST
from attention.wire.kept_bytes import Kept
from tests import example_uploads
from tests.drawings import header as header_of
from tests.strategies import configs
from tests.test_pages import ROOT, run

HEADS = ROOT / "pages" / "heads.py"
CAUSAL, WINDOW = Config(tokens=12, heads=4, d_model=64), Config(tokens=12, heads=4, d_model=64, mask="window", span=3)
VARIED = {
    "mask": tuple(MASKS),
    "scale": ("none", "1/sqrt(d_head)", "1/d_head"),
    "temperature": (0.3, 1.0, 4.0),
    "softmax": ("standard", "plus one", "sink"),
    "softcap": (0.0, 2.0),
    "span": (1, 3, 9),
    "seed": (0, 1),
}


LIKE_SOURCES = (  # sources of equally many tokens and heads, which are compared with each other
    ("recorded:minilm-street", "recorded:minilm-wide"),
    ("recorded:smollm2-repeated",),
    ("recorded:smollm2-code",),
    ("trained:induction",),
    ("uploads",),
)


def drawn_config(draw: random.Random, **fixed: object) -> Config:
    """A config with some settings drawn."""
    drawn = {name: draw.choice(values) for name, values in VARIED.items()}
    return Config(**coerce(vars(Config()) | {"heads": 2, "d_model": 32} | drawn | fixed))


def double_scores(found: Trace) -> torch.Tensor:
    """The scaled dot products of a trace in float64."""
    keys = found.k.double().repeat_interleave(found.config.heads // len(found.k), 0)
    return found.q.double() @ keys.mT * found.config.logit_scale


def double_weights(found: Trace) -> torch.Tensor:
    """The weights of a trace in float64: dot products, softcap, mask and the denominator by hand."""
    config, scores = found.config, double_scores(found)
    if config.softcap:
        scores = config.softcap * torch.tanh(scores / config.softcap)
    scores = scores.masked_fill(~found.mask, -math.inf)
    sinks = torch.tensor(config.sinks, dtype=torch.float64)[:, None, None]
    top = torch.maximum(scores.amax(-1, keepdim=True), sinks).clamp(min=-1e30)
    exps = (scores - top).exp()
    return exps / (exps.sum(-1, keepdim=True) + (sinks - top).exp()).clamp(min=1e-300)


def numpy_weights(found: Trace) -> np.ndarray:
    """The weights of a trace in float64, by NumPy: of one softmax, of the difference of two, or of a sigmoid per score."""
    config, halves = found.config, 2 if found.config.softmax == "differential" else 1
    keys = found.k.double().numpy().repeat(config.heads // len(found.k), 0)
    made = []
    for q, k in zip(np.split(found.q.double().numpy(), halves, -1), np.split(keys, halves, -1), strict=True):
        scores = np.where(found.mask.numpy(), q @ k.swapaxes(-1, -2) * config.logit_scale, -np.inf)
        if config.softmax == "sigmoid":
            made.append(1 / (1 + np.exp(config.head_softmax.sink - scores)))
        else:
            exps = np.exp(scores - scores.max(-1, keepdims=True))
            made.append(exps / exps.sum(-1, keepdims=True))
    return made[0] - config.diff_lambda * made[1] if halves == 2 else made[0]


@cache
def open_upload(name: str) -> Upload:
    """An upload that stays open for all tests of this file."""
    return example_uploads.holding(name)


def drawn_of_source(draw: random.Random, sources: tuple[str, ...]) -> Config:
    """One layer of one of some sources, with some settings drawn that act on it."""
    source = draw.choice(sources)
    if source == "uploads":
        source = open_upload(draw.choice(("named", "squared"))).source
    drawn = {name: draw.choice(VARIED[name]) for name in ("mask", "temperature", "softmax", "softcap", "span")}
    return Config(**coerce(vars(Config.of(source, layer=draw.choice(layers(source)))) | drawn))


@pytest.mark.parametrize("seed", range(200))
def test_the_difference_of_drawn_settings_is_that_of_two_passes_in_float64(seed):
    draw = random.Random(seed)
    side = draw.choice((64, 10))
    if sources := draw.choice(((), (), *LIKE_SOURCES)):
        before, after = (trace(drawn_of_source(draw, sources)) for _ in range(2))
        tokens = before.config.tokens
    else:
        tokens = draw.choice((5, 18, 40))
        before, after = (trace(drawn_config(draw, tokens=tokens)) for _ in range(2))
    exact = double_weights(after) - double_weights(before)
    near = max(
        1e-6, 2e-7 * max(float(double_scores(each).abs().max()) for each in (before, after))
    )  # float32 of logits
    found = pool_differences(side_of(before), side_of(after), side)
    tile = -(-tokens // side)
    assert found.tile == tile
    padded = torch.nn.functional.pad(exact, (0, -tokens % tile, 0, -tokens % tile))
    tiles = padded.unfold(1, tile, tile).unfold(2, tile, tile).flatten(3)
    assert torch.allclose(found.change.abs().double(), tiles.abs().amax(-1), atol=near)
    assert torch.allclose(found.change.double(), tiles.gather(3, found.place[..., None])[..., 0], atol=near)
    assert torch.allclose((found.b - found.a).double(), found.change.double(), atol=1e-7)
    (top, end), (left, right) = (sorted(draw.sample(range(tokens + 1), 2)) for _ in range(2))
    one, two = (side_of(each).of_heads([1]).part((top, end), (left, right)) for each in (before, after))
    zoomed = pool_differences(one, two, tokens)
    assert torch.allclose(zoomed.change.double(), exact[1:2, top:end, left:right], atol=near)


@given(configs())
@settings(deadline=None)
def test_identical_sides_give_exact_zeros(config):
    side = side_of(trace(config))
    found = pool_differences(side, side, 8)
    assert not found.change.any() and torch.equal(found.a, found.b)
    assert not any(rows.any() for rows in row_numbers(side, side).values())
    assert "Every weight of A and B is equal" in sentence(compare_sides(side, side)) or config.heads == 1


def test_what_one_side_masks_is_marked_as_such():
    before, after = trace(CAUSAL), trace(WINDOW)
    found = pool_differences(side_of(before), side_of(after), 64)
    assert torch.equal(found.in_a[0], before.mask) and torch.equal(found.in_b[0], after.mask)
    codes = difference_codes(found.change, found.in_a, found.in_b).int()
    assert torch.equal(codes[0] == 0, ~before.mask & ~after.mask)
    pooled = pool_differences(side_of(before), side_of(after), 3)
    assert not (pooled.in_a | pooled.in_b)[0, 0, 2] and (pooled.in_a & ~pooled.in_b).any()


def test_codes_have_three_digits_or_a_millionth():
    given = torch.logspace(-9, math.log10(9.99), 30_000, dtype=torch.float64).float()
    given = torch.cat([given, -given, torch.zeros(1), torch.tensor([5e-324, 1e-38])])
    seen = torch.ones(len(given), dtype=torch.bool)
    found = difference_values(difference_codes(given, seen, seen))
    apart, size = (found - given.double()).abs(), given.double().abs()
    assert float(apart[size < 1e-4].max()) <= 1e-6
    for number, exact in zip(found[size >= 1e-4][::7].tolist(), given[size >= 1e-4][::7].tolist(), strict=True):
        assert f"{number:.3g}" == f"{exact:.3g}" or abs(number - exact) <= 0.5001 * 10 ** (
            math.floor(math.log10(abs(exact))) - 2
        )
    assert torch.equal(found == 0, given == 0)  # only an exact zero is zero
    assert float(difference_values(difference_codes(torch.tensor([77.0]), seen[:1], seen[:1]))) == pytest.approx(9.99)
    assert LAST <= SIZE


def test_codes_begin_at_the_thresholds_bit_by_bit():
    borders = _thresholds()
    bits = torch.cat([borders.view(torch.int32) + by for by in (-1, 0, 1)])
    spread = torch.randint(0, 0x7F800001, (200_000,), dtype=torch.int32, generator=torch.Generator().manual_seed(0))
    given = torch.cat([bits, spread, torch.tensor([0, 0x7F800000], dtype=torch.int32)]).view(torch.float32)
    given = torch.cat([given, -given])
    in_a, in_b = torch.arange(len(given)) % 3 > 0, torch.arange(len(given)) % 5 > 0
    size = torch.bucketize(given.abs(), borders, right=True).clamp(max=LAST)
    code = size + (given < 0) * SIGN + in_a * IN_A + in_b * IN_B
    assert torch.equal(difference_codes(given, in_a, in_b).long(), code * (in_a | in_b))


def test_a_message_may_name_the_codes_of_a_which_the_browser_keeps():
    names = set()

    def send(a, b, side=12):
        data = difference_payload(
            {}, pool_differences(side_of(trace(a)), side_of(trace(b)), side), Kept(has, lambda: None)
        )
        return header_of(data).get("kept"), data

    def has(name):
        return name in names or names.add(name)

    (first, whole), (again, rest) = send(CAUSAL, WINDOW), send(CAUSAL, WINDOW)
    codes = 2 * 4 * 12 * 12
    assert first == {"name": again["name"], "bytes": codes} and again["bytes"] == 0
    assert whole[-3 * codes : -codes][-100:] == rest[-100:] and 0 <= len(whole) - codes - len(rest) < 9
    assert send(CAUSAL, CAUSAL)[0] == again and send(WINDOW, CAUSAL)[0]["bytes"] == codes
    assert send(CAUSAL, WINDOW, 6)[0] is None  # A at the place of the largest difference of a tile depends on B


def test_a_message_has_the_codes_of_all_three():
    found = pool_differences(side_of(trace(CAUSAL)), side_of(trace(WINDOW)), 6)
    sent = difference_payload({}, found)
    header, start = header_of(sent), 4 + int.from_bytes(sent[:4], "little")
    assert header["sides"] and header["tile"] == 2 <= WIDEST and header["places"]
    assert len(sent) == start + -start % 4 + 4 * 6 * 6 * 7 + 4 * 12  # three codes and a place per cell, keys per query


@pytest.mark.parametrize(
    "rows", [([0.2, 0.8, 0.0], [0.2, 0.0, 0.8]), ([0.5, 0.2, 0.0], [1.0, 0.0, 0.0]), ([0, 0, 0], [1, 0, 0])]
)
def test_numbers_of_rows_by_hand(rows):
    a, b = ([*map(float, row), 1.0 - math.fsum(row)] for row in rows)
    weights = [torch.tensor([[row]]) for row in rows]
    found = row_numbers(*(Side(each.float(), torch.ones(1, 3, dtype=torch.bool), each.float()) for each in weights))
    half = math.fsum(abs(y - x) for x, y in zip(a, b, strict=True)) / 2
    middle = [(x + y) / 2 for x, y in zip(a, b, strict=True)]
    divergence = [math.fsum(x * math.log2(x / m) for x, m in zip(row, middle, strict=True) if x > 0) for row in (a, b)]
    entropies = [-math.fsum(x * math.log(x) for x in row if x > 0) for row in (a, b)]
    assert float(found["variation"]) == pytest.approx(half, abs=1e-6)
    assert float(found["distance"]) == pytest.approx(math.sqrt(sum(divergence) / 2), abs=1e-3)
    assert float(found["entropy"]) == pytest.approx(entropies[1] - entropies[0], abs=1e-5)
    norms = [math.hypot(*row) for row in rows]
    assert float(found["output"]) == pytest.approx(math.dist(*rows) / max(norms), abs=1e-6)


def test_negative_rows_have_half_their_l1_distance_and_no_entropy():
    a = torch.tensor([[[1.2, -0.4]]])
    mask = torch.ones(1, 2, dtype=torch.bool)
    found = row_numbers(Side(a, mask, distributes=False), Side(-a, mask, distributes=False))
    assert set(found) == {"half_l1", "moved"} and float(found["half_l1"]) == pytest.approx(1.6)
    said = sentence(compare_sides(Side(a, mask, distributes=False), Side(-a, mask, distributes=False)))
    assert said == "Head 0 changed: half the L1 distance 1.600 per row (1.600 to 1.600, 1 row)."


@pytest.mark.parametrize(
    "softmaxes", [("differential", "differential"), ("standard", "differential"), ("sigmoid", "standard")]
)
def test_rows_that_are_no_distributions_have_half_their_l1_distance_on_the_page_and_from_python(softmaxes):
    a, b = (replace(CAUSAL, softmax=softmax, seed=seed) for seed, softmax in enumerate(softmaxes))
    before, after = map(trace, (a, b))
    exact = numpy_weights(after) - numpy_weights(before)
    assert pool_differences(side_of(before), side_of(after), 64).change.numpy() == pytest.approx(exact, abs=1e-6)
    half = np.abs(exact).sum(-1).mean(-1) / 2
    compared = attention.compare(a, b)
    query = CONFIGS.to_query(replace(b, against=pin(a)))
    test = run(HEADS, query)
    assert not test.exception and not test.warning and grids(test).count("heads_grid") == 1
    for table in (compared.table, test.dataframe[0].value):
        assert not {"variation", "distance", "entropy"} & set(table.columns) and {"output", "moved"} <= set(
            table.columns
        )
        order = [int(head) for head in table["head"]]
        assert order[0] == half.argmax() and table["half_l1"].to_numpy() == pytest.approx(half[order], abs=1e-6)
    said = f"Head {half.argmax()} changed most: half the L1 distance {half.max():.3f} per row"
    assert said in repr(compared) and any(said in each.value.replace("\\", "") for each in test.markdown)
    assert any("Largest weight: A" in each.value.replace("\\", "") for each in test.markdown)
    (head_of_a,) = [each for each in test.selectbox if each.label == "Head of A"]
    assert not any("nearest" in option for option in head_of_a.options)
    with pytest.raises(ValueError, match="Jensen-Shannon"):
        attention.compare(a, b, heads="nearest")


def test_the_sentence_names_the_head_that_changed_most_and_those_that_did_not():
    weights = torch.eye(4).expand(3, 4, 4).clone()
    mask = torch.ones(4, 4, dtype=torch.bool)
    other = weights.clone()
    other[1] = torch.eye(4).roll(1, 1)
    found = compare_sides(Side(weights, mask), Side(other, mask))
    assert sentence(found) == (
        "Head 1 changed most: total variation 1.000 per row (1.000 to 1.000, 4 rows); heads 0 and 2 did not change."
    )
    assert columns(found)["head"] == ["1", "0", "2"] and columns(found)["variation"] == [1.0, 0.0, 0.0]
    rolled = compare_sides(Side(weights, mask), Side(weights.roll(1, 1), mask))
    assert sentence(found, 1) == (
        "Head 1 changed most: on average, 100% of a row's weight moved; heads 0 and 2 did not change."
    )
    assert "heads 0 and 2 did not" in sentence(found, 0)
    assert most_changed(found) == 1
    assert most_changed(compare_sides(Side(weights, mask), Side(weights, mask))) is None
    other[2, 0] = torch.tensor([0.0, 1.0, 0.0, 0.0])
    both = compare_sides(Side(weights, mask), Side(other, mask))
    assert sentence(both, 2) == (
        "Head 1 changed most: on average, 100% of a row's weight moved, and 25.0% in head 2; head 0 did not change."
    )
    assert most_changed(rolled) is None, "all changed alike"
    assert sentence(rolled, 1) == "All 3 heads changed alike: on average, 100% of a row's weight moved."
    assert sentence(rolled) == "All 3 heads changed alike: total variation 1.000 per row (4 rows)."
    one = compare_sides(Side(weights, mask), Side(other, mask), [(0, 1)])
    assert sentence(one).startswith("Head 1 of B against 0 of A changed: total variation 1.000")


def test_every_number_has_a_formula():
    assert all(number.label and number.formula for number in EVERY.values())


def test_other_sizes_are_refused_in_words():
    assert why_not_comparable((8, 18, 18), (4, 18, 18)) == ""
    assert why_not_comparable((8, 18, 18), (8, 24, 24)).startswith("A has 18 tokens and B has 24. ")
    assert why_not_comparable((8, 18, 5), (8, 18, 6)).startswith("A has 5 keys and B has 6. ")


@given(configs(), st.none() | st.integers(0, 5))
@settings(deadline=None)
def test_what_is_pinned_opens_again(config, head):
    sides = sides_of(replace(config, against=pin(config, head)))
    assert sides is not None and sides.a.for_page("Steps") == config.for_page("Steps")
    assert differing_knobs(sides) == {} and sides.a.query == config.query
    assert sides.a.head == (config.head if head is None else min(head, config.heads - 1))


def test_a_link_carries_both_sides_and_nothing_else_changes():
    config = replace(WINDOW, against=pin(CAUSAL), side="both")
    again, notes = CONFIGS.from_query(CONFIGS.to_query(config))
    assert (again, notes) == (config, [])
    assert CONFIGS.to_query(CAUSAL).keys().isdisjoint({"against", "side"})
    sides = sides_of(config)
    assert sides is not None and differing_knobs(sides) == {"mask": ("causal", "window"), "span": (4, 3)}
    swapped, _ = CONFIGS.coerce(vars(config) | exchange(config))
    back = sides_of(swapped)
    assert back is not None and (back.a.mask, back.b.mask) == ("window", "causal")


@pytest.mark.parametrize("code", ["x", "K7M", "____", pin(Config())[:-1], "A" * PACKED])
def test_a_broken_comparison_is_refused(code):
    with pytest.raises(ConfigError, match="can't be read"):
        sides_of(Config(against=code))
    assert pinned_source(code) == ""


def test_a_pinned_link_has_known_names_only():
    assert pinned_query(pin(Config())) == {"v": "4"}
    for text in ("v=3&against=x", "v=3&mask=causal&side=a", "mask=causal", "v=3&text=" + "a" * LARGEST):
        with pytest.raises(ConfigError):
            pinned_query(pack_text(text))


def grids(test) -> list[str]:
    """The names of the components of the page's pictures."""
    return [each.proto.component_name.removeprefix("attention-lab.") for each in test.get("bidi_component")]


def test_the_button_pins_and_the_page_compares():
    test = run(HEADS, {})
    test.button(key="compare").click().run()
    assert not test.exception and test.session_state["session"].here.setting.against == pin(Config())
    assert any("A and B are equal so far" in each.value for each in test.markdown)
    labels = [test.button(key=f"try {name}").label for name in ("temperature", "scale", "mask")]
    assert labels == ["Set temperature to 4", "Set scale to none", "Set mask to full"]
    test.button(key="try mask").click().run()
    assert not test.exception
    assert any(each.value.startswith("Head ") and "of a row's weight moved" in each.value for each in test.markdown)
    assert any("**A** mask: causal · **B** mask: full" in each.value.replace("\\", "") for each in test.caption)
    test.button(key="swap").click().run()
    assert test.session_state["session"].here.setting.mask == "causal"
    test.button(key="unpin").click().run()
    assert test.session_state["session"].here.setting.against == ""


@pytest.mark.parametrize(("side", "figures", "maps"), [("a", 0, 1), ("b", 0, 1), ("difference", 0, 1), ("both", 0, 2)])
def test_the_enlarged_head_follows_the_side(side, figures, maps):
    test = run(HEADS, {"v": "3", "rows": "9-17", "against": pin(Config(mask="full"), 2), "side": side})
    assert not test.exception and not test.warning
    assert (len(test.get("plotly_chart")), grids(test).count("large_head")) == (figures, maps)


def test_the_enlarged_part_of_a_side_has_the_visible_keys_of_whole_rows():
    found = results.heads.part(CAUSAL, 1, ((3, 9), (2, 8)), 8)
    assert found.visible_keys.tolist() == [[4.0, 5.0, 6.0, 7.0, 8.0, 9.0]]
    exact = trace(CAUSAL).weights[1, 3:9, 2:8].masked_fill(~trace(CAUSAL).mask[3:9, 2:8], torch.nan)
    torch.testing.assert_close(decoded(found.codes)[0], exact, rtol=1 / 2048, atol=1e-9, equal_nan=True)


def test_the_enlarged_difference_is_that_of_the_selected_heads_and_has_their_numbers():
    a, b = replace(CAUSAL, head=2), replace(WINDOW, head=1, rows="3-9", cols="2-7", against=pin(CAUSAL, 2))
    found = results.heads.part_differences(a, b, (2, 1), b.window, 3)
    assert (found.tile, found.queries, found.keys) == (3, 7, 6)
    sent = header_of(large_head.difference_message(b, found, (3, 2)))
    assert (sent["sides"], sent["first"], sent["sizes"], sent["head"]) == (True, [3, 2], [12, 12], 1)
    exact = trace(b).weights[1, 3:10, 2:8] - trace(a).weights[2, 3:10, 2:8]
    rows, columns = found.place[0] // 3 + 3 * torch.arange(3)[:, None], found.place[0] % 3 + 3 * torch.arange(2)
    assert torch.equal(found.change[0], exact[rows, columns]) and found.change.abs().max() == exact.abs().max()


@pytest.mark.parametrize("form", ["lines", "all lines", "output"])
@pytest.mark.parametrize(("side", "shown"), [("a", 1), ("difference", 1), ("both", 2)])
def test_the_row_of_each_side_is_drawn_in_every_form(side, shown, form):
    test = run(HEADS, {"v": "3", "against": pin(Config(mask="full")), "side": side, "row_as": form})
    assert not test.exception and not test.warning
    part = "row_output" if form == "output" else "word_lines"
    assert grids(test).count(part) == (2 if form == "output" and side != "a" else shown)


def test_lines_of_a_difference_are_its_numbers_with_their_signs():
    a, b = replace(CAUSAL, head=2), replace(WINDOW, head=1, against=pin(CAUSAL, 2))
    cells = results.heads.line_differences(a, b, (2, 1), b.window)
    exact = trace(b).weights[1] - trace(a).weights[2]
    assert header_of(word_lines.message(b, cells, difference=True))["difference"] and cells.signed
    codes = cells.codes[0].int()
    assert torch.equal(codes == 0, ~(trace(a).mask | trace(b).mask))
    assert torch.equal((codes & 0x8000) > 0, exact < 0)


def sent_cells(test) -> dict[str, bytes]:
    """The messages of pictures that a run has sent, by their links."""
    sent = [each.proto for each in test.get("bidi_component")]
    names = "heads_grid", "large_head"
    data = [each.bytes for each in sent if each.component_name.removeprefix("attention-lab.") in names]
    return {header_of(each)["painted"]: each for each in data}


def kept_of(test) -> list[int]:
    """The number of bytes of A that each message of a run contains, if the browser keeps them."""
    return [header["kept"]["bytes"] for each in sent_cells(test).values() if "kept" in (header := header_of(each))]


@pytest.fixture
def in_fragments(monkeypatch):
    """Pictures are drawn as in the rerun of a fragment."""
    return lambda: monkeypatch.setattr(kept_bytes, "running_fragments", lambda: ["view"])


@pytest.mark.parametrize("side", ["a", "difference", "both"])
def test_the_cells_of_a_are_sent_once_while_b_changes(in_fragments, side):
    test = run(HEADS, {"v": "3", "mask": "window", "against": pin(Config(mask="full")), "side": side})
    (size,) = kept_of(test)
    assert size >= 2 * 8 * 18 * 18
    in_fragments()
    for temperature in (2.0, 3.0):
        assert kept_of(test.slider(key="temperature").set_value(temperature).run()) == [0]
    assert kept_of(test.button(key="swap").click().run()) == [size]


@pytest.mark.parametrize("side", ["a", "b", "difference", "both"])
def test_every_side_is_drawn(side):
    test = run(HEADS, {"v": "3", "against": pin(Config(mask="full")), "side": side})
    assert not test.exception and not test.warning
    assert grids(test).count("heads_grid") == 1 + (side == "both")


def test_the_bars_of_both_sides_have_one_scale_beside_each_other():
    test = run(HEADS, {"temperature": "4.0", "against": pin(Config()), "side": "both"})
    (end,) = {header_of(each)["end"] for each in sent_cells(test).values()}
    assert end == pytest.approx(0.43, abs=0.001)


def test_sides_of_other_sizes_are_shown_beside_each_other():
    test = run(HEADS, {"v": "3", "against": pin(Config(tokens=9))})
    assert not test.exception and grids(test).count("heads_grid") == 2
    assert any("A has 9 tokens and B has 18" in each.value for each in test.markdown)
    (table,) = [each.value for each in test.dataframe]
    sides = {"A": Config(tokens=9), "B": Config()}
    for name, side in sides.items():
        entropy = torch.special.entr(trace(side).weights.double()).sum(-1).mean(-1)
        assert table[f"entropy {name}"].to_numpy() == pytest.approx(entropy.numpy(), abs=1e-5)
        assert table[f"greatest {name}"].to_numpy() / 100 == pytest.approx(results.heads.numbers(side)["greatest"])
    test.button(key="equal lengths").click().run()
    assert test.query_params["tokens"] == "9" and grids(test).count("heads_grid") == 1 and not test.exception


def equal_length(a: Config, b: Config) -> tuple[str, int, str] | None:
    """The name, the tokens and the source of the side that gets the length of the other; None if neither can."""
    sides = sides_of(replace(b, against=pin(a)))
    assert sides is not None
    found = unequal_sides._of_equal_length(sides)
    return found and (found[0], found[1].tokens, found[1].source)


def test_the_longer_side_gets_the_length_of_the_other_and_a_recording_keeps_its_own():
    recorded, other = Config.of("recorded:minilm-street"), Config.of("recorded:smollm2-code")
    assert recorded.tokens < Config().tokens and recorded.tokens != other.tokens
    assert equal_length(recorded, Config()) == ("B", recorded.tokens, GENERATED)
    assert equal_length(Config(), recorded) == ("A", recorded.tokens, GENERATED)
    assert equal_length(other, recorded) is None
    test = run(HEADS, CONFIGS.to_query(replace(recorded, against=pin(other))))
    assert not test.exception and any("both models split" in each.value for each in test.caption)


def test_of_sides_with_other_numbers_of_heads_the_selected_heads_are_compared_and_that_is_said():
    test = run(HEADS, {"v": "3", "heads": "4", "head": "1", "against": pin(Config())})
    assert not test.exception and any("A has 8 heads and B has 4" in each.value for each in test.caption)
    assert any("Head 1 changed" in each.value for each in test.markdown)


def test_sources_that_differ_are_named_before_the_sizes_that_follow_from_them():
    test = run(
        HEADS, {"v": "3", "source": "recorded:smollm2-street", "against": pin(Config.of("recorded:minilm-street"))}
    )
    assert not test.exception and any(each.value.startswith("**A** source") for each in test.caption)


def test_a_broken_comparison_in_a_link_leaves_the_page():
    test = run(HEADS, {"v": "3", "against": "broken"})
    assert not test.exception and any("can't be read" in each.value for each in test.warning)
    assert grids(test).count("heads_grid") == 1


def test_a_long_sequence_says_that_it_is_not_compared():
    test = run(HEADS, {"v": "3", "tokens": "9", "against": pin(Config(tokens=4096))})
    assert not test.exception and grids(test).count("heads_grid") == 1
    assert any("A has 4,096 tokens" in each.value for each in test.markdown)


def test_somebody_elses_upload_is_not_opened_as_side_a(monkeypatch):
    theirs = example_uploads.holding("weights")
    against = pin(Config.of(theirs.source))
    test = run(HEADS, {"v": "3", "mask": "full", "against": against})
    assert not test.exception and "is not open here" not in str(test.warning)
    setting = test.session_state[KEY].here.setting
    assert (setting.against, setting.mask) == ("", "full") and test.session_state[KEY].kept.absent == theirs.source
    state = Session(about="this app", held={"this app": SettingsState.of(PICTURE, {}, {})})
    said = {KEY: state, **state.here.widget_values, "against": against}
    monkeypatch.setattr(streamlit, "session_state", said)
    assert taken_up().against == "" == said["against"]
    state.kept.uploaded[theirs.source] = theirs
    said["against"] = against
    assert taken_up().against == against


def test_ones_own_upload_is_compared_and_closing_it_ends_the_comparison():
    found = example_uploads.holding("weights")
    test = example_uploads.open_page(
        HEADS, found, {"against": pin(Config.of(found.source, layer=found.shape.numbers[0]))}
    )
    assert not test.exception and any("A and B are equal so far" in each.value for each in test.markdown)


@pytest.fixture
def watched():
    """Two watched layers that differ in the queries of head 1."""
    torch.manual_seed(0)
    layer, x = torch.nn.MultiheadAttention(16, 4, batch_first=True).eval(), torch.rand(1, 6, 16)
    seen = []
    for factor in (1, 3):
        with torch.no_grad():
            layer.in_proj_weight[4:8] *= factor
        seen.append(attention.watch(layer))
        seen[-1](x, x, x)
    return seen


def test_two_watched_runs_and_their_files_are_compared_in_one_line(watched, tmp_path):
    files = [tmp_path / f"{name}.safetensors" for name in "ab"]
    for seen, file in zip(watched, files, strict=True):
        seen.save(file)
    of_files, of_runs = attention.compare(*files), attention.compare(*watched)
    assert repr(of_files) == repr(of_runs)
    assert "Head 1 changed most" in repr(of_runs) and "heads 0, 2 and 3 did not change" in repr(of_runs)
    table = of_runs.table
    assert table["head"][0] == 1 and list(table["variation"][1:]) == [0.0] * 3 and len(table) == 4


def test_a_file_has_the_difference_and_both_sides(watched, tmp_path):
    found = attention.compare(*watched)
    drawn = compared_picture(found)
    assert [part["name"] for part in drawn.about["parts"]] == ["B − A", "A", "B"] and len(drawn.layers) == 3
    assert header_of(gzip.decompress(drawn.layers[0]))["sides"]
    path = attention.html(watched[1], path=tmp_path / "x.html", against=watched[0])
    assert path.read_text() == found.html(tmp_path / "y.html").read_text()


def test_what_can_not_be_compared_is_refused_in_words():
    short, long = torch.rand(2, 4, 4).softmax(-1), torch.rand(3, 5, 5).softmax(-1)
    with pytest.raises(ValueError, match="A has 4 tokens and B has 5"):
        attention.compare(short, long)
    with pytest.raises(ValueError, match="B has no layer 7; it has 0"):
        attention.compare(short, short, layers=[(0, 7)])
    one = attention.compare(short, short, heads=[(0, 1)])
    assert "Head 1 of B against 0 of A" in repr(one)
    with pytest.raises(ValueError, match="scale: not with against="):
        attention.html(short, path="x.html", against=short, scale=2.0)


def test_heads_are_matched_by_what_they_do():
    layer = trace(Config()).weights
    order = [3, 0, 7, 1, 2, 6, 5, 4]
    found = attention.compare(layer, layer[order], heads="nearest")
    assert found.layers[0, 0].heads == tuple(zip(order, range(8), strict=True))
    assert not found.table["variation"].any() and found.table["head"][1] == "1 of B against 0 of A"
    with pytest.raises(ValueError, match="matched by Jensen-Shannon distance"):
        nearest_heads(Side(layer, layer[0] > 0), Side(-layer, layer[0] > 0, distributes=False))


def test_the_heads_that_changed_most_of_all_layers_come_first():
    before = torch.rand(3, 2, 5, 5, generator=torch.Generator().manual_seed(0)).softmax(-1)
    after = before.clone()
    after[2, 1] = torch.eye(5)
    after[1, 0, 3] = torch.eye(5)[0]
    said = repr(attention.compare(list(before), list(after))).splitlines()
    assert (
        said[1].startswith("2 of 6 heads changed, most of all layer 2 head 1 0.") and ", layer 1 head 0 0." in said[1]
    )


PAINTS_TWICE = """
import { unpackCells, paint } from "%(folder)s/cells.js";
import { stopsOn } from "%(folder)s/theme.js";
globalThis.ImageData = class { constructor(w, h) { this.data = new Uint8ClampedArray(4 * w * h); } };
let last;
const canvas = { width: 4, height: 4, getContext: () => ({ putImageData: (image) => { last = image; } }) };
const found = [];
for (const text of process.argv.slice(1)) {
  const data = unpackCells(new Uint8Array(Buffer.from(text, "base64")));
  paint(canvas, { ...data, stops: stopsOn({ background: "#ffffff", dark: false }, data) }, 0);
  found.push([...last.data].join());
}
console.log(JSON.stringify(found));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_a_side_of_both_signs_leaves_the_colours_of_the_other_side_as_they_are():
    config = Config(tokens=4, heads=1, d_model=8)
    signed = replace(config, softmax="differential")
    sent = [message(each, results.heads.cells(each)) for each in (config, signed, config)]
    code = PAINTS_TWICE % {"folder": (ROOT / "attention/components/browser").as_uri()}
    texts = [base64.b64encode(each).decode() for each in sent]
    done = subprocess.run(["node", "--input-type=module", "-e", code, *texts], capture_output=True, check=True)
    first, other, again = json.loads(done.stdout)
    assert first == again != other
    backwards = subprocess.run(
        ["node", "--input-type=module", "-e", code, texts[1], texts[0]], capture_output=True, check=True
    )
    assert json.loads(backwards.stdout) == [other, first]
