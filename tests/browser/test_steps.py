"""The Steps page in a real browser: pointing lights what `lit` says, keys and clicks move, steps turn."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from urllib.parse import parse_qsl, urlencode

import pytest
import torch
from playwright.sync_api import expect
from torch import Tensor

from attention.codec import from_query
from attention.config import Config
from attention.pinned import pin
from attention.steps.plan import by_name
from attention.steps.values import values
from attention.wire.matrix_cells import matrix
from tests.browser.conftest import SECONDS
from tests.highlight import Box, highlighted_cells

MATRICES = '[data-testid="matrices"]'
TRIES = 6  # at pointing to a cell
SMALL = "tokens=5&heads=2&d_model=8"


def painted_matrices(tab, link: str):
    """The matrices, when they show the config of this link and the page is at rest: a key may be lost before."""
    tab.page.locator(f"{MATRICES}[data-painted]").wait_for()
    tab.page.wait_for_function(
        """([matrices, link]) => {
            const painted = document.querySelector(matrices)?.dataset.painted;
            const sorted = (text) => [...new URLSearchParams(text)].filter(([name]) => name !== "v").sort().join();
            return painted !== undefined && sorted(painted) === sorted(link);
        }""",
        arg=[MATRICES, link],
    )
    tab.quiet()
    return tab.page.locator(MATRICES)


def picture(tab, name: str):
    return tab.page.locator(f'{MATRICES} figure[data-name="{name}"] .picture')


def point(tab, name: str, row: float, column: float, shape: tuple[int, int], click: bool = False) -> None:
    """Puts the pointer onto the middle of a cell of a matrix of this shape; the page is at rest, so nobody waits for it."""
    box = picture(tab, name).bounding_box()
    place = {"x": box["width"] * (column + 0.5) / shape[1], "y": box["height"] * (row + 0.5) / shape[0]}
    picture(tab, name).click(position=place) if click else picture(tab, name).hover(position=place, force=True)


def highlighted(tab) -> tuple[list, dict[str, set[Box]]]:
    """The cell that is shown and what is lit for it."""
    found = tab.page.locator(MATRICES).evaluate("(element) => ({ ...element.dataset })")
    boxes = {name: {Box(*map(tuple, box)) for box in all_} for name, all_ in json.loads(found["lit"])}
    return json.loads(found["cell"]), boxes


def coded_values(value: Tensor) -> Tensor:
    """What the browser gets of values: 11 bits of each."""
    sent = matrix(value)
    return torch.ldexp(sent.codes.float(), torch.tensor(sent.exponent))


def wait_for_cell(tab, *cell, timeout: float = SECONDS) -> None:
    text = json.dumps(cell, separators=(",", ":"))
    expect(tab.page.locator(MATRICES)).to_have_attribute("data-cell", text, timeout=timeout)


def hover_cell(tab, name: str, row: int, column: int, shape: tuple[int, int]) -> None:
    """Points at a cell until that is heard: what is still laid out moves away from below the pointer."""
    for _ in range(TRIES):
        point(tab, name, row, column, shape)
        with suppress(AssertionError):
            return wait_for_cell(tab, name, 0, row, column, timeout=SECONDS / TRIES)
        tab.page.mouse.move(0, 0)
    return wait_for_cell(tab, name, 0, row, column)


def test_a_difference_names_the_numbers_of_both_sides(visit):
    against = pin(Config(tokens=5, heads=2, d_model=8, mask="full"))
    tab = visit(f"steps?{SMALL}&step=mask&{urlencode({'against': against})}")
    tab.page.locator(f"{MATRICES}[data-painted]").wait_for()
    tab.quiet()
    hover_cell(tab, "mask", 0, 3, (5, 5))
    expect(tab.page.locator(f"{MATRICES} .cell")).to_contain_text("B − A = −1")
    expect(tab.page.locator(f"{MATRICES} .arithmetic")).to_have_text(re.compile("^A: 1.* · B: 0"))


CASES = [
    "mask=window&span=2&kv_heads=1",
    "keys=11&positions=rotary&mask=prefix",
    "mask=padding&span=5&positions=alibi&softcap=2.0",
]


@pytest.mark.parametrize("more", CASES)
def test_what_is_lit_is_what_the_core_says(visit, more):
    link = f"{SMALL}&{more}&steps=all"
    config, _ = from_query(dict(parse_qsl(link)))
    tab = visit(f"steps?{link}", size=(1280, 1300))
    painted_matrices(tab, link)
    for name, step in by_name(config).items():
        shape = step.shape[-2:]
        for row, column in {(0, 0), (shape[0] - 1, shape[1] - 1), (shape[0] // 2, 1 % shape[1])}:
            hover_cell(tab, name, row, column, shape)
            assert highlighted(tab)[1] == {
                key: set(boxes) for key, boxes in highlighted_cells(config, name, row, column).items()
            }


def three(value) -> str:
    """A number with three digits, as the page prints it."""
    return f"{float(f'{float(value):.3g}'):g}".replace("-", "−")


def printed(value) -> float:
    return float(three(value).replace("−", "-"))


def product(one, other) -> str:
    """A product as the page prints it: with a negative second factor in brackets."""
    second = three(other)
    return f"{three(one)} · {f'({second})' if second.startswith('−') else second}"


def sign(told, value) -> str:
    """What stands before a result: ≈ if what is printed gives another number."""
    return "=" if three(told) == three(value) else "≈"


def result(told, value) -> str:
    """The result of a sum, with a note if what is printed gives another number."""
    equal = sign(told, value)
    return f"{equal} {three(value)}{'' if equal == '=' else ' (from unrounded numbers)'}"


@pytest.mark.extended
def test_a_weight_is_written_out_with_the_exponentials_of_its_row(visit):
    link = "tokens=4&heads=2&d_model=8&projections=independent&step=weights"
    tab = visit(f"steps?{link}")
    painted_matrices(tab, link)
    found = values(Config(tokens=4, heads=2, d_model=8, projections="independent"))
    logits, weights = (coded_values(found[name])[0] for name in ("logits", "weights"))
    line = tab.page.locator(".arithmetic")
    for row, column in ((2, 0), (3, 1)):
        point(tab, "weights", row, column, (4, 4))
        wait_for_cell(tab, "weights", 0, row, column)
        terms = [math.exp(printed(logit)) for logit in logits[row, : row + 1]]
        text = re.sub(r"(\.\d*?)0+\b", r"\1", line.inner_text())  # without zeros at the end, as `three` writes numbers
        sum_ = " + ".join(f"exp({three(logit)})" for logit in logits[row, : row + 1])
        equal = sign(terms[column] / sum(terms), weights[row, column])
        assert text == f"weight = exp({three(logits[row, column])}) / ({sum_}) {equal} {three(weights[row, column])}"


def test_pointing_writes_out_the_arithmetic_and_asks_nobody(visit):
    link = "tokens=4&heads=2&d_model=4&step=scores"
    tab = visit(f"steps?{link}")
    painted_matrices(tab, link)
    found, sent = values(Config(tokens=4, heads=2, d_model=4)), len(tab.sent)
    q, k, score = (coded_values(found[name])[0][at] for name, at in (("q", 3), ("k", 1), ("scores", (3, 1))))

    point(tab, "scores", 3, 1, (4, 4))
    wait_for_cell(tab, "scores", 0, 3, 1)
    sum_ = f"{product(q[0], k[0])} + {product(q[1], k[1])}".replace("+ −", "− ")
    line = tab.page.locator(".arithmetic")
    end = result(sum(printed(a) * printed(b) for a, b in zip(q, k, strict=True)), score)
    expect(line).to_have_text(f"score = q · k = {sum_} {end}")
    expect(line).to_have_attribute("title", f"score[0, 3, 1] = q[0, 3] · k[0, 1] = {sum_} {end}")
    most = int((q * k).abs().argmax())
    expect(line.locator("b")).to_have_text(product(q[most], k[most]).removeprefix("−"))
    expect(tab.page.locator(f"{MATRICES} .from")).to_have_text("Computed from 2 cells of q, 2 cells of k.")
    assert len(tab.sent) == sent


@pytest.mark.extended
@pytest.mark.parametrize(("width", "others"), [(8, 0), (12, 8)])
def test_a_sum_is_written_out_or_its_largest_products_are(visit, width, others):
    link = f"tokens=4&heads=2&d_model={width}&projections=independent&step=V"
    tab = visit(f"steps?{link}")
    painted_matrices(tab, link)
    found = values(Config(tokens=4, heads=2, d_model=width, projections="independent"))
    x, w, v = (coded_values(found[name][None])[0] for name in ("x", "W_v", "V"))
    point(tab, "V", 2, 1, (4, width))
    wait_for_cell(tab, "V", 0, 2, 1)
    pairs = list(zip(x[2], w[:, 1], strict=True))
    if others:
        pairs = sorted(pairs, key=lambda pair: -abs(pair[0] * pair[1]))
    shown = pairs[: len(pairs) - others]
    rest = sum(a * b for a, b in pairs[len(shown) :])
    sum_ = " + ".join(product(*pair) for pair in shown) + (f" + {three(rest)} (the other {others})" if others else "")
    end = result(sum(printed(a) * printed(b) for a, b in shown) + (printed(rest) if others else 0), v[2, 1])
    line = re.sub(r"(\.\d*?)0+\b", r"\1", tab.page.locator(".arithmetic").inner_text()).replace(". ", " ")
    assert line == f"V = x · W_v = {sum_.replace('+ −', '− ')} {end}"


def test_keys_move_the_cell_turn_the_step_and_a_click_pins(visit):
    tab = visit(f"steps?{SMALL}&step=weights", theme="dark")
    painted_matrices(tab, f"{SMALL}&step=weights")
    tab.quiet()
    point(tab, "weights", 2, 1, (5, 5), click=True)
    tab.page.mouse.move(2, 2)
    wait_for_cell(tab, "weights", 0, 2, 1)
    painted_matrices(tab, f"{SMALL}&step=weights&query=2")
    panels = tab.page.locator(f"{MATRICES} .panels")
    panels.focus()
    for key in ("ArrowUp", "ArrowLeft", "]"):
        panels.press(key)
    wait_for_cell(tab, "weights", 1, 1, 0)
    expect(tab.page.locator(f"{MATRICES} .live")).to_contain_text("weights =")
    panels.press("Enter")
    painted_matrices(tab, f"{SMALL}&step=weights&query=1&head=1")
    panels.press("PageDown")
    painted_matrices(tab, f"{SMALL}&step=context&query=1&head=1")
    expect(tab.page.locator(f"{MATRICES} figure")).to_have_count(3)


def test_a_name_in_the_overview_opens_its_step(visit):
    tab = visit(f"steps?{SMALL}&steps=all", size=(390, 844))
    painted_matrices(tab, f"{SMALL}&steps=all")
    tab.page.locator(f"{MATRICES} figure[data-name=joined] button").click()
    painted_matrices(tab, f"{SMALL}&step=joined")
    wide = tab.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390
    tab.page.get_by_role("button", name="Next: output").click()
    painted_matrices(tab, f"{SMALL}&step=output")
    tab.page.locator(f"{MATRICES} figure[data-name=W_o] button").click()
    painted_matrices(tab, f"{SMALL}&step=W_o")
    tab.page.get_by_role("button", name="Previous part").click()
    painted_matrices(tab, f"{SMALL}&step=joined")


def test_a_pooled_matrix_names_the_cell_that_it_shows(visit):
    tab = visit("steps?tokens=1024&heads=1&d_model=64&step=weights&mask=full")
    painted_matrices(tab, "tokens=1024&heads=1&d_model=64&step=weights&mask=full")
    point(tab, "weights", 500, 500, (1024, 1024))
    expect(tab.page.locator(f"{MATRICES} .cell")).to_contain_text("the largest in magnitude of 64")
    _, head, row, column = highlighted(tab)[0]
    weight = float(values(Config(tokens=1024, heads=1, d_model=64, mask="full"))["weights"][head, row, column])
    text = tab.page.locator(f"{MATRICES} .cell").inner_text().split(" = ")[1].split(",")[0]
    assert float(text) == pytest.approx(weight, rel=5e-3)
    assert highlighted(tab)[1] == {"scaled": {Box((0,), (row,), tuple(range(1024)))}}


@pytest.mark.extended
def test_on_a_phone_narrow_matrices_are_beside_each_other_in_the_first_screen(visit):
    link = "tokens=4&heads=2&d_model=4&projections=independent&seed=6&step=weights"
    tab = visit(f"steps?{link}", size=(390, 844))
    painted_matrices(tab, link)
    for one, other in (("logits", "weights"), ("scores", "scaled")):
        if one == "scores":
            tab.page.locator(f"{MATRICES} .pass button", has_text="scaled").click()
            painted_matrices(tab, link.replace("weights", "scaled"))
        a, b = (picture(tab, name).bounding_box() for name in (one, other))
        assert a["y"] == b["y"] and a["x"] + a["width"] < b["x"] and b["x"] + b["width"] <= 390
        assert tab.page.locator(f'{MATRICES} figure[data-name="{other}"] .numbers span').count() == 16
        assert tab.page.locator(f"{MATRICES} .pass").bounding_box()["y"] > b["y"] + b["height"]
    assert b["y"] + b["height"] <= 844


def test_the_token_vectors_are_shown_with_what_they_become_row_by_row(visit):
    tab = visit("steps")
    tab.page.locator(f"{MATRICES}[data-painted]").wait_for()
    tab.quiet()
    expect(tab.page.locator(f"{MATRICES} .arithmetic")).to_have_text("Q = x · W_q, K = x · W_k, V = x · W_v")
    assert len({round(picture(tab, name).bounding_box()["y"]) for name in ("x", "Q", "K", "V")}) == 1, "one row"
    hover_cell(tab, "x", 1, 2, (4, 4))
    row = {Box((0,), (1,), (0, 1, 2, 3))}
    assert highlighted(tab)[1] == dict.fromkeys(("x", "Q", "K", "V"), row)
    hover_cell(tab, "K", 2, 1, (4, 4))
    assert highlighted(tab)[1] == {"x": {Box((0,), (2,), (0, 1, 2, 3))}}
    for name in ("Q", "K", "V", "scores"):  # one click per part
        tab.page.locator(f"{MATRICES} .next").click()
        expect(tab.page.locator(f"{MATRICES} .where")).to_contain_text(f"of 12: {name}")
        tab.quiet()
    expect(tab.page.locator(f'{MATRICES} figure[data-name="k"] .axes')).to_have_text(re.compile("^columns 0–1 of K: 4"))


@pytest.mark.extended
def test_a_value_is_that_of_a_token_and_the_mask_goes_into_the_logits_only(visit):
    tab = visit(f"steps?{SMALL}&step=V")
    painted_matrices(tab, f"{SMALL}&step=V")
    expect(tab.page.locator(f"{MATRICES} .cell")).to_have_text(
        re.compile(r"^V = [−0-9.]+: token “[^”]+” \(0\), column 0")
    )
    tab.page.locator(f"{MATRICES} .pass button", has_text="mask").click()
    painted_matrices(tab, f"{SMALL}&step=mask")
    says = "Given, not computed from the scores: where it is 0, the logit becomes −∞."
    expect(tab.page.locator(f"{MATRICES} .from")).to_have_text(says)
    arrows = """(pass) => ["scale", "mask", "logits"].map((place) => {
        const { left, right } = pass.querySelector(`button.at-${place}`).getBoundingClientRect();
        const way = pass.querySelector(`.arrow.at-${place}`).getBoundingClientRect();
        return { left, right, way: [way.left, way.right] };
    })"""
    scale, mask, logits = tab.page.locator(f"{MATRICES} .pass").evaluate(arrows)
    assert scale["right"] < mask["way"][0] < mask["left"] and mask["right"] < mask["way"][1] < logits["left"]
    assert mask["right"] < logits["way"][0] < logits["way"][1] < logits["left"]
