"""The Steps page without a browser: its own controls, its words at odd settings, its table, what the browser gets."""

from __future__ import annotations

import json
import re
import struct
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention.codec import NEWEST, to_query
from attention.components.matrices import header, message
from attention.config import Config
from attention.knobs import SOURCES, STEPS
from attention.operations.output import NOT_MIXED
from attention.operations.table import TABLE
from attention.sources.spec import lengths
from attention.steps.parts import GROUPS, PARTS, parts
from attention.steps.plan import by_name, steps
from attention.steps.values import matrices, values
from attention.tables.rows import costs, quantity
from attention.ui.controls.picture import MIXED
from attention.ui.views import steps_finding
from attention.ui.views.steps import nearest
from attention.wire.matrix_cells import encode_steps
from tests import drawings
from tests.strategies import newest, query_without_edition

PAGE = Path(__file__).parents[1] / "pages" / "steps.py"


def run(**query: str) -> AppTest:
    test = AppTest.from_file(str(PAGE), default_timeout=60)
    test.query_params.update(newest(query) or NEWEST)  # an empty link opens the page as it begins
    return test.run()


def words(test: AppTest) -> str:
    """What is written on the page, and on hover over it."""
    return "\n".join(
        [each.value for each in [*test.markdown, *test.caption, *test.info]]
        + [each.proto.help for each in test.markdown]
    )


def sent_header(test: AppTest) -> dict:
    """The header of what the browser gets."""
    (found,) = (
        each.proto for each in test.get("bidi_component") if each.proto.component_name == "attention-lab.matrices"
    )
    return drawings.header(found.bytes)


def test_it_begins_with_the_first_step_and_a_link_opens_another():
    test = run()
    assert sent_header(test)["step"] == sent_header(test)["order"][0] == "x"
    assert "Each of the 18 tokens is a vector of **512** numbers." in words(test)
    test = run(step="output")
    assert "1 × 18 × 512 numbers (`b q c`) · 36.9 kB of memory · 9.44 MFLOP to compute" in words(test)
    test.segmented_control(key="steps").set_value("all").run()
    assert query_without_edition(test.query_params) == {"step": "output", "steps": "all"}
    assert sent_header(test)["step"] is None
    assert not test.exception


def test_a_visit_begins_with_the_vectors_of_four_words_and_what_they_become():
    test = AppTest.from_file(str(PAGE), default_timeout=60).run()
    assert sent_header(test)["step"] == "x" and sent_header(test)["ends"] is False
    assert [each["name"] for each in sent_header(test)["matrices"]] == ["x", "Q", "K", "V"]
    assert {part["group"] for part in sent_header(test)["parts"]} == set(GROUPS)
    assert not test.exception
    assert "Each of the 4 tokens is a vector of **4** numbers." in words(test)
    query, key = (values(MIXED)[name][0, at] for name, at in (("q", -1), ("k", 0)))
    said = words(run(**to_query(replace(MIXED, step="scores"))))
    assert f"channel by channel, adds up to a score of **{query @ key:.3f}**." in said


def test_the_weights_are_told_of_the_selected_query_unless_they_do_not_add_up():
    found = values(Config(tokens=4))["weights"][0, 2, 0]
    assert f"takes **{found:.1%}** of its mix from “The”" in words(run(step="weights", tokens="4", query="2"))
    assert "of its mix" not in words(run(step="weights", tokens="4", query="2", softmax="sigmoid"))
    assert "of its mix" not in words(
        run(step="weights", tokens="4", query="0", mask="causal", combine="without", second="window")
    )


def test_a_source_without_values_says_that_the_pass_ends_at_the_weights():
    assert sent_header(run(source="recorded:minilm-river", step="weights"))["ends"]


def test_an_example_with_numbers_is_one_click_away():
    test = run(step="weights", positions="alibi")
    assert "Settings are shared by all pages." in words(test)
    test.button(key="small").click().run()
    assert "Settings are shared" not in words(test)
    small = {"tokens": "4", "heads": "2", "d_model": "8", "head": "1"}
    assert query_without_edition(test.query_params) == small
    assert "small" not in [button.key for button in test.button] and not test.exception, "its numbers fit their cells"


def test_every_step_is_in_one_part_and_its_part_leads_to_a_step_that_is_there():
    assert {part.place for part in PARTS} == {operation.part for operation in TABLE}
    for knobs in ({}, {"positions": "alibi", "softcap": 2.0}, {"scale": "none", "mask": "full"}, {"keys": 5}):
        plan, found = by_name(Config(**knobs)), parts(Config(**knobs))
        assert sorted(name for part in found for name in part.steps) == sorted(plan)
        assert all(part.leads in part.steps for part in found)
        assert all(part.name == part.leads or part.name == "x, y" for part in found), (
            "boxes are named as their matrices"
        )
    names = {part.place: part.leads for part in parts(Config(positions="alibi", softcap=2.0))}
    assert (names["x"], names["scale"], names["mask"], names["logits"]) == ("x", "biased", "mask", "logits")
    assert parts(Config(keys=5))[0].name == "x, y"
    assert not {"scale", "mask"} & {part.place for part in parts(Config(scale="none", mask="full"))}


SECOND = Config(softmax="differential", qk_norm="on", query_scale="log n", softcap=2.0)


def test_every_step_has_a_lesson_that_goes_with_it():
    configs = (
        Config(positions="alibi", softcap=2.0),
        Config(positions="sinusoidal", keys=5),
        Config(positions="rotary", qk_norm="on", gate="headwise", query_scale="log n", forgetting="on"),
        *(replace(SECOND, positions=positions) for positions in ("rotary", "alibi")),
    )
    plan = [step for config in (*configs, Config.of(SOURCES[1])) for step in steps(config)]
    assert {step.name for step in plan} == set(STEPS)
    assert all(step.lesson.endswith(".") and len(step.lesson) <= 110 for step in plan)
    lesson = by_name(Config())["W_o"].lesson
    assert lesson in words(run(step="W_o")) and lesson not in words(run(step="W_o", steps="all"))


@pytest.mark.parametrize("head", [0, 1])
def test_the_headline_of_a_step_has_the_numbers_of_its_matrices(head):
    config = Config(tokens=4, heads=2, d_model=4, projections="tied", head=head)
    found, plan = values(config, slice(None)), by_name(config)
    told = {name: steps_finding.of_step(config, plan, name).replace("\\", "") for name in plan}
    first, shown = 2 * head, lambda value: f"{value:.3g}".replace("-", "−")
    for name, row in (("Q", 3), ("K", 0), ("V", 0)):
        token, value = ("“was” (3)", "“The” (0)")[row == 0], shown(found[name][row, first])
        assert (
            f"Row {token} of x times column {first} of W_{name.lower()}" in told[name] and f"**{value}**" in told[name]
        )
        assert f"head {head} takes **columns {first} to {first + 1}**" in told[name.lower()]
    assert shown(found["scores"][head, 3, 0]) in told["scores"] and shown(found["scaled"][head, 3, 0]) in told["scaled"]
    largest = int(found["weights"][head, 3].argmax())
    assert (
        f"{100 * found['weights'][head, 3, largest]:.1f}%, is on “{('The', 'river', 'bank', 'was')[largest]}”"
        in told["context"]
    )
    assert f"**{shown(found['context'][head, 3, 0])}**" in told["context"]
    assert "**10** of 16 pairs" in told["mask"] and "**6** of 16 scores" in told["logits"]
    assert "2 heads of width 2" in told["joined"] and "**4 × 4** numbers" in told["W_o"]
    assert "**4** of 4 tokens" in told["output"]


@pytest.mark.parametrize("config", [Config(), Config(positions="rotary", qk_norm="on", gate="headwise"), SECOND])
def test_next_goes_from_part_to_part_and_each_step_follows_its_sources(config):
    order, plan = header(config, ["x"])["order"], by_name(config)
    assert sorted(order) == sorted(plan)
    for name, step in plan.items():
        assert all(order.index(source.name) < order.index(name) for source in step.sources)
    places = [plan[name].part for name in order]
    assert places == sorted(places, key=places.index), "no part is left and entered again"


def test_a_map_that_mixes_nothing_is_not_said_to_mix():
    for knobs, mixes in (({}, False), ({"projections": "identity"}, False), ({"projections": "tied"}, True)):
        told, output = words(run(step="W_o", **knobs)), matrices(Config(**knobs))["W_o"]
        assert (NOT_MIXED not in told) is mixes
        assert torch.equal(output, torch.eye(len(output))) is not mixes


def test_a_head_has_colours_of_its_own_size():
    """Scores of the first head are a fourth of those of the next ones, and those of the even one a thousandth."""
    scores = values(Config())["scores"].abs().amax((1, 2))
    found = next(each for each in sent_header(run(step="scaled"))["matrices"] if each["name"] == "scores")
    assert found["most"] == pytest.approx(scores.tolist(), rel=1e-3) and max(found["most"]) > 1000 * min(found["most"])


def test_another_sequence_and_another_width():
    test = run(step="weights")
    test.number_input(key="keys").set_value(7).run()
    test.number_input(key="d_v").set_value(16).run()
    assert not test.exception
    assert query_without_edition(test.query_params) == {"step": "weights", "keys": "7", "d_v": "16"}
    assert "Cross-attention" in words(test) and "1 × 8 × 18 × 7 numbers (`b h q k`)" in words(test)
    assert "the same as PyTorch's own attention" in words(test)


def test_a_step_that_the_settings_do_not_have():
    test = run(step="capped")
    assert "no step “capped”; “scaled” is shown" in words(test) and sent_header(test)["step"] == "scaled"
    assert "is shown" not in words(run(step="mask"))
    assert nearest("embedded x", ["x", "W_q"]) == "x" and nearest("sines y", ["x", "W_q"]) == "x"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"mask": "padding", "span": "18"}, "18 of 18 queries are fully masked: all 18 logits"),
        ({"tokens": "2", "heads": "4", "d_model": "4"}, "One channel per head"),
        (
            {"keys": "4", "mask": "padding", "span": "4", "steps": "all"},
            "18 of 18 queries are fully masked: all 4 logits",
        ),
    ],
)
def test_what_is_odd_is_said(query, said):
    test = run(**query)
    assert not test.exception
    assert said in words(test)


@pytest.mark.parametrize("step", STEPS)
def test_every_step_is_drawn_at_settings_that_have_it(step):
    positions = {"sines": "sinusoidal", "embed": "sinusoidal", "turne": "rotary", "bias": "alibi", "biase": "alibi"}
    knobs = {"positions": positions.get(step[:5], "none"), "qk_norm": "on" if step.startswith("normed") else "off"}
    knobs |= {"query_scale": "log n" if step.startswith("lengthened") else "none"}
    knobs |= {"gate": "elementwise" if step in ("W_g", "G", "gate", "gated") else "off"}
    knobs |= {"forgetting": "on"} if step in ("W_f", "F") else {"keys": 2}
    if step.endswith(" 2") or step in ("first softmax", "second softmax", "normed context"):
        knobs |= {"softmax": "differential"}
    config = Config(tokens=3, heads=2, d_model=8, softcap=1.0, step=step, **knobs)
    plan = by_name(config)
    names = [*(source.name for source in plan[step].sources), step]
    data = message(config, dict(zip(names, encode_steps(config, values(config), names), strict=True)))
    (length,) = struct.unpack("<I", data[:4])
    told = json.loads(data[4 : 4 + length])
    assert (
        [each["name"] for each in told["matrices"]]
        == names
        == [each["name"] for each in header(config, names)["matrices"]]
    )
    assert told["step"] == step and sorted(told["order"]) == sorted(plan)
    cells = sum(each["sent"] * each["high"] * each["broad"] for each in told["matrices"])
    assert len(data) == 4 + length + -length % 4 + 2 * cells + ("mask" in plan) * 3


def test_a_large_pass_sends_the_head_in_focus():
    config = Config(tokens=128, heads=32, d_model=64, kv_heads=8, head=9)
    found = values(config, slice(9, 10))
    q, k, scores = encode_steps(config, found, ["q", "k", "scores"])
    assert [len(each.codes) for each in (q, k, scores)] == [32, 8, 1]
    assert (q.first, k.first, scores.first) == (0, 0, 9)
    assert len(encode_steps(config, values(config), ["weights"])[0].codes) == 1


def test_a_hidden_weight_is_no_zero():
    config = Config(tokens=3, heads=1, d_model=2, mask="causal")
    (sent,) = encode_steps(config, values(config), ["weights"])
    assert torch.equal(sent.codes[0].isinf(), torch.ones(3, 3, dtype=torch.bool).triu(1))


def test_costs_add_up():
    table = costs(Config())
    assert sum(table["memory"]) == pytest.approx(100) and sum(table["work"]) == pytest.approx(100)
    assert table["step"][0] == "x" and table["bytes"][0] == 18 * 512 * 4
    assert table["bytes"][table["step"].index("q")] == 0
    assert [quantity(n, "B") for n in (0, 999, 36864, 9.44e6, 1e12, 5e15)] == [
        "0 B",
        "999 B",
        "36.9 kB",
        "9.44 MB",
        "1 TB",
        "5e+03 TB",
    ]


@pytest.mark.parametrize("query", [{}, {"kv_heads": "2", "keys": "7", "d_v": "5", "positions": "alibi"}])
def test_all_at_once_has_every_formula_and_every_letter_its_meaning(query):
    test = run(steps="all", **query)
    config = Config(**{name: int(value) if value.isdigit() else value for name, value in query.items()})
    table = next(each.value for each in test.markdown if each.value.startswith("| Step"))
    for step in by_name(config).values():
        sizes = " × ".join(f"{size:,}" for size in step.sizes)
        assert f"| ${step.formula}$ | {sizes} numbers (`{step.axes}`)" in table
        assert "|" not in step.formula, "a bar would end the cell of the table"
    sizes = lengths(config)
    assert {letter for step in by_name(config).values() for letter in step.axes if letter.isalpha()} <= set(sizes)
    for letter, size in sizes.items():
        assert re.search(rf"`{letter}` [a-z -]+: {size}\b", words(test)), letter


@pytest.mark.parametrize(
    ("source", "way", "last"),
    [
        (
            "trained:induction",
            "from the given queries and keys to the weights (there are no values)",
            "weights",
        ),
        (
            "recorded:two-layers",
            "from the given queries, keys and values to the context",
            "joined",
        ),
    ],
)
def test_what_was_learned_begins_with_its_queries_and_ends_with_what_it_has(source, way, last):
    test = run(source=source)
    said = sent_header(test)
    assert not test.exception and not test.info, "nothing is missing: that is where it begins"
    assert said["order"][0] == said["step"] == "q" and said["order"][-1] == last
    assert f"**q**: {by_name(Config.of(source))['q'].lesson}" in words(test) and "are split" not in words(test)
    assert way in words(test) and "`c`" not in words(test)
    places = [part["place"] for part in said["parts"]]
    assert places == [
        "q",
        "k",
        *["v"][: last == "joined"],
        "scores",
        "scale",
        "mask",
        "logits",
        "softmax",
        *["values", "join"][: 2 * (last == "joined")],
    ]
    assert "All steps shown" in words(test) and "the same as PyTorch's own attention" in words(test)
    after = run(source=source, step="output")
    assert f"no step “output”; “{last}” is shown" in words(after)


def test_a_step_of_training_has_scores_of_its_own():
    def most(**query: str) -> list[float]:
        (found,) = (
            each
            for each in sent_header(run(source="trained:induction", step="scaled", **query))["matrices"]
            if each["name"] == "scaled"
        )
        return found["most"]

    last = most()
    assert most(training_step="1000") == last and most(temperature="2") == pytest.approx(
        [each / 2 for each in last], rel=2e-3
    )
    assert max(most(training_step="0")) < max(last), "they grow while it learns"


def test_beside_the_mask_are_the_scores_that_it_acts_on():
    for more, scores in (({}, "scaled"), ({"positions": "alibi"}, "biased")):
        test = run(tokens="4", heads="2", d_model="8", step="mask", **more)
        assert [each["name"] for each in sent_header(test)["matrices"]] == [scores, "mask"]
        assert sent_header(test)["step"] == "mask" and not test.exception


def test_the_question_on_the_largest_weight_shows_the_scores_of_the_row():
    test = run(tokens="4", heads="2", d_model="8", predict="row")
    assert "has the scores below" in words(test) and len(test.get("vega_lite_chart")) == 1 and not test.exception
