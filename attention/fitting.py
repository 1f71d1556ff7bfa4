"""How the values of knobs must fit together: heads divide d_model, a source has sizes of its own; all of it in `coerce`."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from attention.imported import registry
from attention.knobs import DEFAULTS, KNOBS, LEAST_CAP, MAX_CHANNELS, MAX_TOKENS, TRAINED
from attention.operations.forgetting import ON
from attention.operations.positions import POSITIONS
from attention.operations.rotary import ROTARY_KNOBS
from attention.operations.softmax import SOFTMAXES, softmaxes_of_logits
from attention.recorded import shipped
from attention.recorded.file import Shape
from attention.settings import Knob
from attention.training import shipped as trainings

SHAPES: dict[str, Callable[[str], Shape]] = {  # sizes of sources of all other kinds
    "recorded": shipped.shape,
    TRAINED: trainings.shape,
    **dict.fromkeys(registry.KINDS, registry.shape),
}
INPUT_KNOBS: tuple[str, ...] = (
    "input",
    "text",
    "projections",
    "seed",
    "sharing",
    "keys",
    "d_v",
    "batch",
    *ROTARY_KNOBS,
    "gate",
    "forgetting",
    "forget_bias",
    "diff_lambda",
)  # knobs that only affect generated attention
MASK_KNOBS = frozenset({"mask", "span", "combine", "second"})  # whose defaults may differ by layer


def shape(source: str) -> Shape | None:
    """Returns the sizes of a source, None if the knobs determine them."""
    kind, _, key = source.partition(":")
    return SHAPES[kind](key) if kind in SHAPES else None


def most_tokens(source: str, softmax: str) -> int:
    """Returns the maximum number of tokens of a source under a softmax."""
    sizes, longest = shape(source), SOFTMAXES[softmax].longest
    return min(sizes.tokens if sizes else MAX_TOKENS, longest or MAX_TOKENS)


def layers(source: str) -> tuple[int, ...]:
    """Returns the layers of a source, as its model counts them."""
    sizes = shape(source)
    return sizes.numbers if sizes else (0,)


def training_steps(source: str) -> tuple[int, ...]:
    """Returns the training steps at which the heads of a source were recorded; (0,) if it has no training."""
    kind, _, key = source.partition(":")
    return trainings.steps(key) if kind == TRAINED else (0,)


@lru_cache(maxsize=256)  # called whenever a config is created
def fixed_by_source(source: str) -> dict[str, Any]:
    """Returns the values of knobs that a source determines: its sizes, and defaults of the input knobs.

    For generated attention only `layer` and `training_step` are fixed.
    """
    sizes = shape(source)
    if sizes is None:
        return {"layer": 0, "training_step": 0}
    groups = sizes.kv_heads % sizes.heads
    own = {"heads": sizes.heads, "d_model": sizes.heads * sizes.d_head, "kv_heads": groups}
    own |= {} if sizes.long else {"tokens": sizes.tokens}
    own |= {} if sizes.square else {"baseline": DEFAULTS["baseline"]}  # auto: the mask that it was computed with
    one = {"training_step": 0} if training_steps(source) == (0,) else {}
    one |= {"layer": sizes.numbers[0]} if one and sizes.layers == 1 else {}
    own |= {} if sizes.has.issuperset("qk") else {"positions": sizes.own["positions"]}
    return {name: DEFAULTS[name] for name in INPUT_KNOBS} | own | one


def position_rules(source: str) -> tuple[str, ...]:
    """Returns the positions that a source may have: queries and keys that it gives can't be turned, but scores can change."""
    sizes = shape(source)
    if sizes is None:
        return tuple(POSITIONS)
    own = sizes.own["positions"]
    return tuple(name for name, rule in POSITIONS.items() if name == own or name == "none" or rule.to_scores)


def softmax_rules(source: str) -> tuple[str, ...]:
    """Returns the softmaxes that a source may have: of queries and keys as they came, none that needs two of each."""
    return tuple(SOFTMAXES) if shape(source) is None else softmaxes_of_logits()


def nearest(numbers: tuple[int, ...], layer: int | None) -> int:
    """Returns the number that is nearest to `layer`, the first if `layer` is None."""
    return numbers[0] if layer is None else min(numbers, key=lambda number: abs(number - layer))


def _own_rule(sizes: Shape, layer: int) -> dict[str, Any]:
    """Returns the mask knobs of a layer of a source; {} if all layers have the same."""
    if not sizes.rules:
        return {}
    mask, span = sizes.rules[sizes.numbers.index(layer)]
    return {name: DEFAULTS[name] for name in ("combine", "second")} | {"mask": mask, "span": span}


def source_defaults(source: str, layer: int | None = None) -> dict[str, Any]:
    """Returns the defaults of a source: the values that it determines, and the settings it was recorded with.

    Values that differ by layer are those of `layer`, by default of the first.
    """
    sizes = shape(source)
    first = (
        {"layer": sizes.numbers[0], "training_step": training_steps(source)[-1], "tokens": sizes.tokens}
        if sizes
        else {}
    )
    own = (dict(sizes.own) | _own_rule(sizes, nearest(sizes.numbers, layer))) if sizes else {}
    return own | first | fixed_by_source(source)


def defaults(source: str, layer: int | None = None) -> dict[str, Any]:
    """Returns every knob of a link with this source alone, and maybe a layer; `source` itself stays at its default."""
    return DEFAULTS | source_defaults(source, layer)


def check(name: str, value: Any, knob: Knob | None = None) -> None:
    """Raises ConfigError unless the knob of this name, or `knob` if given, allows this value by itself."""
    (knob or KNOBS[name]).check(name, value, DEFAULTS[name])


def coerce(values: dict[str, Any]) -> dict[str, Any]:
    """Returns the values, each allowed by itself, moved to the nearest that fit together."""
    known = fixed_by_source(values["source"])
    values, sizes = values | known, shape(values["source"])
    heads = values["heads"]
    if values["softmax"] not in softmax_rules(values["source"]):
        values = values | {"softmax": sizes.own["softmax"] if sizes else DEFAULTS["softmax"]}
    unit = heads * SOFTMAXES[values["softmax"]].halves
    d_model = min(max(unit, round(values["d_model"] / unit) * unit), KNOBS["d_model"].high // unit * unit)
    d_model = known.get("d_model", d_model)
    tokens = min(values["tokens"], MAX_CHANNELS // d_model, most_tokens(values["source"], values["softmax"]))
    columns = (sizes.keys if sizes else 0) or tokens
    return values | {
        "tokens": tokens,
        "d_model": d_model,
        "kv_heads": min((n for n in range(heads + 1) if not n or heads % n == 0), key=lambda n: _gap(values, n)),
        "positions": values["positions"]
        if values["positions"] in position_rules(values["source"])
        else known.get("positions", sizes.own["positions"] if sizes else "none"),
        "keys": 0 if values["forgetting"] == ON else values["keys"],
        "softcap": max(values["softcap"], LEAST_CAP) if values["softcap"] else values["softcap"],
        "rows": _inside(values["rows"], tokens),
        "cols": _inside(values["cols"], columns),
        "head": min(values["head"], heads - 1),
        "query": min(values["query"], tokens - 1),
        "layer": nearest(layers(values["source"]), values["layer"]),
        "training_step": min(training_steps(values["source"]), key=lambda step: abs(step - values["training_step"])),
    }


def _inside(text: str, tokens: int) -> str:
    """Returns a range within `tokens` tokens, its ends in order; empty if it contains all of them."""
    first, last = ends(text, tokens)
    return "" if (first, last) == (0, tokens) else f"{first}-{last - 1}"


def ends(text: str, tokens: int) -> tuple[int, int]:
    """Returns the first token of a range and the one after its last; a range has at least two tokens if possible."""
    if not text:
        return 0, tokens
    first, last = sorted(min(int(end), tokens - 1) for end in text.split("-"))
    return (first, last + 1) if last > first else (max(0, last - 1), max(2, last + 1))


def _gap(values: dict[str, Any], groups: int) -> tuple[int, int]:
    wanted = values["kv_heads"]
    return (abs(groups - wanted), -groups) if wanted else (groups, 0)


def why_invalid(values: dict[str, Any], name: str) -> str:
    """Returns why this value does not fit the others."""
    source, value = values["source"], values[name]
    sizes, called = shape(source), registry.entry_name(source) if registry.is_uploaded(source) else source
    if name in fixed_by_source(source):
        return f"the source {called} decides that"
    if name == "tokens" and sizes and value > sizes.tokens:
        return f"the source {called} has {sizes.tokens:,} tokens"
    if name == "tokens" and value > (longest := SOFTMAXES[values["softmax"]].longest) > 0:
        return f"the softmax {values['softmax']!r} has maps of at most {longest:,} tokens"
    values = values | fixed_by_source(source)
    heads, tokens = values["heads"], values["tokens"]
    halves = SOFTMAXES[values["softmax"]].halves
    return {
        "layer": f"there is no layer {value} among {_layer_list(layers(source))} (counted from 0)",
        "training_step": f"the training was recorded after {', '.join(map(str, training_steps(source)))} steps",
        "tokens": f"{tokens:,} tokens of {values['d_model']:,} channels are over the limit of {MAX_CHANNELS:,} channels",
        "d_model": f"{heads} heads {'of two halves ' * (halves > 1)}don't divide a d_model of {value}",
        "softmax": f"queries and keys of {called} came as they are, with no second ones for another softmax",
        "kv_heads": f"{value} kv_heads don't divide {heads} heads",
        "positions": f"queries and keys of {called} came as they are, so only scores can be changed",
        "keys": "keys of another sequence have no tokens between them and a query, which forgetting needs",
        "softcap": f"a softcap is 0 (off) or at least {LEAST_CAP}",
        "rows": _range_problem(values["rows"], tokens),
        "cols": _range_problem(values["cols"], (sizes.keys if sizes else 0) or tokens),
        "head": f"there is no head {value} among {heads} (counted from 0)",
        "query": f"there is no query {value} among {tokens:,} tokens (counted from 0)",
    }[name]


def _layer_list(numbers: tuple[int, ...]) -> str:
    """Returns the number of layers, or their numbers if these are not consecutive from 0."""
    return str(len(numbers)) if numbers == tuple(range(len(numbers))) else ", ".join(map(str, numbers))


def _range_problem(text: str, tokens: int) -> str:
    """Returns what is wrong with a range."""
    first, last = map(int, text.split("-")) if text else (0, 0)
    if max(first, last) >= tokens:
        return f"{text} reaches beyond {tokens:,} tokens (counted from 0)"
    if first > last:
        return f"{text} names the last before the first"
    return f"{text} is all of {tokens:,} tokens" if first < last else f"{text} is less than two tokens"
