"""The Share dialog, embedded pages, presentations, and the head as an SVG."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from io import BytesIO
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from attention.charts import theme
from attention.charts.grid_svg import grid_svg
from attention.charts.head_map import MASKED, HeadMap
from attention.charts.head_svg import head_svg
from attention.charts.qr_code import LONGEST as LONGEST_CODE
from attention.charts.qr_code import QUIET, qr_svg
from attention.charts.thumbnail import rgb
from attention.config import Config
from attention.lessons.cards import gallery
from attention.ui.markdown import escape
from attention.ui.question_codec import CustomQuestion, encode
from attention.ui.session import present, share
from attention.ui.text import sharing as text

PAGES = Path(__file__).parents[1] / "pages"
BASE = "https://lab.example/heads"
SVG = "{http://www.w3.org/2000/svg}"


def map_of(cells: int, tile: int = 1, texts: tuple[str, ...] = (), first: int = 0) -> HeadMap:
    pixels = np.zeros((cells, cells, 3), np.uint8)
    return HeadMap(pixels, tile, (first, first), texts, texts, first + cells * tile - 1, ())


def test_a_head_as_an_svg_has_one_picture_and_its_texts_as_text():
    hostile = ("<script>", "&amp;", "\x00\ufffe", "wordswithoutanend" * 3)
    root = ElementTree.fromstring(head_svg('Head "3"', ["a line " * 20], map_of(4, texts=hostile)))
    assert len(root.findall(f"{SVG}image")) == 1
    found = [element.text for element in root.findall(f"{SVG}text")]
    assert found[0] == 'Head "3"'
    assert found[1:4] == ["<script>", "&amp;", "\ufffd\ufffd"]
    assert len(found[4] or "") == 13
    assert all(float(element.get("font-size", 0)) >= 20 for element in root.findall(f"{SVG}text"))


@pytest.mark.parametrize("colors", ["light", "dark"])
def test_masked_cells_of_a_file_leave_the_hatching_of_the_app_visible(colors):
    pixels = np.array([[[1, 2, 3], rgb(MASKED)]] * 2, np.uint8)
    root = ElementTree.fromstring(head_svg("Head", [], HeadMap(pixels, 1, (0, 0), (), (), -1, ()), colors))
    pattern = root.find(f".//{SVG}pattern")
    assert pattern is not None
    neutrals = theme.NEUTRALS[colors]
    assert [part.get("fill") or part.get("stroke") for part in pattern] == [neutrals["masked"], neutrals["hatch"]]
    (ground,) = [part for part in root.findall(f"{SVG}rect") if part.get("fill") == f"url(#{pattern.get('id')})"]
    (image,) = root.findall(f"{SVG}image")
    assert [ground.get(name) for name in ("x", "y", "width", "height")] == [
        image.get(name) for name in ("x", "y", "width", "height")
    ]
    drawn = Image.open(BytesIO(b64decode((image.get("href") or "").partition(",")[2])))
    assert np.asarray(drawn)[..., 3].tolist() == [[255, 0]] * 2


@pytest.mark.parametrize("heads", [2, 7, 64])
def test_all_heads_are_one_svg_and_overlap_nowhere(heads):
    root = ElementTree.fromstring(grid_svg("Heads", ["a line"], [map_of(4)] * heads))
    boxes = [
        [float(image.get(name, 0)) for name in ("x", "y", "width", "height")] for image in root.findall(f"{SVG}image")
    ]
    assert len(boxes) == heads
    assert [each.text for each in root.findall(f"{SVG}text")] == ["Heads", *map(str, range(heads)), "a line"]
    for (x, y, wide, high), (right, below, *_) in combinations(boxes, 2):
        assert x + wide < right or y + high < below or right + wide < x
    assert max(y + high for _, y, _, high in boxes) < float(root.get("height", 0))
    assert max(x + wide for x, _, wide, _ in boxes) < float(root.get("width", 0))


@pytest.mark.parametrize(("cells", "tile", "first"), [(256, 4, 0), (200, 1, 1000), (1, 1, 0), (40, 1, 3)])
def test_a_head_without_room_for_its_tokens_has_round_numbers(cells, tile, first):
    root = ElementTree.fromstring(head_svg("Head", [], map_of(cells, tile, first=first)))
    numbers = [int((element.text or "").replace(",", "")) for element in root.findall(f"{SVG}text")[1:]]
    half = numbers[: len(numbers) // 2]
    assert numbers == half * 2
    assert all(first <= number < first + cells * tile for number in half)
    steps = {after - before for before, after in pairwise(half)}
    assert all(f"{step}"[0] in "125" for step in steps)
    assert len(half) <= 10


@pytest.mark.parametrize(
    ("site", "allowed", "may"),
    [
        ("https://school.example/course", ("self",), False),
        ("https://school.example/course", ("self", "https://school.example"), True),
        ("school.example", ("https://school.example",), True),
        ("https://SCHOOL.example:443", ("https://school.example",), True),
        ("https://school.example:8443", ("https://school.example",), False),
        ("https://school.example:8443", ("https://school.example:*",), True),
        ("https://a.school.example", ("https://*.school.example",), True),
        ("https://school.example", ("https://*.school.example",), False),
        ("https://school.example.evil.example", ("https://school.example",), False),
        ("http://school.example", ("https://school.example",), False),
        ("https://school.example", ("http://school.example",), True),
        ("https://lab.example/notes", ("self",), True),
        ("https://lab.example", (), False),
        ("javascript:alert(1)", ("self",), False),
        ("https://[", ("self",), False),
        ("https://*.school.example", ("https://*.school.example",), False),
        ("", ("self",), False),
    ],
)
def test_the_dialog_knows_which_pages_may_embed_another_as_a_browser_does(site, allowed, may):
    assert share.may_frame(site, allowed, BASE) is may


FINDER = ("#######", "#.....#", "#.###.#", "#.###.#", "#.###.#", "#.....#", "#######")


def modules(svg: str) -> list[str]:
    """The modules of a QR code that is drawn as one path of horizontal lines, with the white around it."""
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    side = int((root.get("viewBox") or "").split()[-1])
    found = [["."] * side for _ in range(side)]
    (lines,) = [path.get("d") or "" for path in root if path.get("stroke")]
    x = y = 0.0
    for step, numbers in re.findall(r"([Mmh])([^Mmh]*)", lines):
        moved = [float(number) for number in re.findall(r"-?[0-9]*\.?[0-9]+", numbers)]
        if step == "h":
            for at in range(int(moved[0])):
                found[int(y)][int(x) + at] = "#"
            x += moved[0]
        else:
            x, y = moved if step == "M" else (x + moved[0], y + moved[1])
    return ["".join(row) for row in found]


@pytest.mark.parametrize("link", [BASE, f"{BASE}?text=Straße", f"{BASE}?{'x' * (LONGEST_CODE - len(BASE) - 1)}"])
def test_a_qr_code_has_its_marks_and_white_around_it(link):
    rows = modules(qr_svg(link))
    inner = [row[QUIET:-QUIET] for row in rows[QUIET:-QUIET]]
    assert all(set(row) == {"."} for row in rows[:QUIET] + rows[-QUIET:])
    assert all(set(row[:QUIET] + row[-QUIET:]) == {"."} for row in rows)
    corners = [[row[:7] for row in inner[:7]], [row[-7:] for row in inner[:7]], [row[:7] for row in inner[-7:]]]
    assert [tuple(corner) for corner in corners] == [FINDER] * 3
    assert len(inner) % 4 == 1


def test_links_that_are_empty_or_too_long_for_a_phone_have_no_qr_code():
    assert [qr_svg("") or qr_svg("ä" * (LONGEST_CODE // 2 + 1))] == [""]
    assert [share.qr_code("")] == [""]
    assert qr_svg(BASE) != qr_svg(BASE + "?")


def open_page(page: str = "heads", **query: str) -> AppTest:
    test = AppTest.from_file(str(PAGES / f"{page}.py"), default_timeout=60)
    test.query_params.update(query)
    return test.run()


def words(test: AppTest) -> str:
    return " ".join([element.value for element in [*test.markdown, *test.caption, *test.code]])


def test_every_page_opens_the_dialog_with_its_link_and_the_code_that_embeds_it():
    test = open_page(v="4", mask="window", head="3")
    test.session_state["share_site"] = "https://school.example"
    test.button("open_share").click().run()
    assert not test.exception
    link, code, setting = (element.value for element in test.code)
    assert setting == "ATTENTION_FRAMES=self,https://school.example"
    assert link.endswith("?v=4&mask=window&head=3")
    assert 'embed=true"' in code
    assert f"{len(link)} characters" in words(test)
    files = [each.proto.json for each in test.get("bidi_component") if "share_" in each.proto.id]
    assert [json.loads(each)["what"] for each in files] == [text.HEAD_FILE, text.GRID_FILE, text.CHART_FILE]
    assert "may not embed" in test.warning[0].value


def test_a_presentation_shows_one_head_and_leaves_to_the_page():
    test = open_page(v="4", view="present", head="3", heads="4")
    images = [element.proto.body for element in test.main.get("html")]
    assert any('class="presentation' in body for body in images)
    assert test.button("present 1").disabled  # it is the last head
    test.button("present -1").click().run()
    assert test.query_params["head"] in ("2", ["2"])
    test.button("present leave").click().run()
    assert "view" not in test.query_params
    assert not any('class="presentation' in element.proto.body for element in test.main.get("html"))


def test_a_presentation_gives_no_answer_away():
    test = open_page(v="4", view="present", predict="row")
    assert not any('class="presentation' in element.proto.body for element in test.main.get("html"))
    assert "Predict first" in words(test)


@pytest.mark.parametrize("hides", [False, True])
def test_a_question_is_presented_and_its_answer_waits_to_be_revealed(hides):
    asked = CustomQuestion("Which word?", ("boat", "*river*"), "*river*", "Because.", hides)
    test = open_page(v="4", view="present", ask=encode(asked))
    pictures = lambda: [body for body in (each.proto.body for each in test.main.get("html")) if "<img" in body]  # noqa: E731
    assert "**Which word?**" in words(test) and "**B**  \\*river\\*" in words(test) and bool(pictures()) != hides
    assert "Because" not in words(test) and ":green[" not in words(test)
    test.button("present reveal").click().run()
    assert "Because" in words(test) and ":green[:material/check_circle: **B**" in words(test) and len(pictures()) == 1
    test.button("present reveal").click().run()
    assert "Because" not in words(test)


def test_the_question_of_a_card_is_presented():
    card = next(card for card in gallery().values() if card.example.page == "heads")
    test = open_page(**card.query, view="present")
    assert f"**{escape(card.example.asks)}**" in words(test) and card.example.why not in words(test)


@pytest.mark.parametrize("said", [None, 7, {"move": 1}, {"move": {"by": 10**9}}, {"move": {"by": "1"}}, {"move": {}}])
def test_a_key_that_no_browser_sends_moves_nothing(monkeypatch, said):
    monkeypatch.setattr(present, "widgets", lambda: {"present": said})
    present.move_head(lambda **_: pytest.fail("moved"))


def test_an_embedded_page_shows_its_picture_and_the_way_to_the_whole_one(monkeypatch):
    monkeypatch.setattr(present, "is_embedded", lambda: True)
    test = open_page(v="4", mask="window")
    assert not test.exception
    assert f"[{text.OPEN_IN_LAB}](./heads?v=4&mask=window)" in words(test)
    assert "Head statistics" not in words(test)
    assert not test.main.expander


PICTURES = ("bidi_component", "plotly_chart", "vega_lite_chart", "imgs", "table")
EMBEDDED = {
    "heads": "bidi_component",
    "softmax": "bidi_component",
    "steps": "bidi_component",
    "masks": "bidi_component",
    "model": "bidi_component",
    "training": "bidi_component",
    "start": "bidi_component",
    "layers": "vega_lite_chart",
    "timing": "plotly_chart",
    "implementations": "bidi_component",
    "examples": "",
    "your_data": "",
}
CONTROLS = (
    "expander",
    "popover",
    "slider",
    "selectbox",
    "number_input",
    "text_input",
    "download_button",
    "file_uploader",
)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("page", "picture"), EMBEDDED.items())
def test_an_embedded_page_is_one_picture_without_controls(page, picture, monkeypatch):
    monkeypatch.setattr(present, "is_embedded", lambda: True)
    test = open_page(page)
    assert not test.exception
    assert [kind for kind in PICTURES for _ in test.main.get(kind)] == [picture] * bool(picture)
    assert [kind for kind in CONTROLS for _ in test.main.get(kind)] == []
    assert f"[{text.OPEN_IN_LAB}](./{page if page != 'start' else ''}" in words(test)


def test_an_embedded_page_says_where_its_weights_come_from_unless_that_is_asked(monkeypatch):
    monkeypatch.setattr(present, "is_embedded", lambda: True)
    assert "Hand-built, not learned · window mask" in words(open_page(v="4", mask="window")).replace("\\", "")
    assert "not learned" not in words(open_page(v="4", mask="window", predict="mask"))


def test_a_page_without_a_picture_offers_no_code_that_embeds_it():
    test = open_page("examples")
    test.button("open_share").click().run()
    assert text.NO_EMBED in words(test) and "iframe" not in words(test)


def test_only_pages_of_a_head_are_presented(monkeypatch):
    monkeypatch.setattr(present, "session", lambda: type("Session", (), {"page": "implementations"}))
    assert not present.is_presented(Config(view="present"))
