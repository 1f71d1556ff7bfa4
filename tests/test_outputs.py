"""What models of transformers return: rows of `generate` at their true positions, and attention with another meaning."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from attention.array_files.limits import DataError
from attention.imported import detect
from attention.imported.checks import has_relative_columns
from attention.imported.reading import Reading, read_stack
from attention.masks import MASKS
from attention.notebook.inputs import Told, stacks_of
from attention.notebook.picture import picture
from attention.tracing.parts import CROSS, DECODER, ENCODER
from attention.tracing.saved import save_stack
from tests.bad_files import pt, weights_after_dropout
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


@pytest.mark.parametrize("tokens", [6, 10, 16])
@pytest.mark.parametrize("everywhere", [[], [0], [1, 2]])
@pytest.mark.parametrize("padded", [0, 1])
def test_relative_columns_alone_are_refused(tokens, everywhere, padded):
    """The tuple of weights without the output that it came in: of texts shorter and longer than the window."""
    torch.manual_seed(0)
    config = transformers.LongformerConfig(vocab_size=WORDS, **SMALL, attention_window=4)
    mask = torch.zeros(1, tokens).index_fill_(1, torch.tensor(everywhere, dtype=torch.long), 1)
    with torch.no_grad():
        model = transformers.LongformerModel(config).eval()
        there = torch.ones(1, tokens, dtype=torch.long)
        there[:, tokens - padded :] = 0
        told = {"attention_mask": there, "global_attention_mask": mask if everywhere else None}
        weights = model(ids(1, tokens), **told, output_attentions=True).attentions
    assert weights[0].shape[3] == 5 + len(everywhere)
    with pytest.raises(ValueError, match=r"columns are relative to each query \(Longformer"):
        stack_of(weights)
    with pytest.raises(DataError, match="columns are relative to each query"):
        read_stack(detect.arrays(pt(list(weights)), "x.pt"), {}, Reading())


@pytest.mark.parametrize("shape", [(5, 16), (16, 5), (2, 3), (6, 5)])
def test_other_keys_are_not_taken_for_relative_columns(shape):
    weights = torch.rand(2, 1, 4, *shape).softmax(-1)
    for hidden in (0, 1, 2):  # padding at the end, or at both ends
        cut = weights.clone()
        cut[..., shape[1] - hidden :] = 0
        assert stack_of(tuple(cut)).weights.shape[2:] == shape
        cut[..., :hidden] = 0
        assert stack_of(tuple(cut)).weights.shape[2:] == shape
    said = stack_of(tuple(weights)).what
    assert ("columns are read as the keys of another sequence" in said) == (shape[0] > shape[1])


@pytest.mark.parametrize("rule", MASKS)
def test_no_rule_is_taken_for_relative_columns(rule):
    for tokens in range(2, 13):
        for span in range(1, tokens + 1):
            square = MASKS[rule].square(tokens, tokens, span)
            assert not has_relative_columns(square.float()[None, None])


def test_layers_of_an_output_are_numbered_by_their_place():
    """A hybrid returns the weights of some layers, and does not say of which: the picture says so, or is told."""
    with torch.no_grad():
        found = family("Qwen3-Next")(ids(1, 5), output_attentions=True)
    known = [at for at, kind in enumerate(family("Qwen3-Next").config.layer_types) if kind == "full_attention"]
    stack, told = stack_of(found), stack_of(found, layers=known)
    assert stack.numbers == () and "numbered by their place" in stack.what and "attention.watch(model)" in stack.what
    assert list(told.numbers) == known == [1, 3] and "place" not in told.what
    assert picture({"": told}).about["parts"][0]["layers"] == known
    saved = detect.arrays(save_stack(told), "x.safetensors")
    assert set(saved.arrays) == {"layers.1.weights", "layers.3.weights", "mask"}
    for wrong in ([1], [1, 1], [-1, 3]):
        with pytest.raises(ValueError, match="give 2 different numbers from 0 on"):
            stack_of(found, layers=wrong)


def test_an_output_of_two_models_has_the_parts_of_both():
    """CLIP has no attentions of its own: they are in the outputs of its text and its vision model."""
    sizes = {**SMALL, "num_hidden_layers": 2}
    text = {"vocab_size": WORDS, "max_position_embeddings": 16, "eos_token_id": 2, **sizes}
    config = transformers.CLIPConfig(text_config=text, vision_config={"image_size": 16, "patch_size": 8, **sizes})
    model = transformers.CLIPModel._from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        found = model(input_ids=ids(1, 6), pixel_values=torch.zeros(1, 3, 16, 16), output_attentions=True)
    parts = stacks_of(found, None, None, Told(tokens=list("abcdef")))
    assert list(parts) == ["Text model", "Vision model"]
    for stack, output in zip(parts.values(), (found.text_model_output, found.vision_model_output), strict=True):
        assert torch.equal(stack.weights, torch.cat(output.attentions))
    assert parts["Text model"].queries == tuple("abcdef") and parts["Vision model"].queries == ()
    assert parts["Vision model"].title == "Attention weights: Vision model"


def test_cross_attention_among_the_layers_is_told_from_self_attention():
    """Q-Former returns its cross-attention twice: by itself, and between the layers of self-attention."""
    weights = torch.rand(4, 1, 2, 5, 5).softmax(-1)
    output = SimpleNamespace(attentions=tuple(weights), cross_attentions=(weights[1], weights[3]))
    output.attentions = tuple(output.cross_attentions[at // 2] if at % 2 else weights[at] for at in range(4))
    parts = stacks_of(output, None, None, Told())
    assert torch.equal(parts[CROSS].weights, weights[[1, 3], 0]) and torch.equal(parts[""].weights, weights[[0, 2], 0])


@pytest.mark.parametrize("shape", [(1, 7, 32), (1, 4, 2, 4, 8)])
def test_other_axes_than_those_of_weights_are_refused(shape):
    """RWKV returns features of the tokens, Reformer and LongT5 weights within blocks."""
    for output in ({"attentions": (torch.rand(shape),)}, SimpleNamespace(attentions=(torch.rand(shape),))):
        with pytest.raises(ValueError, match=r"attentions of layer 0 in this .* not \(batch, heads, queries, keys\)"):
            stack_of(output)


def test_tokens_that_a_model_adds_to_every_step_are_mentioned():
    """XLM writes behind a mark, which is in none of the sequences that it returns."""
    sizes = {"emb_dim": 32, "n_layers": 1, "n_heads": 4, "causal": True, "max_position_embeddings": 32}
    config = transformers.XLMConfig(vocab_size=WORDS, **sizes, pad_index=0, bos_index=1, eos_index=2)
    found = generate(transformers.XLMWithLMHeadModel(config).eval(), ids(1, 4))
    stack = stack_of(found)
    assert stack.weights.shape[2:] == (9, 9) and found.sequences.shape[1] == 9
    assert "written on token by token, the last 1 added by the model in each step" in stack.what
    assert "added by the model" not in stack_of(generate(family("Llama"), ids(1, 4))).what


def test_an_array_of_arrays_is_a_list_of_layers():
    layers = np.empty(2, dtype=object)
    layers[:] = [np.full((2, 3, 3), 1 / 3), np.full((2, 3, 3), 1 / 3)]
    assert stack_of(layers).weights.shape == (2, 2, 3, 3)
    layers[1] = np.full((2, 4, 4), 1 / 4)
    with pytest.raises(ValueError, match=r"Layers must be alike in their sizes: .* Show them one after another"):
        stack_of(layers)
    with pytest.raises(ValueError, match="Give one tensor of numbers, or a list of one tensor per layer"):
        stack_of([[[0.5, 0.5], [1.0]]])


def test_weights_after_dropout_are_told_from_scores():
    with pytest.raises(ValueError, match=r"If this is dropout, save in evaluation mode, model\.eval\(\)"):
        stacks_of(torch.from_numpy(weights_after_dropout()), None, None, Told())
    with pytest.raises(ValueError, match=r"give weights\.softmax\(-1\)"):
        stacks_of(torch.full((1, 2, 4, 4), 2.0), None, None, Told())
