"""The Heads page of a sequence that is too long for all its weights at once, and the other pages of the same link."""

from __future__ import annotations

import json
import time

import pytest
import torch

from attention import Config, trace
from attention.charts import row
from attention.fitting import ends
from attention.heads import profile
from attention.tables import rows as tables
from attention.ui import results
from attention.ui.session.visit_state import KEY
from attention.ui.views import head_statistics, heads_long, masks
from attention.wire import cells
from tests.samples import sample
from tests.strategies import query_without_edition
from tests.test_pages import PAGES, ROOT, page_text, run

LINK = {"tokens": "1500", "heads": "2", "d_model": "16", "input": "refrain"}
OTHERS = [page for page in PAGES if page.stem != "heads"]
CONFIG = Config(tokens=1500, heads=2, d_model=16, input="refrain")


def finished_page(query: dict[str, str]):
    """The page once every head is exact."""
    test = run(ROOT / "pages/heads.py", query)
    deadline = time.monotonic() + 60
    while "Downloads" not in [each.label for each in test.expander] and time.monotonic() < deadline:
        time.sleep(0.1)
        test.run()
    assert not test.exception
    return test


def words(test) -> str:
    return "\n".join(each.value for each in [*test.caption, *test.markdown]).replace("\\", "")


def test_a_long_sequence_is_drawn_and_its_row_is_exact():
    test = finished_page(LINK)
    assert not test.warning and query_without_edition(test.query_params) == LINK
    weights = trace(CONFIG).weights[0, -1]
    shown = tables.describe_row(CONFIG, weights, torch.ones(1500, dtype=torch.bool))
    assert f"Query 1,499 in head 0 attends mostly to {shown.holding:,} of 1,500" in words(test)
    assert f"Entropy: {shown.entropy:.3f} nats, exact" in words(test)
    assert "Each pixel: the largest of " in words(test), "in the size of a caption, above the map"
    others = len(test.dataframe)
    test.session_state[head_statistics.STATISTICS] = True  # computed once their fold is open
    assert len(test.run().dataframe) == others + 1
    numbers = test.dataframe[-1].value
    want = tables.columns(profile(trace(CONFIG).weights, trace(CONFIG).mask), seeing=True)
    assert numbers["entropy"].tolist() == pytest.approx(want["entropy"], abs=1e-5)
    assert (numbers["previous"] / 100).tolist() == pytest.approx(want["previous"], abs=1e-5), "in percent"
    assert not test.code
    test.session_state[KEY].kept.code = True  # its fold was open on the page of a short sequence
    del test.session_state["long program"]
    assert "maps = head_maps(query, key, config.rule" in test.run().code[0].value


def test_the_row_of_a_long_sequence_is_on_a_scale_on_which_it_is_seen():
    """Times even, as are the colours; under a linear scale to the greatest of the row, not to 1; a button changes it."""

    def axis(test) -> dict:
        found = json.loads(test.get("vega_lite_chart")[0].proto.spec)
        return (found["layer"][0] if "layer" in found else found)["encoding"]["y"]

    test = finished_page(LINK)
    assert axis(test)["title"] == "× uniform" and axis(test)["scale"]["domain"][0] == 1 / 150_000
    test.button(key="bars").click().run()
    assert query_without_edition(test.query_params) == LINK | {"axis": "linear"}
    assert axis(test)["scale"]["domain"] == [0, {"expr": row.own_end("weight").to_dict()["expr"]}]
    test = finished_page(LINK | {"colors": "linear"})
    assert axis(test)["scale"]["domain"][0] == 0 and "expr" in axis(test)["scale"]["domain"][1]
    assert test.button(key="bars").label == "Log scale"
    test.button(key="bars").click().run()
    assert axis(test)["scale"]["type"] == "log" and test.button(key="bars").label == "Linear scale"
    test.button(key="bars").click().run()
    assert query_without_edition(test.query_params) == LINK | {"colors": "linear"}


@pytest.mark.extended
def test_a_machine_that_is_too_busy_to_look_in_time_has_not_cancelled_anything(monkeypatch):
    """Between the zoom, which comes first here, and the squares more time goes by than it takes to be given up."""
    row, given_up = heads_long._row, []

    def slow(config, drawing):
        if not given_up and drawing.open:
            drawing.looks.clear()
            given_up.append(drawing.given_up)
        row(config, drawing)

    monkeypatch.setattr(heads_long, "_row", slow)
    test = run(ROOT / "pages/heads.py", {"tokens": "16000", "heads": "2", "d_model": "16", "rows": "0-99"})
    assert given_up == [True] and not test.exception
    assert "Cancelled" not in words(test)


def test_the_numbers_under_the_zoom_are_those_of_the_trace():
    config = Config(tokens=1500, heads=2, d_model=16, input="refrain", head=1, rows="1000-1099", cols="900-1050")
    test = finished_page(LINK | {"head": "1", "rows": "1000-1099", "cols": "900-1050"})
    assert "Queries 1,000 to 1,099, keys 900 to 1,050: every token." in words(test)
    drawing = results.long.drawing(config, "a test")
    shown = results.long.part(config, drawing, drawing.heads[1], *config.window)
    whole = trace(config)
    want = whole.weights[1, 1000:1100, 900:1051].masked_fill(~whole.mask[1000:1100, 900:1051], torch.nan)
    assert (shown.tile, shown.queries, shown.keys) == (1, 100, 151)
    assert torch.allclose(cells.weights(shown.codes[0]), want, rtol=1 / 2048, atol=1e-9, equal_nan=True)


@pytest.mark.parametrize("text", ["", "5-5", "9-3", "0-99999", "1499-1499", "0-1499", "7-0"])
def test_a_range_is_within_its_tokens(text):
    first, last = ends(text, 1500)
    assert 0 <= first < last <= 1500 and last - first >= 2


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "page", sample(OTHERS, lambda page: page.stem != "implementations"), ids=lambda page: page.stem
)
def test_other_pages_show_the_first_tokens_and_say_so(page):
    test = run(page, LINK, {masks.FOLD: True})
    assert not test.exception and query_without_edition(test.query_params) == LINK
    assert "1,024 of 1,500 tokens" in words(test)


def test_what_no_range_can_mean_is_said():
    test = run(ROOT / "pages/heads.py", {"rows": "10-5x", "cols": "3-99999"})
    told = page_text(test).replace("\\", "")
    assert "rows='10-5x' is not a first and a last token, as in 100-611, or nothing for all." in told
    assert "3-99999 reaches beyond 18 tokens (counted from 0): cols moved to 3-17." in told


def test_bars_keep_the_greatest_of_their_keys():
    config = Config(tokens=1500, heads=1, d_model=8, mask="full")
    weights = torch.rand(1500, generator=torch.Generator().manual_seed(0))
    row = tables.describe_row(config, weights, torch.ones(1500, dtype=torch.bool))
    bars, tile = tables.bin_row(row, 512)
    assert tile == 3 and bars["weight"] == weights.view(-1, 3).amax(-1).tolist()
    assert [weights[key].item() for key in bars["key"]] == bars["weight"]
    assert tables.heaviest(row, 4)["weight"] == weights.sort(descending=True).values[:4].tolist()


def test_a_button_zooms_in_where_pooling_hides_the_pattern_of_the_head():
    """That of “same word” in a text that repeats, not that of “one back”."""
    test = finished_page({"tokens": "2560"})
    test.button(key="zoom in").click().run()
    assert not test.exception and query_without_edition(test.query_params) == {
        "tokens": "2560",
        "rows": "2496-2559",
        "cols": "2496-2559",
    }
    assert "zoom in" not in [each.key for each in test.button], "it is zoomed in"
    assert "zoom in" not in [each.key for each in finished_page({"tokens": "2560", "head": "1"}).button]
