"""The page of published implementations, driven: overview, one selected row."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention.config import Config
from attention.published import ROWS
from attention.published.case import case
from attention.published.compare import compare, influence
from attention.published.diff_lines import difference, plain, source
from attention.ui import results
from attention.ui.controls.published import PUBLISHED, ignored
from attention.ui.views.code import color_line
from attention.wire.cells import MASKED
from tests.strategies import newest, query_without_edition

PAGE = str(Path(__file__).parents[1] / "pages" / "implementations.py")


def opened(**query: str) -> AppTest:
    test = AppTest.from_file(PAGE, default_timeout=60)
    test.query_params.update(newest(query))
    return test.run()


def picture(test: AppTest) -> str:
    """The map with words, as HTML."""
    return "".join(unescape(each.proto.body) for each in test.get("html") if "word-maps" in each.proto.body)


def page_text(test: AppTest) -> str:
    boxes = [*test.error, *test.info, *test.warning]
    return "\n".join(text.value for text in [*test.markdown, *test.caption, *boxes]).replace("\\", "")


def overview(test: AppTest) -> dict[str, str]:
    """The verdict on every row and the words after its name, from the labels of the buttons."""
    labels = [button.label for button in test.button if button.key and button.key.startswith("show ")]
    verdicts = {"close": "wrong", "error": "error", "check": "right", "block": "not applicable"}
    parts = re.compile(r":\w+\[:material/(\w+):\] \*\*(.*?)\*\*(.*)")
    found = [part.groups() for part in map(parts.fullmatch, labels) if part]
    return {name: f"{verdicts[icon]}{more.replace(':small[', '').removesuffix(']')}" for icon, name, more in found}


def test_the_overview_has_every_row_with_its_verdict():
    test = opened()
    found = overview(test)
    assert set(found) == {row.name for row in ROWS.values()}
    verdicts = [("error" in said and 1) or 2 * said.startswith("right") for said in found.values()]
    assert verdicts == sorted(verdicts), "wrong, error, right"
    assert not any("corrected:" in said for said in found.values())
    glosses = {row.name: row.gloss for row in ROWS.values()}
    assert all(said.partition(" ")[2] == glosses[name] for name, said in found.items()) and all(glosses.values())
    kinds = {name: said.split()[0] for name, said in found.items()}
    assert kinds["Fused query, key and value"] == kinds["Boolean mask for SDPA"] == "wrong"
    assert kinds["Functional, boolean mask"] == "error"
    assert kinds["Multi-head, separate maps"] == kinds["Single head, unscaled"] == "right"
    told = "6 of these 11 pieces of code give a wrong result without an error at these settings, and 2 raise one."
    assert told in page_text(test)
    assert test.button(key="show boolean-mask").proto.type == "secondary", (
        "it opens with a mistake that is seen at once"
    )
    assert test.selectbox(key="implementation").options[0] == "✗ One weight per position: one row of weights for all", (
        "a phone"
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ROWS)
def test_a_link_opens_a_row_with_its_formula_code_and_lesson(name):
    test, row = opened(implementation=name, tokens="6", d_model="16"), ROWS[name]
    assert not test.exception
    assert row.lesson in page_text(test)
    assert test.latex[0].value.strip().strip("$").strip() == row.formula
    function = row.as_printed or row.as_meant
    assert f"def {function.__name__}(" in unescape(code(test)[-1])
    assert bool(test.error) == overview(test)[row.name].startswith("error")


def test_choosing_a_row_is_one_run_and_stands_in_the_link():
    test = opened(tokens="6", d_model="16")
    assert test.button(key="show two-heads").proto.type == "tertiary"
    test.button(key="show two-heads").click().run()
    assert test.button(key="show two-heads").proto.type == "secondary"
    assert ROWS["two-heads"].lesson in page_text(test)
    assert dict(test.query_params)["implementation"] == "two-heads"
    test.button_group(key="version").set_value("as meant").run()
    assert "def two_heads(" in unescape(code(test)[-1])
    assert dict(test.query_params)["version"] == "as meant"


def test_a_row_that_nobody_knows_is_said_and_the_default_taken():
    test = opened(implementation="fusd", tokens="6", d_model="16")
    assert not test.exception
    assert "implementation='fusd' is not one of: single-unscaled," in page_text(test)
    assert "Did you mean 'fused'?" in page_text(test)
    assert ROWS["fused"].lesson in page_text(test)
    assert query_without_edition(test.query_params) == {"tokens": "6", "d_model": "16"}
    evil = opened(implementation="[x](http://evil.example)", tokens="6", d_model="16")
    assert "\\[x\\]\\(http" in evil.warning[0].value


def test_both_versions_stand_in_the_row_with_their_errors():
    test = opened(implementation="fused", tokens="6", d_model="16")
    errors = test.table[0].value.set_index("Compared with the reference")
    found = compare(ROWS["fused"], Config(tokens=6, d_model=16), printed=True).judgement
    assert list(errors.loc["**Published**"])[:2] == [f"{found.output.greatest:.2g}", f"{found.output.relative:.2g}"]
    assert all(float(error) < 1e-12 for error in errors.loc["Corrected"])
    assert found.output.relative > 1, "farther from the reference than zeros, whose relative error is 1"
    said = next(each for each in test.markdown if "tokens get a wrong output, and no error is raised." in each.value)
    assert "6 of 6 tokens" in said.value
    assert f"Its output is off by {found.output.relative * 100:.3g}% of its norm." in said.help
    test.button_group(key="version").set_value("as meant").run()
    assert list(test.table[0].value["Compared with the reference"]) == ["**Corrected**", "Published"]
    raising = opened(implementation="functional", tokens="6", d_model="16")
    assert set(raising.table[0].value.set_index("Compared with the reference").loc["**Published**"]) == {"raises"}
    alone = opened(implementation="separate-maps", tokens="6", d_model="16")
    assert list(alone.table[0].value["Compared with the reference"]) == ["**Published (correct)**"]


def test_queries_that_see_nothing_are_named_where_the_write_ups_give_no_number():
    assert "fully masked" not in page_text(opened(tokens="6", d_model="16"))
    blind = opened(mask="padding", span="6", tokens="6", d_model="16")
    assert "For fully masked queries the published code gives NaN" in page_text(blind)
    assert "corrected: wrong" in overview(blind)["Functional, boolean mask"]


def test_pictures_say_whose_they_are_and_how_much_is_shown():
    test = opened(tokens="200", d_model="512", version="as meant")
    assert "Compared on the first 128 of 200 tokens" in page_text(test)
    assert "Weights of the reference, head 0, first of 2 sequences" in page_text(test)
    assert "Influence of tokens on outputs; the first 22 outputs and 22 tokens" in page_text(test)
    alone = page_text(opened(tokens="6", d_model="16", batch="1"))
    assert "of 2 sequences" not in alone and "outputs and" not in alone


def test_pictures_say_how_much_of_them_is_wrong():
    """Counted by another way than the page: norms of rows, and the leak of each masked pair by changing a token."""
    shown = {"tokens": "6", "heads": "2", "d_model": "16", "batch": "1", "mask": "causal"}
    config = Config(tokens=6, heads=2, d_model=16, batch=1)
    test = opened(**shown)
    said = page_text(test)
    apart = compare(ROWS["fused"], config, printed=True).apart
    assert apart is not None
    wrong = int((apart.norm(dim=-1) > 1e-5).sum())
    assert wrong and f"Output minus reference: {wrong} of 6 rows are wrong" in said
    moved = influence(ROWS["fused"], case(config, crosses=False), printed=True)
    assert moved is not None
    leaks = sum(bool(moved[q, k] > 0) for q in range(6) for k in range(q + 1, 6))
    assert leaks and f"Orange: {leaks} of the 15 cells that the mask hides." in said
    colors = re.findall(r"light-dark\(rgb\((\d+) \d+ (\d+)\)", picture(test))
    assert sum(int(red) > int(blue) for red, blue in colors) == leaks, "leaks are orange, the rest violet"
    assert picture(test).count("<figure") == 2, "beside the correct one"
    usual, moved = opened(implementation="fused"), influence(ROWS["fused"], case(Config(), crosses=False), printed=True)
    assert moved is not None
    leaks = int((moved.triu(1) > 0).sum())
    colors = re.findall(r"light-dark\(rgb\((\d+) \d+ (\d+)\)", picture(usual))
    assert sum(int(red) > int(blue) for red, blue in colors) == leaks, "faint ones, too"
    corrected = opened(**shown, version="as meant")
    right = page_text(corrected)
    assert picture(corrected).count("<figure") == 2 and "Both maps are the same." in right
    assert "Orange:" not in right and "rows are wrong" not in right
    assert "Weights and output equal those of the reference" in right


def test_two_maps_of_weights_are_told_apart_by_a_sentence():
    """What it says is counted again from the weights."""
    small = {"tokens": "6", "heads": "2", "d_model": "16", "batch": "1"}
    config = Config(tokens=6, heads=2, d_model=16, batch=1)
    for name in ("boolean-mask", "window-of-four"):
        found = compare(ROWS[name], config, printed=True)
        assert found.weights is not None
        wrong = (found.weights[0] > 1e-6) & (found.reference[0] == 0)
        later = ", all on later tokens" if name == "boolean-mask" else ""
        said = f"Framed: {int(wrong.sum())} of 36 cells have weight although masked{later}."
        test = opened(**small, implementation=name)
        assert wrong.any() and said in page_text(test)
        assert picture(test).count('class="marked"') == int(wrong.sum()), "in the map as published alone"
    assert "every token has the same row of weights" in page_text(opened(**small, implementation="position-weights"))
    assert "Both maps show the same weights." in page_text(opened(**small, implementation="separate-maps"))
    assert "The weights of 6 of 6 tokens differ" in page_text(opened(**small, implementation="split-by-view"))


def test_a_weight_that_is_zero_by_rounding_is_not_drawn_as_masked():
    test = opened(implementation="single-unscaled")
    found = compare(ROWS["single-unscaled"], Config())
    assert (found.reference[0] == 0).any() and found.mask.all(), "it has no mask, and some of its weights underflow"
    assert 'class="masked' not in picture(test) and "no weight" not in picture(test)
    assert found.unmasked.all()


def test_the_maps_of_all_heads_hatch_what_the_code_masks():
    """An inverted mask gives the tokens that are visible no weight."""
    config = Config(tokens=6, heads=2, d_model=16)
    found = compare(ROWS["boolean-mask"], config, printed=True)
    assert (found.unmasked == ~found.mask).all()
    cells = results.published.published_cells(config.for_page(results.published.PAGE), "boolean-mask", True)
    assert cells is not None and torch.equal(cells.codes.int() != MASKED, found.unmasked)


def test_keys_of_another_sequence_are_for_the_rows_that_take_them():
    test = opened(implementation="head-matrices", version="as meant", tokens="6", d_model="16", row_detail="shapes")
    test.number_input(key="keys").set_value(9).run()
    test.number_input(key="d_v").set_value(5).run()
    assert not test.exception and not test.error
    shapes = test.dataframe[0].value.set_index("Variable")["Sizes"]
    assert (shapes["k"], shapes["v"], shapes["weights"]) == ("2 × 9 × 2", "2 × 9 × 5", "2 × 6 × 9")
    test.button(key="show fused").click().run()
    assert "cross-attention keys and d_v are not applied" in page_text(test)
    assert "keys" not in {box.key for box in test.number_input}


def test_the_one_vector_of_weights_stands_beside_the_square():
    told = "One vector of weights for all queries, head 0"
    assert told in page_text(opened(implementation="position-weights", tokens="6", d_model="16"))
    assert told not in page_text(opened(implementation="fused", tokens="6", d_model="16"))


def test_a_setting_to_try_moves_the_knobs():
    test = opened(implementation="functional", tokens="6", d_model="16")
    assert "must match the size" in test.error[0].value
    test.button(key="try As many sequences as heads").click().run()
    assert not test.error
    assert overview(test)["Functional, boolean mask"].startswith("wrong")
    assert test.button(key="try As many sequences as heads").disabled, "in use"
    assert "heads 4 → 4" not in test.button(key="try One sequence").label
    assert "sequences 4 → 1" in test.button(key="try One sequence").label
    assert test.number_input(key="batch").value == test.slider(key="heads").value == 4
    test.button(key="try One sequence").click().run()
    assert overview(test)["Functional, boolean mask"].startswith("right")


def test_who_is_quicker_than_what_was_sent_loses_nothing():
    """The browser sends a version, and beside it the numbers from before a button set them."""
    test = opened(implementation="head-matrices", tokens="6", heads="2", d_model="16")
    test.button(key="try Keys of another sequence, values of 8 channels").click().run()
    for key in ("keys", "d_v"):
        test.number_input(key=key).set_value(0)
    test.color_picker(key="heard view").set_value("#000001")
    test.button_group(key="version").set_value("as meant").run()
    assert [test.number_input(key=key).value for key in ("keys", "d_v")] == [12, 8]
    assert test.button_group(key="version").value == "as meant"


def test_what_a_button_set_can_be_set_back():
    test = opened(implementation="head-matrices", tokens="6", heads="2", d_model="16")
    test.button(key="try Keys of another sequence, values of 8 channels").click().run()
    test.number_input(key="keys").set_value(0).run()
    assert [test.number_input(key=key).value for key in ("keys", "d_v")] == [0, 8]


def test_what_a_button_set_can_be_set_back_beside_something_else():
    test = opened(implementation="head-matrices", tokens="6", heads="2", d_model="16")
    test.button(key="try Keys of another sequence, values of 8 channels").click().run()
    test.number_input(key="keys").set_value(0)
    test.button_group(key="version").set_value("as meant").run()
    assert [test.number_input(key=key).value for key in ("keys", "d_v")] == [0, 8]


def test_what_was_reset_can_be_set_again():
    test = opened(tokens="6", heads="2", d_model="16")
    for _ in range(2):
        test.slider(key="temperature").set_value(1.5).run()
        assert dict(test.query_params)["temperature"] == "1.5"
        test.button(key="reset").click().run()
        assert dict(test.query_params) == PUBLISHED.begins


def test_settings_that_no_row_knows_are_said_to_be_left_out():
    assert "alibi positions" in page_text(opened(positions="alibi", tokens="6", d_model="16")).replace("\\", "")


def test_time_is_measured_only_when_asked_for():
    test = opened(implementation="separate-maps", tokens="6", d_model="16", row_detail="costs")
    assert "not measured yet" in test.table[1].value.to_string()
    test.toggle(key="timed").set_value(True).run()
    assert "ms (reference:" in test.table[1].value.to_string()
    test.button(key="show functional").click().run()
    assert "none: it raises" in test.table[1].value.loc["Time"].to_string()


def test_a_host_may_forbid_to_measure(monkeypatch):
    monkeypatch.setenv("ATTENTION_MEASURE", "off")
    test = opened(implementation="separate-maps", tokens="6", d_model="16", row_detail="costs")
    assert test.toggle(key="timed").disabled
    assert "measuring is off on this server" in test.table[1].value.to_string()


def code(test: AppTest) -> list[str]:
    """Every block of lines that is written as text of the page, as HTML without its colours."""
    blocks = [each.proto.body for each in test.get("html") if 'class="lines"' in each.proto.body]
    return [re.sub(r"</?span[^>]*>", "", block) for block in blocks]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ROWS)
def test_a_row_names_its_document_and_shows_its_wrong_lines(name):
    row, test = ROWS[name], opened(implementation=name, tokens="6", d_model="16")
    there, said = row.document.address, row.document.title_in_words
    assert f"Rewritten by us from {f'[{said}]({there})' if there else said}" in page_text(test)
    assert all(f"Fixed first: {slip.what}" in page_text(test) for slip in row.slips[:1])
    lines = difference(row)
    assert bool(lines) == bool(row.as_printed)
    if lines:
        shown = unescape(code(test)[0])
        assert all(
            f"{'−' if line.sign == '-' else '+'} {plain(line.code)}\n" in shown for line in lines if line.sign != " "
        )
        assert shown.count("<del>") == sum(line.sign == "-" for line in lines)


def test_colours_change_no_letter_of_the_code():
    lines = [line for row in ROWS.values() for line in source(row.as_printed or row.as_meant)]
    for line in lines:
        assert unescape(re.sub(r"</?span[^>]*>", "", color_line(line))) == line
    assert color_line('return x["a < b"], 7  # b') == (
        '<span class="keyword">return</span> x[<span class="string">&quot;a &lt; b&quot;</span>], '
        '<span class="number">7</span>  <span class="comment"># b</span>'
    )


def test_where_no_weight_differs_the_empty_picture_says_so():
    right = opened(implementation="fused", version="as printed")
    rounded, exact = (
        r"No visible difference of the weights: at most \de-1\d, which is rounding\.",
        r"The weights equal .* exactly\.",
    )
    assert re.search(f"{rounded}|{exact}", page_text(right)), "which of the two depends on the processor"
    wrong = opened(implementation="two-heads", version="as printed")
    assert "No visible difference" not in page_text(wrong) and not wrong.exception


def test_the_headline_counts_as_the_list_does_where_one_needs_two_heads():
    test = opened(heads="1", tokens="6", d_model="16")
    kinds = [said.split()[0] for said in overview(test).values()]
    wrong, raising = kinds.count("wrong"), kinds.count("error")
    assert raising == 2 and kinds.count("not") == 1, "one does not support a single head, corrected or not"
    told = (
        f"{wrong} of these 11 pieces of code give a wrong result without an error at these settings, "
        f"and {raising} raise one."
    )
    assert f"{told} One does not support these settings." in page_text(test)
    assert overview(test)["Fused query, key and value"] == "right heads and tokens mixed up: no effect here"
    unfit = page_text(opened(heads="1", tokens="6", d_model="16", implementation="two-heads"))
    assert "it does not support these settings" in unfit


def test_the_sidebar_shows_what_the_selected_code_has_in_place_of_a_mask_and_a_scale():
    found = ignored(Config(implementation="position-weights"))
    assert {name: found[name][0] for name in ("mask", "scale")} == {"mask": "none", "scale": "none"}
    assert ignored(Config(implementation="boolean-mask"))["mask"][0] == "always causal"
    assert ignored(Config(implementation="fused")) == {}
