"""Watching models of transformers, against what they say themselves with `output_attentions`, without changing a bit."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

from attention.brought import opening
from attention.brought.layer_weights import layer
from attention.brought.reading import Reading, read
from attention.ui.views import snippets
from attention.watching.parts import CROSS, DECODER, ENCODER
from attention.watching.watched import watch
from tests.served import ROOT
from tests.watchable import HEADS, MODELS, NEEDED, TOKENS, made

CLOSE = {"rtol": 0, "atol": 1e-5}
every_model = pytest.mark.parametrize("name", MODELS)


def their_own(model, inputs, names) -> list[torch.Tensor]:
    """The weights that a model gives away itself, layer by layer, of all its parts."""
    now = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        found = model(**inputs, output_attentions=True)
    model.set_attn_implementation(now)
    return [weights for name in names for weights in found[name]]


@every_model
def test_no_output_changes(name):
    model, inputs, _ = made(name)
    with torch.no_grad():
        before, after = model(**inputs), watch(model)(**inputs)
    for part in before:
        if isinstance(before[part], torch.Tensor):
            assert torch.equal(before[part], after[part]), part


@every_model
@pytest.mark.parametrize("batch", [0, 1])
@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_weights_are_the_models_own(name, batch, implementation):
    model, inputs, names = made(name)
    wanted = their_own(model, inputs, names)
    if name not in ("gemma2", "gpt-oss"):  # which have eager attention alone
        model.set_attn_implementation(implementation)
    seen = watch(model, batch)
    with torch.no_grad():
        seen(**inputs)
    assert seen.unseen == {} and len(seen.calls) == len(wanted)
    found = [call.weights() for call in seen.calls.values()]
    if name == "t5":  # it runs self-attention and cross-attention in turns
        found = [*found[:2], found[2], found[4], found[3], found[5]]
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs[batch], **CLOSE)


@every_model
def test_stacks_say_the_same(name):
    """Of every layer of every part, by what a page computes of a stack."""
    model, inputs, names = made(name)
    wanted = [weights[1] for weights in their_own(model, inputs, names)]
    seen = watch(model, 1)
    with torch.no_grad():
        seen(**inputs)
    parts = seen.parts()
    assert set(parts) == {
        "t5": {ENCODER, DECODER, CROSS},
        "gemma2": {"layers.*.self_attn, layers 0, 2", "layers.*.self_attn, layers 1"},
    }.get(name, {""})
    found = [(number, layer(stack, at)[0]) for stack in parts.values() for at, number in enumerate(numbers(stack))]
    assert len(found) == len(wanted)
    if name == "gemma2":
        found.sort(key=lambda each: each[0])
    for (_, ours), theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, **CLOSE)


@every_model
def test_a_saved_file_opens_in_the_app_and_says_the_same(name, tmp_path):
    model, inputs, _ = made(name)
    seen = watch(model, 1)
    with torch.no_grad():
        seen(**inputs)
    paths = seen.save(tmp_path / "heads.safetensors", title="Mine")
    for stack, path in zip(seen.parts(title="Mine").values(), paths, strict=True):
        opened = read(opening.arrays(path.read_bytes(), path.name), {}, Reading()).stack
        assert (opened.title, opened.what, numbers(opened)) == (stack.title, stack.what, numbers(stack))
        for at in range(len(numbers(stack))):
            (ours, mask), (theirs, its) = layer(stack, at), layer(opened, at)
            torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-6)
            assert torch.equal(mask, its)


def test_what_the_page_says_of_it_runs(tmp_path):
    """The lines under *How to save such a file*."""
    pytest.importorskip("transformers", reason=NEEDED)
    source = f"from tests.watchable import made\nmodel, inputs, _ = made('bert')\n{snippets.WATCHED}"
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.iterdir()
    found = read(opening.arrays(path.read_bytes(), path.name), {}, Reading())
    assert found.stack.q is not None and found.stack.q.shape == (3, HEADS, TOKENS, 8)


def numbers(stack) -> tuple[int, ...]:
    part = stack.weights if stack.q is None else stack.q
    return stack.numbers or tuple(range(len(part)))


def test_what_is_kept_of_each():
    def only(name):
        model, inputs, _ = made(name)
        seen = watch(model, 1)
        with torch.no_grad():
            seen(**inputs)
        return seen.parts()[""]

    stack = only("llama")
    assert stack.q.shape == (3, HEADS, TOKENS, 8) and stack.k.shape == stack.v.shape == (3, 2, TOKENS, 8)
    assert stack.own["mask"] == "causal" and stack.own["scale"] == "1/sqrt(d_head)" and stack.square is None
    stack = only("bert")
    assert stack.own["mask"] == "full" and stack.square.sum(-1).eq(TOKENS - 3).all() and stack.square[:, 0].all()
    stack = only("gpt-oss")
    assert stack.q is None and stack.weights.sum(-1).max() < 1


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_a_text_that_is_written_on_is_one_picture(name):
    """With its keys kept from step to step, against one pass over all of it."""
    model, inputs, names = made(name)
    text = inputs["input_ids"][:1]
    seen = watch(model)
    with seen, torch.no_grad():
        whole = model.generate(text, max_new_tokens=4, min_new_tokens=4, do_sample=False, pad_token_id=0)
    read = whole[:, :-1]  # the last one is written, and read by nobody
    for call, wanted in zip(seen.calls.values(), their_own(model, {"input_ids": read}, names), strict=True):
        torch.testing.assert_close(call.weights(), wanted[0], **CLOSE)
    assert seen.parts()[""].own["mask"] == "causal"


def test_another_text_takes_the_place_of_the_last_one():
    model, inputs, _ = made("gpt2")
    seen = watch(model)
    for count in (9, 4, 4):
        with torch.no_grad():
            seen(inputs["input_ids"][:, :count])
        assert {call.q.shape[1] for call in seen.calls.values()} == {count}


def test_a_kernel_of_ones_own_is_seen():
    """Whatever computes it: a function that transformers has been told of."""
    transformers = pytest.importorskip("transformers", reason=NEEDED)

    def kernel(module, query, key, value, attention_mask, **named):
        return F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True).transpose(1, 2), None

    transformers.AttentionInterface.register("my_kernel", kernel)
    model, inputs, names = made("llama")
    text = inputs["input_ids"][:1]
    wanted = their_own(model, {"input_ids": text}, names)
    model.set_attn_implementation("my_kernel")
    seen = watch(model)
    with torch.no_grad():
        seen(text)
    assert len(seen.calls) == 3
    for call, theirs in zip(seen.calls.values(), wanted, strict=True):
        torch.testing.assert_close(call.weights(), theirs[0], **CLOSE)
