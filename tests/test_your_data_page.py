"""The page Your data: files opened, read as was guessed or as somebody says, shown, refused and closed."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from base64 import b64encode
from threading import Event
from urllib.parse import parse_qsl, quote_plus, urlsplit

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention.array_files import safe_file
from attention.array_files.limits import DataError
from attention.codec import CONFIGS
from attention.config import Config
from attention.imported import detect, sample
from attention.imported.reading import Reading, read_stack
from attention.pinned import sides_of
from attention.sources.providers import distributes
from attention.ui import results
from attention.ui.session import uploads as visit
from attention.ui.session.visit_state import KEY, Session, VisitState
from attention.ui.text import your_data as text
from attention.ui.views import snippets, your_data
from tests import example_uploads
from tests.test_pages import ROOT, SECONDS
from tests.test_upload_pages import page_text

PAGE = ROOT / "pages/your_data.py"


def opened() -> AppTest:
    return AppTest.from_file(str(PAGE), default_timeout=SECONDS).run()


def npz(**arrays: np.ndarray) -> bytes:
    memory = io.BytesIO()
    np.savez_compressed(memory, **arrays)  # pyright: ignore[reportArgumentType]  arrays by name
    return memory.getvalue()


def put(test: AppTest, name: str, data: bytes, tokens: tuple[str, bytes] | None = None) -> AppTest:
    test.file_uploader(key="your file").set_value((name, data, "application/octet-stream"))
    if tokens:
        test.file_uploader(key="your tokens").set_value((*tokens, "text/plain"))
    return test.run()


WEIGHTS = example_uploads.weights().weights
assert WEIGHTS is not None
FILE = npz(weights=WEIGHTS.numpy())


def test_how_a_file_is_read_can_be_chosen_once_there_is_one():
    """Before, the sidebar has no settings, and the code that saves a file comes first."""
    test = opened()
    assert not [each for each in test.selectbox if each.key.startswith("read ")]
    assert test.tabs[0].label == "transformers"
    test.button(key="try").click().run()
    assert [each.key for each in test.selectbox] == ["read weights", "read vectors", "read mask", "read scale"]
    assert not test.exception


def maps(test: AppTest) -> list[str]:
    return [each.proto.body for each in test.get("html") if 'alt="Map of weights: ' in each.proto.body]


def test_an_example_opens_with_a_click():
    test = opened()
    shown = maps(test)
    induction = b64encode(results.layers.picture(your_data.EXAMPLE.of_layer(1), 0, "light")).decode()
    assert len(shown) == 1 and induction in shown[0] and "Layer 1, head 0: induction" in shown[0]
    assert shown[0].count("<span>stood</span>") == 4, "its tokens are beside and below the map"
    test.button(key="try").click().run()
    assert not test.exception and not test.error
    (source,) = test.session_state[KEY].kept.uploaded
    assert sample.NAME in source and "**Two layers by hand** was read as follows." in page_text(test)
    assert "try" not in {button.key for button in test.button}, "one is open: nobody need try"
    assert len(maps(test)) == 4 and induction in maps(test)[2], "its heads are the promised ones"
    assert (
        "Opened: 2 layers of 2 heads, 14 tokens. Layer 1, head 0 attends to what followed an earlier copy"
        in page_text(test)
    )
    assert "Layer 1, head 0\\: induction" in [each.proto.label for each in test.get("link_button")]
    test.button(key=f"close {source}").click().run()
    assert not test.exception and not test.session_state[KEY].kept.uploaded


def test_tokens_alone_wait_for_the_attention():
    test = opened()
    test.file_uploader(key="your tokens").set_value(("tokens.txt", b"a b c", "text/plain")).run()
    assert text.TOKENS_ALONE in [each.value for each in test.info]


def test_rows_that_sum_to_more_than_one_have_no_entropy_and_no_role():
    """72 numbers from 0 to 1 without a softmax: what needs distributions is left out, and why is said."""
    rng = np.random.default_rng(0)
    test = put(opened(), "over.npz", npz(weights=rng.random((2, 4, 9, 9)).astype(np.float32)))
    (source,) = test.session_state[KEY].kept.uploaded
    config = Config.of(source)
    assert not distributes(config) and "entropy" not in results.heads.numbers(config)
    assert {role and role.name for role in results.heads.roles(config)} == {""}
    (source,) = put(opened(), "one.npz", FILE).session_state[KEY].kept.uploaded
    assert distributes(Config.of(source))


def test_a_file_is_opened_read_and_shown():
    test = put(opened(), "mine.npz", FILE)
    assert not test.exception and not test.error and len(maps(test)) == 8
    words = page_text(test)
    assert words.index("Opened: 3 layers of 4 heads, 6 tokens.") < words.index("**mine.npz** was")
    assert "**mine.npz** was read as follows." in words and "From the file" not in words
    assert "weights: 3 layers × 4 heads × 6 queries × 6 keys." in words
    assert "Open files" in words and "mine.npz: weights, 3 layers of 4 heads, 6 tokens, 1.73 kB unpacked" in words
    (source,) = test.session_state[KEY].kept.uploaded
    assert source.startswith("file:") and source.endswith(":mine.npz")


def test_a_second_file_is_compared_with_the_first():
    """With one click: pinning the first before opening the second would end with the second alone."""
    test = put(opened(), "before.npz", FILE)
    assert not any(each.proto.label.startswith("Compare with") for each in test.get("link_button"))
    model = {"weights": WEIGHTS.flip(1).contiguous()}
    test = put(test, "after.safetensors", safe_file.write_safetensors(model, {"title": json.dumps("Model")}))
    words = page_text(test)
    assert "Model was read" in words.replace("*", "") and "after.safetensors: weights" in words
    before, after = test.session_state[KEY].kept.uploaded
    (url,) = (
        each.proto.url
        for each in test.get("link_button")
        if each.proto.label.replace("\\", "") == "Compare with before.npz"
    )
    config, notes = CONFIGS.from_query(dict(parse_qsl(urlsplit(url).query)))
    sides = sides_of(config)
    assert url.startswith("/layers?") and not notes
    assert sides is not None and (sides.a.source, sides.b.source) == (before, after)


def test_tokens_come_from_a_file_of_their_own():
    test = put(opened(), "mine.npz", FILE, ("words.txt", b"the cat sat on the mat"))
    (holding,) = test.session_state[KEY].kept.uploaded.values()
    assert holding.stack.queries == example_uploads.WORDS
    test = put(opened(), "mine.npz", FILE, ("words.json", json.dumps(example_uploads.WORDS[:4]).encode()))
    assert "4 texts of tokens don't fit 6: positions are shown instead." in page_text(test)


def test_another_reading_takes_the_place_of_the_first():
    test = put(opened(), "mine.npz", FILE)
    test.selectbox(key="read weights").set_value("b h q k").run()
    assert not test.exception
    (holding,) = test.session_state[KEY].kept.uploaded.values()
    assert holding.shape.layers == 1 and "3 sequences × 4 heads" in page_text(test)
    test.number_input(key="read item").set_value(9).run()
    assert "There is no sequence 9 among 3 (counted from 0)." in test.error[0].value.replace("\\", "")
    assert len(test.session_state[KEY].kept.uploaded) == 1, "what was read before stays open"


def through_menu(page: str, test: AppTest | None = None) -> AppTest:
    """A page by the menu, as somebody comes to it from another one."""
    test = test or AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS).run()
    return test.switch_page(f"pages/{page}.py").run()


def test_after_another_page_the_account_stands_and_another_reading_works():
    test = put(through_menu("your_data"), "mine.npz", FILE, ("words.txt", b"the cat sat on the mat"))
    (before,) = test.session_state[KEY].kept.uploaded
    through_menu("your_data", through_menu("masks", test))
    assert (
        not test.exception
        and "**mine.npz** was read as follows." in page_text(test)
        and not test.get("download_button")
    )
    assert list(test.session_state[KEY].kept.uploaded) == [before]
    test.selectbox(key="read weights").set_value("b h q k").run()
    assert not test.exception and "3 sequences × 4 heads" in page_text(test)
    (holding,) = test.session_state[KEY].kept.uploaded.values()
    assert holding.source != before and holding.shape.layers == 1 and holding.stack.queries == example_uploads.WORDS
    test.button(key=f"close {holding.source}").click().run()
    assert "was read as follows" not in page_text(test) and not test.error and len(test.get("download_button")) == 1


def test_a_file_that_was_forgotten_is_asked_for_again():
    test = put(through_menu("your_data"), "mine.npz", FILE)
    assert visit.FILES.used_bytes >= len(FILE)
    through_menu("your_data", through_menu("masks", test))
    visit.FILES.give_back(visit.FILES.used_bytes)
    assert visit.FILES.used_bytes == 0
    before = dict(test.session_state[KEY].kept.uploaded)
    test.selectbox(key="read weights").set_value("b h q k").run()
    assert not test.exception and not test.error
    assert "To read the file in another way, open it again" in page_text(test) and "3 layers × 4 heads" in page_text(
        test
    )
    assert dict(test.session_state[KEY].kept.uploaded) == before


def test_a_file_for_which_there_is_no_room_is_not_kept(monkeypatch):
    monkeypatch.setattr(visit.BUDGET, "room", lambda needed: needed != len(FILE))
    test = put(opened(), "mine.npz", FILE)
    assert not test.error and test.session_state[KEY].kept.taken.file.content() is None


def test_limits_are_in_the_help_of_one_line():
    (caption,) = (each for each in opened().caption if each.value.startswith("Code in a file"))
    words = caption.help
    assert "Files of up to 64 MiB, unpacked up to" in words and "up to 1,024 tokens as weights" in words
    limits = "for 1,213 tokens of GPT-2 (482 as weights alone) or 170 tokens of Llama-3-8B (181 as weights alone)"
    assert f"In 16 bits, this fits queries, keys and values of all layers {limits}." in words


@pytest.mark.parametrize(("layers", "heads", "kv_heads", "channels"), [(12, 12, 12, 64), (32, 32, 8, 128)])
def test_so_many_tokens_fit_and_no_more(layers, heads, kv_heads, channels):
    size = 64 * 2**20
    whole, weights = results.uploads.most_tokens(size, layers, heads, kv_heads, channels)
    taken = [2 * layers * n * (heads + 2 * kv_heads) * channels for n in (whole, whole + 1)]
    assert taken[0] <= size < taken[1]
    assert 2 * layers * heads * weights**2 <= size < 2 * layers * heads * (weights + 1) ** 2


def test_room_is_asked_for_what_a_packed_file_unpacks_to(monkeypatch):
    asked = []
    monkeypatch.setattr(results.uploads.BUDGET, "room", lambda needed: bool(asked.append(needed)))
    packed = npz(weights=np.zeros((1, 1, 1000, 1000), np.float32))
    with pytest.raises(DataError, match=r"reading this file needs 8 MiB, .* A \.safetensors file needs"):
        results.uploads.open_upload(packed, "x.npz", None, Reading())
    assert asked[0] >= 8_000_000 > 100 * len(packed)


def test_a_small_file_does_not_wait_for_a_large_one():
    over = Event()
    large = results.uploads.FILES.submit(over.wait, SECONDS)
    try:
        assert results.uploads.open_upload(FILE, "x.npz", None, Reading()).stack.weights is not None
        assert not large.done()
    finally:
        over.set()


def test_a_bad_file_leaves_everything_as_it_was():
    test = put(opened(), "mine.npz", FILE)
    before = dict(test.session_state[KEY].kept.uploaded)
    put(test, "<b>bad</b>.npz", b"PK nonsense")
    assert text.WAY_OUT in page_text(test)
    assert not test.exception and "the end of its zip is missing" in test.error[0].value
    assert dict(test.session_state[KEY].kept.uploaded) == before


def test_what_is_open_can_be_closed():
    test = put(opened(), "mine.npz", FILE)
    (source,) = test.session_state[KEY].kept.uploaded
    test.button(key=f"close {source}").click().run()
    assert not test.exception and test.session_state[KEY].kept.uploaded == {}
    assert "It was closed" in test.error[0].value


def test_an_owner_can_switch_files_off(monkeypatch):
    monkeypatch.setenv("ATTENTION_UPLOADS", "off")
    test = opened()
    assert not test.exception and not test.get("file_uploader")
    assert "Uploads are switched off on this server." in page_text(test)


def test_the_file_to_try_is_what_the_page_reads():
    found = read_stack(detect.arrays(sample.sample_file(), sample.NAME), {}, Reading())
    assert found.found == [] and found.stack.q is not None and found.stack.q.shape[0] == 2
    assert found.stack.own["mask"] == "causal" and len(found.stack.queries) == found.stack.q.shape[2]


def test_what_is_written_is_read_by_others_too():
    safetensors = pytest.importorskip("safetensors.torch")
    tensors = {"q": torch.randn(2, 3), "m": torch.tensor([True]), "b": torch.ones(2, dtype=torch.bfloat16)}
    found = safetensors.load(safe_file.write_safetensors(tensors, {"what": "x"}))
    assert found.keys() == tensors.keys()
    assert all(torch.equal(found[name], tensor) for name, tensor in tensors.items())


TINY = """
from transformers import BertConfig, BertModel
sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
model = BertModel(BertConfig(vocab_size=40, attn_implementation="eager", **sizes)).eval()
class Tokenizer:
    def __call__(self, text, return_tensors): return {"input_ids": torch.arange(9)[None]}
    def convert_ids_to_tokens(self, ids): return [f"t{int(i)}" for i in ids]
tokenizer = Tokenizer()
"""


LAYER = "model = torch.nn.MultiheadAttention(16, 2, batch_first=True).eval()"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", snippets.SNIPPETS)
def test_what_a_snippet_saves_is_read(name, tmp_path):
    source = snippets.SNIPPETS[name]
    if "watch" in name:
        source = source.replace("# model, inputs", f"import torch\n{LAYER}\n# model, inputs")
        source = source.replace(
            "model(**inputs)", "model(torch.randn(1, 9, 16), torch.randn(1, 9, 16), torch.randn(1, 9, 16))"
        )
    if name == "transformers":
        pytest.importorskip("transformers")
        source = source.replace("# model, tokenizer", f"import torch\n{TINY}\n# model, tokenizer")
    aside = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", source], cwd=tmp_path, env=aside, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    files = sorted(tmp_path.iterdir())
    assert files
    for file in files:
        found = read_stack(detect.arrays(file.read_bytes(), file.name), {}, Reading())
        assert found.found == [] and found.stack.what
        if file.stem != "weights" and "watch" not in name:
            assert len(found.stack.queries) == 9


def test_where_there_is_no_room_for_another_reading_the_first_stays(monkeypatch):
    test = put(opened(), "mine.npz", FILE)
    before = dict(test.session_state[KEY].kept.uploaded)
    monkeypatch.setattr(visit, "SHARE", 0.0)
    test.selectbox(key="read weights").set_value("b h q k").run()
    assert not test.exception and "the limit per visit is 0 B" in test.error[0].value
    assert dict(test.session_state[KEY].kept.uploaded) == before


def test_what_a_link_showed_is_shown_of_ones_own_file_of_that_name():
    theirs = example_uploads.holding("weights")
    test = AppTest.from_file(str(PAGE), default_timeout=SECONDS)
    wanted = {"source": theirs.source, "layer": "2", "head": "3", "v": "3"}
    test.session_state[KEY] = Session(kept=VisitState(wanted=wanted))
    test = put(test.run(), "weights.npz", FILE)
    (source,) = test.session_state[KEY].kept.uploaded
    first = next(link.proto for link in test.get("link_button") if "See its heads" in link.proto.label)
    assert f"source={quote_plus(source)}&layer=2&head=3" in first.url
