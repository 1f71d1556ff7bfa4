"""What people give as it is drawn: tensors of any library and shape, what transformers returns; and what is refused, and how."""

from __future__ import annotations

import base64
import gzip
import io
import itertools
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

import attention
from attention.charts import theme
from attention.charts.thumbnail import interpolate, rgb
from attention.config import Config
from attention.imported.layer_weights import layer
from attention.imported.stack import Stack
from attention.imported.validate import check
from attention.notebook import picture as picture_module
from attention.notebook.compared import compared_picture
from attention.notebook.inputs import Told, stacks_of
from attention.notebook.picture import BYTES, SIDES, _note, messages, picture, picture_side
from attention.notebook.still import GAP, LARGEST, PIXELS, _fit, still
from attention.wire.cells import ONE, SHIFT, weights
from tests.drawings import header
from tests.watchable import TOKENS, make_case

LAYERS, BATCH, HEADS, N = 3, 2, 4, 6
GREYS = {rgb(theme.NEUTRALS["light"][name]) for name in ("masked", "hatch")}
GREY = rgb(theme.NEUTRALS["light"]["masked"])


def random(*shape: int, causal: bool = False) -> torch.Tensor:
    scores = torch.randn(*shape, generator=torch.Generator().manual_seed(2))
    hidden = torch.ones(shape[-2:]).triu(1).bool() & torch.tensor(causal)
    return scores.masked_fill(hidden, -torch.inf).softmax(-1)


def only(given, key=None, value=None, **told):
    (stack,) = stacks_of(given, key, value, Told(**told)).values()
    check(stack)
    return stack


WHOLE = random(LAYERS, BATCH, HEADS, N, N)
GIVEN = {
    "one head": (WHOLE[0, 0, 0], WHOLE[:1, 0, :1]),
    "heads": (WHOLE[0, 0], WHOLE[:1, 0]),
    "layers": (WHOLE[:, 0], WHOLE[:, 0]),
    "all axes": (WHOLE, WHOLE[:, 0]),
    "a tensor a layer": (tuple(WHOLE), WHOLE[:, 0]),
    "heads a layer": ([each[0] for each in WHOLE], WHOLE[:, 0]),
    "NumPy": (WHOLE.numpy(), WHOLE[:, 0]),
    "NumPy a layer": ([each.numpy() for each in WHOLE], WHOLE[:, 0]),
    "lists": (WHOLE[0, 0].tolist(), WHOLE[:1, 0]),
    "with a gradient": (WHOLE.clone().requires_grad_() * 1, WHOLE[:, 0]),
    "doubles": (WHOLE.double(), WHOLE[:, 0].double()),
    "a model's output": (SimpleNamespace(attentions=tuple(WHOLE)), WHOLE[:, 0]),
    "a dictionary": ({"attentions": tuple(WHOLE)}, WHOLE[:, 0]),
}


@pytest.mark.parametrize("name", GIVEN)
def test_weights_in_every_form(name):
    given, wanted = GIVEN[name]
    assert torch.equal(only(given).weights, wanted)


def test_another_sequence_and_another_order():
    assert torch.equal(only(WHOLE, batch=1).weights, WHOLE[:, 1])
    assert torch.equal(only(WHOLE[0], axes="b h q k", batch=-1).weights[0], WHOLE[0, 1])
    assert torch.equal(only(WHOLE[:, 0].permute(1, 2, 3, 0), axes="h q k l").weights, WHOLE[:, 0])
    q = torch.randn(BATCH, N, HEADS, 5)
    found = only(q, q, axes="b n h d", batch=1)
    assert torch.equal(found.q, q[None, 1].transpose(1, 2))


def test_queries_and_keys():
    q, k, v = torch.randn(LAYERS, HEADS, N, 5), torch.randn(LAYERS, 2, 8, 5), torch.randn(LAYERS, 2, 8, 7)
    stack = only(q, k, v, mask="window", span=3, scale=0.7, softcap=2.0, tokens="a b c d e f", keys=list("ABCDEFGH"))
    assert stack.queries == tuple("abcdef") and stack.keys == tuple("ABCDEFGH") and stack.v is not None
    found, mask = layer(stack, 1)
    wanted = attention.masks.MASKS["window"].square(N, 8, 3)
    core = attention.scaled_dot_product_attention(
        q[1], k[1], v[1], wanted, scale=0.7, enable_gqa=True, softcap=2.0
    ).weights
    assert torch.equal(mask, wanted)
    torch.testing.assert_close(found, core, rtol=0, atol=1e-6)
    assert torch.equal(only(list(q), list(k)).q, q)


def test_a_mask_is_one_only_where_it_is_known():
    assert only(random(2, HEADS, N, N)).square is None
    causal = only(random(2, HEADS, N, N, causal=True))
    assert torch.equal(causal.square, torch.ones(N, N).tril().bool()) and "read as masked" in causal.what
    square = torch.rand(N, N) > 0.5
    assert torch.equal(only(WHOLE, mask=square).square, square)


def test_what_generate_returns_is_one_picture():
    """A step a token, each a tensor a layer, with ever more keys: rows of one square, what is not yet there masked."""
    model, inputs, _ = make_case("gpt2")
    text = inputs["input_ids"][:1]
    named = {"max_new_tokens": 4, "min_new_tokens": 4, "do_sample": False, "pad_token_id": 0}
    model.set_attn_implementation("eager")
    with torch.no_grad():
        found = model.generate(text, return_dict_in_generate=True, output_attentions=True, **named)
        whole = model(found.sequences[:, :-1], output_attentions=True).attentions
    stack = only(found)
    n = TOKENS + 3
    assert stack.weights.shape == (2, 4, n, n) and torch.equal(stack.square, torch.ones(n, n).tril().bool())
    torch.testing.assert_close(stack.weights, torch.cat(whole), rtol=0, atol=1e-5)


def test_an_encoder_and_a_decoder_are_three_parts():
    model, inputs, _ = make_case("t5")
    model.set_attn_implementation("eager")
    with torch.no_grad():
        found = model(**inputs, output_attentions=True)
    read, written = [f"r{i}" for i in range(TOKENS)], [f"w{i}" for i in range(5)]
    parts = stacks_of(found, None, None, Told(tokens=written, keys=read))
    names = {name: (len(stack.queries), len(stack.keys)) for name, stack in parts.items()}
    assert names == {"Encoder": (TOKENS, TOKENS), "Decoder": (5, 5), "Decoder to encoder": (5, TOKENS)}
    assert parts["Decoder to encoder"].keys == tuple(read)
    drawn = picture(parts)
    assert [part["layers"] for part in drawn.about["parts"]] == [[0, 1]] * 3 and drawn.places == [0, 2, 4]


BAD = {
    "no number": (
        WHOLE.clone().index_fill_(3, torch.tensor([2]), torch.nan),
        "weights: nan at layer 0, head 0, row 2, col",
    ),
    "scores": (WHOLE * 9 - 1, "is not from 0 to 1. If these are scores before the softmax, give weights.softmax(-1)."),
    "one axis": (WHOLE[0, 0, 0, 0], "weights has 1 axes, (6,): they are guessed for 2 to 5"),
    "six axes": (WHOLE[None], "weights has 6 axes"),
    "text": ("heads", "weights"),
    "complex": (WHOLE.to(torch.complex64), "weights is of torch.complex64; real numbers are shown."),
    "nothing": (None, "weights: None. A model that runs by SDPA or flash attention returns no weights"),
    "layers of nothing": ((None, None), "weights of layer 0: None."),
    "a model that gives none": (
        SimpleNamespace(attentions=None),
        "There are no attention weights in this SimpleNamespace.",
    ),
    "layers that differ": ([WHOLE[0], WHOLE[1][..., :3]], "layer 1 is (4, 6, 3)"),
    "empty": (WHOLE[..., :0], "weights is empty"),
    "ragged": ([[1.0, 0.0], [1.0]], "weights is not a tensor of numbers"),
    "too many": (
        torch.full((1, 1, 1, 1), 1 / 33).expand(400, 64, 33, 33),
        "25,600 heads are too many for one picture",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_shown_is_named(name):
    given, said = BAD[name]
    with pytest.raises(ValueError) as raised:
        picture(stacks_of(given, None, None, Told()))
    assert said in str(raised.value)


def test_words_about_it_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match=r"tokens has 2 texts; there are 6 tokens"):
        only(WHOLE, tokens=["a", "b"])
    with pytest.raises(ValueError, match=r"mask='casual' is not one of: full, causal"):
        only(WHOLE, mask="casual")
    with pytest.raises(
        ValueError, match=r"mask is \(2, 2\) of torch.float32; it is a rule's name, or \(6, 6\) of truths"
    ):
        only(WHOLE, mask=np.ones((2, 2), dtype=np.float32))
    with pytest.raises(ValueError, match="batch=2: weights has 2 sequences"):
        only(WHOLE, batch=2)
    with pytest.raises(ValueError, match=r"query \(1, 4, 6, 5\) and key \(1, 3, 6, 5\)"):
        only(torch.randn(4, N, 5), torch.randn(3, N, 5))
    with pytest.raises(ValueError, match=r"axes='b q'"):
        only(WHOLE, axes="b q")


def test_rows_that_miss_one_are_told():
    assert "not to one" in only(WHOLE * 0.9).what and "not to one" not in only(WHOLE).what
    blind = WHOLE.clone()
    blind[..., 2, :] = 0
    assert only(blind).what.endswith("; 12 of 72 rows have no weight at all.")


def test_heads_that_attend_to_another_sequence_have_no_role_of_one_sequence():
    """An encoder and a decoder of as many tokens, without texts: "one back" means nothing between them."""
    back = torch.eye(N).roll(-1, 1).expand(1, HEADS, N, N)
    found = picture(stacks_of({"decoder_attentions": (back,), "cross_attentions": (back,)}, None, None, Told()))
    names = [header(gzip.decompress(data))["names"] for data in found.layers]
    assert [any(each) for each in names] == [True, False]


def test_the_bytes_of_a_layer_are_its_weights():
    stack = only(random(2, HEADS, N, N, causal=True), tokens=[f"<i>{i}</i>" for i in range(N)])
    drawn = picture({"": stack}, "Mine")
    for at, packed in enumerate(drawn.layers):
        data = gzip.decompress(packed)
        told = header(data)
        assert (told["heads"], told["rows"], told["tile"], told["shift"]) == (HEADS, N, 1, SHIFT)
        assert told["tokens"] == list(stack.queries) and told["key_tokens"] is None
        start = len(data) - 2 * HEADS * N * N - 4 * N
        codes = torch.frombuffer(bytearray(data[start : start + 2 * HEADS * N * N]), dtype=torch.uint16).view(
            HEADS, N, N
        )
        assert (
            torch.equal(codes == 0, ~torch.ones(N, N).tril().bool().expand(HEADS, N, N))
            and int(codes.int().max()) <= ONE
        )
        torch.testing.assert_close(weights(codes).nan_to_num(), stack.weights[at], rtol=1e-3, atol=1e-9)
    assert drawn.about["title"] == "Mine" and json.loads(json.dumps(drawn.about)) == drawn.about


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("heads", "tokens", "tile"), [(144, 241, 1), (144, 242, 2), (144, 512, 3), (12, 900, 3)])
def test_pictures_are_bounded(heads, tokens, tile):
    """What is stated of a file: 12 layers of 12 heads at any length."""
    stack = only(torch.full((heads // 12, 12, tokens, tokens), 1 / tokens))
    drawn = picture({"": stack})
    told = [header(gzip.decompress(data)) for data in drawn.layers]
    assert {each["tile"] for each in told} == {tile}
    assert sum(each["heads"] * each["rows"] * each["columns"] * (2 + each["places"]) for each in told) <= BYTES
    assert all(max(each["rows"], each["columns"]) <= SIDES[0] for each in told)
    assert bool(drawn.about["parts"][0]["note"]) == (tile > 1)


@pytest.mark.parametrize("kind", ["queries and keys", "weights", "rows that see nothing"])
def test_large_layers_are_drawn_some_heads_at_a_time(kind, monkeypatch):
    """The same bytes, whatever is in memory at once."""
    if kind == "queries and keys":
        stack = only(torch.randn(2, 6, 40, 5), torch.randn(2, 3, 40, 5), mask="window", span=9)
    else:
        given = random(2, 6, 40, 40)
        if kind == "rows that see nothing":
            given[:, :, 7], given[:, 2, 9] = 0, 0
        stack = only(given)
    whole, sizes, seen = list(messages(stack, 16)), [], picture_module.layer
    monkeypatch.setattr(picture_module, "AT_ONCE", 4 * 40 * 40)
    monkeypatch.setattr(picture_module, "layer", lambda *given: (found := seen(*given), sizes.append(len(found[0])))[0])
    assert list(messages(stack, 16)) == whole and sizes == [4, 2] * 2


def pixels(text: str) -> np.ndarray:
    """The colours of a static picture, which is all that its HTML has to load."""
    assert re.findall(r"<(\w+)", text) == ["figure", "img", "figcaption"] and "http" not in text
    data = base64.b64decode(re.search(r'src="data:image/png;base64,([^"]+)"', text)[1])
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


def test_a_static_picture_has_every_head_in_its_place():
    """Two layers of three heads on three tokens: head h of layer l gives its weight to the key l back, and h is a share of it."""
    stack = torch.zeros(2, 3, 3, 3)
    for at, head in itertools.product(range(2), range(3)):
        stack[at, head, at:, : 3 - at].fill_diagonal_(1 - head / 4)
        stack[at, head, :, 2] += 1 - stack[at, head].sum(-1)
    mask = torch.ones(3, 3, dtype=torch.bool)
    mask[0, 1] = False
    text = still(picture(stacks_of(stack, None, None, Told(mask=mask)), "<b>Mine</b>"))
    drawn, step = pixels(text), LARGEST + GAP
    assert drawn.shape == (2 * step, 3 * step, 3)
    for at, head, query, key in itertools.product(range(2), range(3), range(3), range(3)):
        found = drawn[at * step + query * 53 + 26, head * step + key * 53 + 26]
        wanted = interpolate(stack[at, head, query, key].numpy(), theme.WEIGHTS["light"]) if mask[query, key] else GREY
        assert np.abs(found - wanted).max() <= (2 if mask[query, key] else 26), (at, head, query, key)
    assert "&lt;b&gt;Mine&lt;/b&gt;. A layer per row, a head per column" in text and "6 heads in 2 layers" in text


def test_masked_cells_of_a_static_picture_are_hatched_as_in_the_app():
    text = still(
        picture(
            stacks_of(
                torch.ones(1, 1, 2, 2).tril() / torch.tensor([1.0, 2.0])[:, None], None, None, Told(mask="causal")
            )
        )
    )
    drawn = pixels(text)
    assert {tuple(each) for each in drawn[:70, 90:150].reshape(-1, 3).tolist()} == GREYS


def test_a_static_picture_has_the_scale_of_long_sequences():
    """The uniform weight is in the middle of the map, in whatever row."""
    text = still(
        picture(stacks_of(torch.ones(1, 1, 200, 200).tril() / torch.arange(1, 201)[:, None], None, None, Told()))
    )
    drawn = pixels(text)
    middle, masked = interpolate(np.array(0.5), theme.WEIGHTS["light"]), GREYS
    for row, column in ((5, 2), (50, 20), (98, 0)):
        assert np.abs(drawn[row, column] - middle).max() <= 10
        assert tuple(drawn[row, column + 1 + row - column].tolist()) in masked


def test_negative_weights_keep_their_sign_in_a_file_and_in_a_static_picture():
    found = attention.compare(Config(), Config(softmax="differential"))
    _, plain, packed = compared_picture(found).layers
    assert not header(gzip.decompress(plain)).get("signed") and any(header(gzip.decompress(plain))["names"])
    data, wanted = gzip.decompress(packed), found.b.weights[0]
    told, count = header(data), wanted.numel()
    assert told["signed"] and told["ramps"]["light"] == list(theme.SIGNED["light"]) and not any(told["names"])
    start = len(data) - 2 * count - 4 * wanted.shape[1]
    codes = torch.frombuffer(bytearray(data[start : start + 2 * count]), dtype=torch.uint16).view(wanted.shape)
    torch.testing.assert_close(weights(codes, signed=True).nan_to_num(), wanted, rtol=2e-3, atol=1e-9)
    assert wanted.min() < -0.4
    drawn, cell = pixels(still(picture({"": found.b}))), _fit(8, [1])[0] // 18
    for query, key in ((wanted[0] == wanted[0].min()).nonzero()[0].tolist(), (17, 17)):
        shade = interpolate((1 + wanted[0, query, key].numpy()) / 2, theme.SIGNED["light"])
        assert np.abs(drawn[query * cell + 2, key * cell + 2] - shade).max() <= 5


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("layers", "heads", "tokens", "shown"), [(12, 12, 64, 12), (2, 1, 400, 2), (40, 128, 5, 21), (1, 8000, 4, 1)]
)
def test_a_static_picture_is_small(layers, heads, tokens, shown):
    """Noise is packed worst. What there is no room for is named."""
    text = still(picture(stacks_of(random(layers, heads, tokens, tokens), None, None, Told())))
    assert len(text) < 300_000 and pixels(text).size // 3 <= PIXELS
    assert (f"the first {shown} of {layers} layers" in text) == (shown < layers)


def test_a_cell_of_many_tokens_does_not_promise_where_its_weight_stands():
    def note(tokens: int) -> str:
        return _note(only(torch.full((1, 1, tokens, tokens), 1 / tokens)), 32)

    assert note(512) == "Each cell is the largest weight of 16 x 16 tokens; pointing at it says which."
    assert note(513) == "Each cell is the largest weight of 17 x 17 tokens."


@pytest.mark.parametrize(("heads", "tokens", "side"), [(32, 2048, 300), (1024, 2048, 64)])
def test_the_sizes_of_real_models_fit(heads, tokens, side):
    """One layer of Llama-3-8B, and all 32."""
    assert picture_side([empty(heads // 32, 32, tokens)]) == side


def test_a_head_that_is_too_long_is_refused():
    said = "A head of 8,193 x 8,193 weights is over the 67,108,864 that are drawn here, 8,192 tokens. Give fewer tokens"
    with pytest.raises(ValueError, match=said):
        picture_side([empty(1, 1, 8193)])
    assert picture_side([empty(1, 1, 8192)]) == SIDES[0]


def empty(layers: int, heads: int, tokens: int) -> Stack:
    """Weights of a size, which take no memory."""
    return Stack("", "", weights=torch.zeros(1, 1, 1, 1).expand(layers, heads, tokens, tokens))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            {"mask": "causal", "scale": 0.5, "batch": 1},
            "mask, scale, batch: nothing of the kind is said of a model that was",
        ),
        ({"batch": 1}, r"attention\.watch\(model, batch=…\) says which sequence is seen\."),
        ({"key": torch.ones(2, 2)}, "^key: "),
        ({"softcap": 3.0, "span": 2, "axes": "h q k"}, "^axes, span, softcap: "),
    ],
)
def test_what_was_seen_is_not_told_otherwise(said, words, tmp_path):
    layer = torch.nn.MultiheadAttention(16, 2, batch_first=True).eval()
    x = torch.ones(2, 5, 16)
    with attention.watch(layer) as seen:
        layer(x, x, x)
    assert attention.html(seen, path=tmp_path / "heads.html", tokens="a b c d e", title="Mine").exists()
    with pytest.raises(ValueError, match=words):
        attention.html(seen, path=tmp_path / "other.html", **said)
    assert not (tmp_path / "other.html").exists()
