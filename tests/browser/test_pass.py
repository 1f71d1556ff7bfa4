"""The diagram above the matrices, the play button, and what is written on the matrices, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from attention.config import Config
from attention.examples import EXAMPLES
from attention.steps.parts import parts
from attention.steps.plan import by_name
from attention.steps.values import values
from tests.browser.conftest import EDITION, open_page
from tests.browser.test_steps import MATRICES, SMALL, painted_matrices
from tests.samples import sample

TINY = {"tokens": 2, "heads": 1, "d_model": 2, "mask": "full"}
LINK = "&".join(f"{name}={value}" for name, value in TINY.items())


def button(tab, name: str):
    return tab.page.locator(MATRICES).get_by_role("button", name=name, exact=True)


def node(tab, name: str):
    return tab.page.locator(f"{MATRICES} .pass button", has_text=re.compile(f"^{re.escape(name)}$"))


def where(tab):
    return tab.page.locator(f"{MATRICES} .where")


def test_it_plays_from_step_to_step_and_ends_with_the_last(visit):
    names = [part.leads for part in parts(Config(**TINY))]
    tab = visit(f"steps?{LINK}&step={names[-3]}")
    painted_matrices(tab, f"{LINK}&step={names[-3]}")
    button(tab, "Play").click()
    expect(button(tab, "Pause")).to_be_visible()
    for name in names[-2:]:
        painted_matrices(tab, f"{LINK}&step={name}")
    expect(where(tab)).to_have_text("Part 10 of 10: output")
    expect(tab.page.locator(".st-key-finding")).to_contain_text("is a row of 2 numbers again")
    expect(tab.page.locator(f"{MATRICES} .group.current")).to_have_text("Mix values")
    expect(button(tab, "Play again")).to_be_visible()
    expect(button(tab, "Next")).to_have_attribute("aria-disabled", "true")
    button(tab, "Play again").click()
    painted_matrices(tab, LINK)
    expect(where(tab)).to_have_text("Part 1 of 10: x")
    expect(button(tab, "Pause")).to_be_visible()


def test_a_pause_and_a_click_elsewhere_end_the_play_and_so_does_leaving(visit):
    tab = visit(f"steps?{LINK}&step=Q")
    painted_matrices(tab, f"{LINK}&step=Q")
    button(tab, "Play").click()
    button(tab, "Pause").click()
    expect(button(tab, "Play")).to_be_visible()
    button(tab, "Play").click()
    node(tab, "weights").click()
    painted_matrices(tab, f"{LINK}&step=weights")
    expect(button(tab, "Play")).to_be_visible()
    button(tab, "Play").click()
    painted_matrices(tab, f"{LINK}&step=context")
    open_page(tab.page, "Masks")
    tab.page.get_by_test_id("mask-gallery").wait_for()
    tab.still()
    sent = len(tab.sent)
    tab.page.wait_for_timeout(3500)  # longer than a step stays
    assert len(tab.sent) == sent and tab.link.get("step") == "context"


@pytest.mark.parametrize("size", sample([[1280, 800], [390, 844]], lambda size: size[0] < 400))
def test_every_part_leads_to_its_step_and_says_where_one_is(visit, theme, size):
    config = Config(tokens=5, heads=2, d_model=8)
    tab = visit(f"steps?{SMALL}&step=Q", size=size, theme=theme)
    painted_matrices(tab, f"{SMALL}&step=Q")
    expect(node(tab, "Q")).to_have_attribute("aria-current", "step")
    boxes = []
    for part in parts(config):
        here = node(tab, part.name)
        expect(here).to_have_accessible_name(f"{part.name}: {part.title}")
        box = here.bounding_box()
        assert box["height"] >= 24 and box["width"] >= 24 and box["x"] >= 0 and box["x"] + box["width"] <= size[0]
        assert not [other for other in boxes if overlap(box, other)]
        boxes.append(box)
    for name in ("context", "logits"):
        node(tab, name).click()
        part = next(each for each in parts(config) if each.name == name)
        painted_matrices(tab, f"{SMALL}&step={part.leads}")
        expect(tab.page.locator(f"{MATRICES} .pass [aria-current]")).to_have_text(name)
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= size[0]


def overlap(a: dict, b: dict) -> bool:
    return (
        a["x"] < b["x"] + b["width"]
        and b["x"] < a["x"] + a["width"]
        and a["y"] < b["y"] + b["height"]
        and b["y"] < a["y"] + a["height"]
    )


def test_keys_go_from_part_to_part_and_lead_there(visit):
    tab = visit(f"steps?{SMALL}&step=Q")
    painted_matrices(tab, f"{SMALL}&step=Q")
    assert tab.page.locator(f'{MATRICES} .pass button[tabindex="0"]').count() == 1
    node(tab, "Q").focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowRight"):
        tab.page.keyboard.press(key)
    expect(node(tab, "scores")).to_be_focused()
    tab.page.keyboard.press("Enter")
    painted_matrices(tab, f"{SMALL}&step=scores")
    expect(node(tab, "scores")).to_be_focused()
    tab.page.keyboard.press("PageDown")
    painted_matrices(tab, f"{SMALL}&step=scaled")
    tab.page.keyboard.press("End")
    expect(node(tab, "output")).to_be_focused()


def printed_numbers(tab, name: str) -> list[str]:
    return tab.page.locator(f'{MATRICES} figure[data-name="{name}"] .numbers span').all_inner_texts()


def brief(value: float) -> str:
    """A number as it stands in a cell: two decimals, one from ten on."""
    if value == 0:
        return "0"
    text = f"{value:.2f}" if abs(value) < 9.995 else f"{value:.1f}"
    return (text if re.search("[1-9]", text) else text.replace("-", "")).replace("-", "−")


def near(shown: str, value: float) -> bool:
    """Is it that number, but for a last digit that halves may turn?"""
    return abs(float(shown.replace("−", "-")) - float(brief(value).replace("−", "-"))) < 0.011 * max(1, abs(value))


def test_the_numbers_in_the_cells_are_those_of_the_pass(visit, theme):
    tab = visit(f"steps?{EDITION}", theme=theme)
    painted_matrices(tab, "")
    assert printed_numbers(tab, "x") == printed_numbers(tab, "Q") == []
    tab.page.get_by_role("button", name="Load a 4-word example").click()
    small = "tokens=4&heads=2&d_model=8&head=1"
    painted_matrices(tab, small)
    found, config = values(EXAMPLES["small"].config), EXAMPLES["small"].config
    for step in ("Q", "scores", "logits", "context", "output"):
        node(tab, next(part.name for part in parts(config) if part.leads == step)).click()
        painted_matrices(tab, f"{small}&step={step}")
        for name in (step, *(source.name for source in by_name(config)[step].sources)):
            matrix = found[name] if found[name].ndim == 2 else found[name][1]
            shown = printed_numbers(tab, name)
            assert len(shown) == matrix.numel(), name
            for text, value in zip(shown, matrix.flatten().tolist(), strict=True):
                assert text == "−∞" if value == float("-inf") else near(text, value), (name, text, value)


def test_tokens_stand_beside_their_rows_and_above_their_columns(visit):
    tab = visit("steps?step=scores")
    painted_matrices(tab, "step=scores")
    words = Config().text.split()
    for name, sides in {"q": ["rows"], "k": ["rows"], "scores": ["rows", "columns"]}.items():
        figure = tab.page.locator(f'{MATRICES} figure[data-name="{name}"]')
        picture = figure.locator(".picture").bounding_box()
        for side in sides:
            labels = figure.locator(f".{side} span")
            assert labels.all_inner_texts() == words
            box, axis = labels.nth(7).bounding_box(), "yx"[side == "columns"]
            size = picture["height" if axis == "y" else "width"] / len(words)
            middle = box[axis] + box["height" if axis == "y" else "width"] / 2
            assert middle == pytest.approx(picture[axis] + 7.5 * size, abs=2)
    assert tab.page.locator(f'{MATRICES} figure[data-name="q"] .columns span').count() == 0
    tops = [tab.page.locator(f'{MATRICES} figure[data-name="{name}"] .picture').bounding_box()["y"] for name in "qk"]
    assert len({*tops, tab.page.locator(f'{MATRICES} figure[data-name="scores"] .picture').bounding_box()["y"]}) == 1
