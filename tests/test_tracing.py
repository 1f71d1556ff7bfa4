"""Watching models of `torch.nn` and of one's own: what is seen, that nothing changes, and what is said of what isn't seen."""

from __future__ import annotations

import itertools
import json
import threading
import warnings
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.bias import causal_lower_right, causal_upper_left
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import attention
from attention.attend import HALVES
from attention.layer import MultiHeadAttention
from attention.tracing import parts
from attention.tracing.call import Call
from attention.tracing.hooks import SDPA
from attention.tracing.layer_names import layer_numbers
from attention.tracing.model_calls import of_transformers
from attention.tracing.sdpa_call import SdpaBatch
from attention.tracing.track import Track
from attention.tracing.watched import watch
from tests.samples import sample
from tests.watchable import HEADS, NEEDED, WIDTH, Blocks, ByHand, HandAttention

TOKENS = 7


def x(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3))


@pytest.fixture(autouse=True)
def _same() -> None:
    torch.manual_seed(11)


def one(found: SdpaBatch, batch: int = 0) -> Call:
    """A call by itself."""
    return Track.of(found.copy_to_cpu(batch), None, None, False).call()


def masks(kind: str) -> dict[str, torch.Tensor]:
    """Arguments of nn.MultiheadAttention: two sequences, seven keys."""
    hidden = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
    padding = torch.zeros(2, TOKENS, dtype=torch.bool)
    padding[:, -2:] = True
    by_head = hidden.expand(2 * HEADS, -1, -1).clone()
    by_head[1, 3, 0] = True
    return {
        "none": {},
        "square": {"attn_mask": hidden},
        "added": {"attn_mask": x(TOKENS, TOKENS)},
        "padding": {"key_padding_mask": padding},
        "both": {"attn_mask": hidden, "key_padding_mask": padding},
        "by head": {"attn_mask": by_head},
    }[kind]


@pytest.mark.parametrize("kind", ["none", "square", "added", "padding", "both", "by head"])
@pytest.mark.parametrize("first", [True, False], ids=["batch first", "tokens first"])
@pytest.mark.parametrize("asked", [True, False], ids=["with weights", "without"])
def test_the_layer_of_torch(kind, first, asked):
    layer = nn.MultiheadAttention(WIDTH, HEADS, batch_first=first).eval()
    one = x(2, TOKENS, WIDTH) if first else x(TOKENS, 2, WIDTH)
    given = masks(kind)
    with torch.no_grad():
        plain = layer(one, one, one, need_weights=asked, average_attn_weights=False, **given)
        wanted = layer(one, one, one, average_attn_weights=False, **given)[1]
        for batch in (0, 1):
            seen = watch(layer, batch)
            found = seen(one, one, one, need_weights=asked, average_attn_weights=False, **given)
            assert torch.equal(found[0], plain[0])
            (call,) = seen.calls.values()
            torch.testing.assert_close(call.weights(), wanted[batch], rtol=0, atol=1e-5)


def test_the_layer_of_torch_that_looks_at_another_sequence_of_another_width():
    layer = nn.MultiheadAttention(WIDTH, HEADS, kdim=20, vdim=12, batch_first=True).eval()
    given = x(1, 5, WIDTH), x(1, TOKENS, 20), x(1, TOKENS, 12)
    seen = watch(layer)
    with torch.no_grad():
        _, wanted = seen(*given, average_attn_weights=False)
    (call,) = seen.calls.values()
    torch.testing.assert_close(call.weights(), wanted[0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("padding", [True, False])
def test_the_encoder_of_torch_on_its_fast_path(norm_first, padding):
    """It is one kernel, which nobody passes; and where sequences are padded, they lie one after another."""
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(WIDTH, HEADS, 48, batch_first=True, norm_first=norm_first),
        2,
        enable_nested_tensor=not norm_first,
    ).eval()
    given, mask = x(2, TOKENS, WIDTH), masks("padding")["key_padding_mask"]
    named = {"src_key_padding_mask": mask} if padding else {}
    seen = watch(encoder)
    with torch.no_grad():
        plain, found = encoder(given, **named), seen(given, **named)
    assert torch.equal(plain, found)
    assert list(seen.calls) == ["layers.0.self_attn", "layers.1.self_attn"] and seen.unseen == {}
    torch.backends.mha.set_fastpath_enabled(False)
    slow = watch(encoder)
    with torch.no_grad():
        slow(given, **named)
    torch.backends.mha.set_fastpath_enabled(True)
    keys = TOKENS - 2 if padding else TOKENS
    for call, other in zip(seen.calls.values(), slow.calls.values(), strict=True):
        torch.testing.assert_close(
            call.weights()[..., :keys], other.weights()[:, : call.q.shape[1], :keys], rtol=0, atol=1e-5
        )


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("how", ["torch", "another name"])
@pytest.mark.parametrize("kernel", [SDPBackend.MATH, SDPBackend.FLASH_ATTENTION])
def test_a_module_of_ones_own(causal, how, kernel):
    model = Blocks(ByHand(how, causal), ByHand(how, causal))
    plain = model(x(2, TOKENS, WIDTH))
    with sdpa_kernel(kernel):
        before, seen = model(x(2, TOKENS, WIDTH)), watch(model)
        assert torch.equal(seen(x(2, TOKENS, WIDTH)), before)
    assert torch.allclose(before, plain, atol=1e-5)
    assert list(seen.calls) == ["blocks.0", "blocks.1"] and seen.unseen == {}
    stack = seen.parts()[""]
    assert stack.own["mask"] == ("causal" if causal else "full")
    for call in seen.calls.values():
        scores = call.q @ call.k.mT / call.q.shape[-1] ** 0.5
        hidden = torch.ones(TOKENS, TOKENS).triu(1).bool() & torch.tensor(causal)
        wanted = scores.masked_fill(hidden, -torch.inf).softmax(-1)
        torch.testing.assert_close(call.weights(), wanted, rtol=0, atol=1e-6)


def test_training_goes_on_as_it_would():
    """With dropout and gradients: the same numbers from the same seed."""

    def learned(watched: bool) -> list[torch.Tensor | None]:
        torch.manual_seed(5)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 48, dropout=0.3, batch_first=True).train()
        run = watch(layer) if watched else layer
        run(x(2, TOKENS, WIDTH)).square().sum().backward()
        return [parameter.grad for parameter in layer.parameters()]

    assert all(map(torch.equal, learned(True), learned(False)))


def test_our_own_layer():
    layer = MultiHeadAttention(WIDTH, HEADS, 2)
    seen = watch(layer)
    _, wanted = seen(x(TOKENS, WIDTH))  # no batch
    (call,) = seen.calls.values()
    assert len(call.k) == 2
    torch.testing.assert_close(call.weights(), wanted.detach(), rtol=0, atol=1e-6)


def test_the_masks_of_flash_attention():
    """One entry a key; what comes after is hidden besides, counted from the end, and so is what is too long ago."""
    q, k = x(2, HEADS, 3, 8), x(2, 2, 5, 8)
    padding = torch.tensor([[1, 1, 1, 1, 1], [0, 1, 1, 1, 1]])
    layer = nn.Identity()
    call = one(of_transformers("flash_attention_2", layer, q, k, k, padding, is_causal=True, sliding_window=3), 1)
    assert call.square.long().tolist() == [[0, 1, 1, 0, 0], [0, 1, 1, 1, 0], [0, 0, 1, 1, 1]]
    call = one(of_transformers("flash_attention_2", layer, q, k, k, is_causal=False, softcap=3.0, scaling=0.1))
    assert (call.square, call.softcap, call.scale) == (None, 3.0, 0.1)


def test_the_masks_of_flex_attention():
    block = create_block_mask(lambda b, h, query, key: key <= query, None, None, TOKENS, TOKENS, device="cpu")
    q = x(1, HEADS, TOKENS, 8)
    call = one(of_transformers("flex_attention", nn.Identity(), q, q, q, block))
    assert torch.equal(call.square, torch.ones(TOKENS, TOKENS, dtype=torch.bool).tril())


@pytest.mark.parametrize("make", [causal_lower_right, causal_upper_left])
def test_a_mask_without_entries_is_the_one_that_it_stands_for(make):
    """The memory of torch's CausalBias is uninitialised."""

    class Biased(nn.Module):
        def forward(self, q, k):
            return F.scaled_dot_product_attention(q, k, k, make(2, 5))

    given = x(1, HEADS, 2, 8), x(1, HEADS, 5, 8)
    seen = watch(Biased())
    torch.testing.assert_close(seen(*given), Biased()(*given))
    (call,) = seen.calls.values()
    shift = 3 if make is causal_lower_right else 0
    assert torch.equal(call.square, torch.ones(2, 5, dtype=torch.bool).tril(shift))
    assert type(call.square) is torch.Tensor


def test_a_layer_that_runs_several_times_is_as_many():
    shared = ByHand()
    model = Blocks(shared, shared, shared)
    seen = watch(model)
    for _ in range(2):
        seen(x(1, TOKENS, WIDTH))
    assert list(seen.calls) == ["blocks.0", "blocks.0 (2)", "blocks.0 (3)"]
    assert seen.parts()[""].q.shape[0] == 3


def test_what_cannot_be_seen_is_named():
    model = Blocks(HandAttention(), HandAttention("by hand"), nn.Linear(WIDTH, WIDTH))
    seen = watch(model)
    with pytest.warns(UserWarning, match=r"can't see 1 layers: blocks\.1\."):
        seen(x(1, TOKENS, WIDTH))
    assert list(seen.unseen) == ["blocks.1"] and "multiply by itself" in seen.unseen["blocks.1"]
    assert f"{seen}" == "<Blocks: 1 layers seen, 1 not>"


def test_why_a_layer_was_missed_is_said():
    layer = nn.MultiheadAttention(WIDTH, HEADS, add_zero_attn=True, batch_first=True)
    seen = watch(Blocks2(layer))
    with pytest.warns(UserWarning, match="layer"):
        seen(x(1, TOKENS, WIDTH))
    assert seen.unseen == {"layer": "it adds keys of its own (add_bias_kv, add_zero_attn)"}
    with pytest.raises(ValueError, match=r"No attention was seen.*weights\)\. layer: it adds keys"):
        seen.parts()
    few = watch(Blocks(ByHand()), batch=4)
    with pytest.warns(UserWarning, match="blocks"):
        few(x(2, TOKENS, WIDTH))
    assert few.unseen == {"blocks.0": "batch=4: there are 2 sequences"}


class Blocks2(nn.Module):
    """One layer of torch around which nothing is."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x, x, x)[0]


def test_everything_is_as_it_was_afterwards():
    before = [getattr(F, SDPA), nn.MultiheadAttention.forward, nn.TransformerEncoderLayer.forward]
    model = Blocks(ByHand())
    with pytest.warns(UserWarning, match="No attention was seen"), watch(model), watch(model):
        assert getattr(F, SDPA) is not before[0]
    with pytest.raises(RuntimeError, match="mat1"), watch(model):
        model(torch.ones(1, 2, 3))
    assert before == [getattr(F, SDPA), nn.MultiheadAttention.forward, nn.TransformerEncoderLayer.forward]
    assert not torch.nn.modules.module._global_forward_hooks
    seen = watch(model)
    with (
        pytest.warns(UserWarning, match="No attention was seen"),
        seen,
        pytest.raises(RuntimeError, match="being watched already"),
    ):
        seen.__enter__()


def test_what_others_do_meanwhile_is_theirs():
    """Another thread, another model, and what stands in no model at all."""
    model, other = Blocks(ByHand()), Blocks(ByHand())
    with watch(model) as seen:
        thread = threading.Thread(target=model, args=(x(1, TOKENS, WIDTH),))
        thread.start()
        thread.join()
        other(x(1, TOKENS, WIDTH))
        F.scaled_dot_product_attention(*(x(1, 2, 3, 4),) * 3)
        assert seen.calls == {}
        model(x(1, TOKENS, WIDTH))
    assert list(seen.calls) == ["blocks.0"]


def test_shapes_without_numbers_are_named():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seen = watch(model := Blocks(ByHand()).to("meta"))
        seen(torch.empty(1, TOKENS, WIDTH, device="meta"))
        assert "only shapes" in seen.unseen["blocks.0"]
        del model


def test_a_saved_file_is_read_by_the_library(tmp_path):
    library = pytest.importorskip("safetensors.torch", reason="safetensors is not installed")
    seen = watch(Blocks(ByHand(causal=True), ByHand(causal=True)))
    seen(x(1, TOKENS, WIDTH))
    tokens = [f"<b>{i}</b>" for i in range(TOKENS)]
    (path,) = seen.save(tmp_path / "heads.safetensors", tokens=tokens, title="Mine")
    found = library.load_file(path)
    assert set(found) == {f"layers.{i}.{part}" for i in (0, 1) for part in "qkv"}
    for at, call in enumerate(seen.calls.values()):
        assert torch.equal(found[f"layers.{at}.q"], call.q) and torch.equal(found[f"layers.{at}.k"], call.k)
    with library.safe_open(path, "pt") as file:
        about = file.metadata()
    assert json.loads(about["tokens"]) == tokens and "keys" not in about
    assert (about["title"], about["mask"], about["scale"]) == ("Mine", "causal", "1/sqrt(d_head)")


def test_texts_must_fit():
    seen = watch(Blocks(ByHand()))
    seen(x(1, TOKENS, WIDTH))
    with pytest.raises(ValueError, match=r"tokens has 2 texts; there are 7 tokens\. Give one text for each\."):
        seen.parts(tokens=["a", "b"])


def call_of(scores: list[list[float]], mask: torch.Tensor) -> Call:
    """A call whose scores are these, under a mask."""
    row = torch.tensor(scores)
    return one(SdpaBatch(torch.eye(len(scores))[None], row.T[None], row.T[None], mask, scale=1.0))


def test_a_finite_mask_is_added_and_hides_only_what_has_no_weight():
    added = torch.tensor([[0.0, 0.0, -1e4]])
    call = call_of([[-10500.0, -10400.0, 3.0]], added)
    assert call.weights().tolist() == [[[0.0, 0.0, 1.0]]]
    assert call.square is None and not call.is_standard  # the mask hides nothing here: it is outweighed
    call = call_of([[1.0, 2.0, 3.0]], added)
    assert call.is_standard and call.square.tolist() == [[True, True, False]]
    far = call_of([[1.0, 200.0, 3.0]], torch.tensor([[0.0, 0.0, -torch.inf]]))
    assert far.weights()[0, 0, 0] == 0 and far.square.tolist() == [[True, True, False]]  # no weight, and not masked


ADDED = list(
    itertools.product(
        ("fused", "math", "flex", "layer", "eager", "eager with softcap"), (torch.float32, torch.float64, *HALVES)
    )
)


class Added(nn.Module):
    """Attention with a mask of numbers, computed in one of the ways that people have; values are the unit matrix."""

    def __init__(self, way: str, dtype: torch.dtype) -> None:
        super().__init__()
        self.way, self.num_key_value_groups = way, 1
        if "eager" in way:
            self.gemma = pytest.importorskip("transformers.models.gemma2.modeling_gemma2", reason=NEEDED)
        self.weight = nn.Parameter(torch.zeros(()))
        self.attn = nn.MultiheadAttention(WIDTH, 1, batch_first=True).to(dtype)

    def forward(self, q: torch.Tensor, k: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The weights that the model used, `(q k)`."""
        v = torch.eye(k.shape[-2], dtype=q.dtype)[None, None]
        if self.way == "layer":
            _, weights = self.attn(q[0], k[0], k[0], attn_mask=mask)
            return weights[0]
        if self.way == "flex":
            return flex_attention(q, k, v, score_mod=lambda score, b, h, i, j: score + mask[i, j])[0, 0]
        if self.way in ("fused", "math"):
            with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH] if self.way == "fused" else SDPBackend.MATH):
                return F.scaled_dot_product_attention(q, k, v, mask)[0, 0]
        function = self.gemma.ALL_ATTENTION_FUNCTIONS.get_interface("eager", self.gemma.eager_attention_forward)
        more = {"softcap": 20.0} if self.way == "eager with softcap" else {}
        return function(self, q, k, v, mask[None, None], scaling=k.shape[-1] ** -0.5, **more)[0][0, :, 0]


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile:UserWarning")
@pytest.mark.parametrize("lowest", [None, -6e4, -30.0, -torch.inf])
@pytest.mark.parametrize(("way", "dtype"), sample(ADDED, lambda way, dtype: dtype in HALVES))
def test_a_mask_of_numbers_gives_the_weights_of_the_model(way, dtype, lowest):
    """Left padding and a causal mask: whether a row that is masked as a whole is uniform depends on all three."""
    value = torch.finfo(dtype).min if lowest is None else lowest
    seen_pairs = torch.ones(TOKENS, TOKENS, dtype=torch.bool).tril()
    seen_pairs[:, :2] = False
    mask = torch.zeros(TOKENS, TOKENS, dtype=dtype).masked_fill(~seen_pairs, value)
    q, k = (2 * x(2, TOKENS, WIDTH).to(dtype)).unflatten(0, (2, 1, 1))
    model = Added(way, dtype).eval()
    with torch.no_grad(), watch(model) as seen:
        expected = model(q, k, mask).float()
    assert seen.unseen == {}
    (call,) = seen.calls.values()
    found, known = call.weights()[0], expected.isfinite().all(-1)
    nothing = lowest == -torch.inf or (lowest is None and dtype == torch.float64 and "eager" in way)  # in its softmax
    assert known[2:].all() and (known.all() or nothing)  # rows without any key are NaN in some ways
    error = {torch.float16: 0.01, torch.bfloat16: 0.03}.get(dtype, 5e-4 if lowest else 1e-5)  # float32 has 0.004 at 6e4
    torch.testing.assert_close(found[known], expected[known], rtol=0, atol=error)
    drawn = torch.ones_like(seen_pairs) if call.square is None else call.square
    assert not found[~drawn].any() and (lowest != -torch.inf or not found[:2].any())


class Mine(nn.Module):
    """Attention by hand whose name says nothing, which reports itself."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.maps, self.what = nn.Linear(WIDTH, 3 * WIDTH), what

    def forward(self, x: torch.Tensor) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.maps(x).chunk(3, -1))
        weights = (q @ k.mT * 0.3).softmax(-1)
        if self.what == "weights":
            attention.report(weights=weights)
        elif self.what == "queries":
            attention.report(q, k, v, scale=0.3)
        elif self.what == "returned":
            return (weights @ v).transpose(1, 2).flatten(2), weights
        return (weights @ v).transpose(1, 2).flatten(2)


def test_the_number_of_a_layer_is_the_only_one_that_differs():
    assert layer_numbers(["h.5.attn"]) == {"h.5.attn": 5}
    assert layer_numbers(["h.3.0.attn", "h.5.0.attn"]) == {"h.3.0.attn": 3, "h.5.0.attn": 5}
    assert layer_numbers(["h.1.2.attn", "h.2.3.attn"]) == {"h.1.2.attn": 0, "h.2.3.attn": 1}, "both numbers differ"


@pytest.mark.parametrize("what", ["weights", "queries"])
def test_attention_by_hand_reports_itself(what):
    model: Any = Blocks(Mine(what), Mine(what))
    with torch.no_grad():
        plain = model(x(2, TOKENS, WIDTH))
        seen = watch(model, 1)
        assert torch.equal(seen(x(2, TOKENS, WIDTH)), plain)
    assert list(seen.calls) == ["blocks.0", "blocks.1"]
    q, k, _ = (
        part.unflatten(-1, (HEADS, -1)).transpose(1, 2)
        for part in model.blocks[0].maps(x(2, TOKENS, WIDTH)).chunk(3, -1)
    )
    torch.testing.assert_close(seen.calls["blocks.0"].weights(), (q @ k.mT * 0.3).softmax(-1)[1], rtol=0, atol=1e-6)
    assert (seen.parts()[""].q is None) == (what == "weights")
    with pytest.raises(ValueError, match="takes query and key"):
        attention.report()


class Named(nn.Module):
    """A block whose attention is named by its place alone, and returns its weights."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.attn = Mine(what)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self.attn(x)
        return out[0] if isinstance(out, tuple) else out


def test_a_layer_is_known_by_its_place():
    seen = watch(Blocks(Named("nothing")))
    with pytest.warns(UserWarning, match=r"can't see 1 layers: blocks\.0\.attn"):
        seen(x(1, TOKENS, WIDTH))
    seen = watch(Blocks(Named("returned")))
    seen(x(1, TOKENS, WIDTH))
    assert list(seen.calls) == ["blocks.0.attn"] and seen.unseen == {}


def test_nothing_seen_is_said():
    with pytest.warns(UserWarning, match=r"No attention was seen.*attention\.report"):
        watch(Blocks(Mine("nothing")))(x(1, TOKENS, WIDTH))


class Flexible(nn.Module):
    """A class of one's own that calls flex attention."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.maps, self.how = nn.Linear(WIDTH, 3 * WIDTH), how

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in self.maps(x).chunk(3, -1))
        block = create_block_mask(lambda b, h, query, key: key <= query, None, None, TOKENS, TOKENS, device="cpu")
        changes = {"rule": None, "scores": lambda score, b, h, query, key: score - 0.5 * (query - key) * (h + 1)}[
            self.how
        ]
        return flex_attention(q, k, v, changes, block).transpose(1, 2).flatten(2)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("how", ["rule", "scores"])
def test_flex_attention_of_ones_own(how):
    model: Any = Blocks(Flexible(how))
    with torch.no_grad():
        plain = model(x(2, TOKENS, WIDTH))
        seen = watch(model, 1)
        assert torch.equal(seen(x(2, TOKENS, WIDTH)), plain)
    (call,) = seen.calls.values()
    maps = model.blocks[0].maps(x(2, TOKENS, WIDTH))[1]
    q, k = (part.unflatten(-1, (HEADS, -1)).transpose(0, 1) for part in maps.chunk(3, -1)[:2])
    after = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if how == "scores":
        apart = torch.arange(TOKENS)[:, None] - torch.arange(TOKENS)
        scores = scores - 0.5 * apart * torch.arange(1, HEADS + 1)[:, None, None]
    torch.testing.assert_close(call.weights(), scores.masked_fill(after, -torch.inf).softmax(-1), rtol=0, atol=1e-6)
    assert torch.equal(call.square, ~after)


@pytest.mark.parametrize("part", [False, True], ids=["all of it", "a part"])
def test_a_compiled_model_runs_eagerly_while_it_is_watched(part):
    model = Blocks(ByHand(), ByHand())
    plain = model(x(1, TOKENS, WIDTH))
    if part:
        model.blocks[1].compile(backend="eager")
    compiled = model if part else torch.compile(model, backend="eager")
    before = _stance()
    seen, other = watch(compiled), watch(compiled)
    with pytest.warns(UserWarning, match="runs eagerly"):
        seen.__enter__()
    with pytest.warns(UserWarning, match="runs eagerly"):
        assert torch.equal(other(x(1, TOKENS, WIDTH)), plain)
    assert _stance() == "force_eager"  # one still watches
    seen.__exit__(None, None, None)
    assert list(seen.calls) == list(other.calls) == ["blocks.0", "blocks.1"] and _stance() == before
    with pytest.warns(UserWarning, match="runs eagerly"), pytest.raises(RuntimeError, match="mat1"), watch(compiled):
        compiled(torch.ones(1, 2, 3))
    assert _stance() == before


def _stance() -> str:
    """How compiled code runs."""
    from torch._dynamo import eval_frame

    return eval_frame._stance.stance


def test_layers_heads_and_tokens_are_chosen():
    model = Blocks(*(ByHand(causal=True) for _ in range(4)))
    whole, some = watch(model), watch(model, layers=[1, 3], heads=[0, 2], tokens=range(2, 5))
    for seen in (whole, some):
        seen(x(1, TOKENS, WIDTH))
    assert list(some.calls) == ["blocks.1", "blocks.3"] and some.unseen == {}
    for name, call in some.calls.items():
        assert call.q.shape[:2] == (2, 3) and call.k.shape[:2] == (2, 5)  # what comes later is not seen by these
        wanted = whole.calls[name].weights()[[0, 2], 2:5, :5]
        torch.testing.assert_close(call.weights(), wanted, rtol=0, atol=1e-6)
    stack = some.parts(tokens=[f"t{at}" for at in range(TOKENS)])[""]
    assert stack.numbers == (1, 3) and "Heads 0, 2 of each layer." in stack.what
    assert stack.queries == ("t2", "t3", "t4") and stack.keys == ("t0", "t1", "t2", "t3", "t4")
    first = watch(model, tokens=3)
    first(x(1, TOKENS, WIDTH))
    assert first.parts()[""].own["mask"] == "causal" and first.parts()[""].q.shape[2:] == (3, WIDTH // HEADS)
    with pytest.warns(UserWarning, match="can't see 4 layers"):
        (none := watch(model, heads=[9]))(x(1, TOKENS, WIDTH))
    assert none.unseen["blocks.0"] == "heads has 9; there are 4 heads, counted from 0"
    with pytest.raises(ValueError, match="give neighbouring positions"):
        watch(model, tokens=range(0, 8, 2))


def test_heads_that_share_keys_stay_together():
    layer = MultiHeadAttention(WIDTH, HEADS, 2)
    for heads, groups in (([0, 1], 1), ([0, 1, 2, 3], 2), ([1, 2], 2), ([0, 2, 3], 3)):
        seen = watch(layer, heads=heads)
        _, wanted = seen(x(TOKENS, WIDTH))
        (call,) = seen.calls.values()
        assert len(call.k) == groups
        torch.testing.assert_close(call.weights(), wanted.detach()[heads], rtol=0, atol=1e-6)


@pytest.mark.parametrize("kept", [None, torch.float16], ids=["its own", "half"])
def test_numbers_keep_the_type_of_the_model_or_that_of_ones_choice(kept):
    model: Any = Blocks(ByHand()).to(torch.bfloat16 if kept is None else torch.float32)
    seen, exact = watch(model, dtype=kept), watch(model)
    for each in (seen, exact):
        each(x(1, TOKENS, WIDTH).to(model.blocks[0].maps.weight.dtype))
    stack = seen.parts()[""]
    assert stack.q.dtype == stack.k.dtype == stack.v.dtype == (torch.bfloat16 if kept is None else kept)
    pairs = zip(seen.calls.values(), exact.calls.values(), strict=True)
    apart = max(float((mine.weights() - theirs.weights()).abs().max()) for mine, theirs in pairs)
    assert (f"Kept in float16, which changes a weight by at most {apart:.1g}." in stack.what) == (kept is not None)
    assert 0 < apart < 3e-3 if kept else apart == 0


def test_the_rule_of_a_mask_is_searched_once_however_many_layers_have_it(monkeypatch):
    causal, window = torch.ones(9, 9).tril().bool(), torch.ones(9, 9).tril().triu(-2).bool()
    searched, find = [], parts.find_rule
    monkeypatch.setattr(parts, "find_rule", lambda square, *sizes: searched.append(square) or find(square, *sizes))
    rules = parts._find_rules([causal, window, causal.clone(), None, window, None], 9, 9)
    assert [rule and rule["mask"] for rule in rules] == ["causal", "window", "causal", "full", "window", "full"]
    assert len(searched) == 3
