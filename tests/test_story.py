"""The head that the Start page tells about: each claim of the page, and the page as a visitor sees it."""

from __future__ import annotations

import asyncio
import math
from urllib.parse import urlsplit

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention import Config, trace
from attention.codec import from_query
from attention.masks import MASKS
from attention.number_format import format_change, format_percent
from attention.operations.scale import SCALES
from attention.recorded.minilm import load_minilm, make_tokenizer
from attention.recorded.packages import MINILM, folder
from attention.recorded.shipped import recording
from attention.serving.asgi import Message, Receive, Scope, Send, send_response
from attention.serving.moved_links import START, MovedLinks
from attention.story import head
from attention.story.head import (
    HEAD,
    LAYER,
    LONGEST,
    RIDDLE,
    SENTENCES,
    Move,
    Vectors,
    heads_that_find,
    moves,
    moves_within,
    output_projection,
    read_vectors,
    riddle_shares,
    strongest_pair,
    vectors,
)
from attention.story.settings import ENTRY, STORIES, TOKENS, Story
from attention.ui.text import start as text
from attention.ui.views import start, start_combine, start_scores
from tests.test_pages import ROOT, SECONDS
from tests.test_softmax_page import tables


def row(**settings: object) -> torch.Tensor:
    config = Story(**settings).config
    return trace(config).weights[HEAD, config.query_index]


@pytest.mark.parametrize(("sentence", "word", "share"), [("river", "river", 0.707), ("account", "account", 0.664)])
def test_the_word_gives_most_of_its_weight_where_the_reader_expects_it(sentence, word, share):
    found = row(sentence=sentence)
    assert SENTENCES[sentence].tokens[found.argmax()] == word == SENTENCES[sentence].expected
    assert found.max().item() == pytest.approx(share, abs=5e-4)


def test_one_head_of_72_finds_both():
    assert heads_that_find() == (1, {"river": 3, "account": 2}, 72)


def test_temperature_evens_a_row_out():
    assert row(temperature=0.5).max() > 0.9 > row().max() > 0.25 > row(temperature=4.0).max()


def test_the_head_moves_the_word_towards_what_it_attends_to_and_six_layers_finish():
    for sentence, near in (("river", {"river"}), ("account", {"account", "deposit"})):
        found = moves(sentence, SENTENCES[sentence].word, row(sentence=sentence))
        assert {move.word for move in found if move.head > move.before} == near
        ordered = sorted(found, key=lambda move: -move.layers)
        assert ordered[0].sentence == sentence, "after all layers the nearest word is of the same sentence"
    assert {move.word: round(move.layers, 2) for move in moves("river", 5, row())} == {
        "river": 0.6,
        "sat": 0.14,
        "account": 0.45,
        "deposit": 0.45,
        "money": 0.47,
    }


def test_a_move_is_the_cosine_after_the_output_of_the_head_is_added():
    here, weights = vectors("river"), row()
    written = output_projection().double() @ (weights.double() @ here.values.double())
    one, other = here.read[5].double() + written, here.read[8].double()
    expected = (one @ other / (one.norm() * other.norm())).item()
    assert moves("river", 5, weights)[0].head == pytest.approx(expected, abs=1e-5)


def test_a_word_is_not_compared_with_itself():
    assert [move.word for move in moves("river", 8, row(query=8))] == ["sat", "account", "deposit", "money"]


@pytest.mark.extended
def test_a_word_of_ones_own_sentence_is_compared_with_longer_words_of_it_by_the_vectors_that_minilm_computes():
    assert folder(MINILM.module), "make models"
    sentence = SENTENCES["account"]
    ids = torch.tensor([make_tokenizer().encode(sentence.text).ids])
    here, weights = read_vectors(load_minilm(), ids), row(sentence="account")
    for name, part in here._asdict().items():
        assert torch.allclose(part, getattr(vectors("account"), name), atol=5e-3), name
    found = moves_within(here, sentence.word, weights, sentence.tokens)
    assert [move.word for move in found] == ["opened", "account", "town", "deposit"]
    recorded = {move.word: move for move in moves("account", sentence.word, weights)}
    for move in (found[1], found[3]):
        assert move.head == pytest.approx(recorded[move.word].head, abs=2e-3)
        assert move.layers == pytest.approx(recorded[move.word].layers, abs=2e-3)


def test_words_are_compared_once_and_a_token_never_with_its_own_word():
    tokens = ["[CLS]", "a", "rose", "is", "a", "rose", ".", "[SEP]"]
    here = Vectors(
        *(torch.randn(len(tokens), size, generator=torch.Generator().manual_seed(1)) for size in (384, 32, 384))
    )
    weights = torch.linspace(0.1, 0.2, len(tokens))
    assert [move.word for move in moves_within(here, 3, weights, tokens)] == ["a", "rose"]
    assert [move.word for move in moves_within(here, 5, weights, tokens)] == ["is", "a"]
    assert moves_within(here, 1, weights, tokens[:2] + tokens[6:]) == []
    river = moves_within(vectors("river"), 8, row(query=8), SENTENCES["river"].tokens)
    assert [move.word for move in river] == ["sat", "bank", "the"], "the two largest weights, and “sat”, not “of”"
    assert [move.name for move in moves_within(here, 3, weights, tokens)] == ["“a” (4)", "“rose” (5)"], (
        "it is there twice"
    )


def test_the_head_of_the_riddle_does_not_find_what_was_too_wide():
    shares = {}
    for name in text.RIDDLES.keys() | RIDDLE.keys():
        tokens = recording(RIDDLE[name]).tokens
        weights = trace(Config.of(f"recorded:{RIDDLE[name]}", layer=3)).weights
        shares[name] = {
            word: weights[1, tokens.index("it"), tokens.index(word)].item() for word in ("animal", "street", "[CLS]")
        }
    tired, wide = shares["tired"], shares["wide"]
    assert {f"{name}_{word}": share for name in shares for word, share in shares[name].items()} == riddle_shares()
    assert tired["animal"] > 0.6 and wide["animal"] > 2 * wide["street"], "it does not find what was too wide"
    assert max(tired, key=tired.__getitem__) == "animal" and max(wide, key=wide.__getitem__) == "[CLS]"


def test_the_first_pair_of_words_is_the_largest_weight_of_a_whole_word_on_a_different_one():
    tokens = ("[CLS]", "dog", "xylo", "·phone", ".", "see", "dog", "cat", "[SEP]")
    weights = torch.full((9, 9), 0.01)
    others = {
        (1, 0): 0.9,
        (6, 1): 0.8,
        (2, 7): 0.7,
        (3, 7): 0.7,
        (5, 4): 0.6,
    }  # a mark, the same word, parts of one, a stop
    for (query, key), weight in others.items() | {((7, 6), 0.5)}:
        weights[query, key] = weight
    assert strongest_pair(weights, tokens) == (7, 6)
    assert strongest_pair(weights[:3, :3], tokens[:3]) == (1, 2)
    assert strongest_pair(weights[:2, :2], tokens[:2]) is None
    cut = ("[CLS]", "it", "didn", "'", "t", "bark", "[SEP]")
    weights = torch.full((7, 7), 0.01)
    for query, key, weight in ((4, 5, 0.9), (2, 5, 0.8), (5, 1, 0.5)):
        weights[query, key] = weight
    assert strongest_pair(weights, cut) == (5, 1), "not a part of “didn't”"


def test_the_longest_sentence_is_the_range_of_the_selected_token():
    assert max(len(sentence.tokens) for sentence in SENTENCES.values()) == LONGEST
    last = Story(sentence="river", query=LONGEST - 1).config
    assert last.query_index == len(SENTENCES["river"].tokens) - 1


@pytest.mark.extended
@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_vectors_are_those_of_the_model(sentence):
    assert folder(MINILM.module), "make models"
    model, there = load_minilm(torch.float64), vectors(sentence)
    states = model.hidden_states(torch.tensor([make_tokenizer().encode(SENTENCES[sentence].text).ids]))
    values = model.layers[LAYER].attention.self.split("value", states[LAYER])[0, HEAD]
    assert torch.allclose(there.read.double(), states[LAYER][0], atol=2e-3)
    assert torch.allclose(there.after.double(), states[-1][0], atol=2e-3)
    assert torch.allclose(there.values.double(), values, atol=2e-3)


def test_a_link_has_all_settings_in_one_entry():
    story = Story(sentence="account", query=3, step="take over", mask="causal", scale="1/d_head", temperature=0.5)
    query = STORIES.to_query(story)
    assert query.keys() == {ENTRY} == {START} and STORIES.from_query(query) == (story, [])
    assert STORIES.to_query(Story()) == {} and STORIES.from_query({}) == (Story(), [])


@pytest.mark.parametrize(
    "packed", ["", "~", "sentence", "sentence.moon~step.weigh", "temperature.hot", "\x00~🙂.1", "a" * 9000]
)
def test_any_link_opens_something_and_says_what_it_could_not_use(packed):
    story, notes = STORIES.from_query({ENTRY: packed})
    assert isinstance(story, Story) and bool(notes) == bool(packed.strip("~"))
    assert story.step == ("weigh" if "weigh" in packed else "look")


def visit(query: dict[str, str] | None = None) -> AppTest:
    test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS)
    test.query_params.update(query or {})
    return test.run()


def words(test: AppTest) -> str:
    return "\n".join(each.value for each in [*test.markdown, *test.caption]).replace("\\", "")


def test_the_finding_is_true_of_what_is_shown():
    test = visit()
    assert not test.exception and "“bank” puts **70.7%** of its weight on “river”." in words(test)
    test.button_group(key="story_sentence").set_value("account").run()
    assert "“bank” puts **66.4%** of its weight on “account”." in words(test)
    assert test.query_params == {ENTRY: "sentence.account"}
    test.button(key="next weigh").click().run()
    assert "“bank” has its largest score, 5.58, with “account”, and so its largest weight, **66.4%**." in words(test)
    test.button(key="temperature 4").click().run()
    largest = format_percent(row(sentence="account", temperature=4.0).max().item())
    assert f"and so its largest weight, **{largest}** at temperature 4." in words(test)
    test.button(key="next take over").click().run()
    assert text.WITH_SETTINGS.format(said="this head ") in words(test)
    after = (
        "**After all six layers,** the closest of these is “money” (0.678), as before (0.373); “account” gains most."
    )
    assert any(label.startswith(after) for label in folds(test))
    test.select_slider(key="story_temperature").set_value(1.0).run()
    for sentence in ("account", "river"):
        test.button_group(key="story_sentence").set_value(sentence).run()
        found = {move.word: move for move in moves(sentence, SENTENCES[sentence].word, row(sentence=sentence))}
        assert max(found, key=lambda word: found[word].change) == sentence, "the word that the reader expects"
        closest = {"river": ", which is closest after all six layers."}
        closest["account"] = "; after all six layers, “money” is closest."
        assert f"This head moves “bank” a little, most towards **“{sentence}”**{closest[sentence]}" in words(test)
        layers = max(found.values(), key=lambda move: move.layers)
        assert layers.word == {"river": "river", "account": "money"}[sentence]
    test.selectbox(key="story_mask").set_value("causal").run()
    hardly = text.MOVES_LITTLE.format(query="“bank”")
    assert text.WITH_SETTINGS.format(said=hardly) in words(test) and not test.exception


def test_another_sentence_has_its_word_selected():
    test = visit({ENTRY: "query.3"})
    test.button_group(key="story_sentence").set_value("account").run()
    assert "“bank” puts **66.4%**" in words(test) and test.query_params == {ENTRY: "sentence.account"}


@pytest.mark.parametrize(
    ("changed", "ends"), [({"mask": "causal"}, (-0.0051, -0.0029)), ({"temperature": 4.0}, (-0.0069, 0.0027))]
)
def test_no_word_is_named_if_the_head_moves_the_token_towards_none(changed, ends):
    said = words(visit({ENTRY: "~".join(["step.take over", *(f"{name}.{value}" for name, value in changed.items())])}))
    changes = [move.change for move in moves("river", 5, row(**changed))]
    assert (min(changes), max(changes)) == pytest.approx(ends, abs=5e-5)
    assert text.MOVES_LITTLE.format(query="“bank”") in said and "most towards" not in said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ((-0.0049, -0.0048), text.MOVED_AWAY),  # labelled −0.005
        ((-0.0049, -0.0009), text.MOVED_TO_NONE),
        ((-0.0049, 0.0004), text.MOVED_TO_NONE),
        ((-0.0044, -0.0009), text.MOVED_TOO_LITTLE),
    ],
)
def test_a_token_that_moves_away_from_words_is_said_to_and_from_which_most(changes, said):
    words = zip(("river", "sat"), changes, strict=True)
    found = [Move(word, "river", 0.2, 0.2 + change, 0.6) for word, change in words]
    assert start_combine._move_sentence(found) == said.format(farther="“river”", change="−0.005", least=0.005)


@pytest.mark.parametrize(("changes", "said"), [((0.02, -0.01), True), ((-0.01, 0.02), False), ((0.004, -0.01), False)])
def test_a_token_that_moves_away_from_the_word_with_its_largest_weight_is_explained(changes, said):
    story = Story(query=5)  # “bank”, with its largest weight on “river”
    found = [
        Move(word, "river", 0.2, 0.2 + change, 0.6) for word, change in zip(("sat", "river"), changes, strict=True)
    ]
    told = start_combine._not_towards(trace(story.config), found)
    assert told == (text.NOT_TOWARDS.format(key="“river”") if said else "")


@pytest.mark.parametrize("settings", [{}, {"temperature": 20.0}, {"mask": "causal", "temperature": 0.5}])
def test_the_strips_of_combine_add_up_to_what_the_head_takes_the_largest_weight_first(settings):
    weights, values = row(**settings), vectors("river").values
    tokens = [f"“{token}” ({at})" for at, token in enumerate(SENTENCES["river"].tokens)]
    mix = start_combine._mix(weights, values, tokens)
    (*parts, total) = mix.values()
    assert torch.allclose(torch.stack(parts).sum(0), total, atol=1e-5) and torch.allclose(total, weights @ values)
    shares = [float(name.partition("%")[0]) for name in mix if "%" in name]
    named = [share for name, share in zip(mix, shares, strict=False) if not name.endswith(" more")]
    assert sum(shares) == pytest.approx(100, abs=0.3) and named == sorted(named, reverse=True)
    most = int(weights.argmax())
    assert next(iter(mix)).endswith(tokens[most]) and torch.allclose(parts[0], weights[most] * values[most])


def test_the_strips_of_weigh_are_the_query_the_key_and_their_products_which_sum_to_the_score_of_the_table():
    test = visit({ENTRY: "step.weigh"})
    (cells,) = (table for table in tables(test) if "products" in table.get("row", ()))
    strips = {
        name: [x for row, x in zip(cells["row"], cells["value"], strict=True) if row == name] for name in cells["row"]
    }
    assert [*strips] == ["q of “bank”", "k of “river”", "products"] and {len(strip) for strip in strips.values()} == {
        32
    }
    query, key, products = strips.values()
    assert products == pytest.approx([a * b for a, b in zip(query, key, strict=True)], rel=1e-4)
    assert f"{sum(products):.4f}" == score_table("step.weigh")[0][0].strip()
    assert max(cells["size"]) == 1


def test_a_token_that_is_compared_with_one_word_is_said_to_be():
    found = [Move("of", "own", -0.043, -0.041, 0.45)]
    assert start_combine._move_sentence(found) == "**This head alone** changes their cosine by +0.002."
    test = AppTest.from_function(_draw_one_word).run()
    assert not test.exception and "closest" not in folds(test)[0] and "most" not in words(test)


def _draw_one_word() -> None:
    from attention import trace
    from attention.story.head import Move
    from attention.story.settings import Story
    from attention.ui.views import start_combine

    story, found = Story(), [Move("of", "own", -0.043, -0.041, 0.45)]
    start_combine._take_over(story, trace(story.config), found)
    start_combine._after_layers(story, found)


def test_the_headline_of_combine_is_about_this_head_and_names_changed_settings():
    for changes, said in (
        ((0.006, -0.01), text.MOVES.replace("{little}", text.LITTLE)),
        ((0.004, -0.01), text.MOVES_LITTLE),
        ((-0.001, -0.01), text.MOVES_LITTLE),
        ((-0.0048, -0.01), text.MOVES_AWAY),
    ):
        found = [
            Move(word, "river", 0.2, 0.2 + change, 0.6) for word, change in zip(("sat", "river"), changes, strict=True)
        ]
        told = said.format(query="“bank”", closer="“sat”", after="")
        assert start_combine._move_finding(found, "“bank”", True) == f"With these settings, {told}"
        own = said.format(query="“bank”", closer="“sat”", after=text.AFTER_TOO)
        assert start_combine._move_finding(found, "“bank”", False) == own[0].upper() + own[1:]


def test_a_change_that_rounds_to_zero_has_no_sign():
    found = [format_change(value, places=3) for value in (0.0002, -0.0002, 0.0, 0.0006, -0.0006)]
    assert found == ["0.000", "0.000", "0.000", "+0.001", "−0.001"]


@pytest.mark.parametrize(
    ("query", "headline"),
    [
        (2, "“sat” gets a mix of values, in which that of “[CLS]” has the largest weight, **36.2%**."),
        (6, "“of” gets a mix of values, in which its own has the largest weight, **16.7%**."),
        (8, "“river” gets a mix of values, in which that of “bank” has the largest weight, **17.3%**."),
    ],
)
def test_what_any_token_of_a_sentence_that_ships_becomes_is_shown(query, headline):
    test = visit({ENTRY: f"step.take over~query.{query}"})
    assert headline in words(test) and any("six layers" in label for label in folds(test))
    assert not test.exception and len(test.get("vega_lite_chart")) == 3


@pytest.mark.parametrize("temperature", [0.35, 1.0, 7.4, 20.0])
def test_the_stops_of_the_temperature_have_that_of_a_link_and_most_of_them_are_in_its_useful_part(temperature):
    test = visit({ENTRY: f"temperature.{temperature}"})
    slider = test.select_slider(key="story_temperature")
    assert not test.exception and slider.value == temperature
    useful = [stop for stop in map(float, slider.options) if 0.25 <= stop <= 4]
    assert len(useful) > len(slider.options) * 0.6 and temperature in map(float, slider.options)


def test_what_the_model_makes_of_a_word_is_named_as_recorded_once_settings_differ():
    changed = visit({ENTRY: "step.take over~mask.causal"})
    recorded = text.AS_RECORDED.format(
        said="Before the six layers, the closest of these is “money” (0.347); **after them, “river”** (0.602)."
    )
    assert recorded in folds(changed)
    usual = visit({ENTRY: "step.take over"})
    assert "most towards **“river”**" in words(usual) and "the model's own settings" not in " ".join(folds(usual))


def test_the_largest_weight_is_called_so_where_it_is_less_than_half():
    weak, itself = (words(visit({ENTRY: f"query.{query}"})) for query in (8, 6))
    assert "“river” puts the largest part of its weight, **17.3%**, on “bank”." in weak
    assert "“of” puts the largest part of its weight, **16.7%**, on itself." in itself


def folds(test: AppTest) -> list[str]:
    """The labels of what is folded."""
    return [each.label for each in test.expander]


def score_table(packed: str) -> list[list[str]]:
    """The cells of the table of scores, without its first column: dot products, scaled scores, exponentials, weights."""
    table = next(each.value for each in visit({ENTRY: packed}).markdown if "| q · k |" in each.value)
    return [line.split("|")[2:-1] for line in table.splitlines()[2:]]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        *({"temperature": each} for each in (0.05, 0.5, 4.0)),
        {"scale": "1/d_head"},
        {"scale": "none"},
        {"mask": "causal"},
    ],
    ids=str,
)
def test_a_calculator_gives_each_number_of_the_table_of_scores_from_those_above_it(settings):
    for sentence, shipped in SENTENCES.items():
        for query in range(len(shipped.tokens)):
            story = Story(sentence=sentence, query=query, **settings)
            shown = start_scores.scores_table(story, trace(story.config)).replace("−", "-").replace(",", "")
            rows = [[cell.strip() for cell in line.split("|")[2:-1]] for line in shown.splitlines()[2:]]
            divisor = {"1/sqrt(d_head)": math.sqrt(32), "1/d_head": 32, "none": 1}[story.scale] * story.temperature
            for product, score in zip(rows[0][:-1], rows[1][:-1], strict=True):
                assert f"{float(product) / divisor:z.{places(score)}f}" == score, (sentence, query)
            *parts, total = map(exponential, rows[2])
            for score, (number, power), weight in zip(rows[1][:-1], parts, rows[3][:-1], strict=True):
                exact = math.exp(float(score) - power * math.log(10))
                assert f"{exact:.{places(number)}f}" == number, (sentence, query)
                found = format_percent(float(number) / float(total[0]) * 10.0 ** (power - total[1]))
                assert found == weight or weight in ("under 0.1%", "over 99.9%"), (sentence, query)


def test_the_reason_for_the_root_is_said_and_a_scale_is_a_button_that_says_what_it_does():
    test = visit({ENTRY: "step.weigh"})
    assert "the sum would be about √32 ≈ 5.7. Divided by √d, it is about 1 for any width d." in words(test)
    labels = {scale: test.button(key=f"scale {scale}").label for scale in SCALES}
    assert labels == {"none": "none · over 99.9%", "1/sqrt(d_head)": "1/√32 · 70.7%", "1/d_head": "1/32 · 15.6%"}
    test.button(key="scale none").click().run()
    assert test.selectbox(key="story_scale").value == "none" and "largest weight, **over 99.9%**" in words(test)
    alone = words(visit({ENTRY: "step.weigh~mask.causal~query.0"}))
    assert "saturated" not in alone, "a single visible key has all of the weight at any scale"


def test_a_weight_of_almost_one_is_never_called_all_of_the_weight():
    story = Story(step="weigh", scale="none", temperature=0.15)
    found = trace(story.config)
    assert float(found.weights[found.config.head, found.config.query_index].max()) == 1.0, "in float32"
    test = visit({ENTRY: "step.weigh~scale.none~temperature.0.15"})
    assert test.button(key="scale none").label == "none · over 99.9%"
    assert "100%" not in words(test).replace("| 100% |", "") and "**over 99.9%**" in words(test)


def places(number: str) -> int:
    """The decimal places of a number."""
    return len(number.partition(".")[2])


def exponential(cell: str) -> tuple[str, int]:
    """A cell like 1.70 × 10¹², as 1.70 and 12."""
    number, _, power = cell.partition("\u00a0×\u00a010")
    return number, int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")) or 0)


def test_large_exponentials_are_powers_of_ten():
    shown = score_table("step.weigh~scale.none")
    assert [exponential(cell.strip()) for cell in shown[2]] == [("1.7", 12), ("4.0", 6), ("1.3", 6), ("1.7", 12)]


def test_equal_weights_are_those_of_the_visible_keys():
    causal, usual = visit({ENTRY: "step.weigh~mask.causal"}), visit({ENTRY: "step.weigh"})
    uniform = "Largest weight at each **scale** (uniform: {}%):"
    assert uniform.format(9.1) in words(visit({ENTRY: "step.weigh~temperature.4"}))
    assert uniform.format(16.7) in words(causal), "true of every scale, also where no row is saturated"
    assert text.SATURATED.format(scales="none") in words(usual) and "saturated" not in words(causal)
    scores = [float(score_table(f"step.weigh~temperature.{t}")[1][0]) for t in (1, 4)]
    assert scores[0] == pytest.approx(4 * scores[1], abs=0.02), "a scaled score is divided by the temperature"
    labels = [test.button(key="temperature 1").label for test in (causal, usual)]
    assert labels == ["1 · unchanged", "1 · as trained"]
    narrow = score_table("step.weigh~mask.causal~query.1")[-1]
    assert "".join(narrow).count("%") == 3, "masked keys have no place among the scores"


@pytest.mark.parametrize(
    ("packed", "said"),
    [
        ("mask.causal", "MiniLM, layer 0, head 4, not as trained: mask causal"),
        ("scale.none~temperature.4", "not as trained: scale none, temperature 4"),
        ("scale.none~temperature.4~mask.causal", "MiniLM, layer 0, head 4, not as trained: 3 changes"),
    ],
)
def test_changed_settings_are_named_beside_the_title_and_what_was_recorded_is_called_so(packed, said):
    changed, test = words(visit({ENTRY: packed})), visit()
    usual, sizes = words(test), "11 tokens. MiniLM: 12 heads of 32 channels per layer, d_model 384."
    assert (
        said in changed
        and "This **head** was picked: of the model's 72, it is the only one whose largest weight from “bank” is"
        in changed
        and "“account” in the other sentence. That was found with the model's own settings, " in changed
        and "**As trained,** “bank” puts 70.7% of its weight on “river”." in changed
    )
    assert "not as trained" not in usual and "the model's own settings" not in usual
    assert any(sizes in each.proto.help for each in test.markdown)


def test_a_changed_mask_is_explained_and_a_hidden_score_may_be_larger_than_the_largest_visible_one():
    assert f"**Mask causal:** {MASKS['causal'].help} **As trained,**" in words(visit({ENTRY: "mask.causal"}))
    for mask, said in (("padding", "the last 4 tokens were padding"), ("documents", "every 4 tokens were a document")):
        assert f"It is as if {said}." in words(visit({ENTRY: f"mask.{mask}"}))
    assert "“bank” has its largest visible score, " in words(visit({ENTRY: "mask.causal~step.weigh"}))


def test_a_typed_sentence_is_ignored_once_another_page_is_open(monkeypatch):
    """A browser may send the field of a page that a second key press on a slider has left."""
    monkeypatch.setattr(start.page, "current_setting", Config)
    start._read_sentence("own sentence")  # pyright: ignore[reportPrivateUsage]


def test_a_mask_that_hides_everything_is_said():
    test = visit({ENTRY: "mask.padding~span.15"})
    assert "“bank” has no visible key" in words(test) and not test.exception
    said = words(visit({ENTRY: "step.weigh~mask.padding~span.15"}))
    assert "each would get" not in said and "| weight |" not in said


@pytest.mark.parametrize(("name", "value"), [("tokens", 40), ("heads", 4), ("d_model", 240)])
def test_a_size_opens_heads_with_it_and_with_what_else_was_set(name, value):
    test = visit({ENTRY: "mask.window"})
    control = test.select_slider if name == "tokens" else test.slider
    control(key=f"story_{name}").set_value(value).run()
    assert not test.exception and test.slider(key="heads")
    config, notes = from_query(test.query_params)
    sizes = {"tokens": 11, "heads": 12, "d_model": 384} | {name: value}
    assert notes == [] and {name: getattr(config, name) for name in sizes} == sizes and config.mask == "window"


def test_the_sizes_begin_as_those_of_the_picture():
    for sentence, length in TOKENS.items():
        assert len(SENTENCES[sentence].tokens) == length
    config = Story().config
    assert Story().sizes == {"tokens": config.tokens, "heads": config.heads, "d_model": config.d_model}
    test = visit()
    test.button_group(key="story_sentence").set_value("account").run()
    assert test.select_slider(key="story_tokens").value == 15 and test.query_params == {ENTRY: "sentence.account"}
    assert STORIES.from_query({ENTRY: "sentence.own~own.Hello there, you."})[0].tokens == 7, (
        "its words, signs, [CLS] and [SEP]"
    )


def test_any_other_link_at_the_root_opens_heads():
    test = visit({"v": "3", "tokens": "40", "start": "step.weigh"})
    assert test.slider(key="heads") and test.select_slider(key="tokens").value == 40
    assert not visit({ENTRY: "step.weigh"}).select_slider(key="story_tokens").disabled


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("", False),
        ("start=step.weigh", False),
        ("embed=true", False),
        ("embed=true&start=step.weigh", False),
        ("tokens=40", True),
        ("embed=true&tokens=40", True),
        ("start=step.weigh&tokens=40", True),
        ("v=3&text=a%20b", True),
    ],
)
def test_the_server_sends_links_at_the_root_on_to_heads(query, sent):
    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        await send_response(scope, send, 200, b"page")

    async def send(message: Message) -> None:
        sent_messages.append(message)

    async def receive() -> Message:
        return {}

    sent_messages: list[Message] = []
    scope = {"type": "http", "method": "GET", "path": "/lab/", "root_path": "/lab", "query_string": query.encode()}
    asyncio.run(MovedLinks(serve)(scope, receive, send))
    headers = dict(sent_messages[0]["headers"])
    assert (sent_messages[0]["status"], headers.get(b"location")) == (
        (307, f"heads?{query}".encode()) if sent else (200, None)
    )


def test_every_template_has_its_fields():
    found, here, heads = heads_that_find()
    assert text.SCALED.keys() == SCALES.keys()
    said = text.OTHER_HEADS.format(found=found, others=heads - found, heads=heads, **here)
    assert "3 of the 72" in said and "and 1 in both: the other 71" in said
    assert head.FILE.stat().st_size < 100_000 and not urlsplit(text.CODE).scheme


def test_a_masked_word_is_not_one_of_those_that_a_token_is_compared_with():
    here, tokens = vectors("account"), SENTENCES["account"].tokens
    weights = row(sentence="account", mask="causal")
    seen = {move.word for move in moves_within(here, SENTENCES["account"].word, weights, tokens)}
    assert seen and not seen & {"town", "deposit", "money"}, "which come later"
