"""The Masks page and the grouped heads, driven without a browser."""

import json
import struct
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention import Config
from attention.analysis.mask_effect import difference
from attention.analysis.mask_gallery import gallery
from attention.charts import heatmap, heatmap_differences, shares
from attention.components.mask_gallery import payload
from attention.imported.registry import register
from attention.masks import MASKS
from attention.number_format import format_percent
from attention.tables import rows as tables
from attention.trace import run_pass, trace
from attention.ui.text import grouping as grouping_text
from attention.ui.views.masks import FOLD
from attention.wire.cells import weights as cell_weights
from tests import example_uploads
from tests.strategies import newest
from tests.test_pages import reveal

PAGES = Path(__file__).parents[1] / "pages"


def opened(page="masks", **knobs):
    """A page at the settings of a link, after its first run."""
    app = AppTest.from_file(str(PAGES / f"{page}.py"), default_timeout=60)
    app.session_state[FOLD] = True
    app.query_params.update(newest({name: str(value) for name, value in knobs.items()}))
    return app.run()


def cards(app):
    """What the gallery was sent, None where it is not drawn."""
    found = [each.proto for each in app.get("bidi_component") if each.proto.component_name.endswith("mask_gallery")]
    return decode_message(found[0].bytes)["cards"] if found else None


def decode_message(message):
    (length,) = struct.unpack("<I", message[:4])
    return json.loads(message[4 : 4 + length]) | {"cells": message[4 + length + -length % 4 :]}


def prose(app):
    return " ".join(
        [getattr(each, part) for each in [*app.markdown, *app.caption] for part in ("value", "help")]  # also on hover
    )


def plainly(app):
    """The same without the signs that keep it from being markup."""
    return prose(app).replace("\\", "")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("detail", ["effect", "empty rows", "code"])
@pytest.mark.parametrize(
    "knobs",
    [
        {},
        {"tokens": 2, "heads": 32, "d_model": 32, "temperature": 0.05},
        {"tokens": 9, "mask": "padding", "span": 30, "softcap": 0.1, "softmax": "plus one"},
        {"mask": "global", "combine": "without", "second": "local", "temperature": 20, "input": "noise"},
    ],
)
def test_settings_at_their_ends_show_something(detail, knobs):
    app = opened(mask_detail=detail, **knobs)
    assert not app.exception
    names = [card["name"] for card in cards(app)]
    assert names[: len(MASKS)] == list(MASKS)
    assert [card["name"] for card in cards(app) if card["used"]] == [Config(**_typed_knobs(knobs)).rule_name]


@pytest.mark.extended
def test_cards_of_a_long_sequence_are_counted_at_its_length():
    app = opened(tokens=65_536, mask="window", span=512)
    window, used = cards(app)[list(MASKS).index("window")], "keeps 33,423,616 of 4,294,967,296 pairs"
    assert window["lines"][:3] == [
        "0.8% of pairs",
        "saves 99.2% in theory, 99.0% in blocks",
        "4 layers reach 2,044 tokens back",
    ]
    assert used in prose(app) and "A pixel is 683 × 683 pairs" in prose(app)


@pytest.mark.extended
def test_what_needs_every_weight_says_that_it_is_about_the_first_tokens():
    long = {"tokens": 1500, "mask": "causal", "combine": "without", "second": "window"}
    app = opened(**long)
    assert "it shows the first 1,024 of 1,500 tokens" in prose(app)
    assert "Checked: the same as PyTorch's own attention" in prose(app)
    app = opened(**long, span=1100, mask_detail="empty rows")
    assert "**1,100 of 1,500 queries are fully masked** under causal without window: 0 to 1099." in prose(app)
    assert "on head 0 over the first 1,024 of 1,500 tokens" in prose(app)
    app = opened(**long, mask_detail="code")
    assert "n, span = 1500, 4" in app.code[0].value and "first 1,024" not in prose(app)
    app = opened(**long, predict="mask")
    assert "The question is about the first 1,024 of 1,500 tokens" in prose(app)


def test_many_empty_rows_are_not_all_listed():
    app = opened(tokens=600, mask="documents", combine="without", second="causal", mask_detail="empty rows")
    assert "**150 of 600 queries are fully masked** under documents without causal: 3, 7, 11" in prose(app)
    assert "47 and 138 more ranges." in prose(app)


def test_a_page_without_empty_rows_offers_a_mask_that_has_them():
    app = opened(mask_detail="empty rows")
    assert "every query has a visible key" in prose(app)
    app.button(key="empty rows").click().run()
    assert [card["name"] for card in cards(app) if card["used"]] == ["causal without window"]
    assert "**4 of 18 queries are fully masked** under causal without window: 0 to 3." in prose(app)
    said = app.table[0].value.to_string()
    assert said.count("NaN gradients") == 4
    assert "zeros" in said and "mean of all values" in said


def test_the_effect_is_told_in_words_that_are_true():
    assert "**full** keeps the same pairs as **full**, so no weight changes" in prose(opened(mask="full"))
    assert "has no visible key, so all its weights are zero" in prose(opened(mask="padding", span=30))
    start, full = opened(), trace(Config(mask="full")).weights[0]
    row = 9  # the token in the middle, whatever the mask
    taken = full.triu(1).sum(-1)
    assert "Compared with **full** (every key)." in prose(start)
    assert f"the framed “the” can't see later words; their **{format_percent(float(taken[row]))}** goes to" in plainly(
        start
    )
    assert f"over all queries it is **{format_percent(float(taken.mean()))}**" in prose(start)
    last = opened(query=17)
    most = int(taken.argmax())
    assert f"the framed “boat” loses no word. “The” loses most: **{format_percent(float(taken[most]))}**" in plainly(
        last
    )
    last.button(key="hit most").click().run()
    assert f"Under **full**, “The” ({most}) in head 0 has" in plainly(last) and not last.exception
    assert f"**{format_percent(float(taken[most]))}** of its weight moves to itself." in prose(last)
    assert "have zero weight in float32" in prose(opened(tokens=2, scale="none", temperature=0.05))
    app = opened(query=0)
    config = Config(query=0)
    full = trace(Config(mask="full")).weights[0]
    hidden = float(full[0, 1:].sum())
    assert f"**{format_percent(hidden)}** of its weight on keys that **{config.rule_name}** masks" in prose(app)


def test_another_baseline_is_chosen_for_generated_attention():
    app = opened(mask="sinks", span=2, query=12)
    app.selectbox(key="baseline").set_value("causal").run()
    own, other = trace(Config(mask="causal")), trace(Config(mask="sinks", span=2))
    taken = (own.weights[0] * ~other.mask).sum(-1)
    assert "Compared with **causal**, as selected." in prose(app) and "**Head 0, baseline: causal**" in prose(app)
    assert f"over all queries it is **{format_percent(float(taken.mean()))}**" in prose(app)
    assert app.query_params["baseline"] == "causal"
    more = opened(mask="prefix", span=6, baseline="causal", query=2)
    shown = trace(Config(mask="prefix", span=6)).weights[0].triu(1).sum(-1)
    assert "**prefix** masks no key that is visible under **causal**." in prose(more)
    assert f"get **{format_percent(float(shown.mean()))}** of the weight of head 0" in prose(more)
    both = opened(mask="local", span=3, baseline="causal", query=10)
    assert "of its weight on keys that **local** masks" in prose(both)
    assert "Keys visible under **local** but not under **causal** get" in prose(both)


def test_a_causal_model_is_compared_with_its_own_mask():
    """Not with attention to later tokens, which it never had: three times as much weight would seem to move."""
    holding = example_uploads.holding("named")
    page = PAGES / "masks.py"
    app = example_uploads.open_page(page, holding, opens=FOLD)
    assert "Compared with **causal**, the source's own mask." in prose(app)
    assert "**causal** is the source's own mask. Select another mask" in prose(app)
    app = example_uploads.open_page(page, holding, {"mask": "window", "span": "2"}, opens=FOLD)
    own = trace(Config.of(holding.source)).weights[0]
    taken = own.tril(-2).sum(-1).mean()
    wrong = trace(Config.of(holding.source, mask="full")).weights[0]
    wrong = (wrong.triu(1) + wrong.tril(-2)).sum(-1).mean()
    assert f"over all queries it is **{format_percent(float(taken))}**" in prose(app)
    assert format_percent(float(wrong)) not in prose(app) and not app.exception
    assert not [each for each in app.selectbox if each.key == "baseline"], "it can't be chosen"


def test_a_files_own_mask_is_drawn_counted_and_named():
    """One that is no rule: in use, with the nearest rule, the queries that differ, and those that see no key."""
    square = MASKS["window"].square(6, 6, 3)
    square[4] = False
    stack = replace(example_uploads.square_upload(), square=square)
    holding, page = register(stack), PAGES / "masks.py"
    app = example_uploads.open_page(page, holding, opens=FOLD)
    drawn, own = cards(app), cards(app)[-1]
    assert [card["name"] for card in drawn if card["used"]] == ["own mask"] and own["mark"] == "in use"
    assert not any(card["joins"] or card["mark"] for card in drawn[:-1]), "no other can be chosen"
    assert own["lines"][0].startswith("33.3% of pairs") and own["lines"][0].endswith("; 1 fully masked")
    assert "**own mask** keeps 12 of 36 pairs" in prose(app)
    assert "The nearest rule is window, span 3" in plainly(
        app
    ) and "query 4, which does not attend to keys 2 to 4" in plainly(app)
    assert "1 query is fully masked: 4." in prose(app)
    (field,) = [each for each in app.text_input if each.label == "Mask"]
    assert field.disabled and field.value.startswith("its own mask (close to window, span 3")
    assert "without their mask" in field.help and not [each for each in app.selectbox if each.key == "mask"]
    (message,) = [e.proto for e in app.get("bidi_component") if e.proto.component_name.endswith("mask_gallery")]
    picture = decode_message(message.bytes)["cells"][-36:]
    assert [cell == 255 for cell in picture] == square.flatten().tolist()
    causal = trace(Config.of(holding.source)).given
    full = run_pass(replace(causal, rule=MASKS["causal"])).weights[0]
    taken = (full * ~square).sum(-1).mean()
    assert "Compared with **causal**." in prose(app)
    assert f"over all queries it is **{format_percent(float(taken))}**" in prose(app)
    app = example_uploads.open_page(page, holding, {"mask_detail": "empty rows"})
    assert "**1 of 6 queries are fully masked** under own mask: 4." in prose(app)


def test_another_mask_can_be_tried_where_layers_have_masks_of_their_own():
    """The mask of a layer is a default: another one is compared with it, and stays when the layer changes."""
    holding = example_uploads.holding("layered")
    app = example_uploads.open_page(PAGES / "masks.py", holding, opens=FOLD)
    assert app.selectbox(key="mask").value == "window" and not app.selectbox(key="mask").disabled
    assert "Compared with **window**, span 3, the source's own mask." in prose(app)
    app.selectbox(key="mask").set_value("full").run()
    assert "**full**" in prose(app) and "Compared with **window**" in prose(app)
    app.selectbox(key="layer").set_value(1).run()
    assert app.selectbox(key="mask").value == "full" and "Compared with **causal**" in prose(app)
    app.selectbox(key="mask").set_value("causal").run()
    app.selectbox(key="layer").set_value(0).run()
    assert app.selectbox(key="mask").value == "window" and not app.exception


def test_the_effect_of_weights_alone_says_what_it_needs():
    square = MASKS["causal"].square(6, 6, 3)
    weights = example_uploads.weights().weights * square
    holding = register(
        replace(example_uploads.weights(), weights=weights / weights.sum(-1, keepdim=True), square=square)
    )
    app = example_uploads.open_page(PAGES / "masks.py", holding, opens=FOLD)
    assert "**own mask** keeps 21 of 36 pairs" in prose(app) and "This is causal." in plainly(app)
    assert "This needs queries and keys" in prose(app) and not app.exception


def test_another_head_moves_the_words_and_the_squares():
    app = opened()
    app.selectbox(key="head").set_value(5).run()
    assert "in head 5 has" in prose(app) and "**Head 5, difference**" in prose(app)


def test_more_layers_reach_farther():
    app = opened(mask="window", span=3)
    reach = {card["name"]: card["lines"][2] for card in cards(app)}
    assert reach["window"] == "4 layers reach 8 tokens back"
    chain = "layers, an arrow per layer: “boat” (17) ← “took” (15) ← “the” (13) ← “and” (11) ← "
    assert f"4 {chain}“the” (9)." in plainly(app)
    app.slider(key="depth").set_value(7).run()
    assert f"7 {chain}… ← “was” (3)." in plainly(app)
    assert {card["name"]: card["lines"][2] for card in cards(app)}["window"] == "7 layers reach 14 tokens back"


def test_blocks_and_spans_that_make_no_difference_are_said():
    app = opened(mask="window", span=40)
    assert "span 40 (same as 18, the number of tokens)" in prose(app)
    assert "Longer than the sequence: acts as 18." in prose(app)
    saved = {card["name"]: card["lines"][1] for card in cards(app)}
    assert not any(saved.values()), "up to 128 tokens are one block"
    assert "up to 128 tokens are one block" in prose(app)
    app = opened(mask="window", span=40, tokens=200)
    assert "the 39 words before it" in prose(app) and "Longer than" not in prose(app)
    assert {card["name"]: card["lines"][1] for card in cards(app)}["window"] == "saves 82.0% in theory, 25.0% in blocks"


def test_a_question_hides_the_picture_until_it_is_opened():
    app = opened(predict="mask", mask="strided", span=5)
    assert cards(app) is None and not app.get("plotly_chart")
    (guess,) = [each for each in app.button_group if each.label == "Your guess"]
    assert "8" in guess.options
    reveal(app)
    assert "Query 17 attends to keys 2, 7, 12 to 17." in " ".join(
        each.value for each in [*app.info, *app.success, *app.error]
    )
    assert len(cards(app)) == len(MASKS)


def test_a_question_about_a_row_hides_all_heads():
    app = opened("heads", predict="row")
    drawn = [each.proto.component_name for each in app.get("bidi_component")]
    assert sorted(drawn) == ["attention-lab.copy_link", "attention-lab.large_head"], "the map without weights"
    assert not app.get("plotly_chart") and not app.get("vega_lite_chart") and not app.dataframe
    reveal(app)
    app.session_state["selected row"] = True
    app.run()
    weights = trace(Config()).weights[0, 17]
    assert weights[17] > 0.999 * weights.max()  # the word of the query also stands at 7
    assert "**“boat” (17).** It gets 43.0% (nearly as much: “boat” (7));" in " ".join(
        each.value for each in [*app.info, *app.success, *app.error]
    )
    names = [each.proto.component_name.removeprefix("attention-lab.") for each in app.get("bidi_component")]
    assert {"heads_grid", "word_lines"} <= {*names}


def test_a_row_that_sees_nothing_is_a_question_too():
    app = opened("heads", predict="row", mask="padding", span=40)
    (guess,) = [each for each in app.button_group if each.label == "Your guess"]
    assert guess.options == ["zeros", "all equal", "NaN"]


def test_groupings_say_which_queries_they_are_about():
    app = opened("heads", grouping="show", mask="causal", combine="without", second="window")
    assert "4 of 18 queries have no visible key: their weights and outputs are zero under every grouping" in prose(app)


def test_every_grouping_is_compared_and_one_is_chosen():
    app = opened("heads", grouping="show", sharing="drawn")
    frame = next(each.value for each in app.dataframe if "kv_heads" in each.value)
    assert list(frame["kv_heads"]) == [8, 4, 2, 1]
    assert list(frame["bfloat16"]) == [2 * kv * 64 * 18 * 2 for kv in (8, 4, 2, 1)]
    assert "fully masked" not in prose(app)
    app.button(key="kv 2").click().run()
    config = app.session_state.session.here.setting
    assert (config.kv_heads, config.sharing) == (2, "averaged")
    assert not app.exception


def test_one_head_has_nobody_to_share_with():
    assert "multi-head and multi-query attention are the same" in prose(
        opened("heads", grouping="show", heads=1, d_model=16)
    )


@pytest.mark.parametrize(
    ("query", "offered"),
    [
        ({}, True),
        ({"source": "recorded:minilm-river"}, False),
        ({"source": "recorded:minilm-river", "grouping": "show"}, True),
    ],
)
def test_groupings_are_offered_if_there_is_something_to_compare_or_a_link_asks_for_them(query, offered):
    assert (grouping_text.FOLD in [fold.label for fold in opened("heads", **query).expander]) == offered


def test_a_picture_travels_as_a_byte_a_pair():
    config = Config(tokens=5, mask="documents", span=2)
    sent = decode_message(payload(config, gallery(5, 2, 1)))
    picture = sent["cells"][25 * list(MASKS).index("documents") :][:25]
    rows = ["".join(".x"[picture[5 * q + k] == 255] for k in range(5)) for q in range(5)]
    assert rows == ["xx...", "xx...", "..xx.", "..xx.", "....x"]
    assert len(sent["cells"]) == 25 * len(MASKS)


def test_a_share_is_0_or_100_only_where_it_is():
    said = [format_percent(part) for part in (0.0, 1e-5, 0.5, 0.99999, 1.0)]
    assert said == ["0%", "under 0.1%", "50.0%", "over 99.9%", "100%"]
    assert tables.ranges([0, 1, 2, 5, 7, 8]) == "0 to 2, 5, 7 to 8"
    assert tables.ranges([]) == ""
    assert tables.ranges([0, 1, 5, 7], 2) == "0 to 1, 5 and 1 more ranges"


def test_a_difference_is_centred_and_an_empty_square_keeps_its_size():
    config = Config(mask="window", tokens=6, heads=2, d_model=8)
    one, other = trace(config), trace(Config(mask="padding", span=9, tokens=6, heads=2, d_model=8))
    square: Any = heatmap_differences.difference(difference(one, other, 0), 1, []).data[0]
    assert (square.zmin, square.zmax) == (-1, 1)
    empty = heatmap.weights(*tables.focus(other, 256)[:2], "linear", [])
    assert tuple(empty.layout.xaxis.range) == (-0.5, 5.5) and tuple(empty.layout.yaxis.range) == (5.5, -0.5)


@pytest.mark.parametrize("spec", [shares.by_head(3, 1, "share"), shares.by_grouping((4, 2, 1), 2)])
def test_charts_bring_no_data_of_their_own(spec):
    assert '"data"' not in json.dumps(spec)
    assert '"domain": [0, 1]' in json.dumps(spec)


@pytest.mark.parametrize("heads", [1, 2, 8, 16, 40])
def test_names_at_the_ends_of_lines_are_apart_and_near_them(heads):
    ends = [0.4 + 0.02 * (head % 5) for head in range(heads)]
    heights = shares.name_heights(ends)
    named = sorted(height for height in heights if height is not None)
    assert all(after - before > 0.06 for before, after in pairwise(named)) and 0 <= named[0] <= named[-1] <= 1
    assert all(height is not None for height in heights) == (heads <= 16)
    assert max(heights, key=lambda height: height or 0.0) == heights[ends.index(max(ends))]


def test_names_of_lines_that_end_close_together_are_spread_up_and_down():
    """None is pushed far below its end, and a name with room is at its end."""
    ends = [0.53, 0.44, 0.385, 0.43, 0.61, 0.51, 0.01, 0.385]
    heights = [height or 0.0 for height in shares.name_heights(ends)]
    assert heights[6] == pytest.approx(0.01)
    assert max(abs(height - end) for height, end in zip(heights, ends, strict=True)) < 0.11


def _typed_knobs(knobs):
    return {name: type(getattr(Config(), name))(value) for name, value in knobs.items()}


def sentences(app, key):
    """What the picture of a head over the sentence was sent, None where it is not drawn."""
    found = [e.proto for e in app.get("bidi_component") if e.proto.component_name.endswith("sentence_head")]
    return next((decode_message(each.bytes) for each in found if key in each.id), None)


@pytest.mark.parametrize(
    ("knobs", "says"),
    [
        ({"mask": "full"}, "The **full** mask hides no word, so no weight moves."),
        (
            {"mask": "window", "query": 9},
            "the framed “the” loses 14 of 18 words; their **60.5%** of weight moves to the other 4",
        ),
        ({"mask": "window"}, "the framed “the” loses 14 of 18 words"),
        ({"mask": "padding", "head": 1}, "From “the” (9) the mask takes under 0.1%, so another word is selected."),
        ({"mask": "documents", "query": 0}, "“The” can't see other groups of words, treated as other texts; their"),
        ({"mask": "padding", "query": 6}, "can't see the last 4 words, treated as filler"),
        ({"mask": "padding", "span": 30}, "sees no word: all its weights are zero"),
        (
            {"mask": "prefix", "baseline": "causal", "span": 6, "query": 2},
            "sees 3 words more than under causal, with **",
        ),
        ({"mask": "causal", "query": 0}, "of its weight moves to itself."),
        ({"mask": "window", "softmax": "sigmoid", "query": 9}, "(as a sum)** of its weight was on the others."),
        (
            {"mask": "causal", "combine": "and", "second": "full"},
            "under the **causal and full** mask, the framed “the” loses 8 of 18 words",
        ),
    ],
)
def test_the_finding_says_what_the_mask_moves(knobs, says):
    app = opened(**knobs)
    assert says.lower() in plainly(app).lower() and not app.exception


def test_the_picture_has_the_row_before_and_with_the_mask():
    app, config = opened(mask="window", query=9), Config(mask="window", query=9)
    sent = sentences(app, "mask row")
    assert (sent["masks"], sent["query"], sent["heads"]) == (["full", "window"], 9, 2)
    codes = torch.frombuffer(bytearray(sent["cells"][: 4 * 18 * 18]), dtype=torch.uint16).view(2, 18, 18)
    found = cell_weights(codes).nan_to_num()
    for each, mask in zip(found, ("window", "full"), strict=True):
        torch.testing.assert_close(each, trace(replace(config, mask=mask)).weights[0], atol=1e-3, rtol=1e-3)
    assert sentences(opened(tokens=300), "mask row") is None, "there is no room for 300 words"


def test_a_mask_without_effect_offers_one_with():
    app = opened(mask="full")
    app.button(key="try causal").click().run()
    assert app.session_state.session.here.setting.mask == "causal" and "goes to itself and earlier words" in prose(app)
    encoder = opened(source="recorded:minilm-river")
    assert "so no weight moves. It is this source's own mask" in prose(encoder)
    encoder.button(key="try causal").click().run()
    assert "The picture shows what another mask does to their weights" in prose(encoder)


def test_the_page_says_what_the_mask_is_for():
    told = prose(opened(mask="window", span=4))
    assert "The **window** mask shows a word and the 3 words before it: less work in long texts." in told
    assert "It keeps 66 of 324 pairs" in told
    joined = prose(opened(mask="causal", combine="without", second="window"))
    assert "can't copy" not in joined, "a combination has no reason of its own"


def test_a_question_about_the_mask_leaves_the_picture_from_before_it():
    app = opened(predict="mask")
    assert sentences(app, "mask map")["query"] == 17, "the query of the question is framed"
    assert "Before the mask: every word is visible" in prose(app) and "40.1%" not in plainly(app)
    codes = torch.frombuffer(bytearray(sentences(app, "mask map")["cells"][: 2 * 18 * 18]), dtype=torch.uint16)
    expected = trace(Config(mask="full")).weights[0]
    torch.testing.assert_close(cell_weights(codes.view(18, 18)).nan_to_num(), expected, atol=1e-3, rtol=1e-3)
