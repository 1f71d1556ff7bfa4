"""What a link shows before it is opened: its description, its picture, and the head of the page's HTML."""

from __future__ import annotations

import gzip
import io
import json
from urllib.parse import quote, urlencode

import numpy as np
import pytest
import torch
from PIL import Image

from attention.charts import theme
from attention.charts.head_map import MASKED, HeadMap, color_cells, color_changes
from attention.charts.preview import Card, draw_card
from attention.charts.qr_code import LONGEST as LONGEST_CODE
from attention.charts.qr_code import qr_svg
from attention.charts.thumbnail import rgb
from attention.charts.timing_look import COPY, CPU, GPU
from attention.codec import link
from attention.config import Config
from attention.imported.registry import register
from attention.lessons.cards import gallery
from attention.pinned import pin
from attention.published import ROWS, hunt_name
from attention.published.hunts import BUGS
from attention.recorded.shipped import SMOLLM2
from attention.serving import previews
from attention.serving.previews import AT_ONCE, LONGEST, Previews
from attention.serving.settings import Settings
from attention.story.head import SENTENCES
from attention.ui import preview, results
from attention.ui.budget import UNDER_WAY
from attention.ui.question_codec import CustomQuestion, encode
from attention.ui.text import sharing as text
from tests import example_uploads
from tests.test_serving import request, response_of

HOST = "lab.example"


def image(page: str, query: str) -> np.ndarray:
    found = preview.draw(page, query)
    assert found is not None
    return np.asarray(Image.open(io.BytesIO(found)))


def test_the_picture_of_a_link_has_the_head_of_that_link():
    first, other = (image("heads", f"v=3&mask=window&span=3&head={head}") for head in (3, 5))
    assert first.shape == (630, 1200, 3)
    assert (first != other).any()
    assert np.array_equal(first, image("heads", "v=3&head=3&span=3&mask=window&page=heads&embed=true"))


def test_the_colours_of_a_picture_are_those_of_the_weights_and_masked_pairs_are_grey():
    cells = torch.tensor([[1.0, torch.nan], [0.25, 0.0]])
    seeing = torch.tensor([[1.0, 1.0], [2.0, 2.0]])
    linear = color_cells(cells, seeing, "linear")
    assert [tuple(linear[at]) for at in ((0, 0), (0, 1), (1, 1))] == [
        rgb(theme.WEIGHTS["light"][-1]),
        rgb(MASKED),
        rgb(theme.WEIGHTS["light"][0]),
    ]
    assert tuple(color_cells(cells, seeing, "own maximum")[1, 0]) == rgb(
        theme.WEIGHTS["light"][-1]
    )  # the largest of two keys
    middle, even = theme.WEIGHTS["light"], color_cells(torch.tensor([[0.5]]), torch.tensor([[2.0]]), "times even")
    assert np.abs(even[0, 0].astype(int) - (np.array(rgb(middle[4])) + rgb(middle[5])) / 2).max() <= 1
    signed = color_cells(torch.tensor([[-1.0, 0.0]]), torch.tensor([[2.0, 2.0]]), "linear", signed=True)
    assert tuple(signed[0, 0]) == rgb(theme.NEGATIVE["light"][-1])
    assert signed[0, 1].tolist() == [255, 255, 255], "zero is the page"


def test_a_difference_is_white_at_zero_and_has_the_colours_of_the_app_at_its_ends():
    change, seen = torch.tensor([[1.0, -1.0, 0.0, 0.25, 0.0]]), torch.tensor([[True] * 4 + [False]])
    more, less, none, quarter, masked = color_changes(change, seen, "auto", "linear")[0].tolist()
    assert [tuple(each) for each in (more, less, none, masked)] == [
        rgb(theme.MORE),
        rgb(theme.LESS),
        (255, 255, 255),
        rgb(MASKED),
    ]
    half = [(255 + channel) / 2 for channel in rgb(theme.MORE)]
    assert np.abs(np.array(quarter) - half).max() <= 1, "the square root of a quarter"
    linear, log = (color_changes(change, seen, *scale)[0, 3] for scale in (("linear", "linear"), ("log", "log")))
    assert linear.min() > quarter[0] > log.min()


def drawn_card(monkeypatch, page: str, query: str) -> tuple[Card, HeadMap]:
    found = []
    monkeypatch.setattr(preview, "_draw_card", lambda card, shown=None: found.append((card, shown)) or b"drawn")
    assert preview.draw(page, query) == b"drawn"
    return found[0]


def test_a_comparison_is_drawn_as_b_minus_a(monkeypatch):
    query = f"v=3&mask=window&head=2&against={pin(Config())}"
    card, shown = drawn_card(monkeypatch, "heads", query)
    assert card.title == "B − A: Head 2 (of 8)"
    assert card.lines == ("Mask: causal in A, window in B",)
    assert tuple(shown.pixels[0, 0]) == (255, 255, 255), "the first query sees itself on both sides"
    brown, green = (shown.pixels.astype(int)[..., at] for at in (0, 1))
    assert (brown > green + 60)[8:, 0].all(), "what the first key had under A is gone"
    assert shown.masked.sum() == np.triu(np.ones(shown.masked.shape), 1).sum()
    card, _ = drawn_card(monkeypatch, "softmax", f"{query}&side=a")
    assert "causal mask" in card.lines[1]


@pytest.mark.parametrize("page", ["heads", "layers", "softmax"])
def test_a_side_that_nobody_else_has_is_not_drawn(page):
    held = register(example_uploads.named_upload(), name="secret")
    for code in (pin(Config.of(held.source)), "x", pin(Config(tokens=7))[:-3]):
        for side in ("a", "difference"):
            compared = image(page, f"v=3&head=1&side={side}&against={quote(code)}")
            assert np.array_equal(compared, image(page, "v=3&head=1"))


def test_a_mask_a_training_times_published_code_and_a_bug_have_pictures_of_their_own(monkeypatch):
    card, shown = drawn_card(monkeypatch, "masks", "v=3&mask=window&span=3&tokens=9")
    assert (card.title, card.lines[0]) == ("Window mask, span 3", "24 of 81 pairs are visible (29.6%)")
    assert (~shown.masked).sum() == 24
    card, _ = drawn_card(monkeypatch, "training", "")
    assert card.title.endswith("trained on: induction")
    assert card.lines[0].startswith("Step 1,000 of 1,000: 99")
    card, _ = drawn_card(monkeypatch, "training", "v=2&train_at=0")
    assert card.lines[0].startswith("Step 0 of 1,000")
    for query, said in (
        ("", "faster than a 16-core CPU from about 360 tokens on"),
        ("picture=time", "times as fast as"),
        ("lengths=256,512&heads=16", "16 heads of 64"),
    ):
        card, _ = drawn_card(monkeypatch, "timing", query)
        assert said in card.lines[0]
    for query in ("", "v=4&masks=causal"):
        _, shown = drawn_card(monkeypatch, "timing", query)
        for color, _ in (CPU, COPY, GPU):
            assert (shown.pixels == rgb(color)).all(-1).any(), "the lines of the break-even, as in its chart"
    _, shown = drawn_card(monkeypatch, "timing", "")
    assert (shown.pixels == rgb(theme.HIDDEN)).all(-1).any(), "a ring where they cross"
    card, shown = drawn_card(
        monkeypatch, "implementations", "v=3&implementation=boolean-mask&version=as printed&tokens=8"
    )
    assert card.lines == ("As published: disagrees with the reference", ROWS["boolean-mask"].mistake)
    assert (shown.pixels == rgb(theme.WEIGHTS["light"][0])).all(-1).tolist()[-1] == [True] * 8, (
        "the last row has no key"
    )
    bug = hunt_name("boolean-mask")
    card, shown = drawn_card(monkeypatch, "find_the_bug", f"bug={bug}")
    assert (card.title, card.lines) == ("Find the bug: 3 of 10", (BUGS[bug].says,))
    assert shown.masked.any()
    card, shown = drawn_card(monkeypatch, "start", "start=sentence.account")
    assert shown.queries == SENTENCES["account"].tokens
    card, shown = drawn_card(monkeypatch, "start", "start=sentence.own~own.The bank raised its rates")
    assert shown is None and card.lines[0].endswith("“The bank raised its rates”"), "its weights are not known yet"


def test_masked_cells_are_hatched_in_the_picture_of_a_chat():
    shown = HeadMap(np.array([[[0, 0, 0], rgb(MASKED)]] * 2, np.uint8), 1, (0, 0), (), (), -1, ())
    drawn = np.asarray(Image.open(io.BytesIO(draw_card(Card("Head"), shown))))
    right = drawn[80:550, 44 + 260 : 44 + 490].reshape(-1, 3)
    greys = {tuple(pixel) for pixel in np.unique(right, axis=0).tolist()}
    assert greys == {rgb(theme.NEUTRALS["light"][name]) for name in ("masked", "hatch")}


def test_every_page_has_a_description():
    assert text.PAGES.keys() == preview.PAGES


HOSTILE = {
    "empty": "",
    "malformed": "%ff%00=%zz&&;=&=v",
    "unknown source": "source=missing",
    "unknown upload": "source=file:AAAAAAAAAAAA:secret.npz",
    "numbers": "heads=999999999999999999999&tokens=-1&d_model=nan&head=1e9",
    "packed": "ask=AAAA&against=////",
    "markup": "text=<script>alert(1)</script>&source=%22%3E%3Cscript%3E",
}


@pytest.mark.parametrize("query", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("page", ["heads", "nowhere", "timing"])
def test_a_query_that_means_nothing_gets_a_picture_and_a_description(page, query):
    assert image(page, query).shape == (630, 1200, 3)
    about = preview.describe(page, query)
    assert about.title.endswith("Attention Lab")
    assert "secret" not in "".join(about)


def test_an_upload_is_in_no_picture_even_while_it_is_open():
    held = register(example_uploads.named_upload(), name="secret")
    query = f"source={quote(held.source)}"
    assert preview.describe("heads", query).description == text.PAGES["heads"]
    assert np.array_equal(image("heads", query), image("heads", "source=missing"))
    compared = preview.describe("heads", f"v=3&{query}&against=x")
    assert "secret" not in compared.description


@pytest.mark.parametrize(("model", "named"), [(SMOLLM2, SMOLLM2), ("Own", "Own"), ("Buy <b>this</b>", text.SOME_MODEL)])
def test_a_link_to_a_run_names_its_text_and_a_model_that_is_known_and_no_hand_built_head(monkeypatch, model, named):
    monkeypatch.setenv("ATTENTION_MODELS", "Own = some/model")
    query = urlencode({"v": 3, "run": model, "run_text": "When Mary and John", "layer": 3})
    cards = []
    monkeypatch.setattr(preview, "_draw_card", lambda card, shown=None: cards.append((card, shown)))
    for page in ("heads", "layers", "softmax"):
        preview.draw(page, query)
        found = preview.describe(page, query)
        assert found.title == f"{named} · Attention Lab" and "mask" not in found.description.split(".")[0]
    assert cards == [(Card(named, ("A run on “When Mary and John”",)), None)] * 3


def test_a_link_with_a_question_shows_the_question_and_no_head():
    causal, full = (image("heads", f"v=3&predict=row&mask={mask}") for mask in ("causal", "full"))
    assert np.array_equal(causal, full)
    own = encode(CustomQuestion("Which key is largest?", ("boat", "river"), "boat"))
    about = preview.describe("heads", link(Config(ask=own)))
    assert about.title == "Which key is largest? · Attention Lab"
    assert "boat" not in about.description


@pytest.mark.parametrize("name", gallery())
def test_a_link_with_a_card_shows_its_question_and_says_no_more(name):
    example = gallery()[name].example
    about = preview.describe(example.page, f"card={name}")
    assert (about.title, about.description) == (f"{example.title} · Attention Lab", example.asks)


def test_the_picture_of_a_card_has_its_head_without_its_numbers(monkeypatch):
    cards = []
    monkeypatch.setattr(preview, "_draw_card", lambda words, shown: cards.append(words) or b"drawn")
    name = next(name for name, card in gallery().items() if card.example.page == "heads")
    assert preview.draw("heads", f"card={name}") == b"drawn"
    example = gallery()[name].example
    assert (cards[0].title, cards[0].lines) == (example.title, (example.asks,))


def test_a_picture_that_finds_no_room_is_not_drawn(monkeypatch):
    monkeypatch.setattr(UNDER_WAY, "would_fit", lambda what, size: False)
    assert preview.draw("heads", "v=3") is None


def test_a_long_sequence_costs_what_its_first_tokens_cost(monkeypatch):
    sizes = []
    monkeypatch.setattr(UNDER_WAY, "would_fit", lambda what, size: bool(sizes.append(size)))
    preview.draw("heads", "v=3&tokens=65536&heads=32")
    preview.draw("heads", f"v=3&tokens={Config(tokens=65536, heads=32).truncated.tokens}&heads=32")
    assert sizes[0] == sizes[1] < 2**29


def server(frames: tuple[str, ...] = ("self",), trouble: str = "") -> Previews:
    return Previews(page_of_streamlit, Settings(frames=frames), lambda: trouble)


async def page_of_streamlit(scope, receive, send) -> None:
    body = b"<html><head><title>Streamlit</title></head></html>"
    headers = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body[:20], "more_body": True})
    await send({"type": "http.response.body", "body": body[20:]})


def ask(path: str, query: str = "", app: Previews | None = None, **headers: str):
    scope = request(path, host=HOST, **headers) | {"query_string": query.encode(), "scheme": "https"}
    return response_of(app or server(), scope)


def test_the_html_of_a_page_has_its_title_its_description_and_the_picture_of_its_link():
    status, headers, body = ask("/heads", 'v=3&mask=window&text="><script>')
    page = body.decode()
    assert (status, int(headers["content-length"])) == (200, len(body))
    assert page.count("<title>") == page.count("</title>") == 1
    assert "<title>Heads · Attention Lab</title>" in page
    assert "window mask" in page
    address = "https://lab.example/preview.png?page=heads&amp;v=3&amp;mask=window&amp;text=&quot;&gt;&lt;script&gt;"
    assert f'<meta property="og:image" content="{address}">' in page
    assert "<script>" not in page


def test_a_page_is_compressed_for_a_browser_that_can_read_it():
    _, headers, body = ask("/heads", accept_encoding="gzip, br")
    assert headers["content-encoding"] == "gzip"
    assert b"<title>Heads" in gzip.decompress(body)


def test_a_host_that_is_no_name_is_in_no_page():
    status, _, body = response_of(server(), request("/heads", host='x"><script>') | {"query_string": b""})
    assert status == 200
    assert b"og:image" not in body
    assert b"<script>" not in body


def test_a_page_is_sent_before_anything_is_imported(monkeypatch):
    monkeypatch.setattr(previews, "_describe", lambda *_: pytest.fail("needs what is not imported"))
    assert b"<title>Attention Lab</title>" in ask("/heads", app=server(trouble="starting"))[2]
    assert ask("/preview.png", app=server(trouble="starting"))[0] == 503


def test_a_picture_is_sent_with_how_long_it_may_be_kept_and_to_pages_of_any_site():
    status, headers, body = ask("/preview.png", "page=heads&v=3")
    assert (status, headers["content-type"]) == (200, "image/png")
    assert headers["cross-origin-resource-policy"] == "cross-origin"
    assert "max-age" in headers["cache-control"]
    assert Image.open(io.BytesIO(body)).size == previews.SIZE


def test_pictures_are_refused_when_the_server_is_busy(monkeypatch):
    busy = server()
    busy.drawn = AT_ONCE
    status, headers, _ = ask("/preview.png", "page=heads", app=busy)
    assert (status, headers["cache-control"], headers["retry-after"]) == (503, "no-store", "60")
    monkeypatch.setattr(previews, "_draw", lambda *_: None)
    assert ask("/preview.png", "page=heads")[0] == 503


def test_a_query_that_is_too_long_is_not_read(monkeypatch):
    asked = []
    monkeypatch.setattr(previews, "_draw", lambda *given: asked.append(given))
    ask("/preview.png", "page=heads&text=" + "x" * LONGEST)
    assert asked == [("", "")]


def test_a_failed_picture_does_not_count_as_one_that_is_drawn(monkeypatch):
    app = server()
    monkeypatch.setattr(previews, "_draw", failing)
    with pytest.raises(RuntimeError):
        ask("/preview.png", "page=heads", app=app)
    assert app.drawn == 0


def failing(*_: str) -> bytes:
    raise RuntimeError("no font")


def test_oembed_offers_a_frame_where_the_owner_lets_other_sites_show_one():
    url = quote("https://lab.example/heads?v=3&mask=window", safe="")
    alone = json.loads(ask("/oembed", f"url={url}")[2])
    assert alone["type"] == "link"
    assert alone["thumbnail_url"] == "https://lab.example/preview.png?page=heads&v=3&mask=window"
    friend = server(frames=("self", "https://school.example"))
    found = json.loads(ask("/oembed", f"url={url}&maxwidth=500", app=friend)[2])
    assert (found["type"], found["width"]) == ("rich", 500)
    assert 'src="https://lab.example/heads?v=3&amp;mask=window&amp;embed=true"' in found["html"]


@pytest.mark.parametrize(
    "query", ["", "url=", "url=https://evil.example/heads", "url=https://[", "url=" + "x" * 9000, "url=%00%ff"]
)
def test_oembed_knows_pages_of_this_server_alone(query):
    assert ask("/oembed", query)[0] == 404


def test_oembed_has_one_format():
    assert ask("/oembed", "format=xml&url=https://lab.example/")[0] == 501


def test_a_printed_page_gets_the_qr_code_of_its_own_link_alone():
    link = "https://lab.example/heads?v=3&mask=window"
    status, headers, body = ask("/qr.svg", f"url={quote(link, safe='')}")
    assert (status, headers["content-type"], body.decode()) == (200, "image/svg+xml", qr_svg(link))
    for other in ("", "https://evil.example/heads", "javascript://lab.example/%0aalert(1)", "https://["):
        assert ask("/qr.svg", f"url={quote(other, safe='')}")[0] == 404
    assert ask("/qr.svg", f"url={quote(link + 'x' * LONGEST_CODE, safe='')}")[0] == 414
    busy = server()
    busy.coded = AT_ONCE
    assert ask("/qr.svg", f"url={quote(link, safe='')}", app=busy)[0] == 503


@pytest.mark.parametrize("softmax", ["standard", "sigmoid"])
def test_weights_are_in_percent_if_rows_are_distributions(softmax):
    config = Config(softmax=softmax)
    lines = preview.lines(config, results.sharing.begin_head_map(config).result(60))
    weights = [line for line in lines if "): " in line]
    assert weights and all(line.endswith("%") == (softmax == "standard") for line in weights)
    if softmax == "standard":
        assert "“boat” (7): 43.0%" in lines
