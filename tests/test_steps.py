"""Every step of a pass: its numbers against the trace and torch, its costs, and where its cells come from."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close
from torch.utils.flop_counter import FlopCounterMode

from attention.config import Config
from attention.fitting import layers, training_steps
from attention.imported.registry import register
from attention.imported.stack import Stack
from attention.knobs import SOURCES, STEPS
from attention.operations.by_torch import by_torch
from attention.operations.mask import HIDDEN
from attention.operations.normalisers import Softmax
from attention.operations.positions import turn
from attention.operations.softmax import SOFTMAXES
from attention.sources.providers import source_title
from attention.sources.spec import spec_of
from attention.steps.plan import by_name, steps
from attention.steps.step import Step
from attention.steps.values import difference, pairs, values
from attention.trace import trace
from tests import example_uploads
from tests.highlight import RULES, Box, highlighted_cells
from tests.position_oracle import bias
from tests.samples import examples
from tests.strategies import configs, normal

SELF = {"keys": 0, "d_v": 0}
PRODUCTS = ("Q", "K", "V", "scores", "context", "output")
CASES = [
    Config(tokens=5, heads=2, d_model=8),
    Config(tokens=5, heads=2, d_model=6, mask="window", span=2, positions="rotary", projections="independent"),
    Config(tokens=4, heads=4, d_model=12, kv_heads=2, keys=6, d_v=2, softcap=2.0, positions="alibi", mask="prefix"),
    Config(tokens=4, heads=2, d_model=4, mask="padding", span=2, positions="sinusoidal", keys=3, temperature=2.0),
    Config(tokens=3, heads=1, d_model=1, mask="full", scale="none", softmax="plus one", input="noise"),
    Config(tokens=4, heads=2, d_model=6, gate="headwise", keys=3, d_v=2),
    Config(tokens=3, heads=2, d_model=4, gate="elementwise", projections="independent"),
    Config(tokens=4, heads=2, d_model=4, query_scale="log n", mask="full"),
    Config(tokens=4, heads=2, d_model=4, forgetting="on", mask="full"),
    Config(tokens=4, heads=2, d_model=8, kv_heads=1, softmax="differential", projections="independent"),
    Config(tokens=3, heads=1, d_model=4, softmax="differential", positions="rotary", gate="headwise", mask="full"),
    Config(tokens=4, heads=2, d_model=4, mask="padding", span=4),  # nobody sees anything
    Config(
        tokens=3, heads=1, d_model=9, positions="rotary", rotary_fraction=0.5, rotary_scaling="yarn", rotary_length=8
    ),
]


@settings(deadline=None, max_examples=examples(40))
@given(configs())
def test_every_tensor_has_the_shape_the_size_and_the_number_that_its_step_says(config):
    plan, found = steps(config), values(config)
    assert [step.name for step in plan] == [name for name in STEPS if name in found] == list(found)
    for step in plan:
        assert tuple(found[step.name].shape) == step.shape, step.name
        assert found[step.name].nbytes == step.bytes, step.name
        assert {source.name for source in step.sources} <= set(STEPS[: STEPS.index(step.name)]), step.name
        assert {source.rule for source in step.sources} <= set(RULES)


NAMED, SQUARED, CROSSING, WIDE = (example_uploads.holding(name) for name in ("named", "squared", "crossing", "wide"))
SOURCES_OF_VECTORS = [*SOURCES[1:], *(each.source for each in (NAMED, SQUARED, CROSSING, WIDE))]


@pytest.mark.sampled(10)
@pytest.mark.parametrize("knobs", [{}, {"mask": "window", "span": 2, "temperature": 3.0, "softcap": 2.0}])
@pytest.mark.parametrize("source", SOURCES_OF_VECTORS, ids=lambda source: source_title(source))
def test_the_steps_of_what_was_learned_or_brought_are_those_of_its_trace(source, knobs):
    """They begin with its queries and keys, shared ones once, and end with what it has."""
    for at in (0, -1):
        number, training_step = layers(source)[at], training_steps(source)[at]
        config = Config.of(source, layer=number, training_step=training_step, **knobs)
        plan, found, whole = steps(config), values(config), trace(config)
        assert [step.name for step in plan][:2] == ["q", "k"]
        assert {step.name: step.shape for step in plan} == {name: tuple(part.shape) for name, part in found.items()}
        assert plan[-1].name == ("joined" if "v" in whole.has else "weights")
        repeats = config.heads // config.n_kv_heads
        assert torch.equal(found["q"], whole.q) and torch.equal(found["k"].repeat_interleave(repeats, 0), whole.k)
        assert torch.equal(found.get("mask", torch.ones_like(whole.mask)), whole.mask)
        assert_close(found["weights"], whole.weights, rtol=1e-4, atol=1e-5)
        last = next(found[name] for name in ("logits", "biased", "capped", "scaled", "scores") if name in found)
        assert_close(last, whole.logits, rtol=1e-4, atol=1e-3)
        if "v" in whole.has:
            assert_close(found["context"], whole.context, rtol=1e-4, atol=1e-4)
            assert torch.equal(found["joined"], found["context"].transpose(0, 1).flatten(1))
        part = values(config, slice(1, 2))
        assert torch.equal(part["weights"], found["weights"][1:2])


def test_values_of_a_width_of_their_own_have_it_in_every_step():
    q, k, v = normal(1, 1, 2, 3, 8), normal(2, 1, 2, 3, 8), normal(3, 1, 2, 3, 5)
    holding = register(Stack("wide values", "Made for a test", q=q, k=k, v=v))
    plan, found = by_name(Config.of(holding.source)), values(Config.of(holding.source))
    assert plan["v"].shape == plan["context"].shape == (2, 3, 5) and plan["joined"].shape == (3, 10)
    assert all(tuple(found[name].shape) == step.shape for name, step in plan.items())


@settings(deadline=None, max_examples=examples(40))
@given(configs(softmax="standard", qk_norm="off"))
def test_the_context_is_that_of_torchs_attention(config):
    """In float64, over the same queries, keys and values; the bias is written out once more here."""
    found = {name: tensor.double() for name, tensor in values(config).items()}
    turned = "turned " if config.positions == "rotary" else ""
    q, k, v = (
        found[name].repeat_interleave(config.heads // len(found[name]), 0) for name in (f"{turned}q", f"{turned}k", "v")
    )
    seen = config.rule.square(q.shape[1], k.shape[1], config.span)
    scale = {"1/sqrt(d_head)": config.d_head**-0.5, "none": 1.0, "1/d_head": 1 / config.d_head}[config.scale]
    q = q * seen.sum(-1, keepdim=True).clamp(min=1).log() if config.query_scale == "log n" else q
    added = bias(config.positions, config.heads, *seen.shape)
    if config.forgetting == "on":
        kept = found["F"].sigmoid().log().cumsum(0).T
        added = added - (kept[:, :, None] - kept[:, None]).abs()
    if config.softcap:
        added = added + config.softcap * torch.tanh(q @ k.mT * scale / config.temperature / config.softcap)
        q = torch.zeros_like(q)
    theirs = F.scaled_dot_product_attention(q, k, v, added.masked_fill(~seen, HIDDEN), scale=scale / config.temperature)
    assert_close(found["context"], theirs, rtol=1e-3, atol=2e-3)
    assert difference(config, values(config)) < 2e-3


def test_every_head_is_compared_with_torch_some_at_a_time(monkeypatch):
    config = Config(tokens=12, heads=6, d_model=48, keys=9)
    monkeypatch.setattr("attention.steps.values.AT_ONCE", 2 * 12 * 9)
    compared: list[int] = []

    def by_torch_but_the_last_head(q, *given):
        compared.append(len(q))
        found = by_torch(q, *given)
        return found._replace(output=found.output + (sum(compared) == 6))

    monkeypatch.setattr("attention.steps.values.by_torch", by_torch_but_the_last_head)
    assert difference(config, values(config)) == pytest.approx(1, abs=1e-5) and compared == [2, 2, 2]


def test_cross_attention_is_torchs_layer_with_keys_and_values_of_their_own_width():
    config = Config(tokens=5, heads=2, d_model=8, keys=7, mask="full", input="noise", projections="independent")
    found = values(config)
    layer = torch.nn.MultiheadAttention(8, 2, bias=False, kdim=8, vdim=8, batch_first=True)
    layer.load_state_dict(
        {
            "in_proj_weight": torch.cat([found[f"W_{name}"].mT for name in "qkv"]),
            "out_proj.weight": found["W_o"].mT,
        }
    )
    with torch.inference_mode():
        output, weights = layer(found["x"], found["y"], found["y"], average_attn_weights=False)
    assert_close(found["output"], output)
    assert_close(found["weights"], weights)
    assert not torch.equal(found["y"][:5], found["x"])


@pytest.mark.parametrize(
    ("name", "text", "back"), [("words", "the cat sat", "sat cat the"), ("characters", "abc", "cba")]
)
def test_the_other_sequence_of_a_text_is_that_text_backwards(name, text, back):
    found = values(Config(tokens=5, keys=4, input=name, text=text, projections="tied"))
    assert torch.equal(found["y"], values(Config(tokens=4, input=name, text=back, projections="tied"))["x"])
    assert torch.equal(found["y"][:3], found["x"][:3].flip(0))  # equal words stay equal vectors


def test_values_of_another_width_are_drawn_like_the_others():
    """Xavier: the variance of a uniform value is 2 / (inputs + outputs)."""
    found = values(Config(tokens=2, heads=4, d_model=256, d_v=32, projections="independent"))
    assert found["W_v"].shape == (256, 128) and found["W_o"].shape == (128, 256)
    assert found["W_v"].var().item() == pytest.approx(2 / (256 + 128), rel=0.03)
    assert found["W_o"].var().item() == pytest.approx(1 / (3 * 128), rel=0.03)
    assert torch.equal(values(Config(d_v=64))["W_v"], values(Config())["W_v"])


@pytest.mark.parametrize("config", [*CASES[:4], Config(tokens=64, mask="sinks", d_v=40)], ids=range(5))
def test_the_operations_of_the_products_are_those_that_torch_counts(config):
    with FlopCounterMode(display=False) as counter:
        values(config, slice(0, 0))  # no head is computed a second time for its picture
    assert counter.get_total_flops() == sum(by_name(config)[name].flops for name in PRODUCTS)


def test_costs_of_a_small_pass_by_hand():
    """3 tokens, 2 heads of 2 channels: 2 * 3 * 4 * 4 for a projection, 2 * 2 * 3 * 3 * 2 for the scores."""
    plan = by_name(Config(tokens=3, heads=2, d_model=4, softcap=1.0, positions="alibi"))
    flops = {name: step.flops for name, step in plan.items() if step.flops}
    assert flops == {
        "Q": 96, "K": 96, "V": 96, "scores": 72, "scaled": 18, "capped": 54, "biased": 18, "weights": 90, "context": 72,
        "output": 96,
    }  # fmt: skip
    assert {name: plan[name].bytes for name in ("x", "W_q", "q", "scores", "mask")} == {
        "x": 48, "W_q": 64, "q": 48, "scores": 72, "mask": 9,
    }  # fmt: skip
    assert [step.name for step in plan.values() if not step.new_bytes] == ["q", "k", "v"]
    assert spec_of(Config(tokens=3, heads=2, d_model=4)).product("b q (h d)", "c") == 96


def test_only_the_steps_that_the_settings_have():
    plain = Config(mask="full", scale="none")
    assert [step.name for step in steps(plain)] == [
        "x", "W_q", "W_k", "W_v", "Q", "K", "V", "q", "k", "v", "scores", "weights", "context", "joined", "W_o", "output",
    ]  # fmt: skip
    added = {
        "scaled": replace(plain, temperature=2.0),
        "capped": replace(plain, softcap=1.0),
        "mask": replace(plain, mask="window"),
        "biased": replace(plain, positions="alibi"),
        "turned k": replace(plain, positions="rotary"),
        "sines x": replace(plain, positions="sinusoidal"),
        "y": replace(plain, keys=4),
    }
    for name, config in added.items():
        assert name in by_name(config) and name not in by_name(plain)


# --- where a cell comes from ---------------------------------------------------------------------------------------


def cells_in_boxes(step: Step, boxes: tuple[Box, ...]) -> torch.Tensor:
    """The cells of a step that are in any of the boxes."""
    cells = torch.zeros(step.shape if step.by_head else (1, *step.shape), dtype=torch.bool)
    for box in boxes:
        cells[torch.tensor(box.heads)[:, None, None], torch.tensor(box.rows)[:, None], torch.tensor(box.columns)] = True
    return cells


def graph(config: Config) -> dict[str, torch.Tensor]:
    """Every step but the mask in float64, as nodes of one graph of autograd; random tokens, matrices and positions."""
    plan, random = by_name(config), torch.Generator().manual_seed(1)
    found: dict[str, torch.Tensor] = {}
    for name, step in plan.items():
        if not step.sources and name != "mask":
            found[name] = torch.randn(*step.shape, generator=random, dtype=torch.float64).mul_(0.5).requires_grad_()
    for name in {"x", "y"} & plan.keys() - found.keys():
        found[name] = found[f"embedded {name}"] + found[f"sines {name}"]
    other, repeats = found.get("y", found["x"]), config.heads // config.n_kv_heads
    for name, tokens, heads in (
        ("q", found["x"], config.heads),
        ("k", other, config.n_kv_heads),
        ("v", other, config.n_kv_heads),
    ):
        flat = found[name.upper()] = tokens @ found[f"W_{name}"]
        halves = 2 if f"{name} 2" in plan else 1
        parts = flat.chunk(heads * halves, -1)
        found |= {f"{name}{' 2' * at}": torch.stack(parts[at::halves]) for at in range(halves)}
    add_bias(found, config)
    logits = [add_logits(found, config, own) for own in ("", " 2") if f"q{own}" in plan]
    how = SOFTMAXES[config.softmax]
    if isinstance(how, Softmax):
        whole = logits[0].exp().sum(-1, keepdim=True)
        sinks = torch.tensor(config.sinks).exp()[:, None, None]
        found["weights"] = logits[0].exp() / (whole + sinks + (whole == 0))
    elif len(logits) > 1:
        for name, each in zip(("first softmax", "second softmax"), logits, strict=True):
            found[name] = each.exp() / each.exp().sum(-1, keepdim=True)
        found["weights"] = found["first softmax"] - config.diff_lambda * found["second softmax"]
    else:
        found["weights"] = how.of_heads(config.sinks)(logits[0])
    last = torch.stack([found["weights"][h] @ found["v"][h // repeats] for h in range(config.heads)])
    found["context"] = last
    if "normed context" in plan:
        last = last / (last.square().mean(-1, keepdim=True) + 1e-5).sqrt() * (1 - config.diff_lambda)
        found["normed context"] = last
    if "gate" in plan:
        found["G"] = found["x"] @ found["W_g"]
        found["gate"] = torch.stack(found["G"].sigmoid().chunk(config.heads, -1))
        last = found["gated"] = last * found["gate"]
    found["joined"] = torch.cat(list(last), -1)
    return found | {"output": found["joined"] @ found["W_o"]}


def add_bias(found: dict[str, torch.Tensor], config: Config) -> None:
    """What forgetting adds to the scores, if it does."""
    if "F" not in by_name(config):
        return
    found["F"] = found["x"] @ found["W_f"]
    at = torch.arange(config.tokens)
    q, k = at[:, None, None], at[:, None]
    between = (torch.minimum(q, k) < at) & (at <= torch.maximum(q, k))
    logs = found["F"].sigmoid().log()
    found["bias"] = torch.einsum("qkt,th->hqk", between.double(), logs) - 1  # a zero would count as nothing


def add_logits(found: dict[str, torch.Tensor], config: Config, own: str) -> torch.Tensor:
    """The steps from queries and keys to the logits; `own` is the end of the names of the second softmax."""
    plan, repeats = by_name(config), config.heads // config.n_kv_heads
    if "turned q" in plan:
        found |= {f"turned {name}{own}": turn(found[f"{name}{own}"], config) for name in "qk"}
    q, k = (found.get(f"turned {name}{own}", found[f"{name}{own}"]) for name in "qk")
    last = found[f"scores{own}"] = torch.stack([q[h] @ k[h // repeats].T for h in range(config.heads)])
    if "scaled" in plan:
        last = found[f"scaled{own}"] = last * (config.score_width**-0.5 / config.temperature)
    if "lengthened" in plan:
        last = found[f"lengthened{own}"] = last * pairs(config).sum(-1, keepdim=True).clamp(min=1).double().log()
    if "capped" in plan:
        last = found[f"capped{own}"] = config.softcap * torch.tanh(last / config.softcap)
    if "biased" in plan:
        last = found[f"biased{own}"] = last + found["bias"]
    if "mask" in plan:
        last = found[f"logits{own}"] = last.masked_fill(~pairs(config), HIDDEN)
    return last


def contributions(cell: torch.Tensor, found: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Where gradient times value is not zero, in every matrix: what a cell was computed from, as autograd has it."""
    grads = torch.autograd.grad(cell, list(found.values()), allow_unused=True, retain_graph=True)
    parts = {name: (g, x) for (name, x), g in zip(found.items(), grads, strict=True) if g is not None}
    told = {name: ((g != 0) & (x != 0) & x.isfinite()) for name, (g, x) in parts.items()}
    return {name: cells if cells.ndim == 3 else cells[None] for name, cells in told.items() if cells.any()}


def comparable(config: Config, name: str, row: int, column: int) -> bool:
    """Has the cell a gradient? A hidden pair has none, nor has the one weight of a query that sees one key."""
    name = {"logits 2": "logits", "first softmax": "weights", "second softmax": "weights"}.get(name, name)
    if name not in ("logits", "weights", "context", "normed context", "gated", "joined", "output"):
        return True
    seen = pairs(config)[row]
    if name in ("logits", "weights") and not seen[column]:
        return False
    count = int(seen.sum())
    return name == "logits" or count > (config.softmax in ("standard", "differential"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("config", CASES, ids=range(len(CASES)))
def test_a_cell_lights_what_autograd_finds_it_computed_from(config):
    found, plan, compared = graph(config), by_name(config), 0
    for name, step in plan.items():
        if name == "mask" or not step.sources:
            continue
        for at in itertools.product(*map(range, step.shape)):
            head, row, column = at if step.by_head else (0, *at)
            if not comparable(config, name, row, column):
                continue
            boxes = highlighted_cells(config, name, row, column, head)
            theirs = contributions(found[name][at], found)
            theirs.pop(name, None)
            ours = {source: cells_in_boxes(plan[source], boxes[source]) for source in boxes if source != "mask"}
            assert ours.keys() == theirs.keys(), (name, at)
            for source, cells in ours.items():
                assert torch.equal(cells, theirs[source]), (name, at, source)
            compared += 1
    assert compared > 20


@settings(deadline=None, max_examples=examples(40))
@given(configs(), st.data())
def test_a_hidden_pair_comes_from_the_mask_alone_and_a_weight_from_the_keys_that_are_seen(config, data):
    seen, plan = pairs(config), by_name(config)
    if "mask" not in plan:
        return
    q, k, h = (data.draw(st.integers(0, size - 1)) for size in (*seen.shape, config.heads))
    if config.softmax == "differential":  # a weight has the logits of both softmaxes
        found = highlighted_cells(config, "weights", q, k, h)
        assert found["logits"] == found["logits 2"] and found["first softmax"] == (Box((h,), (q,), (k,)),)
        return
    logit, weight = highlighted_cells(config, "logits", q, k, h), highlighted_cells(config, "weights", q, k, h)
    assert logit["mask"] == (Box((0,), (q,), (k,)),)
    if not seen[q, k]:
        assert logit.keys() == {"mask"}
        assert weight == {"logits": (Box((h,), (q,), (k,)),), "mask": logit["mask"]}
    else:
        keys = (k,) if config.softmax == "sigmoid" else tuple(seen[q].nonzero()[:, 0].tolist())
        assert weight["logits"] == (Box((h,), (q,), keys),) and weight["mask"] == (Box((0,), (q,), keys),)
        assert weight["scores"] == (Box((h,), (q,), keys),)


def test_one_cell_by_hand():
    """Head 1 of 2 shares the keys of head 0; the first query of a causal pass sees itself."""
    config = Config(tokens=3, heads=2, d_model=4, kv_heads=1, mask="causal")
    assert highlighted_cells(config, "context", 0, 1, 1)["weights"] == (Box((1,), (0,), (0,)),)
    assert highlighted_cells(config, "context", 0, 1, 1)["v"] == (Box((0,), (0,), (1,)),)
    assert highlighted_cells(config, "scores", 2, 1, 1)["Q"] == (Box((0,), (2,), (2, 3)),)
    assert set(highlighted_cells(config, "scores", 2, 1, 1)["x"]) == {Box((0,), (row,), (0, 1, 2, 3)) for row in (1, 2)}
    assert highlighted_cells(config, "joined", 2, 3)["context"] == (Box((1,), (2,), (1,)),)
    assert highlighted_cells(config, "W_q", 0, 0) == {}


def test_a_query_that_sees_nothing_comes_from_nothing():
    found = highlighted_cells(Config(tokens=4, heads=2, d_model=4, mask="padding", span=4), "output", 3, 1)
    assert found.keys() == {"joined", "W_o", "context"}


def test_cells_that_are_not_there():
    with pytest.raises(IndexError, match=r"scores has no cell \(8, 0, 0\); heads, rows and columns are \(8, 18, 18\)"):
        highlighted_cells(Config(), "scores", 0, 0, 8)
    with pytest.raises(KeyError, match="capped"):
        highlighted_cells(Config(), "capped", 0, 0)
