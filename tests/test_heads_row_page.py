"""The row in focus on the Heads page, in each of its ways, and the large head in its fold."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from attention.charts import row as bars
from attention.codec import to_query
from attention.components.word_lines import MOST
from attention.config import Config
from attention.knobs import DEFAULTS, KNOBS
from attention.number_format import format_percent
from attention.operations.qk_norm import ON
from attention.tables import rows as tables
from attention.trace import trace
from attention.ui import results
from attention.ui.text.questions import EVEN
from attention.ui.views import head_statistics, heads_parts, heads_row
from attention.ui.views.row_question import fair, question
from attention.wire.cells import weights
from tests.strategies import query_without_edition
from tests.test_pages import ROOT, run

HEADS = ROOT / "pages" / "heads.py"
WAYS = KNOBS["row_as"].choices
ROOT_SCALE = DEFAULTS["scale"]
DRAWN = {
    "auto": ["word_lines"],
    "lines": ["word_lines"],
    "all lines": ["word_lines"],
    "output": ["row_output"],
    "bars": [],
}


def page_with_row(query: dict[str, str]) -> AppTest:
    """The page with the fold of the selected row open."""
    test = run(HEADS, query)
    test.session_state[heads_row.FOLD] = True
    return test.run()


def components(test: AppTest) -> list[str]:
    """Those of the row, in their order."""
    names = [each.proto.component_name.removeprefix("attention-lab.") for each in test.get("bidi_component")]
    return [name for name in names if name in ("word_lines", "row_output")]


def charts(test: AppTest) -> tuple[int, int]:
    """Bars, and large heads."""
    return len(test.get("vega_lite_chart")), len(test.get("plotly_chart"))


def test_every_way_is_drawn_by_a_function():
    assert {"auto", *heads_row.WAYS} == set(WAYS)
    assert f"up to {heads_row.FEW} tokens" in KNOBS["row_as"].help


@pytest.mark.parametrize("way", WAYS)
def test_each_way_draws_the_row_once(way):
    assert (components(run(HEADS, {"row_as": way})) == []) == (way in ("auto", "bars")), "a link opens the fold"
    test = page_with_row({"row_as": way})
    assert not test.exception and not test.warning
    assert components(test) == DRAWN[way]
    assert charts(test) == (int(way == "bars"), 0)


@pytest.mark.parametrize(("tokens", "lines"), [(heads_row.FEW, True), (heads_row.FEW + 1, False)])
def test_it_is_lines_by_itself_as_long_as_they_are_seen_at_a_glance(tokens, lines):
    test = page_with_row({"tokens": f"{tokens}"})
    assert components(test) == (DRAWN["auto"] if lines else [])
    assert charts(test) == (int(not lines), 0)


def test_the_way_goes_into_the_link_and_stays_when_the_focus_moves():
    test = page_with_row({})
    test.segmented_control(key="row_as").set_value("output").run()
    assert components(test) == ["row_output"] and query_without_edition(test.query_params) == {"row_as": "output"}
    test.number_input(key="query").set_value(3).run()
    assert components(test) == ["row_output"] and query_without_edition(test.query_params).keys() == {"row_as", "query"}


@pytest.mark.parametrize("way", ["lines", "all lines"])
def test_too_many_words_have_two_ways_on(way):
    link = {"tokens": f"{MOST + 100}", "heads": "2", "row_as": way, "query": "350"}
    test = run(HEADS, link)
    assert components(test) == [] and f"at most {MOST} words" in "".join(text.value for text in test.markdown)
    test.button(key="near").click().run()
    assert components(test) == ["word_lines"]
    assert test.query_params["rows"] == test.query_params["cols"] == "100-399"
    test.button(key="whole").click().run()
    test.button(key="as bars").click().run()
    assert components(test) == [] and charts(test)[0] == 1


@pytest.mark.parametrize(("at", "words"), [(0, "0-299"), (500, "350-649"), (1023, "724-1023")])
def test_the_words_around_a_query_are_as_many_as_have_lines(at, words):
    assert heads_row._around(at, 1024) == words


def test_a_source_without_values_shows_lines_and_says_what_the_output_lacks(monkeypatch):
    monkeypatch.setattr("attention.ui.empty_states.has", lambda source: {"q", "k"} if source == "generated" else {"v"})
    assert components(page_with_row({})) == ["word_lines"]
    test = run(HEADS, {"row_as": "output"})
    assert components(test) == []
    assert any("This needs values" in text.value for text in test.markdown)


def test_a_row_that_sees_nothing_is_shown_in_every_way():
    for way in WAYS:
        test = page_with_row({"mask": "padding", "span": "18", "row_as": way})
        assert not test.exception and components(test) == DRAWN[way], way


@pytest.mark.parametrize(
    ("link", "large"),
    [({}, 0), ({"rows": "3-9", "cols": "2-8"}, 1), ({"tokens": "192"}, 0), ({"tokens": "193"}, 1)],
)
def test_the_head_is_large_where_the_grid_does_not_show_as_much(link, large):
    assert charts(run(HEADS, link))[1] == large


def test_zooming_is_offered_where_it_shows_more_than_the_grid():
    for link, offered in (({"tokens": "18"}, False), ({"tokens": "18", "rows": "3-9"}, True), ({"tokens": "60"}, True)):
        folds = [fold.label for fold in run(HEADS, link).expander]
        assert ("Zoom into this head" in folds) == offered and "PyTorch code" in folds


def test_the_axis_of_the_bars_is_in_percent_if_rows_are_distributions():
    specs = [bars.weights((), 18, scale, 18, shares) for scale, shares in (("linear", True), ("linear", False))]
    assert ['".3~%"' in json.dumps(spec) for spec in specs] == [True, False]


def test_zooming_out_leads_back_to_the_whole_head():
    test = run(HEADS, {"tokens": "60", "rows": "30-35", "cols": "20-25"})
    assert any("Queries 30 to 35, keys 20 to 25" in caption.value for caption in test.caption)
    test.button(key="zoom out").click().run()
    assert test.query_params["rows"] == "21-44"
    test.button(key="whole").click().run()
    assert query_without_edition(test.query_params).keys() == {"tokens"}


def test_a_head_without_a_role_is_called_random_where_it_was_made_so():
    roles = results.heads.roles(Config())
    assert heads_parts.names(Config(), roles)[6:] == ["uniform", "random"]
    assert heads_parts.names(Config(projections="independent"), [None] * 8) == [""] * 8
    said = "\n".join(text.value for text in run(HEADS, {"head": "7"}).markdown)
    assert "**Head 7** is random: “boat” (17) puts 21.5% of its weight on “bank” (2)." in said.replace("\\", "")


def test_a_row_that_looks_everywhere_is_said_to_look_at_nothing_in_particular():
    found = tables.row(trace(Config(head=6)))
    assert tables.puts(found, "word") == "gives each of the 18 visible words about 5.6% of its weight"
    found = tables.row(trace(Config(head=7)))
    assert tables.mostly(found, "word").startswith("spreads its weight: 11 of 18 visible words have 90")
    assert tables.mostly(tables.row(trace(Config())), "word").startswith(
        "attends mostly to 2 of 18 visible words (86"
    ), "two keys have most of it, the next a twelfth of theirs"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"softmax": "sink", "sink_logit": "2.0", "head": "6"}, "Sink: 70.8% (logit 3.770)."),
        ({"softmax": "plus one", "head": "6"}, "1 in the denominator: 5.3%."),
        ({"softmax": "sink", "head": "1"}, "Sink: under 0.1% (logit "),
    ],
)
def test_a_row_says_what_no_key_gets(query, said):
    config = Config(**{name: type(DEFAULTS[name])(value) for name, value in query.items()})
    assert said in heads_row._row_sentence(config, tables.row(trace(config))).replace("\\", "")


def test_the_question_about_a_row_has_one_answer():
    """The page says what the first head does, so the next one is asked about; a row is asked about that has one answer."""
    test = run(HEADS, {})
    test.button(key="ask row").click().run()
    assert query_without_edition(test.query_params) == {"predict": "row", "head": "1"} and not test.exception
    for head in range(8):
        found = trace(Config(head=head))
        asked = question(replace(found, config=Config(head=head, query=fair(found))))
        assert not asked.also and (asked.answer == EVEN) == (head == 6)
    assert fair(trace(Config(head=1, query=4))) == 4, "one that is fair is kept"


def test_a_head_without_a_role_is_introduced_by_its_row_and_hand_built_heads_by_their_rules():
    def words(**query: str) -> str:
        return "\n".join(each.value for each in run(HEADS, {"v": "3"} | query).markdown).replace("\\", "")

    learned = words(source="recorded:minilm-river", head="4", query="5")
    assert (
        "**12 heads of layer 0 of MiniLM.** In **head 4**, “bank” (5) puts 70.7% of its weight on “river” (8). "
        "“bank” (5) has its largest weight there in 2 of the 12 heads." in learned
    )
    assert "**Head 0** attends to the same word" in words()
    weak = words(source="recorded:minilm-river", head="4", query="1")
    assert "In **head 4**, “he” (1) spreads its weight: " in weak, "no key stands out"


def test_the_sentence_about_the_row_is_only_in_its_fold_and_not_above_lines_which_have_their_own():
    pages = [run(HEADS, {}), *(page_with_row({"row_as": way}) for way in ("auto", "all lines", "bars", "output"))]
    said = [sum("the other 16 visible words share " in each.value for each in test.markdown) for test in pages]
    assert said == [0, 0, 0, 1, 1]


def test_a_head_trained_on_a_task_is_said_to_attend_to_the_token_that_comes_next():
    config = Config.of("trained:sort", head=1)
    found = trace(config)
    texts, counted = found.texts, range(config.tokens // 2, config.tokens)
    answer = [*sorted(texts[: config.tokens // 2], key=int)]
    largest = found.weights[config.head].argmax(-1).tolist()
    right = sum(texts[largest[query]] == number for query, number in zip(counted, answer, strict=True))
    said = heads_parts.finding(config, results.heads.roles(config), tables.row(found))
    assert said.endswith(f" From → on, {right} of {len(answer)} rows attend most to the number that comes next.")


def test_the_sidebar_leads_from_a_source_with_its_own_sizes_back_to_any():
    test = run(HEADS, {"v": "3", "source": "recorded:minilm-river", "head": "4", "query": "5"})
    test.button(key="any size").click().run()
    assert not test.exception and [test.slider(key="heads").value, test.slider(key="heads").disabled] == [8, False]


def test_keys_that_get_as_much_as_a_named_one_are_counted_and_not_among_the_others():
    row = tables.row(trace(Config(tokens=78, projections="constructed")))
    said, weights = tables.puts(row, "word"), row.keys["weight"]
    equal = [weight for weight in weights if round(weight, 3) == round(max(weights), 3)]
    assert len(equal) == 5 and said.count("15.2%") == 3
    rest = 100 * (sum(weights) - sum(equal))
    assert said.endswith(f" and as much on 2 more; the other 73 visible words share {rest:.1f}%")
    assert tables.puts(tables.row(trace(Config(projections="constructed"))), "word", True).count("43.0%") == 2


def test_a_row_of_which_one_key_has_most_is_not_said_to_be_spread():
    text = "My dog chased the cat because the cat stole my fish."
    found = tables.row(trace(Config(text=text, tokens=11)))
    assert found.holding > found.seeing / 2 and found.greatest > 0.5
    assert tables.puts(found, "word").startswith("puts 66.7% of its weight on “fish” (10), ")
    assert "spreads" not in tables.mostly(found, "word")


def test_a_weight_that_stands_out_of_a_wide_row_is_named():
    found = tables.row(trace(Config.of("recorded:minilm-river", head=4, query=2)))
    assert tables.puts(found, "token", largest=True) == "puts 36.2% of its weight on “[CLS]” (0)"
    assert tables.mostly(found, "token").startswith("needs 7 of 11 visible tokens for 9")


def test_the_intro_explains_the_causal_mask_and_no_other():
    for mask, is_said in (("causal", True), ("full", False)):
        said = heads_parts.how_to_read(Config(mask=mask), [None] * 8)
        assert ("up to itself (column, key; the causal mask hides later ones)" in said) == is_said


def test_random_heads_among_hand_built_ones_are_named_above_the_map():
    for heads, said in ((4, "by hand. "), (8, "; head 7 is random. "), (24, "; heads 7, 15 and 23 are random. ")):
        config = Config(heads=heads, d_model=480 if heads == 24 else 512)
        assert said in heads_parts.how_to_read(config, results.heads.roles(config))
    roles = results.heads.roles(Config())
    assert heads_parts.how_to_read(Config(), roles) == heads_parts.how_to_read(Config(head=7), roles), "the map stays"


@pytest.mark.parametrize("changed", [{"qk_norm": ON}, {"softmax": "sigmoid"}, {"d_model": 8}], ids=str)
def test_what_an_unusual_scale_does_is_said_only_if_it_changes_a_softmax_of_dot_products(changed):
    for scale in ("none", "1/d_head"):
        assert heads_parts.unscaled(Config(scale=scale)) and not heads_parts.unscaled(Config(scale=scale, **changed))


SCALED = [*({"d_model": width} for width in (16, 32, 512)), {"source": "recorded:minilm-river"}, {"mask": "causal"}]


@pytest.mark.parametrize("scale", ["none", "1/d_head"])
@pytest.mark.parametrize("changed", SCALED, ids=str)
def test_what_an_unusual_scale_does_agrees_with_the_weights_of_every_head(changed, scale):
    config = Config.of(changed["source"]) if "source" in changed else Config(**changed)
    here, usual = (
        trace(replace(config, scale=each)).weights.amax(-1).mean(-1).tolist() for each in (scale, ROOT_SCALE)
    )
    for head, (now, before) in enumerate(zip(here, usual, strict=True)):
        said = heads_parts.unscaled(replace(config, scale=scale, head=head))
        shares = [format_percent(now), format_percent(before)]
        before_too = f"; with 1/√d, {shares[1]}." if len({*shares}) == 2 else ", the same as with 1/√d."
        assert f"the largest weight of a row of **head {head}** is {shares[0]} on average{before_too}" in said
        assert ("saturates" in said) == (now >= 0.9 > before)


def test_a_scale_is_compared_only_if_that_is_cheap():
    said = heads_parts.unscaled(Config(scale="none", tokens=512, head=7))
    assert "largest weight of a row of **head 7** is " in said and "1/√d" not in said


def test_without_the_division_a_button_shows_a_random_head():
    test = run(HEADS, {"scale": "none"})
    said = "the largest weight of a row of **head 0** is 76.6% on average; with 1/√d, 72.2%. Random head 7: 90.9% and 41.8%."
    assert any(said in each.value for each in test.caption)
    test.button(key="random head").click().run()
    assert test.query_params["head"] == "7" and "random head" not in [button.key for button in test.button]


def test_the_finding_of_a_random_head_has_the_weight_that_scaling_changes():
    for scale, weight in (("none", "94.8%"), ("1/sqrt(d_head)", "21.5%")):
        config = Config(scale=scale, head=7)
        said = heads_parts.finding(config, results.heads.roles(config), tables.row(trace(config)))
        assert said.replace("\\", "").endswith(f"is random: “boat” (17) puts {weight} of its weight on “bank” (2).")


def test_a_mean_that_is_rounded_to_all_of_the_weight_is_not_said_to_be_all_of_it():
    for softmax, share in (("standard", "over 99.9%"), ("sparsemax", "100%")):
        assert f"{share} of its weight" in results.heads.roles(Config(scale="none", softmax=softmax))[0].says


def test_a_statistic_that_is_not_all_of_the_weight_is_not_written_as_all_of_it():
    table = {"head": [0, 1], "greatest": [99.97, 100.0], "entropy": [0.00123, None]}
    for softmax, many in (("standard", 2), ("sparsemax", 1)):
        written = head_statistics.with_formats(table, Config(softmax=softmax)).to_html()
        assert written.count("over 99.9%") == many and ">0.001<" in written and "nan" not in written


def test_only_a_head_whose_own_pixels_are_all_large_is_said_to_hide_its_pattern():
    """Every head is judged by its own map, also right after another one; fewer pixels than tokens are named on all."""
    config = Config(tokens=1024, colors="linear")
    hidden = [results.heads.is_pattern_hidden(replace(config, head=head)) for head in range(config.heads)]
    assert hidden == [True, *[False] * 7]
    roles = [None] * config.heads
    assert "twice the uniform weight" in heads_parts.how_to_read(config, roles)
    assert "A pixel shows its largest weight. " in heads_parts.how_to_read(replace(config, head=5), roles)
    assert "pixel" not in heads_parts.how_to_read(Config(), roles)


def test_pixels_are_means_on_a_logarithmic_scale():
    """The picture, the text above it and the message to the browser agree."""
    config = Config(tokens=1024)
    cells, found = results.heads.shown_cells(config), results.heads.trace(config)
    tile = results.heads.tokens_per_pixel(config)
    assert (cells.pool, cells.tile, tile) == ("mean", 6, 6) and not results.heads.is_pattern_hidden(config)
    pixels = weights(cells.codes)
    for row, column in ((0, 0), (100, 40), (170, 0), (170, 170)):  # the last tiles are not full
        tokens = found.weights[0, row * tile : (row + 1) * tile, column * tile : (column + 1) * tile]
        assert float(pixels[0, row, column]) == pytest.approx(float(tokens.mean()), rel=1e-3)
    assert "A pixel shows the mean of up to 6 x 6 weights" in heads_parts.how_to_read(config, [None] * config.heads)
    for other in (replace(config, colors="linear"), Config(tokens=150)):
        assert results.heads.shown_cells(other).pool == "max"


def test_the_rule_of_an_unusual_mask_is_said_above_the_map():
    """Not that of a source with a mask of its own, nor that of the usual ones."""
    for config, said in (
        (Config(mask="window"), "**Mask window:** A query attends to itself and the tokens just before it. "),
        (
            Config(mask="causal", combine="and", second="documents"),
            "**Mask causal and documents:** A pair is kept if both",
        ),
        (Config(), ""),
        (Config(mask="full"), ""),
    ):
        assert heads_parts.mask_rule(config).startswith(said) and bool(heads_parts.mask_rule(config)) == bool(said)
        assert said in heads_parts.how_to_read(config, [None] * config.heads)
        assert any(said.rstrip() in each.value for each in run(HEADS, to_query(config)).caption)


def test_of_keys_that_get_as_much_the_first_are_named():
    """As in the panel beside the map, which names the first one."""
    row = tables.row(trace(Config(tokens=110)))
    most = max(row.keys["weight"])
    first = [at for at, weight in enumerate(row.keys["weight"]) if round(weight, 3) == round(most, 3)][:3]
    assert re.findall(r"“river” \((\d+)\)", tables.puts(row, "word")) == [str(at) for at in first] and first[0] == 1


def test_every_hand_built_head_has_a_short_name_in_brackets_if_its_weights_do_not_show_it():
    config = Config(heads=32)
    roles = results.heads.roles(config)
    short, names = heads_parts.short_names(config, roles), heads_parts.names(config, roles)
    assert short[:8] == ["same", "prev", "first", "3 back", "near", "(self+)", "even", "rand"] and all(short)
    assert [name.startswith("(") for name in short] == [name.startswith("(") for name in names]
    assert max(map(len, short)) <= 9


def test_folds_that_few_need_come_last():
    assert [fold.label for fold in run(HEADS, {}).main.expander][:5] == [
        "Selected row: lines, bars or output",
        "Head statistics",
        "PyTorch code",
        "Compare MHA, GQA and MQA",
        "Downloads",
    ]
