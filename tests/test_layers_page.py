"""The page Layers: what its pictures show is so, of one layer and of many, and where there is nothing to show it says so."""

from __future__ import annotations

import io
import json
import math
import re
import shutil
import struct
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from functools import partial
from time import sleep
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention import Config, trace
from attention.analysis.head_distances import ALIKE
from attention.analysis.head_numbers import EVERY, example_pairs, pairs_of
from attention.analysis.repeats import Copy, Largest, count_after_copies, largest_weight, repeat_starts, strongest_copy
from attention.charts import head_points, layers_file, likeness
from attention.charts import layers as layers_chart
from attention.charts import training as curves
from attention.charts.layers import USUAL, Room, height, writes_numbers
from attention.codec import EDITIONS
from attention.fitting import training_steps
from attention.knobs import GENERATED, LAST_QUERY
from attention.models.prompt import Prompt
from attention.number_format import format_mean, format_percent, format_weight
from attention.recorded.shipped import TIMES, WORDS
from attention.training.tasks import TASKS
from attention.ui import provenance, results
from attention.ui.controls.picture import LAYERED
from attention.ui.session import gestures, page
from attention.ui.session.role_note import role_note
from attention.ui.session.visit_state import VisitState
from attention.ui.text import layers as text
from attention.ui.views import heads_layers as maps
from attention.ui.views import layers_alike, layers_compared, layers_sentences, layers_table, model_switches
from attention.ui.views import layers_copies as copies_of
from attention.ui.views.head_names import head_label, place_text
from attention.ui.views.layers import ROOM
from tests.strategies import query_without_edition
from tests.test_layers import LAYERS, REPEATED, STREET, captions, link, numbers
from tests.test_pages import ROOT, run

PAGE = ROOT / "pages" / "layers.py"
SVG = "{http://www.w3.org/2000/svg}"
OPEN = {layers_compared.FOLD: True, layers_alike.FOLD: True}  # expanders, closed at first


def tables(test: AppTest) -> list[dict[str, list]]:
    """What the charts show: the map, the points over two numbers, the points on a map."""
    found = []
    for chart in test.get("vega_lite_chart"):
        for held in [chart.proto.data, *(each.data for each in chart.proto.datasets)]:
            if held.data:
                found.append(pa.ipc.open_stream(io.BytesIO(held.data)).read_all().to_pydict())
    return found


def selected_head(test: AppTest) -> dict:
    """What the browser gets with the cells of the selected head."""
    (head,) = large_heads(test)
    return head


def large_heads(test: AppTest) -> list[dict]:
    """What the browser gets with the cells of each large head."""
    parts = [each.proto for each in test.get("bidi_component") if each.proto.component_name.endswith("large_head")]
    lengths = [struct.unpack("<I", part.bytes[:4])[0] for part in parts]
    return [json.loads(part.bytes[4 : 4 + length]) for part, length in zip(parts, lengths, strict=True)]


def helps(test: AppTest) -> str:
    """The help of the captions."""
    return " ".join(each.help for each in test.caption)


def words(test: AppTest) -> str:
    """What is written on the page, and on hover over it."""
    return " ".join(f"{each.value} {each.proto.help}".replace("\\", "") for each in test.markdown)


def test_a_mask_that_the_model_never_had_is_in_the_badge_and_takes_the_diagonals_away():
    usual, full = words(run(PAGE, {"source": REPEATED})), words(run(PAGE, {"source": REPEATED, "mask": "full"}))
    assert "Recorded from a real model" in usual and "not as the model computes it" not in usual
    assert "but mask full: not as the model computes it" in full and "Recorded from a real model" not in full


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"mask": "full"}, "With this mask, 5 of these 54 heads"),
        ({"scale": "none"}, "With this scale, "),
        (
            {"scale": "1/d_head"},
            "With this scale, none of these 54 heads (from 6 of 30 layers) acts as an induction head (with the settings of the "
            "model: 5).",
        ),
        ({"temperature": 2.0}, "With this temperature, "),
        ({"mask": "full", "temperature": 2.0}, "With these settings, "),
        ({}, "5 of these 54 heads"),
    ],
)
def test_the_headline_says_whether_settings_are_not_those_of_the_model(changed, said):
    config = Config.of(REPEATED, **changed)
    finding = layers_sentences.finding(config, results.layers.layers(config))
    assert finding.startswith(said) and not re.search(r", [A-Z]", finding)


def test_every_head_of_every_layer_is_a_cell_and_a_point_in_each_picture():
    test = run(PAGE, {"source": STREET, "layer": "16", "head": "2", "across": "first", "upwards": "entropy"}, OPEN)
    assert not test.exception and not test.warning
    cells, compared, places = tables(test)
    for each in (cells, compared, places):
        assert each["layer"] == [layer for layer in LAYERS for _ in range(9)] and each["head"] == [*range(9)] * 6
        assert [at for at, on in enumerate(each["focus"]) if on] == [3 * 9 + 2]
        assert each["value"] == (each["layer"] if each == compared else cells["value"])
    config = Config.of(STREET)
    assert compared["x"] == pytest.approx(numbers("first", config), abs=1e-6)
    assert compared["y"] == pytest.approx(numbers("entropy", config), abs=1e-5)
    most = max(range(54), key=compared["x"].__getitem__)
    assert compared["named"][most] == head_label(config, (compared["layer"][most], compared["head"][most]))
    assert compared["named"][29] == "L16H2" and all(compared["named"]), "a name is visible if it has room"
    said = words(test)
    assert "Each dot is a head, coloured by layer. The ring marks L16H2" in said
    assert "**Layer 16, head 2** " in words(
        test
    ) and f"54 heads, 9 in each of 6 layers ({', '.join(map(str, LAYERS))} of its model)," in words(test)


def test_one_layer_leads_to_the_layers_of_a_real_model():
    test = run(PAGE, {})
    for source, all_ in (
        ("recorded:smollm2-repeated", "54 heads, 9 in each of 6 layers"),
        ("recorded:minilm-street", "72 heads"),
    ):
        assert "One layer: the row compares its " in words(test)
        test.button(key=f"see {source}").click().run()
        assert not test.exception and all_ in words(test) and "One layer: the row compares its " not in words(test)
        test = run(PAGE, {})


def test_two_numbers_are_chosen_and_stand_in_the_link():
    test = run(PAGE, {"source": STREET}, OPEN)
    next(widget for widget in test.selectbox if widget.key == "upwards").set_value("effective_keys")
    test.run()
    assert query_without_edition(link(test)) == {"source": STREET, "across": "previous", "upwards": "effective_keys"}
    (said,) = [each.help.replace("\\", "") for each in test.markdown if "Each dot is a head" in each.value]
    assert "exp(entropy)" in said and "Hill 1973" in said
    assert len(tables(run(PAGE, {"source": STREET, "upwards": "effective_keys"}))) == 2, (
        "a link that names one opens them"
    )
    assert len(tables(run(PAGE, {"source": STREET}))) == 1, "they are closed at first"
    wrong = run(PAGE, {"source": STREET, "across": "entrpy"})
    assert "across='entrpy' is not one of: " in wrong.warning[0].value.replace("\\", "")
    assert query_without_edition(link(wrong)) == {"source": STREET}


@pytest.mark.parametrize(
    ("chosen", "axes"),
    [
        ({"source": REPEATED}, ("previous", "induction")),
        ({"source": "recorded:minilm-street"}, ("entropy", "previous")),
        ({"source": STREET, "layer_map": "entropy"}, ("previous", "entropy")),
        ({"source": STREET, "layer_map": "first"}, ("previous", "first")),
        ({"source": STREET, "across": "first"}, ("first", "induction")),
        ({"source": STREET, "upwards": "first"}, ("previous", "first")),
    ],
)
def test_the_axes_are_at_first_the_statistic_of_the_map_over_one_that_spreads_the_heads(chosen, axes):
    config = Config.of(**chosen)
    found = results.layers.layers(config)
    shown = layers_compared._with_known_metrics(config, found)
    assert (shown.across, shown.upwards) == axes


def test_shares_end_at_100_percent_and_heads_that_the_headline_counts_have_names():
    axis = head_points.data_axis("Previous token", [0.02, 0.99], head_points.NAME, percent=True)
    assert axis.top == pytest.approx(1 + head_points.MARGIN * 0.97) and axis.low < 0.02, "no point is on an edge"
    assert head_points.data_axis("Distance", [0.02, 0.99], head_points.NAME).top > 1
    entropy = {"across": "entropy", "upwards": "induction"}  # by which they have room
    _, compared, _ = tables(run(PAGE, {"source": REPEATED, "layer": "18", "head": "6"} | entropy, OPEN))
    high = [at for at, value in enumerate(compared["y"]) if value > 0.5]
    assert len(high) == 5 and all(compared["named"][at] and compared["room"][at] <= 500 for at in high)


def test_two_shares_of_the_weight_say_how_many_heads_are_high_on_each_and_on_both():
    test = run(PAGE, {"source": REPEATED}, OPEN)
    _, compared, _ = tables(test)
    pairs = list(zip(compared["x"], compared["y"], strict=True))
    across, upwards = sum(x > 0.5 for x, _ in pairs), sum(y > 0.5 for _, y in pairs)
    assert not any(x > 0.5 and y > 0.5 for x, y in pairs)
    assert (
        f"Over half of the weight: {across} of these 54 heads (from 6 of 30 layers) on the previous token, {upwards} on what "
        "followed an earlier copy of the token, none on both." in words(test)
    )
    test = run(PAGE, {"source": REPEATED, "across": "entropy", "upwards": "induction"}, OPEN)
    assert "Over half of the weight" not in words(test)


def test_heads_that_do_nearly_the_same_are_named():
    test = run(PAGE, {"source": REPEATED}, OPEN)
    told = f"Nearly equal (at most {ALIKE} apart on average): "
    assert f"{told}L18H3, L18H4 and L18H8; L1H2 and L11H1." in words(test)


def test_the_selected_head_has_its_name_at_both_axes_of_the_matrix():
    chart = likeness.square(torch.rand(54, 54), [f"L1H{at}" for at in range(54)], 7).spec["layout"]
    assert [each["text"] for each in chart["annotations"]] == ["<b>L1H7</b>"] * 2
    above, right = chart["annotations"]
    assert (above["x"], above["y"], right["x"], right["y"]) == (7, -0.5, 53.5, 7)


def test_where_no_two_heads_are_nearly_equal_the_closest_are_named():
    config = Config(heads=4)
    apart = results.layers.distances(config)
    cells = [(0, head) for head in range(4)]
    assert layers_alike._similar_heads_text(config, apart, cells).startswith(
        "No two heads are nearly equal. The closest: H"
    )


def test_heads_of_one_layer_are_not_compared():
    test = run(PAGE, {"heads": "4", "v": str(len(EDITIONS))}, OPEN)
    assert not {text.ALIKE_FOLD, text.TWO_FOLD} & {each.label for each in test.expander}
    assert len(tables(test)) == 1, "the map alone"


def test_heads_that_stand_out_are_named():
    test = run(PAGE, {"source": REPEATED, "layer_map": "induction"})
    finding = (
        "5 of these 54 heads (from 6 of 30 layers) act as induction heads here: on average over 50 repeated tokens, most of "
        "their weight is on the token after an earlier copy."
    )
    assert sum(value > 0.5 for value in tables(test)[0]["value"]) == 5
    assert finding in words(test) and re.search(
        r"\*\*Layer 1, head 0\*\*  \ninduction \d\.\d+% · \d+(st|nd|rd|th) of 54", words(test)
    )
    selected = run(PAGE, {"source": REPEATED, "layer_map": "induction", "layer": "18", "head": "6"})
    assert finding in words(selected)
    (said,) = [each for each in test.caption if each.value.startswith("Blank: ")]
    assert said.help.endswith(text.GAPS)
    assert "over queries that have one" in said.help
    assert "Rows: the 6 of 30 layers that are recorded, chosen for heads with a clear role" in said.help
    assert said.help.startswith("Bold: over 50%, as the headline counts. Cells have no number under a tenth")
    assert "The colour is the mean weight on what followed an earlier copy of the token, for the 50 tokens" in said.help
    assert said.value == (
        "Blank: under 10%. Colour: weight on what followed an earlier copy of the token (uniform weights: 2.9%)."
    )
    assert maps.HIGH == 0.5
    even = {(0, head): 0.5 for head in range(8)}
    assert maps.outstanding(even) == [] and maps.outstanding(even | {(0, 3): 2.0}) == [(0, 3)]
    assert maps.outstanding(dict.fromkeys(even, 0.0)) == []


def test_another_source_selects_the_head_of_its_headline_and_the_menu_names_what_its_map_shows():
    test = run(PAGE, LAYERED.begins | {"query": "20", "layer_map": "auto"})
    assert link(test)["query"] == "20" and selected_head(test)["query"] == 20, "the row of a link stays"
    test.selectbox(key="source").set_value("recorded:minilm-street").run()
    assert "query" not in link(test), "the selected row was one of other tokens"
    menu, cells = test.selectbox(key="layer_map"), tables(test)[0]
    assert not test.exception and menu.value == "auto" and menu.options[menu.index or 0] == "Pattern: previous token"
    assert cells["focus"][max(range(72), key=cells["value"].__getitem__)], "the highest is selected"


def test_an_empty_link_shows_the_strongest_induction_head_and_says_what_the_text_is():
    test = run(PAGE, LAYERED.begins)
    said = text.ORDER.format(
        earlier="layers 1, 11 and 16", heads="5 **induction heads**", later="layers 17 and 18", find="find"
    )
    assert said in words(test)
    menu, cells = test.selectbox(key="layer_map"), tables(test)[0]
    held = maps.cells("induction", results.layers.layers(Config.of(REPEATED)))
    best = cells["focus"].index(True)
    assert (cells["layer"][best], cells["head"][best]) == max(held, key=held.__getitem__), "the highest is selected"
    assert menu.value == "kinds" == LAYERED.begins["layer_map"] and menu.options[menu.index or 0] == text.KINDS
    assert len(menu.options) == len(EVERY) - 3 + 1
    assert sorted(name for names in text.GROUPS.values() for name in names) == sorted(EVERY)
    about = menu.help or ""
    assert (
        about.count("\n- ") == len(menu.options)
        and "- Spread: normalized entropy (%): entropy as a share of its" in about
    )
    menu.set_value("previous").run()
    assert (
        not test.exception
        and "3 of these 54 heads (from 6 of 30 layers) put over half of their weight on the previous token"
        in words(test)
    )
    held = tables(test)[0]
    assert held["focus"][max(range(54), key=held["value"].__getitem__)], "the head with the largest value is selected"
    test.selectbox(key="layer_map").set_value("entropy").run()
    held, said = tables(test)[0], words(test)
    most = max(range(54), key=held["value"].__getitem__)
    best, value = f"Layer {held['layer'][most]}, head {held['head'][most]}", format_weight(held["value"][most])
    assert not test.exception and held["focus"][most] and f"**{best}**  \nentropy {value} nats · highest of 54" in said
    assert (
        f"{best} spreads its weight most widely of these 54 heads (from 6 of 30 layers): "
        f"the mean entropy of its rows is {value} nats." in said
    )
    assert not {"Pattern: separators", "Pattern: next token"} & set(test.selectbox(key="layer_map").options), (
        "all 0 here"
    )
    for name, why in (
        ("separators", "This text has no separators"),
        ("next", "Under this mask no token sees the next"),
    ):
        none = run(PAGE, LAYERED.begins | {"layer_map": name})
        assert (
            why in words(none)
            and len(tables(none)) == len(tables(test)) - 1
            and none.button(key="higher").label.endswith(" instead")
            and " of 54" not in words(none).replace("**", "").split("\n")[-1]
            and "Next head" not in {each.key for each in none.button}
        )
    other = words(run(PAGE, LAYERED.begins | {"layer_map": "entropy"}))
    assert "**Layer 18, head 6**  \nentropy 0.474 nats · 50th of 54" in other
    test = run(PAGE, LAYERED.begins)
    assert text.TEXTS[REPEATED].format(causal=text.TEXTS_CAUSAL) in captions(test)
    whole = captions(run(PAGE, LAYERED.begins | {"mask": "full"}))
    assert text.TEXTS[REPEATED].format(causal="") in whole and text.TEXTS_CAUSAL not in whole
    words_read = WORDS.split()
    assert len(words_read) == len(set(words_read)) == 25 and TIMES == 3, "as the page says"
    header = selected_head(test)
    assert header["head"] == 6 and header["names"][0][1:4] == words_read[:3] and header["sizes"] == [76, 76]
    assert header["colors"] == "linear" and "short texts" not in words(test)
    marks, read = header["marks"], ["#", *words_read * TIMES]
    query, key = marks["pair"]
    assert marks["starts"] == [0, 26, 51] and header["query"] == query
    assert read[key - 1] == read[query] and key - 1 < query
    weight = float(trace(Config.of(REPEATED, layer=18, head=6)).weights[6, query, key])
    token = f"“{read[query]}”"
    said = f"Framed: {token} ({query}) puts {weight:.1%} on “{read[key]}” ({key}), which followed {token} ({key - 1})."
    assert marks["says"] == said and f"{text.DIAGONALS[3]} {text.REPEATS}" in captions(test)
    config, weak = Config.of(REPEATED, layer=18, head=6), Config.of(REPEATED, layer=17, head=5)
    pair = copies_of.example(config, "induction")
    assert copies_of.shape_sentence(config, pair) == text.DIAGONALS[3] and copies_of.shape_sentence(weak, pair) == ""
    assert "**attention sink**" in copies_of.sink_sentence(config)
    assert f"(induction). {text.USE}" in words(test), "the mean is beside the name of the head"
    for share, frame in ((0.5, (38, 14)), (0.05, None)):
        drawn = copies_of.marks(config, Copy(38, 14, share))
        assert drawn and drawn.pair == frame and drawn.says.count("Framed") == (frame is not None)
    weights, texts = (
        trace(Config.of(REPEATED, layer=18, head=6)).weights[6],
        [*"#", *words_read, *words_read, *words_read],
    )
    copies = [
        texts[key - 1] == texts[at] and key > 0 for at in range(26, 76) for key in [int(weights[at].argmax())]
    ]  # the key before the one with the largest weight has the token of the query
    assert (
        f"Of the 50 repeated tokens, {sum(copies)} attend most to what followed an earlier copy." in captions(test)
        and sum(copies) == 49
    )
    shown = [run(PAGE, LAYERED.begins | {"layer_map": name}) for name in ("induction", "entropy")]
    in_percent = ['".3~%"' in json.dumps(json.loads(each.get("vega_lite_chart")[0].proto.spec)) for each in shown]
    assert in_percent == [True, False], "shares of the weight alone, as the sentence above the map"


def test_one_steps_through_the_heads_in_the_order_of_the_statistic():
    test = run(PAGE, LAYERED.begins | {"layer_map": "auto"})
    cells = tables(test)[0]
    order = sorted(range(54), key=lambda at: -cells["value"][at])
    assert test.button(
        key="Previous head"
    ).disabled and "**Layer 18, head 6**  \ninduction 89.6% · highest of 54" in words(test)
    for key, at in (("Next head", 1), ("Next head", 2), ("Previous head", 1)):
        test.button(key=key).click().run()
        layer, head = cells["layer"][order[at]], cells["head"][order[at]]
        value = cells["value"][order[at]]
        assert f"**Layer {layer}, head {head}**  \ninduction {value:.1%} · {place_text(at + 1, 54)}" in words(test)
        assert text.SEE.format(
            head=f"Layer {layer}, head {head}", statistic=f"induction {value:.1%}", anchor="selected-head"
        ) in words(test)
        assert not test.exception
    last = order[-1]
    lowest = {"layer": f"{cells['layer'][last]}", "head": f"{cells['head'][last]}", "layer_map": "auto"}
    test = run(PAGE, LAYERED.begins | lowest)
    assert test.button(key="Next head").disabled and not test.button(key="Previous head").disabled


@pytest.mark.parametrize(
    ("query", "puts"), [({}, "puts {}"), ({"query": "20"}, "puts its largest weight, {},")]
)  # of the largest weight itself, and of any statistic
def test_the_largest_weight_is_framed_and_put_in_words_if_the_map_shows_another_statistic_than_induction(query, puts):
    test = run(
        PAGE, {"source": REPEATED, "layer": "16", "head": "0", "layer_map": "entropy" if query else "greatest"} | query
    )
    found = trace(Config.of(REPEATED, layer=16))
    weights = found.weights[0][20:21] if query else found.weights[0][2:]
    marks, read = selected_head(test)["marks"], found.texts
    at, key = marks["pair"]
    assert float(found.weights[0, at, key]) == float(weights.max()) and at == int(query.get("query", at))
    back = at - key
    where = "the first token" if key == 0 else f"{back} token{'s' * (back > 1)} back"
    said = puts.format(f"{float(weights.max()):.1%}")
    assert marks["says"] == f"Framed: “{read[at]}” ({at}) {said} on “{read[key]}” ({key}), {where}."
    assert not test.exception and "repeated words with a next word" not in captions(test)


@pytest.mark.parametrize("name", ["previous", "first", "same", "preceding", "entropy", "distance"])
def test_the_framed_weight_is_one_that_the_statistic_counts(name):
    marks = selected_head(run(PAGE, {"source": REPEATED, "layer": "16", "head": "0", "layer_map": name}))["marks"]
    found = trace(Config.of(REPEATED, layer=16))
    pairs, same = pairs_of(name, found.texts), lambda at, key: found.texts[at] == found.texts[key]
    largest = largest_weight(found.weights[0], found.mask, counted=(torch.arange(76)[:, None] > 1).expand(76, 76))
    assert largest
    instead = f"Framed: “{found.texts[largest.query]}” ({largest.query}) puts "
    instead += f"{format_percent(largest.weight)} on"
    if pairs is None:  # of whole rows, for which one weight is no example
        assert marks["says"] == text.WHOLE_ROWS[name] and not marks.get("pair")
        return
    counted = set(zip(*(part.tolist() for part in pairs), strict=True))
    plain = {"first": lambda at, key: key == 0, "previous": lambda at, key: key == at - 1, "same": same}
    alone = [
        (at, key)
        for at, key in counted
        if at > 1 and found.mask[at, key] and not any(of(at, key) for other, of in plain.items() if other != name)
    ]
    most = max(float(found.weights[0, at, key]) for at, key in alone)
    if most < copies_of.WEAK:
        assert marks["says"].startswith(instead), "too little for an example"
        return
    at, key = marks["pair"]
    assert float(found.weights[0, at, key]) == float(found.weights[0, at].max())
    if ", but " in marks["says"]:  # another weight of the row is larger
        assert marks["says"].endswith(" (framed).") and (at, key) not in alone
        return
    assert marks["says"].startswith("Framed: ") and (at, key) in alone
    assert f"puts {format_percent(most)} on" in marks["says"]


def test_the_larger_weight_of_a_row_is_named_and_framed_instead_of_one_that_is_not_its_largest():
    config = Config.of("trained:induction", layer=1, head=2, training_step=0)
    pair, weights = copies_of.example(config, "induction"), trace(config).weights[2]
    assert pair
    (most, key), read, drawn = weights[pair.query].max(-1), trace(config).texts, copies_of.marks(config, pair)
    assert drawn and drawn.pair == (pair.query, int(key)) and float(most) > pair.weight
    followed = f"puts {format_percent(pair.weight)} on “{read[pair.key]}” ({pair.key}), which followed"
    assert (
        f" {followed} “{read[pair.query]}” ({pair.key - 1}), but {float(most):.1%} on “{read[key]}” ({key}) (framed)."
        in drawn.says
    )


@pytest.mark.parametrize("source", [REPEATED, "recorded:minilm-street", "trained:majority", "trained:brackets"])
def test_an_example_fits_no_other_pattern_and_its_weight_is_not_small(source):
    """The token before query 1 is the first token, too: its weight would prove neither."""
    read = trace(Config.of(source)).texts
    for name, head in [(name, head) for name in maps.PATTERNS for head in range(Config.of(source).heads)]:
        if (pair := copies_of.example(Config.of(source, head=head), name)) is None:
            continue
        query, key, weight, *_ = pair
        assert query > 1 and weight >= copies_of.WEAK and (key > 0 or name == "first")
        assert (key != query - 1 or name == "previous") and (key != query + 1 or name == "next")
        assert read[key].casefold() != read[query].casefold() or name in ("same", "duplicate")
    assert example_pairs("previous", []) is not None and example_pairs("entropy", read) is None
    assert [*zip(*(part.tolist() for part in example_pairs("induction", [*"abacxba"]) or ()), strict=True)] == [
        (5, 2),
        (6, 1),
        (6, 3),
    ], "not “b” (1) of “a” (2), which is the previous token"


def test_the_example_of_induction_has_a_token_that_occurred_in_the_same_case_and_a_weight_among_the_largest():
    weights, texts = (
        torch.zeros(12, 12),
        ["The", "river", "x", "bee", "interesting", "y", "z", "the", "u", "bee", "v", "w"],
    )
    weights[7, 1], weights[9, 4] = 0.9, 0.5
    assert strongest_copy(weights, texts)[:2] == (9, 4), "“the” was “The” before"
    assert strongest_copy(weights, [*texts[:9], "cat", *texts[10:]])[:2] == (7, 1), "there is no other"
    again = [*texts[:10], "x", "w"]
    weights[10, 3] = 0.3
    assert strongest_copy(weights, again)[:2] == (9, 4), (
        "short words are preferred only if their weight is nearly as large"
    )
    weights[10, 3] = 0.48
    assert strongest_copy(weights, again)[:2] == (10, 3)


def test_the_caption_says_that_case_is_ignored_if_the_text_has_such_tokens(monkeypatch):
    found = results.layers.layers(Config.of(STREET))
    said = lambda name: layers_sentences.case_sentence(Config.of(STREET, layer_map=name), found)  # noqa: E731
    assert (said("induction") == text.IGNORES_CASE) is ({"The", "the"} <= set(trace(Config.of(STREET)).texts))
    assert said("previous") == ""
    monkeypatch.setattr(layers_sentences, "tokens", lambda config: SimpleNamespace(texts=["a", "b", "b"]))
    assert said("induction") == ""
    monkeypatch.setattr(layers_sentences, "tokens", lambda config: SimpleNamespace(texts=["a", "b", "B"]))
    assert said("induction") == text.IGNORES_CASE


def test_rows_with_one_visible_key_have_no_largest_weight():
    weights, mask = torch.eye(3), torch.ones(3, 3, dtype=torch.bool).tril()
    assert largest_weight(weights, mask) == Largest(1, 1, 1.0) and largest_weight(weights, mask, 0) is None
    assert largest_weight(weights, torch.eye(3, dtype=torch.bool)) is None


def test_effective_keys_are_said_to_be_a_mean_over_rows_which_is_more_than_e_to_the_mean_entropy():
    config = Config(tokens=4, heads=2, d_model=8, projections="independent")
    layer = results.layers.layers(config)[0]
    entropy, keys = (float(layer.numbers[name][0] or 0) for name in ("entropy", "effective_keys"))
    entropies = torch.special.entr(trace(config).weights[0].double()).sum(-1)
    assert keys == pytest.approx(float(entropies.exp().mean())) and keys > 1.02 * math.exp(entropy)
    test = run(
        PAGE, {"tokens": "4", "heads": "2", "d_model": "8", "projections": "independent", "v": str(len(EDITIONS))}
    )
    assert f"{format_mean(keys)} effective keys (mean of e^entropy)" in words(test)


def test_a_statistic_on_which_a_head_is_high_is_offered_where_none_is():
    test = run(PAGE, {"source": "recorded:minilm-street", "layer_map": "induction"})
    offered = test.button(key="higher")
    assert offered.label.startswith("Show “") and offered.label.endswith("”: a head is over 50%")
    offered.click().run()
    assert max(tables(test)[0]["value"]) >= maps.HIGH and not [each for each in test.button if each.key == "higher"]


def test_no_head_is_named_after_a_pattern_that_one_token_shows():
    said = words(run(PAGE, {"source": "recorded:smollm2-street", "layer_map": "induction"}))
    assert "as an induction head" not in said and "as induction heads" not in said
    assert "for the one token that occurred before, on what followed an earlier copy" in said


def test_auto_is_a_statistic_on_which_some_head_is_high():
    for source in ("recorded:minilm-street", STREET):
        test = run(PAGE, {"source": source})
        assert max(tables(test)[0]["value"]) >= maps.HIGH and not [each for each in test.button if each.key == "higher"]
    found = results.layers.layers(Config.of("recorded:minilm-street"))
    assert maps.number(Config.of("recorded:minilm-street"), found) != maps.number(
        Config.of("recorded:minilm-street"), {}
    )


def test_of_a_text_that_is_read_backwards_the_heads_attend_to_what_came_before_a_copy():
    test = run(PAGE, {"source": "trained:reverse"})
    menu, values = test.selectbox(key="layer_map"), tables(test)[1]["value"]  # below the curve of the steps
    assert menu.options[menu.index or 0] == "Pattern: token before a copy" and maps.PART < min(
        values
    ) < maps.HIGH < max(values)
    assert (
        f"{sum(value > maps.HIGH for value in values)} of these 4 heads put over half of their weight, for 10 of the 11 "
        "repeated tokens, on what came before an earlier copy of the token, "
        f"head {values.index(max(values))} the most: {max(values):.1%}."
    ) in words(test)
    assert f"It puts {values[0]:.1%} of its weight, for 10 of the 11 repeated tokens, on what came" in words(test)
    assert "Pattern: token before a copy" not in run(PAGE, LAYERED.begins).selectbox(key="layer_map").options


def test_a_head_with_half_of_its_weight_after_a_copy_by_chance_is_not_called_an_induction_head():
    said = words(run(PAGE, {"source": "trained:majority", "layer_map": "induction"}))
    assert "only head 2 puts over half of its weight" in said and "as an induction head" not in said
    for source, opens in (
        ("trained:majority", "Spread: largest weight"),
        (
            "trained:brackets",
            "Spread: largest weight",
        ),  # the head with most weight on the same token is said to attend to nearby ones
        ("recorded:minilm-wide", "Pattern: previous token"),
    ):
        menu = run(PAGE, {"source": source}).selectbox(key="layer_map")
        assert menu.options[menu.index or 0] == opens, "chance, or a single token that occurs twice, is no finding"


def test_if_no_head_is_high_the_headline_says_what_the_first_of_them_does():
    test = run(PAGE, {"source": "recorded:smollm2-code", "layer_map": "induction"})
    cells = tables(test)[0]
    most = max(range(54), key=cells["value"].__getitem__)
    assert maps.PART < cells["value"][most] < maps.HIGH
    said = f"Layer {cells['layer'][most]}, head {cells['head'][most]} puts {cells['value'][most]:.1%} of its weight, for the "
    assert said in words(test) and "headline counts" not in captions(test)
    test = run(
        PAGE,
        {
            "source": "recorded:smollm2-code",
            "layer_map": "induction",
            "layer": str(cells["layer"][most]),
            "head": str(cells["head"][most]),
        },
    )
    assert re.search(
        rf"puts {cells['value'][most]:.1%} of its weight, for the .* At all other tokens, it rests on the first token .* "
        r"It also attends to the first token on \d+ of the app’s 200 short texts",
        words(test),
    )
    layer, head = cells["layer"][most], cells["head"][most]
    found = trace(Config.of("recorded:smollm2-code", layer=layer))
    copied = {int(query) for query in (pairs_of("induction", found.texts) or [[]])[0]}
    assert f"Of the {len(copied)} repeated tokens, " in captions(test)
    others = [at for at in range(len(found.texts)) if at not in copied]
    share = format_percent(float(found.weights[head][others, 0].mean()))
    assert f"(**attention sink**): {share} of its weight on average." in words(test)
    assert ", and 7 of 12 rows from → on attend most to the number that comes next." in words(
        run(PAGE, {"source": "trained:sort"})
    )


def test_rows_are_counted_whose_largest_weight_is_after_a_visible_copy_in_any_case():
    mask, weights = torch.ones(5, 5, dtype=torch.bool).tril(), torch.eye(5)
    weights[2, 1] = weights[4, 3] = 2
    assert count_after_copies(weights, mask, ["A", "b", "a", "c", "a"]) == (2, 2)
    assert count_after_copies(torch.eye(5), mask, ["A", "b", "a", "c", "a"]) == (0, 2)
    assert count_after_copies(weights, mask.triu(-1), ["A", "b", "a", "c", "a"]) == (2, 2)
    assert count_after_copies(weights, mask.triu(), ["A", "b", "a", "c", "a"]) == (0, 0), "no row sees such a key"


def test_of_a_very_short_text_no_head_is_said_to_attend_to_no_kind_of_token():
    """Its headline may say that all of the weight is on one key."""
    assert "in a text of 2 words, patterns cannot be told apart" in layers_sentences.no_role(Config(tokens=2))
    assert layers_sentences.no_role(Config.of(STREET)) == text.NO_ROLE


def test_auto_stays_at_induction_if_a_passage_comes_again_and_its_diagonal_is_plain():
    found: Any = {
        0: SimpleNamespace(
            numbers={"induction": [0.1, 0.4], "first": [0.9, 0.9], "greatest": [0.9, 0.9]}, roles=[None] * 2
        )
    }
    assert maps.number(Config.of(REPEATED), found) == "induction" and maps.number(Config.of(STREET), found) == "first"
    found[0].numbers |= {"induction": [0.1, 0.2]}
    assert maps.number(Config.of(REPEATED), found) == "first"
    found[0].numbers |= {"first": [0.4, 0.4]}
    assert maps.number(Config.of(REPEATED), found) == "greatest"


@pytest.mark.parametrize("source", ["trained:induction", "trained:reverse"])
def test_at_each_step_of_a_training_the_colours_are_those_of_its_last_step(source):
    found = {step: results.layers.layers(Config.of(source, training_step=step)) for step in training_steps(source)}
    configs = [Config.of(source, training_step=step) for step in found]
    auto = {maps.number(config, found[config.training_step]) for config in configs}
    assert auto == {"induction" if source == "trained:induction" else "preceding"}
    for name in (*auto, "entropy"):
        held = {step: maps.cells(name, layers) for step, layers in found.items()}
        assert len({maps.ends(name, config, held[config.training_step]) for config in configs}) == 1
    assert maps.number(replace(configs[0], layer_map="first"), found[0]) == "first", "it was chosen"


def test_a_run_that_occurs_again_within_a_text_makes_a_high_head_worth_opening_on(monkeypatch):
    head = SimpleNamespace(name="first token", shows=True)
    found: Any = {0: SimpleNamespace(numbers={"induction": [0.57], "first": [0.9], "greatest": [0.9]}, roles=[head])}
    bird = "the green bird sings . my uncle fixed the roof . the green bird sings"
    letters = "a b the c d the e f the g h the i j the k the l"
    for said, name in ((bird, "induction"), (letters, "first")):
        texts = tuple(said.split())
        monkeypatch.setattr(maps, "tokens", lambda config, texts=texts: SimpleNamespace(texts=texts))
        monkeypatch.setattr(maps, "uniform_weight", lambda name, config: 0.1)
        assert maps.number(Config.of(STREET, layer_map="auto"), found) == name


def test_no_head_finds_copies_where_uniform_weights_or_the_token_before_explain_as_much(monkeypatch):
    config = Config.of(REPEATED)
    found: Any = {18: SimpleNamespace(numbers={"induction": [0.89], "previous": [0.1]}, roles=[None])}
    assert maps.tells_of_copies("induction", config, found)
    found[18].numbers["previous"] = [0.891]
    assert not maps.tells_of_copies("induction", config, found)
    found[18].numbers["previous"] = [0.1]
    monkeypatch.setattr(maps, "uniform_weight", lambda name, config: 0.62)
    assert not maps.tells_of_copies("induction", config, found)


def test_a_mask_that_hides_the_first_token_is_said_beside_the_weight_on_it():
    link = {"source": REPEATED, "layer_map": "first"}
    assert " put over half of their weight, for the 4 of 76 tokens that see it, on the first" in words(
        run(PAGE, link | {"mask": "window", "span": "4"})
    )
    assert "tokens that see it" not in words(run(PAGE, link))
    masked = run(PAGE, link | {"mask": "window", "span": "4", "layer": "18", "head": "8"})
    assert "Colour: weight on the first token (uniform weights: 52.1%)." in captions(masked)
    (about,) = [each.help for each in masked.caption if "(uniform weights: 52.1%)" in each.value]
    assert "The colour is the mean weight on the first token, for the 4 of 76 tokens that see it." in about
    (means,) = [each.help for each in masked.markdown if "Means of this head" in each.help]
    assert "on the first token: the 4 of 76 queries that see it" in means.replace("\\", "")
    assert "all queries but the first" in means and "copy" not in means, "no query sees what followed an earlier copy"
    assert "short texts" not in words(masked), "these were read with the mask of the model"


def test_a_weight_that_is_only_rounded_to_one_is_not_said_to_be_all():
    weights, mask = torch.tensor([[1, 0, 0], [1, 1e-9, 0], [0, 0, 1]]), torch.ones(3, 3, dtype=torch.bool)
    found = [largest_weight(weights, mask, query=query) for query in range(3)]
    assert [format_percent(each.weight) for each in found if each] == ["100%", "over 99.9%", "100%"]


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ({"softcap": 5.0}, "but softcap 5: not"),
        ({"softmax": "sigmoid"}, "but softmax sigmoid: not"),
        ({"qk_norm": "on"}, "but QK-norm on: not"),
        ({"mask": "causal", "combine": "without", "second": "window"}, "but mask causal without window: not"),
        ({"span": 9}, ""),
    ],
)
def test_every_setting_that_is_not_of_the_model_is_named(link, said):
    beside = provenance.beside(Config.of(REPEATED, **link)).replace("\\", "")
    assert said in beside and bool(said) == ("not as the model computes it" in beside)


def test_where_a_model_comes_from_is_said_without_a_command():
    said = [provenance.full_text(Config.of(source)) for source in (REPEATED, "recorded:two-layers", "trained:sort")]
    assert not any("python" in each for each in said)
    assert said[0].endswith("as the model\\. Computed in float32, kept in float16\\.")


def test_a_map_with_another_statistic_than_the_usual_one_says_why():
    test = run(PAGE, {"source": REPEATED, "mask": "window", "span": "4"})
    menu = test.selectbox(key="layer_map")
    assert menu.options[menu.index or 0] == "Pattern: previous token", "few queries see the first token"
    assert "“induction” is zero in all heads here: the map shows “previous token”." in captions(test)
    assert ": the map shows" not in captions(run(PAGE, {"source": REPEATED}))
    assert ": the map shows" not in captions(run(PAGE, {"source": STREET, "layer_map": "first"})), "it was chosen"
    few = captions(run(PAGE, {"source": STREET}))
    assert "“induction” needs 5 tokens that occurred before, and this text has 1: the map shows “first token”." in few


def test_a_word_that_the_tokenizer_splits_in_one_place_alone_is_named(monkeypatch):
    found: Any = {0: SimpleNamespace(numbers={"induction": [0.1], "first": [0.9]}, roles=[None])}
    monkeypatch.setattr(maps, "number", lambda config, found: "first")
    for read, said in (("Harry was . Harry", ""), ("H ·arry was . Harry", " splits one “Harry” into “H” and “·arry”.")):
        texts = ("[start]", *read.split(), "was")
        for views in (maps, layers_sentences):
            monkeypatch.setattr(views, "tokens", lambda config, texts=texts: SimpleNamespace(texts=texts, line="x"))
        assert (
            layers_sentences.fallback(Config.of(STREET, layer_map="auto"), found).partition(" The tokenizer")[2] == said
        )


def test_the_selected_head_begins_with_the_statistic_of_the_map_and_then_has_its_role():
    link = {"source": REPEATED, "mask": "window", "span": "4", "layer_map": "first", "layer": "18", "head": "6"}
    said = words(run(PAGE, link))
    assert re.search(
        r"It puts 9\d\.\d% of its weight, for the 4 of 76 tokens that see it, on the first token\. "
        r"Overall, it attends from each token to itself: \d+\.\d% of its weight on average\.",
        said,
    )
    same = words(run(PAGE, {"source": REPEATED, "layer": "18", "head": "6"}))
    assert "It attends to what followed" in same and "Overall, it" not in same, "it is its role"


def test_of_a_very_short_text_auto_shows_no_pattern(monkeypatch):
    found: Any = {
        0: SimpleNamespace(
            numbers={"previous": [0.9, 0.1], "first": [0.9, 0.9], "greatest": [0.9, 0.9]}, roles=[None] * 2
        )
    }
    for texts, name in ((["[start]", "Hello", "world"], "greatest"), (list("abcdefgh"), "previous")):
        monkeypatch.setattr(maps, "tokens", lambda config, texts=tuple(texts): SimpleNamespace(texts=texts))
        assert maps.number(Config.of(STREET, layer_map="auto"), found) == name


def test_a_head_over_50_percent_is_not_said_not_to_stand_out(monkeypatch):
    read = (
        "Anna",
        "gave",
        "a",
        "red",
        "apple",
        "as",
        "Bob",
        "gave",
        "Anna",
        "and",
        "Bob",
        "a",
        "red",
        "pear",
        "as",
        "Anna",
        "and",
        "Bob",
    )
    monkeypatch.setattr(maps, "tokens", lambda config: SimpleNamespace(texts=read, line="x"))
    monkeypatch.setattr(layers_sentences, "tokens", lambda config: SimpleNamespace(texts=read, line="x"))
    config = Config.of(STREET, layer_map="auto")
    for induction, said in ((0.58, "cannot tell “induction” from other patterns"), (0.2, "No head stands out")):
        found: Any = {0: SimpleNamespace(numbers={"induction": [induction], "first": [0.9]}, roles=[None])}
        monkeypatch.setattr(maps, "number", lambda config, found: "first")
        assert said in layers_sentences.fallback(config, found)


def test_what_is_written_in_a_cell_agrees_with_the_count_of_the_headline():
    test = run(PAGE, {"source": "recorded:minilm-river", "layer_map": "previous"})
    cells = tables(test)[0]
    assert "2 of these 72 heads put over half" in words(test)
    bold = [said for said, strong in zip(cells["short"], cells["strong"], strict=True) if strong]
    assert all(said.endswith("%") for said in cells["short"])
    assert sorted(bold) == [">50%", ">99%"] and "Layer 0, head 2: over 99.9%" in cells["says"]


def test_where_no_query_has_a_choice_nothing_is_compared():
    test = run(PAGE, {"source": STREET, "mask": "window", "span": "1"}, OPEN)
    assert not test.exception and "Under this mask no query has more than one visible key" in captions(test)
    blind = run(PAGE, {"source": STREET, "combine": "without", "second": "causal"})
    assert not blind.exception and "No query has a visible key under this mask" in captions(blind)
    assert "Entropy: none (no visible key)" in words(blind)


def test_a_number_that_needs_texts_says_so_where_there_are_none():
    test = run(PAGE, {"input": "noise", "layer_map": "separators"})
    assert not test.exception
    assert "Separators needs token texts" in captions(test)


def test_a_question_hides_all_of_it():
    test = run(PAGE, {"source": STREET, "predict": "row"}, OPEN)
    assert selected_head(test)["marks"]["hides"], "the tokens of the head are shown without its weights"
    assert (
        not tables(test)
        and not {text.ALIKE_FOLD, text.TWO_FOLD} & {each.label for each in test.expander}
        and not test.get("plotly_chart")
    )


def test_of_too_many_heads_the_layers_around_the_one_in_focus_are_compared(monkeypatch):
    monkeypatch.setattr(results.layers, "COMPARED", 29)
    for layer, around in {1: (1, 11, 13), 16: (13, 16, 17), 18: (16, 17, 18)}.items():
        assert results.layers.compared_layers(Config.of(STREET, layer=layer)) == around
    test = run(PAGE, {"source": STREET, "layer": "16"}, OPEN)
    assert "Only 3 of 6 layers are compared: 13 to 17, around the selected one." in words(test)
    assert len(tables(test)[2]["x"]) == 27 and len(tables(test)[1]["x"]) == 54


def test_few_layers_are_under_way_at_a_time(monkeypatch):
    """Who turns to another setting leaves no long queue behind."""
    config, begun = Config.of(STREET, temperature=1.75), []
    usual = results.layers._layer.begin
    monkeypatch.setattr(results.layers._layer, "begin", lambda config: begun.append(config.layer) or usual(config))
    results.layers.begin(config)
    assert begun == [*LAYERS[: results.layers.AT_ONCE]]


def test_how_far_it_is_is_said_while_layers_are_computed(monkeypatch):
    told, gone = [], []

    class Slot:
        def progress(self, share: float, text: str) -> None:
            told.append((share, text))

        def empty(self) -> None:
            gone.append(True)

    usual = results.layers.passed
    monkeypatch.setattr(results.layers, "passed", lambda config: sleep(0.05) or usual(config))
    monkeypatch.setattr(results.layers, "SPINNER", 0.001)
    monkeypatch.setattr(results.layers.st, "empty", Slot)
    results.layers.layers(Config.of(STREET, temperature=1.35))
    assert told[0] == (0.0, "Layer 1: 1 of 6 …") and gone == [True]
    assert [share for share, _ in told] == sorted(share for share, _ in told)


def test_the_table_has_a_sentence_for_every_head():
    found = results.layers.layers(Config.of(REPEATED))
    assert "induction" in found[18].roles[6].says and len(found[18].roles) == 9
    assert found[18].numbers["induction"][6] > 0.85


def test_the_table_begins_with_the_heads_that_have_the_largest_values_of_the_map():
    found, known = results.layers.layers(Config.of(REPEATED)), ["previous", "entropy", "induction"]
    table = layers_table.columns(found, known, [*range(54)], "induction", {"previous", "induction"})
    assert [*table] == ["layer", "head", "induction", "does", "holds", "previous", "entropy"]
    assert table["induction"] == sorted(table["induction"], reverse=True) and 85 < table["induction"][0] < 100
    for at, (layer, head) in enumerate(zip(table["layer"], table["head"], strict=True)):
        numbers = found[layer].numbers
        assert (
            table["previous"][at] == 100 * numbers["previous"][head]
            and table["entropy"][at] == numbers["entropy"][head]
        )
        assert table["holds"][at] == [*found].index(layer) * 9 + head


def test_the_table_has_each_share_once_and_no_column_without_a_number():
    found = results.layers.layers(Config.of(REPEATED))
    table = layers_table.columns(found, ["induction"], [None] * 54, "induction", {"induction"})
    assert [*table] == ["layer", "head", "induction", "does"], "no head has its role on other texts"
    assert "%" not in " ".join(table["does"]) and "on average" not in " ".join(table["does"])
    assert table["does"][0] == ("attends to what followed an earlier copy of the token, where there is one (induction)")
    one, two = "attends from each token to itself", "one token back, where there is one"
    assert f"{one} and {two}" in table["does"] and f"attends {two}, and {one.removeprefix('attends ')}" in table["does"]


def test_the_table_says_what_the_headline_says_of_heads_without_a_role():
    config = Config.of("trained:reverse")
    found = results.layers.layers(config)
    name = maps.number(config, found)
    table = layers_table.columns(found, [name], [], name)
    assert name == "preceding" and not any(found[0].roles)
    for head, does in zip(table["head"], table["does"], strict=True):
        value = found[0].numbers[name][head]
        assert does == (
            f"puts over half of its weight on {text.KEYS[name]}, where there is one"
            if value > maps.HIGH
            else text.NO_ROLE_NAME
        )


def test_a_click_in_any_picture_opens_its_head(monkeypatch):
    held = {"map of heads": {"selection": {"cell": [{"layer": 17, "head": 4, "turn": 0}]}}}
    changed, remembered = [], VisitState()
    monkeypatch.setattr(gestures, "widgets", lambda: held)
    monkeypatch.setattr(gestures, "visit_state", lambda: remembered)
    monkeypatch.setattr(gestures, "change", lambda **values: changed.append(values))
    partial(gestures.on_layer_click, "map of heads")()
    assert changed == [{"layer": 17, "head": 4}] and remembered.turns == 1


def test_a_click_on_a_row_of_the_selected_head_selects_it_and_another_click_no_row(monkeypatch):
    changed: list[dict[str, int]] = []
    monkeypatch.setattr(gestures, "widgets", lambda: {"selected-head": {"pin": {"query": 20, "count": 1}}})
    monkeypatch.setattr(gestures, "change", lambda **values: changed.append(values))
    for query in (LAST_QUERY, 20):
        monkeypatch.setattr(gestures, "setting", lambda query=query: Config.of(REPEATED, query=query))
        gestures.on_row_pin("selected-head")
    assert changed == [{"query": 20}, {"query": LAST_QUERY}]
    assert selected_head(run(PAGE, {"source": REPEATED}))["pins"] is True


@pytest.mark.parametrize(("off", "then"), [("", "17.4"), ("2.0 17.4", "2.0"), ("17.10 2.0", "2.0 17.4 17.10")])
def test_a_click_that_switches_heads_switches_the_one_that_it_selects(off, then, monkeypatch):
    held = {"layers": {"selection": {"cell": [{"layer": 17, "head": 4, "turn": 0}]}}}
    changed = []
    monkeypatch.setattr(gestures, "widgets", lambda: held)
    monkeypatch.setattr(page, "visit_state", VisitState)
    monkeypatch.setattr(page, "current_setting", lambda: Prompt(off=off))
    monkeypatch.setattr(page, "change", lambda **values: changed.append(values))
    model_switches.on_map_click()
    held["layers"] = {"selection": {"cell": [{"layer": "x", "head": 4}]}}
    model_switches.on_map_click()
    assert changed == [{"layer": 17, "head": 4, "off": then}]


@pytest.mark.parametrize(("most", "end"), [(0.0, 0.3), (0.27, 0.3), (0.5, 0.6), (0.95, 1.0), (1.2, 1.2)])
def test_a_map_has_room_for_the_farthest_head(most, end):
    assert head_points.end(most) == pytest.approx(end)


def test_a_file_of_the_map_is_xml_whatever_its_words_are():
    strange = 'a <b>"bold"</b> & \x01\ufffe ]]> $x$'
    text = layers_file.svg(
        {(3, 0): 0.0, (3, 1): 2.0, (7, 1): 1.0}, (3, 7), 2, (0.0, 2.0), "{:.1f}".format, strange, [strange, "whose"]
    )
    root = ET.fromstring(text)
    cells = [part for part in root.findall(f"{SVG}rect") if part.get("height") == str(layers_file.ROW - 1)]
    assert [part.get("fill") for part in cells] == ["#ffffff", "#749838", layers_file.color(0.5)]
    texts = [part.text for part in root.findall(f"{SVG}text")]
    assert texts[0] == 'a <b>"bold"</b> &  ]]> $x$' and texts[-1] == "whose" and {"3", "7", "0.0", "2.0"} <= {*texts}


def test_a_file_of_many_heads_is_as_wide_as_they_need_and_has_no_numbers():
    cells = {(layer, head): 0.5 for layer in range(48) for head in range(64)}
    root = ET.fromstring(layers_file.svg(cells, range(48), 64, (0.0, 1.0), "{:.2f}".format, "many", ["whose"]))
    assert "0.50" not in [part.text for part in root.iter()] and int(root.get("width")) > 64 * layers_file.NARROW


@pytest.mark.parametrize(
    ("task", "tokens"),
    [
        ("induction", "p q δ e ε j k x y s p q … s"),
        ("reverse", "x y s z → z s y x"),
        ("sort", "16 24 25 → 0 1 3 5"),
        ("majority", "green … → "),
    ],
)
def test_a_model_trained_here_has_its_task_and_tokens_said(task, tokens):
    said = copies_of.text_sentence(Config.of(f"trained:{task}")) + " "
    assert said.startswith("Trained to ") and tokens in said and {f"trained:{name}" for name in TASKS} <= {*text.TEXTS}


@pytest.mark.parametrize(("source", "counts"), [(REPEATED, True), ("recorded:minilm-street", False)])
def test_heads_are_not_counted_by_a_statistic_of_few_repeated_tokens(source, counts):
    test = run(PAGE, {"source": source, "across": "first", "upwards": "induction"}, OPEN)
    assert not test.exception and ("Over half of the weight: " in words(test)) is counts


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("greatest", True),
        ("even", True),
        ("entropy_share", True),
        ("first", True),
        ("entropy", False),
        ("distance", False),
    ],
)
def test_a_share_is_a_percentage_in_every_chart_and_other_statistics_are_not(name, share):
    test = run(PAGE, {"source": STREET, "layer_map": name, "across": name, "upwards": "effective_keys"}, OPEN)
    shares = ['~%"' in json.dumps(json.loads(each.proto.spec)) for each in test.get("vega_lite_chart")[1:]]
    assert not test.exception and shares == [share] * len(shares) and ("short" in tables(test)[0]) is share
    assert maps.is_share(name, Config.of(STREET)) is share
    written = layers_table.picture(Config.of(STREET, layer_map=name), results.layers.layers(Config.of(STREET)))
    assert ("%</text>" in written) is share


def test_no_number_of_a_map_has_a_percent_sign_as_the_key_or_the_title_has_it():
    for room, title in ((ROOM, "Heads"), (USUAL, "Heads")):
        spec = layers_chart.numbers((0, 1), 12, "", (0.0, 1.0), 2, percent=True, room=room, title=title)
        (words,) = (each for each in spec["layer"] if "written" in json.dumps(each))
        assert "replace(datum.short, '%', '')" in json.dumps(words)
        has_key = bool(spec["layer"][0]["encoding"]["color"]["legend"])
        assert spec["title"]["text"] == (title if has_key else f"{title} (%)")


def test_the_caption_says_which_cells_have_no_number():
    config, one = Config.of(STREET, layer_map="first"), layers_sentences.cells_sentence
    found = results.layers.layers(config)
    low = {0: SimpleNamespace(numbers={"even": [0.01, 0.24]}, roles=[None] * 2)}
    assert one(replace(config, layer_map="even"), low, ROOM) == "Blank: under 2.5%.", (
        "a tenth of the end of the colours"
    )
    assert one(config, found, ROOM) == "Blank: under 33%.", "1.4 times what uniform weights have"
    assert any(0.1 < value < 0.33 for value in numbers("first", config))
    assert one(Config.of(STREET, layer_map="entropy"), found, ROOM) == ""
    assert one(config, found, Room(100, 50)) == "Point at a cell for its value.", "rows are too low for numbers"
    assert height(30, ROOM) == 390 and writes_numbers(30, 9, ROOM) and not writes_numbers(40, 9)
    assert not writes_numbers(6, 16, ROOM) and height(48, ROOM) == 48 * 9


def test_no_head_is_called_an_induction_head_of_a_text_in_which_too_few_tokens_occur_again():
    test = run(PAGE, {"source": "recorded:minilm-wide"})
    assert "Layer 0" in words(test) and "induction heads are in later ones" not in captions(test)


def test_auto_prefers_a_pattern_that_not_most_heads_follow():
    config = Config.of(STREET, layer_map="auto")
    numbers = {"first": [0.9, 0.9, 0.8], "previous": [0.6, 0.1, 0.1], "induction": [0.0] * 3}
    found: Any = {16: SimpleNamespace(numbers=numbers, roles=[None] * 3)}
    assert maps._patterns_of_heads(config, found) == ["previous", "first"]
    numbers["previous"] = [0.4, 0.1, 0.1]
    assert maps._patterns_of_heads(config, found) == ["first"]


@pytest.mark.parametrize("source", [REPEATED, STREET, "recorded:minilm-street", "trained:induction"])
@pytest.mark.parametrize("name", maps.PATTERNS)
def test_no_share_that_is_small_by_chance_is_written_and_that_of_a_head_that_is_counted_is(source, name):
    config = Config.of(source, layer_map=name)
    held = maps.cells(name, results.layers.layers(config))
    uniform, limit = maps.uniform_weight(name, config), maps.least_written(name, config, held)
    assert limit >= min(1.4 * uniform, maps.HIGH) and 0.1 * maps.ends(name, config, held)[1] <= limit
    assert limit <= max(maps.HIGH, 0.1), "a head that is high has its number"


def test_the_chart_and_the_caption_have_one_limit():
    test = run(PAGE, {"source": STREET, "layer_map": "first"})
    assert "datum.value >= 0.33" in test.get("vega_lite_chart")[0].proto.spec
    assert "Blank: under 33%." in captions(test) and text.LIMIT.format(ratio=1.4) in helps(test)


@pytest.mark.parametrize("source", [REPEATED, STREET, "recorded:minilm-street", "trained:induction"])
def test_the_map_of_what_each_head_does_names_it_as_its_role_and_the_headline_do(source):
    config = Config.of(source, layer_map="kinds")
    found = results.layers.layers(config)
    cells = tables(run(PAGE, {"source": source, "layer_map": "kinds"}))[-1 if source == "trained:induction" else 0]
    words = dict(zip(zip(cells["layer"], cells["head"], strict=True), cells["word"], strict=True))
    roles = {(layer, head): role for layer, each in found.items() for head, role in enumerate(each.roles)}
    assert words.keys() == roles.keys()
    counted = maps.counted_heads(config, found)
    for cell, word in words.items():
        if cell in counted:
            assert word == {"induction": "ind", "previous": "prev", "first": "first"}[maps.number(config, found)]
        else:
            assert bool(word) is bool(roles[cell]), (cell, word)
            assert word.endswith("+") is (roles[cell] is not None and ", " in roles[cell].name)
    kinds = {kind for kind in cells["kind"] if kind}
    assert {kind.partition(":")[0] for kind in kinds} == {word.rstrip("+") for word in words.values() if word}


@pytest.mark.parametrize("source", [STREET, "recorded:minilm-street", "trained:brackets", "trained:sort", GENERATED])
def test_the_headline_of_the_map_of_what_each_head_does_counts_its_cells(source):
    test = run(PAGE, {"source": source, "layer_map": "kinds"})
    cells = next(each for each in tables(test) if "kind" in each)
    single = [kind for kind, joined in zip(cells["kind"], cells["joined"], strict=True) if kind and not joined]
    kinds = Counter(single)
    if kinds and max(kinds.values()) > 1:
        top = max(kinds, key=kinds.__getitem__)
        assert f"{kinds[top]} of these {len(cells['kind'])} heads" in words(test)
        assert f"attend mostly to {top.partition(': ')[2]}" in words(test)
    elif kinds:
        assert "follow a pattern, each another one" in words(test)
    else:
        assert "follows a single pattern." in words(test)


def test_the_map_of_what_each_head_does_is_saved_as_it_is_shown():
    config = Config.of(REPEATED, layer_map="kinds")
    cells = next(each for each in tables(run(PAGE, {"source": REPEATED, "layer_map": "kinds"})) if "kind" in each)
    written = [part.text for part in ET.fromstring(layers_table.picture(config, results.layers.layers(config))).iter()]
    counts = Counter(cells["word"])
    assert all(written.count(word) == count for word, count in counts.items() if word)
    assert {kind for kind in cells["kind"] if kind} < set(
        written
    ) and "What each head does: SmolLM2: repeated words" in written


def test_the_panel_of_the_map_of_what_each_head_does_counts_what_the_selected_head_does():
    link = {"source": REPEATED, "layer_map": "kinds"}
    for layer, head, said in (
        ("18", "6", "induction 89\\.6% · highest"),
        ("16", "0", "previous token"),
        ("18", "3", "first"),
    ):
        test = run(PAGE, link | {"layer": layer, "head": head})
        place = next(each.value for each in test.markdown if f"**Layer {layer}, head {head}**" in each.value)
        assert said in place.lower(), place
        assert "then 5 **induction heads** (layers 17 and 18)" in words(test), "the headline is that of the map"


def test_buttons_of_the_map_of_what_each_head_does_go_on_in_its_order_and_keep_the_map():
    test = run(PAGE, {"source": REPEATED, "layer_map": "kinds", "layer": "18", "head": "6"})
    test.button(key="Next head").click().run()
    assert query_without_edition(link(test)) == {"source": REPEATED, "layer_map": "kinds", "layer": "18", "head": "7"}
    test.button(key="try").click().run()
    assert test.button(key="try").label == "Show an induction head" and link(test)["layer_map"] == "kinds"
    best = results.layers.layers(Config.of(REPEATED))
    held = maps.cells("previous", best)
    assert (int(link(test)["layer"]), int(link(test).get("head", 0))) == max(held, key=held.__getitem__)
    test.button(key="emerge").click().run()
    assert link(test)["source"] == "trained:induction" and link(test)["layer_map"] == "kinds"


@pytest.mark.parametrize("source", ["trained:reverse", "trained:sort"])
@pytest.mark.parametrize("head", range(4))
def test_the_map_of_a_trained_task_frames_a_token_that_comes_next_and_counts_the_rows_that_attend_to_it(source, head):
    config = Config.of(source, head=head)
    found, read = trace(config), trace(config).texts
    start = read.index("→")
    letters = sorted(read[:start], key=int) if source == "trained:sort" else read[:start][::-1]  # the answer
    following = dict(zip(range(start, len(read)), letters, strict=True))
    right = sum(read[int(found.weights[head, at].argmax())] == token for at, token in following.items())
    pair = copies_of.example(config, "greatest")
    drawn = copies_of.marks(config, pair, "greatest")
    assert (
        isinstance(pair, Largest)
        and drawn
        and pair.query >= start > pair.key
        and read[pair.key] == following[pair.query]
    )
    seen = copies_of.shape_sentence(config, pair)
    assert f"From → on, {right} of {len(following)} rows attend most to the " in seen
    is_larger = drawn.pair != (pair.query, pair.key)
    assert (", which comes next, but " if is_larger else ", which comes next.") in drawn.says
    verdict = layers_sentences.no_role(config)
    assert f" in {right} of {len(following)} rows from → on" in verdict if right else verdict == text.NO_ROLE
    assert ("comes next: the rising diagonal." in seen) is (source == "trained:reverse" and 2 * right >= len(following))
    for other, name in ((Config.of(source, head=head), "first"), (Config.of(source, head=head, query=3), "greatest")):
        example = copies_of.example(other, name)
        assert not (isinstance(example, Largest) and example.is_next), "of another statistic, or of a selected row"


def test_a_chosen_pattern_that_no_head_follows_has_a_button_for_what_auto_shows():
    sort = run(PAGE, {"source": "trained:sort", "layer_map": "first"})
    assert sort.button(key="higher").label == "Show “largest weight” instead"
    assert text.BOLD not in helps(sort), "the highest is small by chance, too: it is not written"
    sort.button(key="higher").click().run()
    assert "rows from → on attend most to the number that comes next" in words(sort) and not sort.exception
    assert not [each for each in sort.button if each.key == "higher"]


def test_a_button_leads_from_induction_heads_to_previous_token_heads_if_these_are_in_earlier_layers():
    test = run(PAGE, {"source": REPEATED, "layer": "18", "head": "6"})
    said = (
        "**Previous-token heads** (over 50%: layers 1, 11 and 16) come before **induction heads** (layers 17 and 18). "
    )
    assert "write into “whiskey” that “lava” came before it" in words(test), "the framed pair"
    assert said in words(test)
    test.button(key="try").click().run()
    previous, induction = (
        sorted({LAYERS[at // 9] for at, value in enumerate(numbers(name, Config.of(REPEATED))) if value > 0.5})
        for name in ("previous", "induction")
    )
    assert (previous, induction) == ([1, 11, 16], [17, 18])
    assert said in words(test) and "**Layer 16, head 0**" in words(test), "the head with the largest value is selected"
    assert "write into “whiskey” that “lava” came before it" in words(test), (
        "the same example, whose earlier half is framed"
    )
    assert selected_head(test)["marks"]["says"].startswith(
        "Framed: “whiskey” (14) puts its largest weight, 93.7%, on “lava” (13)"
    )
    test.button(key="try").click().run()
    assert "**Layer 18, head 6**" in words(test) and test.query_params["layer_map"] == "induction"
    changed = {"source": REPEATED, "temperature": "1.2"}
    for other in ({"source": "trained:induction", "training_step": "0"}, {"source": STREET}, changed):
        assert not [each for each in run(PAGE, other).button if each.key == "try"]


def test_bold_numbers_are_those_of_the_heads_that_the_headline_counts():
    for chosen in ({"mask": "window", "layer_map": "first"}, {"layer_map": "previous"}, {}):
        test = run(PAGE, {"source": REPEATED} | chosen)
        cells = tables(test)[0]
        assert cells["strong"] == [value > maps.HIGH for value in cells["value"]] and any(cells["strong"])
        assert f" {sum(cells['strong'])} of these 54 heads" in f" {words(test)}" and text.COUNTED_BOLD in helps(test)
    spread = run(PAGE, {"source": REPEATED, "layer_map": "entropy"})
    assert text.BOLD in helps(spread)
    spread = tables(spread)[0]
    assert spread["strong"] == [value == max(spread["value"]) for value in spread["value"]]


def test_the_sentence_of_the_selected_head_is_below_its_map_which_no_sentence_moves_and_an_example_is_of_that_head_alone():
    test = run(PAGE, {"source": REPEATED, "layer": "18", "head": "6"})
    shown = [getattr(each, "value", "") if each.type == "markdown" else each.type for each in test.main]
    does = next(at for at, said in enumerate(shown) if said.startswith("It attends to"))
    assert does > next(at for at, said in enumerate(shown) if said == "bidi_component")
    assert selected_head(test)["height"] >= 400
    said = "“lava” (38) puts 98.6% on “whiskey” (14), which followed “lava” (13)."
    assert selected_head(test)["marks"]["says"] == f"Framed: {said}"
    other = run(PAGE, {"source": REPEATED, "layer": "18", "head": "0"})
    assert "puts 98.6%" not in words(other) + captions(other) + selected_head(other)["marks"]["says"]


def test_each_statistic_of_whole_rows_has_its_own_sentence_above_the_map():
    assert len({*text.WHOLE_ROWS.values()}) == len(text.WHOLE_ROWS)
    for name, said in text.WHOLE_ROWS.items():
        named = {"even": "uniformity", "entropy_share": "normalized entropy"}.get(name, name.replace("_", " "))
        assert named in said


def test_both_comparisons_of_heads_begin_with_a_finding():
    axes = {"across": "entropy", "upwards": "induction"}
    test = run(PAGE, {"source": REPEATED, "layer": "18", "head": "6"} | axes, OPEN)
    entropy = numbers("entropy", Config.of(REPEATED))
    rank = 1 + sum(value > entropy[5 * 9 + 6] for value in entropy)
    said = "Layer 18, head 6 has the highest value of “induction” among these 54 heads (from 6 of 30 layers): 89.6%."
    assert f"{said} By “entropy”, it is {place_text(rank, 54)}." in words(test)
    far = results.layers.distances(Config.of(REPEATED, layer=18, head=6)).apart[5 * 9 + 6]
    least, at = far.clone().index_fill_(0, torch.tensor(5 * 9 + 6), 2).min(0)
    label = f"L{(1, 11, 13, 16, 17, 18)[int(at) // 9]}H{int(at) % 9}"
    said = f"The head most similar to L18H6 is {label}, {least:.3f} apart; the mean over all other heads is "
    assert f"{said}{float(far.sum()) / 53:.3f}." in words(test) and not test.exception


def test_the_table_writes_a_share_that_is_nearly_all_as_the_headline_does():
    test = run(PAGE, {"source": "recorded:minilm-river", "layer_map": "previous"}, {layers_table.FOLD: True})
    (table,) = (each.proto for each in test.dataframe)
    written = pa.ipc.open_stream(io.BytesIO(table.arrow_data.styler.display_values)).read_all().to_pydict()
    assert "over 99.9%" in written["previous"] and "100.0%" not in written["previous"]
    assert "over 99.9%" in words(test)


def test_the_caption_of_a_weight_says_what_uniform_weights_would_put():
    config = Config.of(STREET)
    found, texts = trace(config), trace(config).texts
    for name in ("previous", "first", "induction", "same"):
        rows = []
        query, key = pairs_of(name, texts) or ([], [])
        for at in range(len(texts)):
            seen = [int(k) for q, k in zip(query, key, strict=True) if int(q) == at and found.mask[at, k]]
            rows += [len(seen) / int(found.mask[at].sum())] if seen else []
        assert maps.uniform_weight(name, config) == pytest.approx(sum(rows) / len(rows), abs=1e-6)
    said = format_percent(maps.uniform_weight("first", config))
    assert f" (uniform weights: {said})." in captions(run(PAGE, {"source": STREET, "layer_map": "first"}))


def test_the_badge_of_a_model_trained_here_names_the_task_alone():
    said = provenance.beside(Config.of("trained:sort")).replace("\\", "")
    assert said.startswith(":green-badge[Trained in this app") and said.endswith(" · sort]")


@pytest.mark.parametrize(
    ("layer", "head", "said"), [(1, 3, ", on only 40 of them."), (16, 1, "On 164 of the app’s 200")]
)
def test_a_role_that_a_head_has_on_few_texts_is_not_said_to_be_its_role(layer, head, said):
    config = Config.of(REPEATED, layer=layer, head=head)
    assert said in role_note(config, None) and ("has the role" in role_note(config, None)) is ("only" not in said)


def test_one_watches_induction_heads_appear_at_the_step_beside_the_map():
    test = run(PAGE, LAYERED.begins | {"layer_map": "auto"})
    test.button(key="emerge").click().run()
    assert not test.exception and link(test)["source"] == "trained:induction"
    before, after = 160, 200  # of the recorded steps
    slider = test.main.select_slider(key="training_step")
    assert slider.value == before == int(link(test)["training_step"])
    assert text.MOVE_STEP.format(what=text.INDUCTION_APPEARS, before=before, after=after) in words(test)
    assert "training_step" not in [each.key for each in test.sidebar.select_slider]
    for step, is_high in ((before, False), (after, True)):
        test.select_slider(key="training_step").set_value(step).run()
        assert (max(tables(test)[1]["value"]) > maps.HIGH) == is_high, "of the map, which is below the curve"
        curve = zip(*(tables(test)[0][name] for name in ("series", "step", "value")), strict=True)
        assert (curves.HIGHEST, step, max(tables(test)[1]["value"])) in curve
        assert ("act as induction heads here" in words(test)) == is_high


def test_no_step_is_named_at_which_heads_appear_if_none_does():
    steps = {
        task: maps.steps_of_appearance(maps.highest_by_step(Config.of(f"trained:{task}", layer_map="first")))
        for task in TASKS
    }
    assert steps == dict.fromkeys(TASKS)
    assert maps.steps_of_appearance(maps.highest_by_step(Config.of(STREET))) is None, "it has one step"


def test_the_sidebar_is_drawn_again_at_another_step_of_a_training():
    looks = [LAYERED.look(Config.of("trained:induction", training_step=step)) for step in (160, 200)]
    assert looks[0] != looks[1], "it says the step"


LABELS = """
import { readFileSync } from "node:fs";
import { spacedLabels } from "./large_head_marks.js";
const { names, line, starts, pairs } = JSON.parse(readFileSync(0, "utf-8"));
const drawn = (pair) => spacedLabels({ marks: { starts, pair }, query: 0 }, 0, names, line).map((label) => label.token);
console.log(JSON.stringify(pairs.map(drawn)));
"""


def drawn_labels(texts: list[str], line: float, queries: list[int | None]) -> list[set[int]]:
    """The tokens with a label on an axis of the selected head, with a frame in the row of each of these queries in turn."""
    pairs = [None if query is None else [query, 0] for query in queries]
    given = {"names": [*enumerate(texts)], "line": line, "starts": [0, *repeat_starts(texts)[1:]], "pairs": pairs}
    done = subprocess.run(
        ["node", "--input-type=module", "-e", LABELS],
        input=json.dumps(given),
        cwd=ROOT / "attention" / "components" / "browser",
        capture_output=True,
        text=True,
        check=True,
    )
    return [set(each) for each in json.loads(done.stdout)]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_labels_of_an_axis_are_those_of_its_text_whatever_is_framed_but_for_those_that_would_touch():
    texts, line = trace(Config.of(REPEATED)).texts, 2.7
    usual, *framed = drawn_labels(texts, line, [None, 3, 20, 38, 60])
    assert {0, 26, 51} < usual and {at + 25 for at in usual if 1 < at < 26} <= usual, "the same words in each repeat"
    for query, drawn in zip([3, 20, 38, 60], framed, strict=True):
        assert drawn == {at for at in usual if abs(at - query) >= line} | {query}
    short = ["[start]", *["The", " cat", " sat", "."] * 3]
    assert drawn_labels(short, 0.5, [None, 7]) == [{*range(13)}] * 2, "there is room for each"


def test_the_earlier_and_the_later_head_are_shown_at_work_on_one_pair_of_tokens():
    shut, opened = run(PAGE, {"source": REPEATED}), run(PAGE, {"source": REPEATED}, {"two heads": True})
    assert text.TOGETHER_FOLD in [each.label for each in shut.expander] and len(large_heads(shut)) == 1
    assert "**1 · Layer 16, head 0**" in words(opened) and "**2 · Layer 18, head 6**" in words(opened)
    (_, first, second), read = large_heads(opened), trace(Config.of(REPEATED, layer=16)).texts
    (key, before), (query, found) = first["marks"]["pair"], second["marks"]["pair"]
    assert (key, before + 1) == (found, found) and read[query] == read[before], (
        "what the first reads, the second looks for"
    )
    assert first["marks"]["says"].startswith(f"Framed: “{read[key]}” ({key}) puts its largest weight, 93.7%, on")
    other = run(PAGE, {"source": REPEATED, "mask": "full"}, {"two heads": True})
    assert text.TOGETHER_FOLD not in [each.label for each in other.expander], (
        "what the model wrote, it wrote with its own mask"
    )


def test_the_first_step_of_a_training_is_not_called_trained():
    said = words(run(PAGE, {"source": "trained:induction", "training_step": "0"}))
    assert ":orange-badge[Not trained yet, after 0 steps" in said
