"""What models of transformers return: rows of `generate` at their true positions, and attention with another meaning."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from attention.notebook.inputs import Told, stacks_of
from attention.tracing.parts import CROSS, DECODER, ENCODER
from tests.bad_files import weights_after_dropout
from tests.model_families import WORDS, family, transformers

NEW = {"max_new_tokens": 5, "min_new_tokens": 5, "return_dict_in_generate": True, "output_attentions": True}
CLOSE = {"rtol": 0, "atol": 1e-5}


def ids(texts: int, count: int) -> Tensor:
    return torch.randint(3, WORDS, (texts, count), generator=torch.Generator().manual_seed(3))


@torch.no_grad()
def generate(model: Any, texts: Tensor, **more: Any) -> Any:
    return model.generate(texts, do_sample=False, pad_token_id=0, **NEW, **more)


@torch.no_grad()
def whole(model: Any, sequence: Tensor, **more: Any) -> Tensor:
    """All layers of one pass over a sequence but for its last token, without a cache."""
    return torch.cat(model(sequence[None, :-1], use_cache=False, output_attentions=True, **more).attentions)


def stack_of(given: Any, part: str = "", **told: Any) -> Any:
    return stacks_of(given, None, None, Told(**told))[part]


@pytest.mark.parametrize("options", [{}, {"cache_implementation": "static"}, {"use_cache": False}])
@pytest.mark.parametrize("prompt", [2, 4, 9])
@pytest.mark.parametrize("alone", [False, True])
def test_rows_past_a_window_have_the_keys_that_they_saw(prompt, options, alone):
    """A prompt shorter than the window, as long, and longer; with all that generate returns, and with the weights alone."""
    model = family("Gemma 2", 4)
    found = generate(model, ids(1, prompt), **options)
    stack = stack_of(found.attentions if alone else found)
    torch.testing.assert_close(stack.weights, whole(model, found.sequences[0]), **CLOSE)
    n = prompt + 4
    assert torch.equal(stack.square, torch.ones(n, n).tril().bool()), (
        "a layer without a window sees all that is not ahead"
    )


@pytest.mark.parametrize("prompt", [3, 9])
def test_keys_behind_the_window_of_all_layers_are_masked(prompt):
    """In the rows of the prompt too, which had these keys at hand."""
    found = generate(family("Mistral", 4), ids(1, prompt))
    rows, keys = torch.arange(prompt + 4)[:, None], torch.arange(prompt + 4)
    assert torch.equal(stack_of(found).square, (keys <= rows) & (keys > rows - 4))


@pytest.mark.parametrize("alone", [False, True])
def test_a_cache_that_was_filled_before_has_keys_and_no_rows(alone):
    model, text = family("Llama"), ids(1, 7)
    with torch.no_grad():
        cache = model(text[:, :4]).past_key_values
    found = generate(model, text, past_key_values=cache)
    stack = stack_of(found.attentions if alone else found)
    assert stack.weights.shape[2:] == (7, 11)
    torch.testing.assert_close(stack.weights, whole(model, found.sequences[0])[:, :, 4:], **CLOSE)
    assert torch.equal(stack.square, torch.ones(7, 11).tril(4).bool())


@pytest.mark.parametrize("count", [1, 2])
def test_every_sequence_of_a_beam_search(count):
    """Of two texts: `batch` is a sequence that was returned."""
    model = family("GPT-2")
    found = generate(model, ids(2, 4), num_beams=3, num_return_sequences=count)
    assert any(len(set(row)) > 1 for row in found.beam_indices.tolist()), "no hypothesis has moved to another row"
    for batch, sequence in enumerate(found.sequences):
        torch.testing.assert_close(stack_of(found, batch=batch).weights, whole(model, sequence), **CLOSE)
    with pytest.raises(ValueError, match=rf"batch={2 * count}: generate returned {2 * count} sequences"):
        stack_of(found, batch=2 * count)


@pytest.mark.parametrize("beams", [1, 4])
def test_an_encoder_ran_once_for_all_sequences_of_a_text(beams):
    model, texts = family("T5"), ids(2, 6)
    torch.manual_seed(0)
    found = model.generate(texts, do_sample=beams == 1, num_beams=beams, num_return_sequences=2, **NEW)
    for batch, sequence in enumerate(found.sequences):
        with torch.no_grad():
            wanted = model(
                input_ids=texts[batch // 2][None], decoder_input_ids=sequence[None, :-1], output_attentions=True
            )
        parts = {ENCODER: "encoder_attentions", DECODER: "decoder_attentions", CROSS: "cross_attentions"}
        for part, name in parts.items():
            torch.testing.assert_close(stack_of(found, part, batch=batch).weights, torch.cat(wanted[name]), **CLOSE)


def test_beams_that_nothing_tells_apart():
    found = generate(family("GPT-2"), ids(1, 4), num_beams=3)
    assert (
        "row 1 of 3 in every step, which is not one sequence if these are beams"
        in stack_of(found.attentions, batch=1).what
    )
    assert "row" not in stack_of(found).what
    with pytest.raises(ValueError, match=r"beam search without beam_indices.*output_scores=True"):
        stack_of({**found, "beam_indices": None})


def test_steps_of_another_sequence_keep_their_keys():
    model = family("BART")
    found = generate(model, ids(1, 6))
    stack = stack_of(found.cross_attentions)
    assert (
        stack.weights.shape == (2, 4, 5, 6)
        and stack.square is None
        and "with the same 6 keys in every step" in stack.what
    )
    assert torch.equal(stack.weights, stack_of(found, CROSS).weights)


def test_what_is_hidden_has_no_weight():
    """Eager models give even weights to rows of padding, those ahead included; the other rows are causal."""
    model, texts = family("Llama"), ids(2, 6)
    mask = torch.ones_like(texts)
    mask[0, :2] = 0
    with torch.no_grad():
        passed = model(texts, attention_mask=mask, output_attentions=True)
    for given in (passed, generate(model, texts, attention_mask=mask)):
        stack = stack_of(given)
        n = stack.weights.shape[2]
        wanted = torch.ones(n, n).tril().bool()
        wanted[:2] |= stack.weights[0, 0, :2] > 0
        assert wanted[:2, 2:6].all() and torch.equal(stack.square, wanted)
        assert not stack.weights[..., ~stack.square].any()


def test_a_cache_that_dropped_keys_is_refused():
    """Half of the prompt, after which it grows: these keys are anywhere."""
    steps = [[torch.eye(8)[None, None]], *([torch.ones(1, 1, 1, 4 + step) / (4 + step)] for step in (1, 2))]
    with pytest.raises(ValueError, match=r"weights of layer 0: its cache dropped keys, and not only the oldest ones"):
        stack_of(steps)


def test_layers_without_weights_keep_their_numbers():
    eye = torch.eye(4)[None, None]
    stack = stack_of(SimpleNamespace(attentions=(None, eye, None, eye)))
    assert stack.numbers == (1, 3) and len(stack.weights) == 2
    step = (eye[:, :, -1:], None)
    assert stack_of([(eye[..., :3, :3], None), step]).numbers == (0,)


def test_two_streams_are_two_parts():
    config = transformers.XLNetConfig(vocab_size=WORDS, d_model=32, n_layer=2, n_head=4, d_inner=37)
    model = transformers.XLNetModel(config).eval()
    target = torch.zeros(1, 1, 6)
    target[..., 5] = 1
    with torch.no_grad():
        found = model(ids(1, 6), target_mapping=target, perm_mask=torch.zeros(1, 6, 6), output_attentions=True)
    parts = stacks_of(found, None, None, Told())
    assert list(parts) == ["Content stream", "Query stream"]
    for at, stack in enumerate(parts.values()):
        assert torch.equal(stack.weights, torch.cat([layer[at] for layer in found.attentions]))
    with pytest.raises(ValueError, match=r"Two streams a layer \(XLNet\) are shown from the model's whole output"):
        stack_of(found.attentions)


SMALL = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 37}
LED = {
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
}
SWIN = {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [1], "num_heads": [2], "window_size": 4}
OTHERS = {
    "Longformer": (
        "Longformer",
        {"vocab_size": WORDS, **SMALL, "attention_window": 4},
        "columns relative to each query",
    ),
    "LED": ("LED", {"vocab_size": WORDS, **LED, "attention_window": 4}, "columns relative to each query"),
    "Swin": ("Swin", SWIN, "windows of an image"),
    "TimeSformer": (
        "Timesformer",
        {**SMALL, "image_size": 16, "patch_size": 8, "num_frames": 2},
        "are of 2 sequences, and this BaseModelOutput is of 1: .* frames or windows",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_attention_with_another_meaning_is_refused_by_name(name):
    kind, sizes, words = OTHERS[name]
    model = getattr(transformers, f"{kind}Model")(getattr(transformers, f"{kind}Config")(**sizes)).eval()
    model.config._attn_implementation = "eager"
    inputs = {
        "Swin": {"pixel_values": torch.zeros(1, 3, 32, 32)},
        "TimeSformer": {"pixel_values": torch.zeros(1, 2, 3, 16, 16)},
    }.get(name, {"input_ids": ids(1, 8)})
    with torch.no_grad():
        found = model(**inputs, output_attentions=True)
    with pytest.raises(ValueError, match=words):
        stacks_of(found, None, None, Told())


def test_weights_after_dropout_are_told_from_scores():
    with pytest.raises(
        ValueError, match=r"as after dropout: save them from a model in evaluation mode, model\.eval\(\)"
    ):
        stacks_of(torch.from_numpy(weights_after_dropout()), None, None, Told())
    with pytest.raises(ValueError, match=r"Give weights\.softmax\(-1\)"):
        stacks_of(torch.full((1, 2, 4, 4), 2.0), None, None, Told())
