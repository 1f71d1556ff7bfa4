"""A small model that is trained: against PyTorch's own attention and optimizer; the same course however it is run."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from attention.array_files import safe_file
from attention.heads import profile
from attention.interventions import ablation, trained
from attention.masks import MASKS
from attention.operations.gate import GATES
from attention.operations.positions import rotary, sinusoidal
from attention.operations.scale import SCALES
from attention.operations.softmax import TRAINABLE
from attention.steps import training_program
from attention.training import history as courses
from attention.training.adamw import AdamW
from attention.training.head_scores import scores, texts, weights
from attention.training.model import Model
from attention.training.recipe import LEARNED, NUMBERS, PLACES, Recipe
from attention.training.run import Run, draw_sequences, loss, moments, probe, rate, train
from attention.training.tasks import TASKS
from tests.position_oracle import bias
from tests.samples import examples

SMALL = {"d_model": 16, "heads": 2, "steps": 20}


def by_torch(
    model: Model, ids: torch.Tensor, change: Callable[[int, torch.Tensor], object] | None = None
) -> torch.Tensor:
    """The same logits with torch's attention, spelled out; `change` gets each layer's number and outputs of heads (b h n d)."""
    recipe, n = model.recipe, ids.shape[1]
    at = torch.arange(n)
    mask = torch.zeros(n, n).masked_fill(~recipe.rule.square(n, n, recipe.span), -math.inf)
    if recipe.positions.startswith("alibi"):
        mask = mask + bias(recipe.positions, recipe.heads, n, n).float()
    x = model.embedding(ids)
    x = x + sinusoidal(n, recipe.d_model) if recipe.positions == "sinusoidal" else x
    x = x + model.places(at) if recipe.positions == LEARNED else x
    layers: Any = model.layers
    for number, layer in enumerate(layers):
        normed, by = layer.norm(x), layer.attention
        parts = (
            part(normed).unflatten(-1, (recipe.heads, -1)).transpose(1, 2) for part in (by.q_proj, by.k_proj, by.v_proj)
        )
        q, k, v = parts
        pairs = list(zip(q.chunk(2, -1), k.chunk(2, -1), strict=True)) if recipe.softmax == "differential" else [(q, k)]
        pairs = [(rotary(q), rotary(k)) if recipe.positions == "rotary" else (q, k) for q, k in pairs]
        if recipe.qk_norm == "on":
            pairs = [tuple(F.rms_norm(each, (each.shape[-1],), eps=1e-6) for each in pair) for pair in pairs]
        q, k = pairs[0]
        if recipe.softmax == "differential":
            first, second = (
                F.scaled_dot_product_attention(*pair, v, mask.to(q), scale=recipe.factor) for pair in pairs
            )
            start, (a, b, c, d) = 0.8 - 0.6 * math.exp(-0.3 * number), layer.lambdas
            context = first - ((a @ b).exp() - (c @ d).exp() + start) * second
            context = context / (context.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * (1 - start)
        elif recipe.softmax != "standard":
            scores = (q @ k.mT * recipe.factor + mask).exp()
            added = layer.sinks.exp()[:, None, None] if recipe.softmax == "sink" else 1
            context = scores / (added + scores.sum(-1, keepdim=True)) @ v
        else:
            context = F.scaled_dot_product_attention(q, k, v, mask.to(q), scale=recipe.factor)
        if recipe.gate != "off":
            context = context * layer.gate(normed).sigmoid().unflatten(-1, (recipe.heads, -1)).transpose(1, 2)
        if change is not None:
            change(number, context)
        x = x + by.out_proj(context.transpose(1, 2).flatten(2))
    return model.says(model.norm(x))


recipes = st.builds(
    lambda task, layers, **knobs: Recipe(task=task, layers=layers, **SMALL, **knobs),
    st.sampled_from(list(TASKS)),
    st.integers(1, 3),
    positions=st.sampled_from(list(PLACES)),
    mask=st.sampled_from([name for name in MASKS if name != "padding"]),
    span=st.integers(1, 20),
    scale=st.sampled_from(list(SCALES)),
    softmax=st.sampled_from(list(TRAINABLE)),
    qk_norm=st.sampled_from(["off", "on"]),
    gate=st.sampled_from(GATES),
    seed=st.integers(0, 50),
)


@settings(deadline=None, max_examples=examples(40))
@given(recipes)
def test_the_model_says_what_torchs_attention_says(recipe):
    model, drawn = Model(recipe), probe(recipe)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith("sinks"):
                parameter.copy_(torch.linspace(-2, 1, recipe.heads))
    found = model(drawn.ids[:, :-1])
    torch.testing.assert_close(found, by_torch(model, drawn.ids[:, :-1]), rtol=1e-4, atol=1e-4)
    with torch.no_grad():
        torch.testing.assert_close(model(drawn.ids[:, :-1]), found, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("how", ablation.WAYS)
def test_a_head_that_is_off_is_replaced_by_zeros_its_mean_or_its_output_on_the_sequence_before(how):
    recipe = Recipe(**SMALL, gate="headwise")
    model, drawn, off = Model(recipe), draw_sequences(recipe, 6, 2), [(0, 1), (1, 0)]
    ids, whole = drawn.ids[:, :-1], {}

    def replace(layer, context):
        for head in [head for at, head in off if at == layer]:
            usual = whole[layer][:, head]
            other = {"zero": 0 * usual, "mean": usual.mean((0, 1), keepdim=True), "resample": usual[[5, 0, 1, 2, 3, 4]]}
            context[:, head] = other[how]

    with torch.no_grad():
        all_on = by_torch(model, ids, lambda layer, context: whole.update({layer: context.clone()}))
        logits = by_torch(model, ids, replace)
    usual = trained.record_outputs(model, ids)
    found = trained.evaluate_without(model, drawn, off, how, usual)
    assert found[0] == pytest.approx(float(loss(logits, drawn)), abs=1e-5)
    assert abs(found[0] - float(loss(all_on, drawn))) > 1e-3
    other = {layer: outputs.roll(ids.shape[1], 0) for layer, outputs in usual.items()}
    with torch.no_grad(), trained.heads_off(model, off, how, usual, other):
        torch.testing.assert_close(model(ids), logits, rtol=1e-4, atol=1e-4)
    with torch.no_grad():
        torch.testing.assert_close(model(ids), all_on, rtol=1e-4, atol=1e-4, msg="heads are on again")


def test_it_moves_as_torchs_adamw_does():
    ours, theirs = (nn.Sequential(nn.Linear(5, 7), nn.LayerNorm(7), nn.Linear(7, 3)) for _ in range(2))
    theirs.load_state_dict(ours.state_dict())
    mine, other = AdamW(ours), torch.optim.AdamW(theirs.parameters(), weight_decay=0.01)
    random = torch.Generator().manual_seed(0)
    for step in range(30):
        x, size = torch.randn(11, 5, generator=random), 10.0 if step % 3 else 0.01  # some are cut, some are not
        mine.clear()
        other.zero_grad()
        for net in (ours, theirs):
            (net(x) ** 2).sum().mul(size).backward()
        nn.utils.clip_grad_norm_(theirs.parameters(), 1.0)
        for group in other.param_groups:
            group["lr"] = 0.01 * (step + 1)
        mine.step(0.01 * (step + 1), 1.0)
        other.step()
    for one, two in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-5)


def test_the_learning_rate_rises_and_falls_once():
    recipe = Recipe(steps=100)
    every = [rate(recipe, step) for step in range(100)]
    assert max(every) == every[9] == every[10] == recipe.rate
    assert every[:10] == sorted(every[:10]) and every[10:] == sorted(every[10:], reverse=True)
    assert every[0] == recipe.rate / 10 and 0 < every[-1] < recipe.rate / 1000


def test_a_recipe_is_one_course_whatever_happens_beside_it():
    recipe = Recipe(task="reverse", layers=1, **SMALL)
    whole = [seen for _, seen in train(recipe) if seen]
    assert [seen.step for seen in whole] == list(moments(recipe)) == list(range(21))
    again = train(recipe)
    torch.manual_seed(7)
    found = [seen for _, seen in zip(range(5), (seen for _, seen in again if seen), strict=False)]
    torch.randn(100)
    found += [seen for _, seen in again if seen]
    assert [seen.loss for seen in found] == [seen.loss for seen in whole]
    assert torch.equal(found[-1].q, whole[-1].q)
    other = [seen.loss for _, seen in train(Recipe(task="reverse", layers=1, seed=1, **SMALL)) if seen]
    assert other[0] != whole[0].loss


def test_it_learns():
    recipe = Recipe(task="majority", layers=1, d_model=16, heads=2, steps=120, rate=0.02)
    found = [seen for _, seen in train(recipe) if seen]
    assert found[0].accuracy < 0.3 and found[-1].accuracy > 0.6
    assert found[-1].loss < 0.4 * found[0].loss


def test_a_loss_that_is_no_number_ends_it():
    course = train(Recipe(task="reverse", layers=1, **SMALL))
    found = []
    for run, seen in course:
        found += [seen] if seen else []
        if run.done == 5:
            run.optimizer.values.fill_(math.nan)
    assert [seen.step for seen in found] == [0, 1, 2, 3, 4, 5, 6]
    assert [seen.sound for seen in found] == [True] * 6 + [False]


def test_scores_are_those_of_the_heads():
    recipe = Recipe(**SMALL)
    run = Run(recipe)
    seen, drawn = run.checkpoint(), probe(recipe)
    found = weights(recipe, seen.q, seen.k)
    torch.testing.assert_close(found.sum(-1), torch.ones(2, 2, 40))
    assert float(found.triu(1).abs().max()) == 0
    every = profile(found[1], recipe.rule.square(40, 40, 1), texts(recipe, drawn))
    assert list(seen.scores) == sorted(seen.scores, key=["previous", "induction", "same", "first", "own"].index)
    assert set(seen.scores) == set(NUMBERS)
    torch.testing.assert_close(seen.scores["previous"][1], every.previous)
    ideal = (drawn.told[0] / drawn.told[0].sum(-1, keepdim=True).clamp(min=1)).float()
    torch.testing.assert_close(scores(recipe, drawn, ideal.expand(2, 2, 40, 40))["own"], torch.ones(2, 2))


VARIANTS = [{}, {"softmax": "sink"}, {"qk_norm": "on"}, {"gate": "headwise"}, {"gate": "elementwise"}]
VARIANTS += [{"softmax": "differential"}]
VARIANT_NAMES = ["standard", "sink", "qk_norm", "headwise", "elementwise", "differential"]


@pytest.mark.parametrize("knobs", VARIANTS, ids=VARIANT_NAMES)
def test_gradients_are_those_of_float64(knobs):
    recipe = Recipe(task="reverse", layers=1, **SMALL, **knobs)
    model, drawn = Model(recipe), draw_sequences(recipe, 4, 1)
    exact = Model(recipe).double()
    loss(model(drawn.ids[:, :-1]), drawn).backward()
    loss(by_torch(exact, drawn.ids[:, :-1]), drawn).backward()
    for (name, mine), other in zip(model.named_parameters(), exact.parameters(), strict=True):
        assert other.grad is not None and float(other.grad.abs().max()) > 0, name
        torch.testing.assert_close(mine.grad, other.grad.float(), rtol=1e-4, atol=1e-7, msg=name)


def test_variants_start_from_the_weights_of_the_standard_model():
    standard = dict(Model(Recipe(**SMALL)).named_parameters())
    for knobs in VARIANTS[1:]:
        found = dict(Model(Recipe(**SMALL, **knobs)).named_parameters())
        assert all(torch.equal(found.pop(name), weight) for name, weight in standard.items()), knobs
        added = [name for name in found if knobs != {"qk_norm": "on"}]
        name = {"sink": "sinks", "differential": "lambdas"}.get(knobs.get("softmax", ""), "gate.weight")
        assert added == [f"layers.{at}.{name}" for at in range(2) if added]


def test_a_course_with_sinks_and_a_gate_comes_back_from_its_file():
    recipe = Recipe(task="reverse", layers=1, softmax="sink", qk_norm="on", gate="headwise", **SMALL)
    course = courses.record_training(recipe)
    found, _ = courses.read_training(courses.write_training(course, "by a test"))
    last, before = found.nearest_frame(-1), course.moments[-1]
    assert found.recipe == recipe and float(before.sinks.abs().max()) > 0.01
    torch.testing.assert_close(last.sinks, before.sinks, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(last.gates, before.gates, rtol=1e-3, atol=1e-3)
    rows = courses.frame_weights(recipe, before)
    torch.testing.assert_close(courses.frame_weights(recipe, last), rows, rtol=0, atol=0.01)
    ids = probe(recipe).ids[:, :-1]
    heads = course.model().forward_with_scores(ids)[1][0]
    q, k = (part / (part.square().mean(-1, keepdim=True) + 1e-6).sqrt() for part in (heads.q, heads.k))
    exps = (q @ k.mT * recipe.factor).exp().tril()
    own = exps / (heads.sinks.exp()[:, None, None] + exps.sum(-1, keepdim=True))
    torch.testing.assert_close(rows, own, rtol=1e-4, atol=1e-5)


def test_a_course_comes_back_from_its_file():
    recipe = Recipe(task="brackets", **SMALL)
    course = courses.record_training(recipe)
    found, about = courses.read_training(courses.write_training(course, "by a test"))
    assert found.recipe == recipe and about["made"] == "by a test"
    assert [each.step for each in found.moments] == [each.step for each in course.moments]
    assert [each.loss for each in found.moments] == pytest.approx([each.loss for each in course.moments])
    assert (
        len(found.frames) == courses.FRAMES and found.nearest_frame(-1).step == 20 and found.nearest_frame(4).step == 4
    )
    last = found.nearest_frame(-1)
    for name, number in courses.recompute_scores(found, last).items():
        torch.testing.assert_close(number, course.moments[-1].scores[name], rtol=0, atol=0.01)
    torch.testing.assert_close(courses.parameters(found.model()), course.parameters, rtol=1e-3, atol=1e-3)


def test_the_weights_are_a_file_of_safetensors():
    tensors = {"a": torch.arange(6.0).view(2, 3), "b": torch.ones(3, dtype=torch.float16)}
    data = safe_file.write_safetensors(tensors, {"task": "sort"})
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    assert size % 8 == 0 and header.pop("__metadata__") == {"task": "sort"}
    for name, dtype in {"a": torch.float32, "b": torch.float16}.items():
        first, last = header[name]["data_offsets"]
        found = torch.frombuffer(bytearray(data[8 + size + first : 8 + size + last]), dtype=dtype)
        assert torch.equal(found.view(header[name]["shape"]), tensors[name])
    assert [header[name]["dtype"] for name in ("a", "b")] == ["F32", "F16"] and len(data) == 8 + size + 30


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "knobs",
    [
        {},
        {"task": "sort", "layers": 1, "positions": "sinusoidal", "scale": "none"},
        {"task": "brackets", "positions": "alibi", "mask": "window", "softmax": "plus one"},
        {"task": "majority", "layers": 1, "positions": "none", "scale": "1/d_head", "seed": 3},
        {"task": "reverse", "layers": 1, "mask": "sinks", "span": 3},
        {"task": "reverse", "layers": 1, "positions": "learned"},
        {"softmax": "sink", "qk_norm": "on", "gate": "elementwise"},
        {"task": "reverse", "layers": 1, "positions": "alibi", "softmax": "sink", "gate": "headwise"},
        {"softmax": "differential", "qk_norm": "on", "gate": "headwise"},
    ],
    ids=lambda knobs: " ".join(map(str, knobs.values())) or "defaults",
)
def test_the_program_trains_the_same_model(knobs):
    recipe = Recipe(**SMALL, **knobs)
    run = Run(recipe)
    for _ in range(20):
        run.step()
    names: dict = {}
    exec(training_program.source(recipe), names)
    ids = run.probe.ids[:, :-1]
    with torch.no_grad():
        torch.testing.assert_close(names["model"](ids), run.model(ids), rtol=1e-3, atol=1e-3)
