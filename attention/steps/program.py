"""Short PyTorch programs: one that computes the pass on the screen, and two with the mask of a config.

The first has the lines of every operation of the table (`attention/operations`) and needs only torch; a test runs it for
many configs and compares x, the weights and the output to float32 accuracy. The mask is a mask_mod for flex_attention or a dense
boolean tensor, both from the source code of the rule; a test compares both with the mask on the screen.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

from attention import masks as rules
from attention.config import Config
from attention.inputs import (
    BEFORE,
    CLUSTER_PARTS,
    CLUSTERS,
    DOCUMENTS,
    INPUTS,
    NEARNESS,
    REFRAINS,
    SINK,
    SINK_FIRST,
    SPLIT,
    TOPIC_PARTS,
    tokens,
)
from attention.knobs import DEFAULTS
from attention.masks import MASKS
from attention.operations.forgetting import ON
from attention.operations.positions import POSITIONS
from attention.operations.scale import factor_code
from attention.operations.softmax import takes_sinks
from attention.operations.table import operations, program
from attention.sources.spec import spec_of
from attention.steps.projection_program import functions, projections

EMBED = """\
tokens = {tokens!r}
vector = {{}}
for token in tokens:  # equal tokens get equal vectors
    kind = token.casefold()
    generator = torch.Generator().manual_seed(zlib.crc32(kind.encode(), seed))
    vector[kind] = torch.randn(d_model, generator=generator)
x = torch.stack([vector[token.casefold()] for token in tokens])
"""
INPUT = {
    "noise": "x = torch.randn(n, d_model, generator=random)\n",
    "repeat": "half = torch.randn((n + 1) // 2, d_model, generator=random)\nx = torch.cat([half, half])[:n]\n",
    "clusters": f"""\
centres = torch.randn({CLUSTERS}, d_model, generator=random)
kind = torch.randint({CLUSTERS}, (n,), generator=random)
x = centres[kind] * {CLUSTER_PARTS[0]} + torch.randn(n, d_model, generator=random) * {CLUSTER_PARTS[1]}
""",
    "walk": f"""\
x = torch.randn(n, d_model, generator=random)
for i in range(1, n):
    x[i] = {NEARNESS} * x[i - 1] + {(1 - NEARNESS**2) ** 0.5!r} * x[i]
""",
    "refrain": f"""\
period = -(-n // {REFRAINS})
x = torch.randn(period, d_model, generator=random).repeat({REFRAINS}, 1)[:n]
""",
    "topics": f"""\
document = (torch.rand(n, generator=random) < {DOCUMENTS} / n).cumsum(0)
subjects = torch.randn(int(document[-1]) + 1, d_model, generator=random)
x = {TOPIC_PARTS[0]} * subjects[document] + {TOPIC_PARTS[1]} * torch.randn(n, d_model, generator=random)
""",
    "sink": f"""\
shared = torch.randn(d_model, generator=random)
x = {SINK} * shared + {1 - SINK**2}**0.5 * torch.randn(n, d_model, generator=random)
x[0] = {SINK_FIRST} * shared
""",
    "words": EMBED,
    "characters": EMBED,
    BEFORE: "own = d_model - d_model // 2\n"
    + EMBED.replace("d_model", "own")
    + "x = torch.cat([x, torch.cat([torch.zeros(1, own), x[:-1]])[:, : d_model - own]], 1)  # and the word before\n",
}
assert INPUT.keys() == INPUTS.keys()
PLACED = "pairs = d_model // 4  # of channels that tell where a token stands\nplain = d_model - 2 * pairs\n"
JOINED = {"none": "{0}", "and": "({0}) & ({1})", "or": "({0}) | ({1})", "without": "({0}) & ~({1})"}
PLACES = "q, k = torch.arange({queries})[:, None], torch.arange(n)[None, :]\n"
INDICES = {"q": "q_idx", "k": "kv_idx"}


def source(config: Config) -> str:
    """Returns the program of a config; it defines `x (n d_model)`, `weights (heads n n)` and `output (n d_model)`."""
    parts = [
        _imports(config),
        *functions(config),
        _sizes(config),
        _input(config),
        projections(config),
        lines(config),
    ]
    return "\n".join(parts)


def long_source(config: Config, side: int) -> str:
    """Returns the program for a config too long for all weights at once; it ends with `maps`, of `side` pixels per side."""
    changed = ", ".join(
        f"{name}={value!r}" for name, value in vars(config.for_page()).items() if value != DEFAULTS[name]
    )
    return textwrap.dedent(f"""\
        from attention import Config, head_maps
        from attention.sources.chunks import queries_and_keys{", retained" * (config.forgetting == ON)}

        config = Config({changed})
        query, key = queries_and_keys(config)
        maps = head_maps(query, key, config.rule, {options(config, side)})
        """)


def options(config: Config, side: int) -> str:
    """Returns the settings of `head_maps` for a config, as they are written in a call."""
    scale = factor_code(config.scale, config.temperature).replace("d_head", str(config.score_width))
    given = [f"span={config.span}", f"scale={scale}", f"side={side}", f'pool="{config.pool}"']
    given += [f'positions="{config.positions}"'] * bool(POSITIONS[config.positions].to_scores)
    given += [
        f"{name}={getattr(config, name)!r}"
        for name in ("softcap", "softmax", "query_scale")
        if getattr(config, name) != DEFAULTS[name]
    ]
    given += ["kept=retained(config)"] * (config.forgetting == ON)
    given += [f"sinks={list(config.sinks)}"] * takes_sinks(config.softmax)
    return ", ".join(given).replace("'", '"')


def _imports(config: Config) -> str:
    ahead = "from __future__ import annotations\n\n" if config.projections == "constructed" else ""
    ahead += "import math\n" if ahead or "math." in lines(config) else ""
    return f"{ahead}import zlib\n\nimport torch\n" if config.input in SPLIT else f"{ahead}\nimport torch\n".lstrip()


def _sizes(config: Config) -> str:
    span = {"span": config.span} if "span" in condition(config) else {}
    given = {"n": config.tokens, **span, "seed": config.seed}
    return textwrap.dedent(f"""\
        {", ".join(given)} = {", ".join(map(str, given.values()))}
        heads, kv_heads, d_model = {config.heads}, {config.n_kv_heads}, {config.d_model}
        d_head = d_model // heads
        """)


def _input(config: Config) -> str:
    text = INPUT[config.input]
    if config.input in SPLIT:
        text = text.format(tokens=tokens(config.tokens, config.text, config.input))
    else:
        text = "random = torch.Generator().manual_seed(seed)\n" + text
    if config.projections == "constructed":
        text = f"{PLACED}{text.replace('d_model', 'plain')}x = torch.cat([x, places(0, n, pairs)], 1)\n"
    return text


def lines(config: Config, first: str = "", **given: Any) -> str:
    """Returns the lines of all operations of a config, from the step `first` on; `given`: fields of the spec.

    By default, the mask is the rule of the config. The places of queries and keys are defined before they are used.
    """
    spec = replace(spec_of(config.for_page("")), **({"mask_code": condition(config)} | given))
    ends = first, "scores", "context", ""
    blocks = ["".join(program(spec, operations(spec, *pair))) for pair in pairwise(ends)]
    text = "\n".join(filter(None, blocks))
    used = re.search(r"^.*\b[qk]\b", text, re.MULTILINE)
    at = used.start() if used else len(text)
    return text[:at] + (PLACES.format(queries=spec.queries) if used else "") + text[at:]


def condition(config: Config) -> str:
    """Returns the rule of a config as an expression over q, k, n and span."""
    return JOINED[config.combine].format(_expression(config.mask), _expression(config.second))


@cache
def _expression(mask: str) -> str:
    """Returns the expression of one mask, read from its source code, with the numbers of its constants."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(MASKS[mask].allows)))
    answer = next(node.value for node in ast.walk(tree) if isinstance(node, ast.Return) and node.value)
    return re.sub(r"\b[A-Z][A-Z_]+\b", lambda name: str(getattr(rules, name[0])), ast.unparse(answer))


def mask_mod(config: Config) -> str:
    """Returns a program with the rule as `mask_mod`, and attention that skips masked blocks (Dong et al. 2024, FlexAttention)."""
    queries = _queries(config)
    return textwrap.dedent(f"""\
        import torch
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention

        {_lengths(config)}

        def mask_mod(b, h, q_idx, kv_idx):
            return {_flex_names(condition(config))}

        def attention(query, key, value):  # (batch, heads, {_each(config)}, d_head)
            block_mask = create_block_mask(mask_mod, None, None, {queries}, n, device=query.device)
            return flex_attention(query, key, value, block_mask=block_mask)
        """)


def dense(config: Config) -> str:
    """Returns a program with the rule as `mask (queries n)`, True for visible pairs."""
    return textwrap.dedent(f"""\
        import torch
        from torch.nn.functional import scaled_dot_product_attention

        {_lengths(config)}
        q, k = torch.arange({_queries(config)})[:, None], torch.arange(n)[None, :]
        mask = {condition(config)}

        def attention(query, key, value):  # (batch, heads, {_each(config)}, d_head)
            return scaled_dot_product_attention(query, key, value, attn_mask=mask)
        """)


def _queries(config: Config) -> str:
    """Returns the variable of the number of queries, which is that of the keys for self-attention."""
    return "queries" if config.is_cross else "n"


def _each(config: Config) -> str:
    return "queries or n" if config.is_cross else "n"


def _lengths(config: Config) -> str:
    """Returns the line that defines the lengths of the sequences and the span of the rule."""
    if config.is_cross:
        return f"queries, n, span = {config.tokens}, {config.n_keys}, {config.span}  # n keys"
    return f"n, span = {config.tokens}, {config.span}"


def _flex_names(expression: str) -> str:
    """Returns the expression with the index names of flex_attention."""
    tree = ast.parse(expression, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = INDICES.get(node.id, node.id)
    return ast.unparse(tree)
