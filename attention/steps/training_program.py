"""A PyTorch program that trains the model of a recipe: same initial weights, sequences and steps, with torch alone.

A test runs it and compares the loss after some steps. The sequences are sampled by the source code of the task.
"""

from __future__ import annotations

import inspect
import textwrap

from attention.config import Config
from attention.operations.differential import EPS as ROW_EPS
from attention.operations.gate import ELEMENTWISE, OFF
from attention.operations.qk_norm import EPS, ON
from attention.operations.scale import SCALES
from attention.operations.softmax import SOFTMAXES
from attention.steps.program import condition
from attention.training import run, tasks
from attention.training.model import SPREAD
from attention.training.recipe import BATCH, FRESH, GATE, LEARNED, PLACES, STREAMS, Recipe

TASK_PARTS = "VOCABULARY", "MARK", "LEAST", "KINDS"
HEAD = """\
from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

"""
DRAWN = """\


class Drawn(NamedTuple):
    ids: Tensor  # (b n+1)
    counted: Tensor  # (b n): the places whose answer can be known
    told: Tensor  # (b n n): the keys that tell it


"""
MODEL = """\
class Layer(nn.Module):
    def __init__(self{number}):
        super().__init__()
        {lambdas}
        self.norm = nn.LayerNorm(d_model)
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        {gate}
        {sinks}

    def forward(self, x):
        normed = self.norm(x)
        parts = (part(normed) for part in (self.q_proj, self.k_proj, self.v_proj))
        q, k, v = (part.unflatten(-1, (heads, d_head)).transpose(1, 2) for part in parts)
        {split}
        {qk_norm}
        {turned}
        {padded}
        {sunk}
        context = F.scaled_dot_product_attention(q, k, v, {mask}, scale={scale})
        {difference}
        {gated}
        return x + self.out_proj(context.transpose(1, 2).flatten(2))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, d_model)
        {places}
        self.layers = nn.ModuleList({layer} in range(layers))
        self.norm = nn.LayerNorm(d_model)
        self.says = nn.Linear(d_model, VOCABULARY, bias=False)
        random = torch.Generator().manual_seed({streams} * seed)
        {gates}
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                deviation = 1.0 if name.startswith(("embedding", "places")) else d_model**-0.5
                {spread}
                nn.init.normal_(parameter, 0.0, deviation, generator={random})

    def forward(self, ids):
        x = self.embedding(ids)
        {placed}
        for layer in self.layers:
            x = layer(x)
        return self.says(self.norm(x))


"""
QK_NORM = f"q, k = (F.rms_norm(part, (part.shape[-1],), eps={EPS}) for part in (q, k))"
SINK = {
    "sinks": "self.sinks = nn.Parameter(torch.zeros(heads))",
    "sunk": "with_sinks = torch.cat([self.sinks[:, None, None].expand(heads, n, 1), mask.expand(heads, n, n)], -1)",
}
DIFFERENCE = {
    "number": ", number",
    "layer": "Layer(number) for number",
    "lambdas": """\
self.start = 0.8 - 0.6 * math.exp(-0.3 * number)  # of lambda
        self.lambdas = nn.Parameter(torch.empty(4, d_head // 2))""",
    "split": "q, k, v = *(part.unflatten(-1, (2, -1)).movedim(-2, 0) for part in (q, k)), v.expand(2, *v.shape)",
    "difference": f"""\
one, two = (self.lambdas[at] @ self.lambdas[at + 1] for at in (0, 2))
        context = context[0] - (one.exp() - two.exp() + self.start) * context[1]
        context = F.rms_norm(context, (d_head,), eps={ROW_EPS}) * (1 - self.start)""",
    "spread": f'deviation = {SPREAD} if name.endswith("lambdas") else deviation',
}


def source(recipe: Recipe) -> str:
    """Returns the program of a recipe: it prints the loss every 100 steps, and defines `model` and its last `loss`."""
    parts = HEAD, _sizes(recipe), DRAWN, _task(recipe), _positions(recipe), _mask(recipe), _model(recipe)
    return "".join(parts) + _training(recipe)


def _sizes(recipe: Recipe) -> str:
    constants = "\n".join(f"{name} = {getattr(tasks, name)!r}" for name in TASK_PARTS)
    sizes = textwrap.dedent(f"""\
        n, span, seed = {recipe.what.tokens}, {recipe.span}, {recipe.seed}
        layers, heads, d_model = {recipe.layers}, {recipe.heads}, {recipe.d_model}
        d_head = d_model // heads
        steps, rate, batch = {recipe.steps}, {recipe.rate!r}, {BATCH}
        """)
    return f"{constants}\n{sizes}"


def _task(recipe: Recipe) -> str:
    """Returns the source code that samples sequences."""
    parts = tasks._marks, tasks._after, recipe.what.draw
    return "".join(f"{inspect.getsource(part)}\n\n" for part in parts)


def _positions(recipe: Recipe) -> str:
    """Returns the source code of what positions do to the input or to queries and keys."""
    rule = PLACES[recipe.positions]
    used = rule.to_input or rule.to_heads
    return f"{inspect.getsource(used)}\n\n" if used else ""


def _mask(recipe: Recipe) -> str:
    """Returns the code of the mask that is added to the scores."""
    rule, softmax = PLACES[recipe.positions], SOFTMAXES[recipe.softmax]
    lines = [
        "q, k = torch.arange(n)[:, None], torch.arange(n)[None, :]",
        f"mask = ({condition(Config(mask=recipe.mask))}).expand(n, n)",
        "mask = torch.zeros(n, n).masked_fill(~mask, -math.inf)",
    ]
    if rule.to_scores:
        lines += [f"{rule.code}".rstrip(), "mask = mask + bias"]
    if softmax.extra and not softmax.learned:
        value = f", value={softmax.sink!r}" if softmax.sink else ""
        lines += [f"mask = F.pad(mask, (1, 0){value})  # {softmax.extra} more in the denominator: a key of zeros"]
    return "\n".join(lines) + "\n\n\n"


def _model(recipe: Recipe) -> str:
    rule, learned, softmax = PLACES[recipe.positions], recipe.positions == LEARNED, SOFTMAXES[recipe.softmax]
    placed = "x = x + self.places.weight[: x.shape[1]]" if learned else ""
    text = MODEL.format(
        turned=f"q, k = {rule.to_heads.__name__}(q), {rule.to_heads.__name__}(k)" if rule.to_heads else "",
        padded=""
        if softmax.sums_to_one or recipe.halves > 1
        else "k, v = F.pad(k, (0, 0, 1, 0)), F.pad(v, (0, 0, 1, 0))",
        mask="with_sinks" if softmax.learned else "mask",
        **(SINK if softmax.learned else dict.fromkeys(SINK, "")),
        **(DIFFERENCE if recipe.halves > 1 else dict.fromkeys(DIFFERENCE, "") | {"layer": "Layer() for _"}),
        **_generators(recipe),
        qk_norm=QK_NORM if recipe.qk_norm == ON else "",
        placed=f"x = x + {rule.to_input.__name__}(x.shape[1], d_model)" if rule.to_input else placed,
        places="self.places = nn.Embedding(n, d_model)" if learned else "",
        streams=STREAMS,
        scale=SCALES[recipe.scale].code.replace("d_head", "q.shape[-1]" if recipe.halves > 1 else "d_head"),
    )
    lines = text.split("\n")
    return "\n".join(line for line in lines if line.strip() or not line)


def _generators(recipe: Recipe) -> dict[str, str]:
    """Returns the lines of a gate, and those of the generator that draws it and lambdas."""
    width, gated, lambdas = "d_model" if recipe.gate == ELEMENTWISE else "heads", recipe.gate != OFF, recipe.halves > 1
    given = "context = context * self.gate(normed).unflatten(-1, (heads, -1)).transpose(1, 2).sigmoid()"
    added = " or ".join(['".gate." in name'] * gated + ['name.endswith("lambdas")'] * lambdas)
    return {
        "gate": f"self.gate = nn.Linear(d_model, {width}, bias=False)" * gated,
        "gates": f"gates = torch.Generator().manual_seed({STREAMS} * seed + {GATE})" * bool(added),
        "gated": given * gated,
        "random": f"gates if {added} else random" if added else "random",
    }


def _training(recipe: Recipe) -> str:
    return textwrap.dedent(f"""\
        model = Model()
        optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
        random, warm = torch.Generator().manual_seed({STREAMS} * seed + {FRESH}), max(1, round({run.WARM} * steps))
        for step in range(steps):
            for group in optimizer.param_groups:
                rising, falling = (step + 1) / warm, (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm))) / 2
                group["lr"] = rate * (rising if step < warm else falling)
            drawn = {recipe.task}(batch, n, random)
            logits = model(drawn.ids[:, :-1])
            loss = F.cross_entropy(logits[drawn.counted], drawn.ids[:, 1:][drawn.counted])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), {run.LONGEST})
            optimizer.step()
            if step % 100 == 0 or step == steps - 1:
                hits = (logits.argmax(-1) == drawn.ids[:, 1:])[drawn.counted].float().mean()
                print(f"{{step + 1:5}} steps: loss {{loss.item():.3f}} nats, accuracy {{hits.item():.3f}}")
        """)
