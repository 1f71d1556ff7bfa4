"""What is changed in a model gives what the changed model itself gives: heads off, parts of a logit, patches, next tokens."""

from __future__ import annotations

import copy
import math

import pytest
import torch
from torch import nn

from attention.interventions import ablation, attribution, patching, predictions, projections
from attention.interventions.projections import UnsupportedError
from attention.models.linear_hooks import follow_model
from tests.model_families import family

IDS = torch.tensor([[5, 3, 8, 1, 9, 4, 7, 2]])
OTHER = torch.tensor([[6, 2, 9, 5, 3, 8, 4, 1, 7]])
PATHS = {  # of the output projection of a layer
    "GPT-2": "transformer.h.{}.attn.c_proj",
    "Llama": "model.layers.{}.self_attn.o_proj",
    "OPT": "model.decoder.layers.{}.self_attn.out_proj",
    "BLOOM": "transformer.h.{}.self_attention.dense",
    "Falcon": "transformer.h.{}.self_attention.dense",
}
SEEN = [
    "GPT-2",
    "OPT",
    "Mistral",
    "Qwen3",
    "gpt-oss",
    "BERT",
    "ModernBERT",
    "Gemma 2",
    "Gemma 3",
    "DeepSeek-V3",
]
UNSEEN = ["GPT-Neo", "GPT-J", "MPT", "Falcon", "Falcon with ALiBi", "DeBERTa"]
DECODERS = [
    "GPT-Neo",
    "GPT-J",
    "OPT",
    "BLOOM",
    "MPT",
    "Falcon",
    "Falcon with ALiBi",
    "Llama",
    "Mistral",
    "Qwen3",
    "gpt-oss",
]


def logits(model, ids=IDS):
    with torch.no_grad():
        return model(ids).logits[0]


def zero_slice(model, path: str, head: int) -> nn.Module:
    """A copy of a model whose output projection at a path has zeros where it reads a head of 8 channels."""
    changed = copy.deepcopy(model)
    module = changed.get_submodule(path)
    with torch.no_grad():
        weight = module.get_parameter("weight")
        (weight.T if isinstance(module, nn.Linear) else weight)[8 * head : 8 * head + 8] = 0
    return changed


@pytest.mark.parametrize(("name", "path"), PATHS.items())
def test_a_head_that_is_off_equals_a_projection_without_its_slice(name, path):
    model = family(name)
    found = ablation.switch_heads_off(model, IDS, [(1, 2)])
    torch.testing.assert_close(found, logits(zero_slice(model, path.format(1), 2)), rtol=1e-5, atol=1e-5)
    assert (found - logits(model)).abs().max() > 0.01
    both = ablation.switch_heads_off(model, IDS, [(1, 2), (0, 1)])
    torch.testing.assert_close(
        both, logits(zero_slice(zero_slice(model, path.format(1), 2), path.format(0), 1)), rtol=1e-5, atol=1e-5
    )
    torch.testing.assert_close(logits(model), predictions.run_logits(model, IDS), msg="hooks are gone")


@pytest.mark.parametrize("name", ["Llama", *(pytest.param(each, marks=pytest.mark.extended) for each in SEEN)])
def test_the_slices_of_heads_are_where_their_contexts_go(name):
    """The input of each named module equals the heads' contexts side by side, computed from queries, keys and values."""
    model = family(name)
    found = projections.find_projections(model)
    with follow_model(model, lambda count: None) as seen, torch.no_grad():
        model(IDS)
    assert len(seen.outputs) == len(found) == len(seen.calls)
    for matrix, (_, each) in zip(seen.outputs.values(), sorted(found.items()), strict=True):
        torch.testing.assert_close(matrix, each.per_head)


@pytest.mark.parametrize("name", ["BLOOM", *(pytest.param(each, marks=pytest.mark.extended) for each in UNSEEN)])
def test_the_slices_of_heads_are_their_weights_times_values_of_single_tokens(name):
    """The values follow from the slice and the head's weights; a token that changes must change its own value alone."""
    model, changed = family(name).double(), corrupt(IDS)
    for weight in model.parameters():  # near uniform weights, whose inverse is well conditioned
        weight.data *= 0.3 if weight.ndim > 1 else 1
    values = []
    for ids in (IDS, changed):
        with projections.record_heads(projections.find_projections(model)) as outputs, torch.no_grad():
            weights = model(ids, output_attentions=True).attentions[0][0]
        values.append(torch.linalg.solve(weights, outputs[0].transpose(0, 1)))
    difference = (values[0] - values[1]).abs().amax(-1)
    assert difference[:, [0, 1, 2, 4, 5, 6, 7]].max() < 1e-6 and difference[:, 3].min() > 1e-2


def test_mean_and_resample_take_their_values_from_this_text_and_another():
    model = family("Llama")
    outputs, there = ablation.head_outputs(model, IDS), ablation.head_outputs(model, OTHER)
    assert outputs[1].shape == (8, 4, 8)
    chosen = projections.find_projections(model)
    with projections.replace_heads(chosen, {(1, 3): outputs[1][:, 3].mean(0, keepdim=True)}):
        mean = logits(model)
    torch.testing.assert_close(ablation.switch_heads_off(model, IDS, [(1, 3)], "mean"), mean)
    with projections.replace_heads(chosen, {(1, 3): there[1][:8, 3]}):
        resampled = logits(model)
    torch.testing.assert_close(ablation.switch_heads_off(model, IDS, [(1, 3)], "resample", OTHER), resampled)
    means = {head: outputs[head[0]][:, head[1]].mean(0, keepdim=True) for head in ((0, 1), (1, 3))}
    with projections.replace_heads(chosen, means):
        both = logits(model)
    torch.testing.assert_close(
        ablation.switch_heads_off(model, IDS, means, "mean"), both, msg="means of the whole model"
    )
    same = ablation.switch_heads_off(model, IDS, [(1, 3)], "resample", IDS)
    torch.testing.assert_close(same, logits(model), msg="another text that is this one changes nothing")


def test_what_heads_off_change_is_measured_as_defined():
    model, at, answer, against = family("GPT-2"), 5, 11, 12
    found = ablation.ablate_heads(model, IDS, [(0, 1)], at=at)
    whole, without = logits(model), logits(zero_slice(model, PATHS["GPT-2"].format(0), 1))
    change = without[at] - whole[at]
    assert found.logit_change(answer, against) == pytest.approx(float(change[answer] - change[against]), abs=1e-4)
    loss = torch.nn.functional.cross_entropy(without[:-1], IDS[0, 1:], reduction="none")
    torch.testing.assert_close(found.after.losses[1:], loss, rtol=1e-4, atol=1e-4)
    shares = []
    costs = ablation.measure_every_head(model, IDS, answer, against, at=at, progress=shares.append)
    assert costs.loss.shape == (2, 4) and shares[-1] == 1
    assert float(costs.logit[0, 1]) == pytest.approx(found.logit_change(answer, against), abs=1e-5)
    assert float(costs.loss[0, 1]) == pytest.approx(found.after.loss - found.before.loss, abs=1e-5)
    chances = found.probabilities[:, answer]
    assert float(costs.probability[0, 1]) == pytest.approx(float(chances[1] - chances[0]), abs=1e-6)


@pytest.mark.parametrize(("at", "passes"), [(-1, 1), (5, 2)])
def test_known_predictions_of_the_last_position_save_a_pass(at, passes):
    model, runs = family("GPT-2"), []
    before = predictions.predict_tokens(model, IDS)
    model.register_forward_pre_hook(lambda module, given: runs.append(1))
    found = ablation.ablate_heads(model, IDS, [(0, 1)], at=at, before=before)
    assert len(runs) == passes
    whole = ablation.ablate_heads(model, IDS, [(0, 1)], at=at)
    torch.testing.assert_close(found.logits, whole.logits)
    torch.testing.assert_close(found.before.losses, whole.before.losses, equal_nan=True)


def test_what_cannot_be_switched_off_is_refused_by_name():
    with pytest.raises(UnsupportedError, match=r"heads of a t5 model write their outputs is not known.*gpt2"):
        ablation.switch_heads_off(family("T5"), IDS, [(0, 0)])
    with pytest.raises(ValueError, match=r"no head 4 in layer 1. The layers are 0 to 1, with 4 heads each"):
        ablation.switch_heads_off(family("Llama"), IDS, [(1, 4)])
    with pytest.raises(ValueError, match=r"another text of at least 8 tokens.*it has 3"):
        ablation.switch_heads_off(family("Llama"), IDS, [(1, 1)], "resample", [1, 2, 3])
    with pytest.raises(ValueError, match=r"how='half' is not one of: zero, mean, resample"):
        ablation.switch_heads_off(family("Llama"), IDS, [(1, 1)], "half")


@pytest.mark.parametrize("name", ["GPT-2", *(pytest.param(each, marks=pytest.mark.extended) for each in DECODERS)])
def test_all_parts_sum_to_the_logit(name):
    model, at = family(name), 6
    for against in (None, 4):
        found = attribution.attribute_logit(model, IDS, 9, against, at)
        there = float(logits(model)[at, 9] - (0 if against is None else logits(model)[at, against]))
        assert found.logit == pytest.approx(there, abs=1e-4)
        assert abs(found.error) < 1e-3 and found.heads.abs().max() > 0.01


def test_a_part_is_what_the_logit_loses_if_the_last_layer_lacks_the_head():
    """Without its last norm and its last MLP a model is linear in the heads of the last layer."""
    model, at = family("Llama"), 6
    model.model.norm = ScaledOnly(model.model.norm)
    model.model.layers[-1].mlp.down_proj.weight.data.zero_()
    found = attribution.attribute_logit(model, IDS, 9, at=at)
    without = ablation.switch_heads_off(model, IDS, [(1, 2)])[at, 9]
    assert float(found.heads[1, 2]) == pytest.approx(float(logits(model)[at, 9] - without), abs=1e-3)


class ScaledOnly(nn.Module):
    """A norm whose scale is frozen at one, as attribution holds it."""

    def __init__(self, norm: nn.Module) -> None:
        super().__init__()
        self.weight, self.variance_epsilon, self.scale = norm.weight, 0.0, None

    def forward(self, x):
        if self.scale is None:
            self.scale = x.square().mean(-1, keepdim=True).sqrt()
        return x / self.scale * self.weight


def test_a_head_is_split_over_the_tokens_that_it_attends_to():
    model, at = family("Llama"), 6
    with follow_model(model, lambda count: None) as seen, torch.no_grad():
        model(IDS)
    call = list(seen.calls.values())[1]
    stream = attribution.read_stream(model, IDS)
    values = call.v.repeat_interleave(2, 0)
    found = attribution.attribute_sources(stream, 1, 3, call.weights()[3], values[3], 9, None, at)
    assert found.shape == (8,) and found[7] == 0
    whole = attribution.attribute_stream(stream, 9, None, at)
    assert float(found.sum()) == pytest.approx(float(whole.heads[1, 3]), abs=1e-4)


@pytest.mark.parametrize("name", ["Gemma 2", "BERT"])
def test_models_with_norms_elsewhere_are_refused_by_name(name):
    model = family(name)
    with pytest.raises(UnsupportedError, match=rf"logits of a {model.config.model_type} model can't be split"):
        attribution.attribute_logit(model, IDS, 9)
    with pytest.raises(UnsupportedError, match=model.config.model_type):
        attribution.logit_lens(model, IDS)


def test_the_lens_ends_with_what_the_model_says():
    model, at = family("GPT-2"), 5
    found = attribution.logit_lens(model, IDS, at)
    chances = logits(model)[at].softmax(-1)
    assert found.ids.shape == (3, 10) and int(found.ids[-1, 0]) == int(chances.argmax())
    torch.testing.assert_close(found.probabilities[-1, 0], chances.max())
    assert float(found.entropy[-1]) == pytest.approx(float(-(chances * chances.log()).sum()), abs=1e-4)
    with torch.no_grad():
        one = model(IDS, output_hidden_states=True).hidden_states[1]
        first = model.lm_head(model.transformer.ln_f(one))[0, at].softmax(-1)
    torch.testing.assert_close(found.probabilities[1, 0], first.max(), rtol=1e-4, atol=1e-5)


def corrupt(ids: torch.Tensor) -> torch.Tensor:
    changed = ids.clone()
    changed[0, 3] = 6
    return changed


def test_patches_of_heads_are_those_of_a_model_that_is_patched_by_hand():
    model, low = family("GPT-2"), corrupt(IDS)
    found = patching.patch_heads(model, IDS, low, 9, 4)
    clean, corrupted = (logits(model, ids)[-1] for ids in (IDS, low))
    ends = [float(each[9] - each[4]) for each in (clean, corrupted)]
    assert (found.clean, found.corrupted) == (pytest.approx(ends[0], abs=1e-4), pytest.approx(ends[1], abs=1e-4))
    inputs = []
    module = model.transformer.h[1].attn.c_proj
    handle = module.register_forward_pre_hook(lambda module, given: inputs.append(given[0].clone()))
    logits(model, IDS)
    handle.remove()

    def patch(module, given):
        x = given[0].clone()
        x[0, :, 16:24] = inputs[0][0, :, 16:24]
        return (x,)

    handle = module.register_forward_pre_hook(patch)
    patched = logits(model, low)[-1]
    handle.remove()
    share = (float(patched[9] - patched[4]) - ends[1]) / (ends[0] - ends[1])
    assert float(found.returns[1, 2]) == pytest.approx(share, abs=1e-4)


@pytest.mark.parametrize("name", ["GPT-2", "Llama"])
def test_the_residual_returns_everything_where_all_depends_on_it(name):
    model = family(name)
    found = patching.patch_residual(model, IDS, corrupt(IDS), 9, 4)
    assert found.returns.shape == (2, 8)
    assert float(found.returns[1, 7]) == pytest.approx(1.0, abs=1e-4), "the last layer at the position of the answer"
    assert found.returns[:, :3].abs().max() == 0, "before the first token that differs"
    assert found.returns[1, :7].abs().max() < 1e-4, "other positions of the last layer are not read by the answer"


def test_patching_refuses_texts_that_cannot_be_compared():
    with pytest.raises(ValueError, match="clean text has 8 tokens and the corrupted one 9"):
        patching.patch_heads(family("GPT-2"), IDS, OTHER, 9, 4)
    with pytest.raises(ValueError, match="same logit difference"):
        patching.patch_heads(family("GPT-2"), IDS, IDS, 9, 4)


def test_predictions_are_those_of_the_model():
    model = family("GPT-2")
    found, whole = predictions.predict_tokens(model, IDS, 3), logits(model)
    assert found.ids.tolist() == whole.topk(3).indices.tolist()
    torch.testing.assert_close(found.probabilities, whole.softmax(-1).topk(3).values)
    loss = torch.nn.functional.cross_entropy(whole[:-1], IDS[0, 1:])
    assert math.isnan(found.losses[0]) and found.loss == pytest.approx(float(loss), abs=1e-5)
    assert float(found.entropy.max()) <= math.log(whole.shape[1])


def test_text_goes_on_as_the_model_generates_it():
    model = family("GPT-2")
    there = model.generate(IDS, max_new_tokens=4, do_sample=False, pad_token_id=0)[0].tolist()
    assert predictions.continue_text(model, IDS, 4) == there
    warm = predictions.continue_text(model, IDS, 4, temperature=2.0, seed=3)
    assert (
        warm == predictions.continue_text(model, predictions.continue_text(model, IDS, 2, 2.0, 3), 2, 2.0, 5) != there
    )
    draws = [predictions.choose_token(torch.tensor([0.0, 1.0, -torch.inf]), 1.0, seed) for seed in range(400)]
    counts = torch.bincount(torch.tensor(draws), minlength=3)
    assert counts[2] == 0 and float(counts[1] / 400) == pytest.approx(math.e / (1 + math.e), abs=0.07)


def test_a_token_is_filled_in_from_both_sides():
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37
    )
    model, shares = transformers.BertForMaskedLM(config).eval(), []
    found = predictions.fill_tokens(model, IDS, 59, progress=shares.append)
    masked = IDS.clone()
    masked[0, 2] = 59
    chances = logits(model, masked)[2].softmax(-1)
    torch.testing.assert_close(found.probabilities[2], chances.topk(10).values)
    assert float(found.losses[2]) == pytest.approx(-math.log(chances[8]), abs=1e-5) and shares == [1.0]
    alone = predictions.fill_tokens(model, IDS, 59, at=[2])
    torch.testing.assert_close(alone.probabilities[2], found.probabilities[2])
    assert int(alone.losses.isnan().sum()) == 7


def test_sentences_are_compared_by_the_means_of_their_last_states():
    model = family("BERT")
    assert predictions.compare_sentences(model, IDS, IDS) == pytest.approx(1.0, abs=1e-5)
    with torch.no_grad():
        one, two = (model(ids).last_hidden_state[0].mean(0) for ids in (IDS, OTHER))
    expected = float(torch.nn.functional.cosine_similarity(one, two, dim=0))
    assert predictions.compare_sentences(model, IDS, OTHER) == pytest.approx(expected, abs=1e-5)
