"""Watching models of `torch.nn` and of one's own: what is seen, that nothing changes, and what is said of what isn't seen."""

from __future__ import annotations

import json
import threading
import warnings

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.bias import causal_lower_right, causal_upper_left
from torch.nn.attention.flex_attention import create_block_mask

from attention.layer import MultiHeadAttention
from attention.watching.model_calls import of_transformers
from attention.watching.passing import SDPA
from attention.watching.watched import watch
from tests.watchable import HEADS, WIDTH, Blocks, ByHand, HandAttention

TOKENS = 7


def x(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3))


@pytest.fixture(autouse=True)
def _same() -> None:
    torch.manual_seed(11)


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

    def learned(watched: bool) -> list[torch.Tensor]:
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
    call = of_transformers("flash_attention_2", layer, q, k, k, padding, is_causal=True, sliding_window=3).one(1)
    assert call.square.long().tolist() == [[0, 1, 1, 0, 0], [0, 1, 1, 1, 0], [0, 0, 1, 1, 1]]
    call = of_transformers("flash_attention_2", layer, q, k, k, is_causal=False, softcap=3.0, scaling=0.1).one(0)
    assert (call.square, call.softcap, call.scale) == (None, 3.0, 0.1)


def test_the_masks_of_flex_attention():
    block = create_block_mask(lambda b, h, query, key: key <= query, None, None, TOKENS, TOKENS, device="cpu")
    q = x(1, HEADS, TOKENS, 8)
    call = of_transformers("flex_attention", nn.Identity(), q, q, q, block).one(0)
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
    with pytest.raises(ValueError, match=r"No attention was seen.*not compiled\. layer: it adds keys"):
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
    with watch(model), watch(model):
        assert getattr(F, SDPA) is not before[0]
    with pytest.raises(RuntimeError, match="mat1"), watch(model):
        model(torch.ones(1, 2, 3))
    assert before == [getattr(F, SDPA), nn.MultiheadAttention.forward, nn.TransformerEncoderLayer.forward]
    assert not torch.nn.modules.module._global_forward_hooks
    seen = watch(model)
    with seen, pytest.raises(RuntimeError, match="being watched already"):
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
