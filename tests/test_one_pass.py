"""One law over all configs: trace, table, printed program and maps compute what a float64 reference does."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import example, given, settings
from torch import Tensor

from attention import Config, Trace, head_maps, trace
from attention.knobs import LEAST_CAP
from attention.masks import MASKS
from attention.operations.forgetting import draw_forget_map
from attention.operations.softmax import takes_sinks
from attention.sources.chunks import retained
from attention.sources.generated import gate_map
from attention.sources.layer_inputs import Projections
from attention.steps import program
from attention.steps.values import values
from tests.position_oracle import bias, turn
from tests.samples import examples
from tests.softmax_oracle import weights_of
from tests.strategies import configs

EPS = torch.finfo(torch.float32).eps


def slack(t: Trace) -> float:
    """How far weights may be off: a float32 logit by some eps of its size, and a weight by at most half of that."""
    times = math.log(t.config.tokens) if t.config.query_scale == "log n" else 1
    gates = t.config.tokens if t.config.forgetting == "on" else 0  # the errors of their logits are summed
    return 2e-6 + 8 * EPS * (t.scores.abs().amax().item() * max(1, times) + gates)


def near(found: Tensor, exact: Tensor, tolerance: float, why: str) -> None:
    """Equal up to the tolerance, in units of the greatest value where that is over one; infinite where the other is."""
    assert torch.equal(found.isinf(), exact.isinf()), why
    found, exact = (each.double().masked_fill(each.isinf(), 0) for each in (found, exact))
    size = max([1.0, *exact.abs().flatten().tolist()])
    torch.testing.assert_close(found, exact, rtol=0, atol=tolerance * size, msg=lambda text: f"{why}: {text}")


def joint(config: Config) -> Tensor:
    """The mask, or two of them combined, pair by pair."""
    one, two = (MASKS[name].square(config.tokens, config.tokens, config.span) for name in (config.mask, config.second))
    return {"none": one, "and": one & two, "or": one | two, "without": one & ~two}[config.combine]


def reference(config: Config, x: Tensor, w: Projections) -> dict[str, Tensor]:
    """The pass in float64, head by head and pair by pair, from x and the projections."""
    c, share, x = config, config.heads // config.n_kv_heads, x.double()
    own = [slice(i * c.d_head, (i + 1) * c.d_head) for i in range(c.heads)]
    at = [own[i // share] for i in range(c.heads)]
    q = torch.stack([x @ w.query[:, own[i]].double() for i in range(c.heads)])
    k = torch.stack([x @ w.key[:, at[i]].double() for i in range(c.heads)])
    v = torch.stack([x @ w.value[:, at[i]].double() for i in range(c.heads)])
    if c.softmax == "differential":
        return differential(config, x, q, k, v, w)
    found = logits_of(config, x, q, k)
    weights = weights_of(found["logits"], c.softmax, c.sinks)
    context = weights @ v
    gated = context * gates(config, x)
    output = gated.transpose(0, 1).flatten(1) @ w.output.double()
    return found | {"weights": weights, "context": context, "gated": gated, "output": output}


def logits_of(config: Config, x: Tensor, q: Tensor, k: Tensor) -> dict[str, Tensor]:
    """From queries and keys as they were projected to the logits."""
    c, d = config, q.shape[-1]
    q, k = (each / (each.pow(2).mean(-1, True) + 1e-6).sqrt() if c.qk_norm == "on" else each for each in (q, k))
    q, k = (turn(q, c), turn(k, c)) if c.positions == "rotary" else (q, k)
    scale = {"1/sqrt(d_head)": d**-0.5, "none": 1.0, "1/d_head": 1 / d}[c.scale] / c.temperature
    scores = torch.einsum("hqd,hkd->hqk", q, k) * scale
    seen = torch.tensor([max(1, int(row.sum())) for row in joint(c)], dtype=torch.float64)
    drawn = scores * seen.log()[:, None] if c.query_scale == "log n" else scores
    logits = c.softcap * torch.tanh(drawn / c.softcap) if c.softcap else drawn.clone()
    logits += bias(c.positions, c.heads, c.tokens, c.tokens)
    if c.forgetting == "on":
        logits += forgotten(torch.sigmoid(x @ draw_forget_map(c.d_model, c.heads, c.seed).double() + c.forget_bias))
    return {"q": q, "scores": scores, "logits": logits.masked_fill(~joint(c), -math.inf)}


def differential(config: Config, x: Tensor, q: Tensor, k: Tensor, v: Tensor, w: Projections) -> dict[str, Tensor]:
    """Each half of the channels as if it were a head of its own; both attend to the same values."""
    c, half = config, config.d_head // 2
    parts = [logits_of(c, x, q[..., at], k[..., at]) for at in (slice(half), slice(half, None))]
    one, two = (weights_of(part["logits"], "standard") for part in parts)
    weights = one - c.diff_lambda * two
    context = weights @ v
    size = (context.pow(2).mean(-1, True) + 1e-5).sqrt()
    gated = context / size * (1 - c.diff_lambda) * gates(config, x)
    output = gated.transpose(0, 1).flatten(1) @ w.output.double()
    found = {"q": torch.cat([part["q"] for part in parts], -1), "weights": weights, "context": context, "gated": gated}
    return {name: parts[0][name] for name in ("scores", "logits")} | found | {"output": output}


def forgotten(gates: Tensor) -> Tensor:
    """What forgetting adds to every pair, gate by gate, of gates (n h)."""
    n, heads = gates.shape
    found = torch.zeros(heads, n, n, dtype=torch.float64)
    for query in range(n):
        for key in range(n):
            first, last = sorted((query, key))
            found[:, query, key] = gates[first + 1 : last + 1].log().sum(0)
    return found


def gates(config: Config, x: Tensor) -> Tensor:
    """What each head multiplies its context by, per token and head, or per channel."""
    if config.gate == "off":
        return torch.ones((), dtype=torch.float64)
    logits = x @ gate_map(config.for_page("")).double()
    per_head = logits.unflatten(1, (config.heads, 1 if config.gate == "headwise" else config.d_head))
    return (1 / (1 + (-per_head).exp())).transpose(0, 1)


def by_table(config: Config) -> dict[str, Tensor]:
    """The steps of the pass."""
    found = values(config.for_page(""))
    scores = ("logits", "biased", "capped", "lengthened", "scaled", "scores")
    newest = {"logits": scores, "scores": ("scaled", "scores"), "q": ("turned q", "normed q", "q")}
    own = {name: next(found[each] for each in names if each in found) for name, names in newest.items()}
    if "q 2" in found:
        own["q"] = torch.cat([own["q"], next(found[f"{each} 2"] for each in newest["q"] if f"{each} 2" in found)], -1)
    return own | {name: found[name] for name in ("weights", "context", "gated", "output") if name in found}


def by_program(config: Config) -> dict[str, Tensor]:
    """What the printed program defines; its scores are the logits."""
    found: dict = {}
    exec(program.source(config), found)
    q, logits = found["Q"], found["scores"]
    if q.ndim == 4:  # both halves of every head
        q, logits = torch.cat(list(q), -1), logits[0]
    own = {"q": q, "logits": logits, "gated": found["context"]}
    return {name: found[name] for name in ("x", "weights", "output")} | own


def by_map(t: Trace) -> dict[str, Tensor]:
    """A map of the trace's queries and keys, with a pixel for each weight."""
    c = t.config
    options = {
        "positions": c.positions,
        "softcap": c.softcap or None,
        "softmax": c.softmax,
        "query_scale": c.query_scale,
    }
    options |= {"sinks": c.sinks} if takes_sinks(c.softmax) else {}
    options |= {"kept": retained(c)}
    maps = head_maps(t.q, t.k, c.rule, c.span, c.logit_scale, **options)
    assert maps.tile == 1
    return {"weights": maps.pixels}


@settings(deadline=None, max_examples=examples(60))
@given(config=configs())
@example(config=Config(softcap=LEAST_CAP))
@example(config=Config(positions="rotary", rotary_scaling="yarn", rotary_length=64, rotary_fraction=0.5, tokens=24))
@example(config=Config(positions="rotary", rotary_scaling="llama3", rotary_length=300, rotary_factor=8.0, tokens=24))
@example(config=Config(positions="alibi bloom", heads=6, d_model=48, mask="full", tokens=24))
@example(config=Config(positions="t5", tokens=24, mask="full", scale="none"))
@example(config=Config(positions="t5 causal", tokens=24, mask="full"))
@example(config=Config(query_scale="log n", mask="window", softcap=3.0, positions="alibi"))
@example(config=Config(gate="elementwise", heads=4, kv_heads=2))
@example(config=Config(forgetting="on", forget_bias=-1.0, positions="alibi", mask="full", softcap=5.0))
@example(config=Config(forgetting="on", projections="independent", softmax="sink", kv_heads=4))
@example(config=Config(softmax="sink", sink_logit=3.0, mask="padding", span=18))
@example(config=Config(softmax="sigmoid", sigmoid_length=7, mask="padding", span=18, positions="alibi"))
@example(config=Config(softmax="sparsemax", mask="padding", span=18, kv_heads=2))
@example(config=Config(softmax="entmax-1.5", softcap=3.0, query_scale="log n"))
@example(config=Config(softmax="differential"))
@example(
    config=Config(softmax="differential", kv_heads=4, positions="rotary", qk_norm="on", diff_lambda=0.9, d_model=48)
)
@example(config=Config(softmax="differential", forgetting="on", gate="headwise", softcap=3.0, mask="padding", span=9))
@example(config=Config(kv_heads=2, sharing="drawn", positions="rotary", softmax="plus one", mask="padding", span=18))
def test_trace_table_program_and_map_are_the_reference(config):
    t = trace(config)
    exact = reference(config, t.x, t.projections) | {"x": t.x}
    found = {name: getattr(t, name) for name in ("q", "scores", "logits", "weights", "context", "output")}
    ways = {"trace": found, "table": by_table(config), "program": by_program(config), "map": by_map(t)}
    for way, matrices in ways.items():
        for name, matrix in matrices.items():
            far = (
                1e-5
                if name in ("x", "q", "scores", "logits")
                else slack(t) * (1 if name == "weights" else config.tokens)
            )
            if config.qk_norm == "on" and (name == "q" or config.softmax == "differential"):
                far *= 10  # tiny vectors, as those of half a head may be, are divided by 0.001, and their errors
            near(matrix, exact[name], far, f"{name} of the {way}")


@pytest.mark.parametrize("name", ["logits", "weights", "output"])
def test_a_matrix_that_is_wrong_is_told(name):
    t = trace(Config())
    exact = reference(t.config, t.x, t.projections)
    with pytest.raises(AssertionError, match=f"{name} of a test"):
        near(getattr(t, name) * (1 + 1e-3), exact[name], slack(t), f"{name} of a test")
