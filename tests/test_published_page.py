"""The page of published implementations, driven: overview, one row in focus, find the bug."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attention.published import ROWS

PAGE = str(Path(__file__).parents[1] / "pages" / "implementations.py")


def opened(**query: str) -> AppTest:
    test = AppTest.from_file(PAGE, default_timeout=60)
    test.query_params.update(query)
    return test.run()


def said(test: AppTest) -> str:
    return "\n".join(text.value for text in [*test.markdown, *test.caption])


def overview(test: AppTest) -> dict[str, tuple[str, str]]:
    """Verdicts as meant and as printed, by row."""
    table = test.table[0].value
    plain = {name.strip("*"): i for i, name in enumerate(table["Implementation"])}
    strip = lambda cell: cell.partition("[")[2].removesuffix("]")  # noqa: E731
    return {name: (strip(table["As meant"][i]), strip(table["As printed"][i])) for name, i in plain.items()}


def test_the_overview_has_every_row_with_its_verdicts():
    found = overview(opened())
    assert list(found) == [row.name for row in ROWS.values()]
    assert {meant for meant, _ in found.values()} == {"agrees"}
    assert found["Fused query, key and value"][1] == "disagrees"
    assert found["Functional, boolean mask"][1] == "raises"
    assert found["Multi-head, separate maps"][1] == "agrees"


@pytest.mark.parametrize("name", ROWS)
def test_a_link_opens_a_row_with_its_formula_code_and_lesson(name):
    test, row = opened(implementation=name, tokens="6", d_model="16"), ROWS[name]
    assert not test.exception
    assert row.lesson in said(test)
    assert test.latex[0].value.strip().strip("$").strip() == row.formula
    function = row.as_printed or row.as_meant
    assert f"def {function.__name__}(" in test.code[0].value
    assert bool(test.error) == (overview(test)[row.name][1] == "raises")


def test_choosing_a_row_is_one_run_and_stands_in_the_link():
    test = opened(tokens="6", d_model="16")
    test.button_group(key="implementation").set_value("two-heads").run()
    assert ROWS["two-heads"].lesson in said(test)
    assert dict(test.query_params)["implementation"] == "two-heads"
    test.button_group(key="version").set_value("as meant").run()
    assert "def two_heads(" in test.code[0].value
    assert dict(test.query_params)["version"] == "as meant"


def test_a_row_that_nobody_knows_is_the_first():
    test = opened(implementation="[x](http://evil.example)", tokens="6", d_model="16")
    assert not test.exception
    assert "evil" not in said(test)
    assert ROWS["single-unscaled"].lesson in said(test)


def test_the_question_tells_nothing_and_the_answer_all():
    row = ROWS["fused"]
    asked = opened(bug="question", implementation="fused", tokens="6", d_model="16")
    assert not asked.table
    for told in (row.name, row.lesson, row.mistake, "disagrees", row.document):
        assert told not in said(asked)
    asked.button_group(key="bug").set_value("answer").run()
    assert row.mistake in said(asked) and row.lesson in said(asked)
    assert dict(asked.query_params)["bug"] == "answer"


def test_a_question_is_about_a_row_with_a_mistake():
    test = opened(bug="question", implementation="separate-maps", tokens="6", d_model="16")
    assert not test.exception
    assert len(test.button_group(key="implementation").options) == sum(bool(row.as_printed) for row in ROWS.values())


def test_a_setting_to_try_moves_the_knobs():
    test = opened(implementation="functional", tokens="6", d_model="16")
    assert "must match the size" in test.error[0].value
    test.button(key="try As many sequences as heads").click().run()
    assert not test.error
    assert overview(test)["Functional, boolean mask"] == ("agrees", "disagrees")
    assert test.slider(key="batch").value == test.slider(key="heads").value == 4
    test.button(key="try One sequence").click().run()
    assert overview(test)["Functional, boolean mask"] == ("agrees", "agrees")


def test_settings_that_no_row_knows_are_said_to_be_left_out():
    assert "alibi positions" in said(opened(positions="alibi", tokens="6", d_model="16")).replace("\\", "")


def test_time_is_measured_only_when_asked_for():
    test = opened(implementation="separate-maps", tokens="6", d_model="16")
    assert "Time" not in test.table[1].value.to_string()
    test.toggle(key="timed").set_value(True).run()
    assert "Over the reference's" in test.table[1].value.to_string()
