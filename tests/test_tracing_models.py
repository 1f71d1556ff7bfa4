"""Watching models of transformers, against what they say themselves with `output_attentions`, without changing a bit."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from attention.imported import detect
from attention.imported.layer_weights import layer
from attention.imported.reading import Reading, read_stack
from attention.tracing.parts import CROSS, DECODER, ENCODER
from attention.tracing.watched import watch
from attention.ui.views import snippets
from tests.server import ROOT
from tests.watchable import HEADS, MODELS, NEEDED, TOKENS, WRITERS, make_case

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
    model, inputs, _ = make_case(name)
    with torch.no_grad():
        before, after = model(**inputs), watch(model)(**inputs)
    for part in before:
        if isinstance(before[part], torch.Tensor):
            assert torch.equal(before[part], after[part]), part


@pytest.mark.sampled(10)
@every_model
@pytest.mark.parametrize("batch", [0, 1])
@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_weights_are_the_models_own(name, batch, implementation):
    model, inputs, names = make_case(name)
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
    model, inputs, names = make_case(name)
    wanted = [weights[1] for weights in their_own(model, inputs, names)]
    seen = watch(model, 1)
    with torch.no_grad():
        seen(**inputs)
    parts = seen.parts()
    assert set(parts) == {"t5": {ENCODER, DECODER, CROSS}}.get(name, {""})
    found = [layer(stack, at)[0] for stack in parts.values() for at in range(len(numbers(stack)))]
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, **CLOSE)


@every_model
def test_a_saved_file_opens_in_the_app_and_says_the_same(name, tmp_path):
    model, inputs, _ = make_case(name)
    seen = watch(model, 1)
    with torch.no_grad():
        seen(**inputs)
    paths = seen.save(tmp_path / "heads.safetensors", title="Mine")
    for stack, path in zip(seen.parts(title="Mine").values(), paths, strict=True):
        opened = read_stack(detect.arrays(path.read_bytes(), path.name), {}, Reading()).stack
        assert (opened.title, opened.what, numbers(opened)) == (stack.title, stack.what, numbers(stack))
        for at in range(len(numbers(stack))):
            (ours, mask), (theirs, its) = layer(stack, at), layer(opened, at)
            torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-6)
            assert torch.equal(mask, its)


@pytest.mark.extended
def test_what_the_page_says_of_it_runs(tmp_path):
    """The lines under *How to save such a file*."""
    pytest.importorskip("transformers", reason=NEEDED)
    source = f"from tests.watchable import make_case\nmodel, inputs, _ = make_case('bert')\n{snippets.WATCHED}"
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", source], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.iterdir()
    found = read_stack(detect.arrays(path.read_bytes(), path.name), {}, Reading())
    assert found.stack.q is not None and found.stack.q.shape == (3, HEADS, TOKENS, 8)


def numbers(stack) -> tuple[int, ...]:
    part = stack.weights if stack.q is None else stack.q
    return stack.numbers or tuple(range(len(part)))


def test_what_is_kept_of_each():
    def only(name):
        model, inputs, _ = make_case(name)
        seen = watch(model, 1)
        with torch.no_grad():
            seen(**inputs)
        return seen.parts()[""]

    stack = only("llama")
    assert stack.q.shape == (3, HEADS, TOKENS, 8) and stack.k.shape == stack.v.shape == (3, 2, TOKENS, 8)
    assert stack.own["mask"] == "causal" and stack.own["scale"] == "1/sqrt(d_head)" and stack.square is None
    stack = only("bert")
    square = layer(stack, 0)[1]
    assert stack.own["mask"] == "padding" and square.sum(-1).eq(TOKENS - 3).all() and square[:, 0].all()
    stack = only("gpt-oss")
    assert stack.q is None and stack.weights.sum(-1).max() < 1


CACHES = {"growing": {}, "static": {"cache_implementation": "static"}, "none": {"use_cache": False}}
SEARCH = {"num_beams": 3, "num_return_sequences": 2}


def written_on(name: str, batch: int = 0, **how: object):
    """A model that is watched while it writes six tokens after two texts, and the weights of one pass over what came of it."""
    model, inputs, names = make_case(name)
    model = model.double()
    seen = watch(model, batch)
    with seen, torch.no_grad():
        whole = model.generate(
            inputs["input_ids"], max_new_tokens=6, min_new_tokens=6, do_sample=False, pad_token_id=0, **how
        )
    return seen, their_own(
        model, {"input_ids": whole[:, :-1], "use_cache": False}, names
    )  # nobody has read the last one


@pytest.mark.sampled(6)
@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("name", WRITERS)
def test_a_text_that_is_written_on_is_one_picture(name, cache, tmp_path):
    """Row by row with the keys that a cache has, against one pass over all of it; and so is the file."""
    seen, wanted = written_on(name, 1, **CACHES[cache])
    assert seen.unseen == {}
    for call, theirs in zip(seen.calls.values(), wanted, strict=True):
        torch.testing.assert_close(call.weights(), theirs[1].float(), **CLOSE)
    (path,) = seen.save(tmp_path / "heads.safetensors")
    stack = read_stack(detect.arrays(path.read_bytes(), path.name), {}, Reading()).stack
    for at, theirs in enumerate(wanted):
        torch.testing.assert_close(layer(stack, at)[0], theirs[1].float(), **CLOSE)


@pytest.mark.parametrize("batch", [0, 3])
@pytest.mark.parametrize("name", ["gpt2", "mistral", "bloom"])
def test_a_beam_search_shows_the_sequence_that_it_returned(name, batch):
    """Its rows come from whichever beam it descends from."""
    seen, wanted = written_on(name, batch, **SEARCH)
    assert seen.unseen == {}
    for call, theirs in zip(seen.calls.values(), wanted, strict=True):
        torch.testing.assert_close(call.weights(), theirs[batch].float(), **CLOSE)


def test_a_beam_search_changes_nothing_and_returns_what_it_was_asked_for():
    model, inputs, _ = make_case("gpt2")
    options = {"max_new_tokens": 4, "do_sample": False, "pad_token_id": 0, **SEARCH}
    plain = model.generate(inputs["input_ids"], **options)
    with watch(model):
        assert torch.equal(model.generate(inputs["input_ids"], **options), plain)
        told = model.generate(inputs["input_ids"], return_dict_in_generate=True, **options)
    assert torch.equal(told.sequences, plain)


@pytest.mark.parametrize(
    "how", [{"num_beams": 2}, {"num_beams": 2, "cache_implementation": "static"}], ids=["growing", "static"]
)
def test_an_encoder_and_a_decoder_that_write(how):
    model, inputs, names = make_case("t5")
    from transformers import T5ForConditionalGeneration

    torch.manual_seed(3)
    model: Any = T5ForConditionalGeneration(model.config).eval().double()
    inputs = {name: inputs[name] for name in ("input_ids", "attention_mask")}
    seen = watch(model)
    with seen, torch.no_grad():
        whole = model.generate(**inputs, max_new_tokens=5, min_new_tokens=5, decoder_start_token_id=0, **how)
    wanted = their_own(model, inputs | {"decoder_input_ids": whole[:, :-1], "use_cache": False}, names)
    found = [layer(stack, at)[0] for stack in seen.parts().values() for at in range(2)]
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs[0].float(), **CLOSE)
    other = watch(model, 1)
    with pytest.warns(UserWarning, match="can't see 2 layers"), other, torch.no_grad():
        model.generate(**inputs, max_new_tokens=3, decoder_start_token_id=0, **how)
    assert all("several sequences of each input" in why for why in other.unseen.values())


def test_left_padding_is_masked_where_it_is():
    """In eager attention a query of the padding has the same weight for every key, as the model computes it."""
    model, inputs, names = make_case("mistral")
    model.set_attn_implementation("eager")
    mask = torch.ones_like(inputs["input_ids"])
    mask[1, :3] = 0
    seen = watch(model, 1)
    with seen, torch.no_grad():
        whole = model.generate(
            inputs["input_ids"], attention_mask=mask, max_new_tokens=4, do_sample=False, pad_token_id=0
        )
    mask = torch.nn.functional.pad(mask, (0, 3), value=1)
    wanted = their_own(model, {"input_ids": whole[:, :-1], "attention_mask": mask, "use_cache": False}, names)
    for call, theirs in zip(seen.calls.values(), wanted, strict=True):
        torch.testing.assert_close(call.weights()[:, 3:], theirs[1][:, 3:], **CLOSE)
        assert not call.square[3:, :3].any()
        assert (call.weights()[:, 1, :TOKENS] == 1 / TOKENS).all()


def test_rows_whose_keys_are_gone_are_named():
    """A cache that others have put in another order has keys of another text: rows that met these are not joined to the rest."""
    model, inputs, _ = make_case("llama")
    with torch.no_grad():
        seen = watch(model)
        cache = seen(**inputs).past_key_values
        cache.reorder_cache(torch.tensor([1, 0]))
        with pytest.warns(UserWarning, match="can't see 3 layers"):
            seen(inputs["input_ids"][:, :1], past_key_values=cache)
    (stack,) = seen.parts().values()
    assert stack.q.shape[2] == 1 and stack.queries == (f"{TOKENS}",) and "before position 9 are not shown" in stack.what
    assert seen.parts(tokens=[f"t{at}" for at in range(TOKENS + 1)])[""].queries == ("t9",)


def test_a_text_that_goes_on_after_a_step_back_is_joined():
    """As speculative decoding does: a cache is cropped, and other tokens follow."""
    model, inputs, names = make_case("gpt2")
    text = inputs["input_ids"][:1]
    seen = watch(model)
    with torch.no_grad():
        cache = seen(text).past_key_values
        cache.crop(-3)
        other = torch.tensor([[5, 6]])
        seen(other, past_key_values=cache)
    wanted = their_own(model, {"input_ids": torch.cat([text[:, :-3], other], 1)}, names)
    for call, theirs in zip(seen.calls.values(), wanted, strict=True):
        torch.testing.assert_close(call.weights(), theirs[0], **CLOSE)


def test_a_layer_that_returns_its_weights_is_seen():
    model, inputs, names = make_case("deberta")
    wanted = their_own(model, inputs, names)
    seen = watch(model, 1)
    with torch.no_grad():
        assert seen(**inputs).attentions is None
    assert seen.unseen == {}
    for call, theirs in zip(seen.calls.values(), wanted, strict=True):
        torch.testing.assert_close(call.weights(), theirs[1], **CLOSE)


def test_the_difference_that_a_model_uses_is_shown(tmp_path):
    """Against the output of its layers: A1 - λ A2, times the values, before their norm."""
    model, inputs, names = make_case("differential")
    inner, contexts = model.model.layers, []
    hooks = [
        each.self_attn.groupnorm.register_forward_pre_hook(lambda _, given: contexts.append(given[0])) for each in inner
    ]
    seen = watch(model, 1)
    with torch.no_grad():
        seen(**inputs)
    for hook in hooks:
        hook.remove()
    parts = seen.parts()
    assert len(seen.calls) == 3 and list(parts) == [
        "Softmaxes",
        "Difference, where positive",
        "Difference, where negative",
    ]
    softmaxes, positive, negative = parts.values()
    for at, (call, theirs) in enumerate(zip(seen.calls.values(), their_own(model, inputs, names), strict=True)):
        torch.testing.assert_close(layer(softmaxes, at)[0], theirs[1], **CLOSE)
        scale = re.search(r"Divided by ([\d.]+)", positive.what)
        apart = (positive.weights[at] - negative.weights[at]) * (float(scale[1]) if scale else 1)
        with torch.no_grad():
            v = inner[at].self_attn.v_proj(_normed_inputs(model, at, inputs)).unflatten(-1, (2, -1))[1].transpose(0, 1)
        values = torch.cat([v[0], v[1]], -1)
        torch.testing.assert_close(
            apart @ values, contexts[at][1].transpose(0, 1), rtol=0, atol=1e-3 if scale else 1e-4
        )
        assert call.q.shape[0] == 2 * apart.shape[0]
    for stack, path in zip(parts.values(), seen.save(tmp_path / "heads.safetensors"), strict=True):
        opened = read_stack(detect.arrays(path.read_bytes(), path.name), {}, Reading()).stack
        torch.testing.assert_close(layer(opened, 0)[0], layer(stack, 0)[0], **CLOSE)


def _normed_inputs(model, at: int, inputs) -> torch.Tensor:
    """What the attention of a layer is given."""
    return model.model.layers[at].input_layernorm(model(**inputs, output_hidden_states=True).hidden_states[at])


def test_layers_have_the_numbers_of_their_model(tmp_path):
    """Of a hybrid; the layers without weights are named with why, on the page and in the file as well."""
    model, inputs, _ = make_case("hybrid")
    seen = watch(model)
    with pytest.warns(UserWarning, match=r"can't see 6 layers: model\.layers\.0\.linear_attn"), torch.no_grad():
        seen(**inputs)
    assert set(seen.unseen) == {f"model.layers.{at}.linear_attn" for at in (0, 1, 2, 4, 5, 6)}
    assert all("recurrence" in why for why in seen.unseen.values())
    (path,) = seen.save(tmp_path / "heads.safetensors")
    stack = read_stack(detect.arrays(path.read_bytes(), path.name), {}, Reading()).stack
    assert stack.numbers == (3, 7) and "Not shown: model.layers.0.linear_attn" in stack.what


def test_another_text_takes_the_place_of_the_last_one():
    model, inputs, _ = make_case("gpt2")
    seen = watch(model)
    for count in (9, 4, 4):
        with torch.no_grad():
            seen(inputs["input_ids"][:, :count])
        assert {call.q.shape[1] for call in seen.calls.values()} == {count}


@pytest.mark.parametrize("way", ["forward", "generate", "beams", "chosen"])
@pytest.mark.filterwarnings("ignore:attention.watch can.t see")
def test_sinks_that_follow_from_each_token(way):
    """One per query, in an argument called `sinks`; the truth is one eager pass without a cache."""
    model, inputs, names = make_case("inkling")
    text = inputs["input_ids"][:1]
    seen = watch(model, heads=[2], tokens=range(3, 6)) if way == "chosen" else watch(model)
    with torch.no_grad(), seen:
        if way in ("generate", "beams"):
            options = {"num_beams": 3} if way == "beams" else {}
            text = model.generate(text[:, :4], max_new_tokens=4, min_new_tokens=4, do_sample=False, **options)[:, :-1]
        else:
            model(text)
    wanted = [weights[0] for weights in their_own(model, {"input_ids": text, "use_cache": False}, names)]
    assert all(bool((weights.sum(-1) < 0.9).any()) for weights in wanted)  # the sinks matter
    for at, theirs in enumerate(wanted):
        found = seen.calls[f"model.layers.{at}.self_attn"].weights()
        theirs = theirs[2:3, 3:6, :6] if way == "chosen" else theirs
        torch.testing.assert_close(found, theirs, rtol=0, atol=1e-4 if way == "beams" else 1e-5)


def test_weights_with_sinks_are_those_that_multiply_the_values():
    """Granite returns its weights before their sinks: the truth is what enters the map of the output."""
    model, inputs, names = make_case("granite")
    seen, outputs = watch(model), []
    for block in model.model.layers:
        block.self_attn.o_proj.register_forward_pre_hook(lambda _, given: outputs.append(given[0][0]))
    with torch.no_grad():
        seen(**inputs)
    returned = their_own(model, inputs, names)
    assert len(seen.calls) == len(returned) == 3 and seen.unseen == {}
    for call, output, weights in zip(seen.calls.values(), outputs, returned, strict=False):
        values = call.v.repeat_interleave(2, 0)
        torch.testing.assert_close((call.weights() @ values).transpose(0, 1).flatten(1), output, **CLOSE)
        assert (call.weights() - weights[0]).abs().max() > 0.3


def _with_kernel(kernel, training=False):
    """Llama with an attention function of one's own, watched in one pass."""
    transformers = pytest.importorskip("transformers", reason=NEEDED)
    transformers.AttentionInterface.register("my_kernel", kernel)
    model, inputs, _ = make_case("llama")
    model.set_attn_implementation("my_kernel")
    for block in model.train(training).model.layers:
        block.self_attn.attention_dropout = 0.5 * training
    return model, watch(model), inputs["input_ids"][:1]


def _of_torch(module, query, key, value, attention_mask, **named):
    return F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True).transpose(1, 2), None


def test_a_kernel_that_does_something_else_is_named():
    """With nothing in its arguments that says so: its output does."""

    def sharper(module, query, key, value, attention_mask, **named):
        return _of_torch(module, 1.5 * query, key, value, attention_mask)

    _, seen, text = _with_kernel(sharper)
    with torch.no_grad(), pytest.warns(UserWarning, match="can't see 3 layers"):
        seen(text)
    assert not seen.calls and len(seen.unseen) == 3
    assert all(re.search(r"output does not follow .* differs by up to [\d.e-]+$", why) for why in seen.unseen.values())


@pytest.mark.parametrize(("name", "changes"), [("tilt", True), ("tilt", False), ("position_ids", False)])
def test_an_argument_that_is_not_known_is_named_if_it_changes_weights(name, changes):
    """It is noticed in any single row."""

    def tilted(module, query, key, value, attention_mask, **named):
        output, _ = _of_torch(module, query, key, value, attention_mask)
        if named.get("tilt") is not None and changes:
            output = output.clone()
            output[:, 5] *= 1.01
        return output, None

    _, seen, text = _with_kernel(tilted)
    longer = text.repeat(1, 3)
    given = {name: torch.arange(longer.shape[1])[None]}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore" if changes else "error")
        seen(longer, **given)
    assert len(seen.unseen) == 3 * changes and len(seen.calls) == 3 - 3 * changes
    assert all("(arguments that are not known: tilt)" in why for why in seen.unseen.values())


@pytest.mark.filterwarnings("ignore:attention.watch can't see")
def test_dropout_is_no_difference_but_hides_what_an_argument_does():
    def dropping(module, query, key, value, attention_mask, dropout=0.0, **named):
        out = F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True, enable_gqa=True)
        return out.transpose(1, 2), None

    _, seen, text = _with_kernel(dropping, training=True)
    seen(text)
    assert len(seen.calls) == 3 and not seen.unseen
    seen(text, tilt=torch.ones(1))
    assert not seen.calls and all(
        "can't be compared (arguments that are not known: tilt)" in x for x in seen.unseen.values()
    )


def test_a_kernel_of_ones_own_is_seen():
    """Whatever computes it: a function that transformers has been told of."""
    model, seen, text = _with_kernel(_of_torch)
    wanted = their_own(model, {"input_ids": text}, ("attentions",))
    with torch.no_grad():
        seen(text)
    assert len(seen.calls) == 3
    for call, theirs in zip(seen.calls.values(), wanted, strict=True):
        torch.testing.assert_close(call.weights(), theirs[0], **CLOSE)
