"""Config: every setting that determines a picture, one line per knob.

A knob is a field whose line has its default, what is allowed, its label and its help (attention/settings.py); sidebar,
link, tests and command line read that line. How values must fit together (heads divide d_model, for example) is defined
once, in `coerce`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

from attention.imported import registry
from attention.inputs import INPUTS
from attention.masks import COMBINATIONS, MASKS, Rule
from attention.operations.positions import POSITIONS
from attention.operations.scale import SCALES
from attention.operations.softmax import SOFTMAXES
from attention.operations.table import step_names
from attention.recorded import shipped
from attention.recorded.file import Shape
from attention.settings import ConfigError, Knob, short
from attention.settings import asking as _asking
from attention.settings import choice as _choice
from attention.settings import real as _real
from attention.settings import text as _text
from attention.settings import whole as _whole
from attention.training import shipped as trainings

MAX_WEIGHTS = 16_000_000  # maximum number of weights of one trace, heads x tokens x tokens: 64 MB in float32
MAX_CHANNELS = 2**25  # maximum number of channels of all tokens together: 128 MB in float32
MAX_TOKENS = 2**16  # maximum sequence length
LEAST_CAP = 1e-3  # smallest softcap except 0: all weights are uniform to three digits, and float32 can divide by it
LINEAR_MAX_TOKENS = 32  # maximum number of tokens for which the automatic colour scale goes from 0 to 1
MAX_TRACE_TOKENS = 1024  # maximum number of tokens whose weights are computed all at once, within MAX_WEIGHTS
LAST_QUERY = -1  # the selected query if none was chosen: the last token
STEPS = step_names()  # as used in links
RANGE = r"(?:\d{1,5}-\d{1,5})?"  # the first and the last of some tokens, or nothing for all
RANGED = "a first and a last token, as in 100-611, or nothing for all"
GENERATED = "generated"  # the source whose attention is computed from the knobs
TRAINED = "trained"  # the kind of sources whose heads were recorded at several training steps
SHAPES: dict[str, Callable[[str], Shape]] = {  # sizes of sources of all other kinds
    "recorded": shipped.shape,
    TRAINED: trainings.shape,
    **dict.fromkeys(registry.KINDS, registry.shape),
}
SOURCES = (
    GENERATED,
    *(f"recorded:{name}" for name in shipped.SHIPPED),
    *(f"{TRAINED}:{name}" for name in trainings.TITLES),
)
INPUT_KNOBS: tuple[str, ...] = (
    "input",
    "text",
    "projections",
    "seed",
    "sharing",
    "keys",
    "d_v",
    "batch",
)  # knobs that only affect generated attention
MASK_KNOBS = frozenset({"mask", "span", "combine", "second"})  # whose defaults may differ by layer
SENTENCE = "The river bank was steep so the boat left the bank and then the river took the boat"


def shape(source: str) -> Shape | None:
    """Returns the sizes of a source, None if the knobs determine them."""
    kind, _, key = source.partition(":")
    return SHAPES[kind](key) if kind in SHAPES else None


def layers(source: str) -> tuple[int, ...]:
    """Returns the layers of a source, as its model counts them."""
    sizes = shape(source)
    return sizes.numbers if sizes else (0,)


def training_steps(source: str) -> tuple[int, ...]:
    """Returns the training steps at which the heads of a source were recorded; (0,) if it has no training."""
    kind, _, key = source.partition(":")
    return trainings.steps(key) if kind == TRAINED else (0,)


# fmt: off
@dataclass(frozen=True, kw_only=True)
class Config:
    """One valid setting of every knob, frozen and hashable. Raises `ConfigError` for any other values.

    `heads` divide `d_model`, `kv_heads` (0: one for each head) divide `heads`, `head` is one of the heads, `query` one
    of the tokens (-1: the last), and tokens x d_model is at most 33,554,432. Knobs that a `source` determines have the
    values of that source.

    >>> config = attention.Config(tokens=9, heads=2, d_model=64, mask="window", span=3)
    >>> config.d_head
    32
    >>> config
    Config(tokens=9, heads=2, d_model=64, mask='window', span=3)
    """

    tokens: int = _whole(18, 2, MAX_TOKENS, "Sequence length (tokens)", "How many tokens attend to each other. The weights of a head are a square of this side. Logarithmic from 128 on.")
    heads: int = _whole(8, 1, 32, "Heads", "Each head has its own queries, keys and values, d_model / heads channels wide.")
    d_model: int = _whole(512, 1, 2048, "Model width (d_model)", "Channels of a token. The heads share them, so the slider moves in steps of the number of heads.")
    mask: str = _choice("causal", MASKS, "Mask", "Which keys a query may look at.")
    combine: str = _choice("none", COMBINATIONS, "Combine with a second mask", "How the mask is joined with a second one.")
    second: str = _choice("documents", MASKS, "Second mask", "What the mask is combined with; both have the same span.")
    span: int = _whole(4, 1, MAX_TOKENS, "Span (tokens)", "The reach of masks that have one: window, prefix, document, stride, padding.")
    scale: str = _choice("1/sqrt(d_head)", SCALES, "Scale", "What the dot products are multiplied by before the softmax.")
    temperature: float = _real(1.0, 0.05, 20.0, "Temperature", "Divides the scaled scores: below 1 sharpens the softmax, above 1 flattens it.")
    input: str = _choice("words", INPUTS, "Input", "Where the tokens come from.")
    text: str = _text(SENTENCE, 2000, "Your own text", "Its words are the tokens; equal words get equal vectors. Enter applies it. The sequence length follows it until you move that slider; then the text is cut, or repeated. Typing here takes the place of another input or source.")
    projections: str = _choice("constructed", ("constructed", "independent", "tied", "identity"), "Projections", "W_q, W_k, W_v, W_o. Constructed: by hand, a role for each head, on tokens of which half the channels say where they stand. Independent: random (Xavier), as in nn.MultiheadAttention. Tied: random with W_q = W_k, so that likeness shows. Identity: x itself.")
    source: str = _choice(GENERATED, SOURCES, "Source", "Who made the queries, keys and values: the settings, or another whose recording is shown. A recording has tokens, heads and widths of its own; its mask and its scale are set as they were there until you change them.", beyond=registry.missing_upload)
    layer: int = _whole(0, 0, 127, "Layer", "The layer of the source, where it has several; as its model counts them, from 0.")
    training_step: int = _whole(0, 0, 3000, "Steps of training", "How far the model of the source had been trained when its heads were recorded.")
    seed: int = _whole(0, 0, 9999, "Seed", "Another seed draws other vectors and other projections.")
    head: int = _whole(0, 0, 127, "Head in focus", "The head that is drawn large.", about="focus")
    query: int = _whole(LAST_QUERY, LAST_QUERY, MAX_TOKENS - 1, "Query in focus", "The token whose row of weights is drawn. -1 is the last one.", about="focus")
    colors: str = _choice("auto", ("auto", "linear", "log", "times even", "own maximum"), "Colour scale", "Auto: linear up to 32 tokens, times even beyond. Linear: 0 to 1 in every head. Log: 0.0001 to 1. Times even: a weight over its even share, which is 1 / keys in sight; logarithmic, from 1/100 over 1 in the middle to 100. Own maximum: each head from 0 to its greatest weight, queries that see but one key aside.", about="view")
    axis: str = _choice("auto", ("auto", "linear", "log"), "Axis of the row", "Auto: as the colours are. Linear: from 0 to the greatest weight of the row. Log: from a hundredth of the even share.", about="view")
    pool: str = _choice("max", ("max", "mean"), "Pooling", "Where a head has more cells than pixels. Max: a pixel shows the greatest weight under it; no hot cell is lost, broad faint attention looks sparse. Mean: brightness adds up; a single hot cell fades.", about="view")
    rows: str = _text("", 11, "Queries that are drawn large", "The first and the last, as in 100-611; nothing for all.", form=RANGE, formed=RANGED, about="view")
    cols: str = _text("", 11, "Keys that are drawn large", "The first and the last, as in 100-611; nothing for all.", form=RANGE, formed=RANGED, about="view")
    layer_map: str = _text("auto", 20, "Number in the map", "What the map of layers and heads is coloured by. Auto: induction where it is known, else the weight on the previous token.", about="view")
    across: str = _text("previous", 20, "Number from left to right", "On the page Layers: where a head stands between left and right, when two numbers are compared.", about="view")
    upwards: str = _text("induction", 20, "Number from below to above", "On the page Layers: how high a head stands, when two numbers are compared.", about="view")
    topic: str = _choice("row", ("row", "all", "scaling", "precision"), "Show", "What the Softmax page shows: one row step by step, all rows of all heads, why scores are divided, or number types.", about="view")
    order: str = _choice("position", ("position", "weight"), "Order of the keys", "By position, or the heaviest first.", about="view")
    dtype: str = _choice("bfloat16", ("float32", "bfloat16", "float16"), "Number type", "The type that the head is computed in, against float64.", about="view")
    exponent: str = _choice("max-subtracted", ("max-subtracted", "naive", "fused"), "Computed", "Max-subtracted: exp(l - max l), with scores materialised in the type, as eager code does. Naive: exp(l), as the formula says, materialised too. Fused: scores and softmax in float32, as the fused kernels of F.scaled_dot_product_attention, which are the default in use.", about="view")
    predict: str = _choice("none", ("none", "mask", "temperature", "row"), "Predict, then reveal", "A question whose answer the page hides until it is opened.", about="view")
    ask: str = _asking()
    depth: int = _whole(4, 1, 128, "Layers", "After how many layers the reach of a mask is stated.", about="view")
    mask_detail: str = _choice("effect", ("effect", "empty rows", "code"), "About the mask in use", "Effect: what it does to the weights. Empty rows: what becomes of queries that see nothing. Code: the mask to take away.", about="view")
    baseline: str = _choice("auto", ("auto", *MASKS), "Baseline", "The mask that the effect is measured against. Auto: the source's own mask, full for generated attention. A baseline with a span has the span of the mask.", about="view")
    row_as: str = _choice("auto", ("auto", "lines", "all lines", "output", "bars"), "Row in focus as", "Lines: its word joined to those that it looks at. All lines: of every row of the head. Output: its weights times the values, and their sum. Bars: its weight by key. Auto: lines beside the output up to 40 tokens, bars beyond.", about="view")
    grouping: str = _choice("hide", ("hide", "show"), "Every grouping of keys and values", "The same weights from multi-head over grouped-query to multi-query attention.", about="view")
    step: str = _choice("x", STEPS, "Step", "The matrix that the Steps page shows, with those that it is computed from.", about="view")
    steps: str = _choice("one", ("one", "all"), "Steps at once", "One step with what it is computed from, or all matrices at once.", about="view")
    keys: int = _whole(0, 0, 1024, "Keys of another sequence", "On the pages Steps and Implementations: keys and values come from another sequence of this many tokens (cross-attention); of a text, from its words backwards. 0: from the same (self-attention).", pages=("Steps", "Implementations"))
    d_v: int = _whole(0, 0, 256, "Width of a value (d_v)", "On the pages Steps and Implementations: channels of a head's values, where they differ from those of queries and keys. 0: d_head.", pages=("Steps", "Implementations"))
    kv_heads: int = _whole(0, 0, 32, "Key-value heads (kv_heads)", "Heads that share keys and values, as in grouped-query (Ainslie et al. 2023) and multi-query attention (Shazeer 2019). 0: one for each head.", advanced=True)
    sharing: str = _choice("averaged", ("averaged", "drawn"), "Shared keys and values", "Where heads share them. Averaged: the mean of what each head had, so that the same weights are regrouped (Ainslie et al. 2023, section 2.1). Drawn: smaller projections of their own.", advanced=True)
    positions: str = _choice("none", POSITIONS, "Positions", "How attention learns where a token stands.", advanced=True)
    softcap: float = _real(0.0, 0.0, 100.0, "Softcap", "Squeezes scaled scores between -softcap and softcap by tanh (Gemma 2). 0: off.", advanced=True)
    softmax: str = _choice("standard", SOFTMAXES, "Softmax", "Standard, or with one added to the denominator, so that a head can attend to nothing.", advanced=True)
    batch: int = _whole(2, 1, 32, "Batch (sequences)", "How many sequences the published implementations get at once. The first is that of the other pages.", pages=("Implementations",))
    implementation: str = _text("fused", 40, "Implementation", "The published implementation in focus.", about="focus")
    version: str = _choice("as printed", ("as meant", "as printed"), "Version", "As printed: with the mistake of the document, where it has one. As meant: without.", about="view")
    row_detail: str = _choice("code", ("code", "shapes", "costs", "demands"), "About this version", "Code: what runs. Shapes: of every tensor, line by line. Costs: parameters, operations, memory, time. Demands: which batch, length and mask it accepts, found by trying.", about="view")
    bug: str = _choice("off", ("off", "question", "answer"), "Find the bug", "For teachers. Question: the pictures of a print with a mistake, without name, caption and error. Answer: what goes wrong, and why. Off: everything.", about="view")
# fmt: on

    def __post_init__(self) -> None:
        for name in ("source", "layer"):
            check(name, getattr(self, name))
        known = fixed_by_source(self.source)
        for name in KNOBS:
            if name not in known or getattr(self, name) != known[name]:
                check(name, getattr(self, name))
        for name, value in coerce(vars(self)).items():
            if value != getattr(self, name):
                raise ConfigError(_misfit(self, name, value))

    def __repr__(self) -> str:
        """Returns the call that creates the config, without knobs at their defaults."""
        chosen = (f"{name}={value!r}" for name, value in vars(self).items() if value != DEFAULTS[name])
        return f"Config({', '.join(chosen)})"

    @classmethod
    def of(cls, source: str, **values: Any) -> Config:
        """Returns the config of a source with the source's own defaults, except for these knobs, as a link with these alone."""
        return cls(**{**defaults(source, values.get("layer")), "source": source, **values})

    def of_layer(self, number: int) -> Config:
        """Returns the config of another layer of its source. Knobs at a default of this layer follow that of the other."""
        usual, other = (source_defaults(self.source, layer) for layer in (self.layer, number))
        values = {name: other[name] for name in MASK_KNOBS & other.keys() if getattr(self, name) == usual[name]}
        return Config(**coerce(vars(self) | values | {"layer": number}))

    @property
    def d_head(self) -> int:
        """The number of channels of one head."""
        return self.d_model // self.heads

    @property
    def logit_scale(self) -> float:
        """The factor of dot products: the scale divided by the temperature."""
        return SCALES[self.scale](self.d_head) / self.temperature

    @property
    def n_kv_heads(self) -> int:
        """The number of heads with keys and values of their own: `kv_heads`, or `heads` if it is 0."""
        return self.kv_heads or self.heads

    @property
    def rule(self) -> Rule:
        """The rule for which pairs take part: the mask, combined with the second one if requested."""
        return COMBINATIONS[self.combine](MASKS[self.mask], MASKS[self.second])

    @property
    def rule_name(self) -> str:
        """The rule in a few words: `window`, or `causal and documents`."""
        return self.mask if self.combine == "none" else f"{self.mask} {self.combine} {self.second}"

    @property
    def query_index(self) -> int:
        """The position of the selected query, counted from 0."""
        return self.query if self.query != LAST_QUERY else self.tokens - 1

    @property
    def color_scale(self) -> str:
        """The colour scale in use: the chosen one, or the one for the sequence length."""
        return self.colors if self.colors != "auto" else "linear" if self.tokens <= LINEAR_MAX_TOKENS else "times even"

    @property
    def color_reason(self) -> str:
        """Why that scale is in use if it was not chosen, as in `auto: linear up to 32 tokens`; else empty."""
        side = "up to" if self.tokens <= LINEAR_MAX_TOKENS else "beyond"
        return f"auto: {self.color_scale} {side} {LINEAR_MAX_TOKENS} tokens" if self.colors == "auto" else ""

    @property
    def window(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The ranges of queries and keys that are shown enlarged, each as its first token and the one after its last."""
        return ends(self.rows, self.tokens), ends(self.cols, self.n_keys)

    @property
    def is_cross(self) -> bool:
        """Whether the keys of the source are those of another sequence."""
        sizes = shape(self.source)
        return bool(sizes and sizes.keys)

    @property
    def n_keys(self) -> int:
        """The number of keys: the tokens, or those of another sequence if the source has one."""
        sizes = shape(self.source)
        return (sizes.keys if sizes else 0) or self.tokens

    @property
    def truncated(self) -> Config:
        """The config of as many of its tokens as are shown weight by weight: itself, unless it is long."""
        sizes = shape(self.source)
        if sizes and not sizes.long:
            return self
        tokens = min(self.tokens, MAX_TRACE_TOKENS, math.isqrt(MAX_WEIGHTS // self.heads))
        return self if tokens == self.tokens else Config(**coerce(vars(self) | {"tokens": tokens}))

    @property
    def tensors(self) -> Config:
        """The config with the knobs of selection and view at their defaults: the key of tensor caches."""
        return self.for_page("")

    def for_page(self, page: str) -> Config:
        """Returns the config of a page: knobs that change no tensor there are at their defaults."""
        return _tensors(self, page)


@lru_cache(maxsize=256)  # called several times per picture, and creating a config validates it
def _tensors(config: Config, page: str) -> Config:
    idle = (name for name, knob in KNOBS.items() if knob.about != "tensors" or (knob.pages and page not in knob.pages))
    return replace(config, **{name: DEFAULTS[name] for name in idle})


KNOBS: dict[str, Knob] = {entry.name: entry.metadata["knob"] for entry in fields(Config)}
DEFAULTS: dict[str, Any] = {entry.name: entry.default for entry in fields(Config)}


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
    return {name: DEFAULTS[name] for name in INPUT_KNOBS} | own | {"positions": sizes.own["positions"]} | one


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
        {"layer": sizes.numbers[0], "training_step": training_steps(source)[-1], "tokens": sizes.tokens} if sizes else {}
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
    d_model = min(max(heads, round(values["d_model"] / heads) * heads), KNOBS["d_model"].high // heads * heads)
    d_model = known.get("d_model", d_model)
    tokens = min(values["tokens"], MAX_CHANNELS // d_model, sizes.tokens if sizes else MAX_TOKENS)
    columns = (sizes.keys if sizes else 0) or tokens
    return values | {
        "tokens": tokens,
        "d_model": d_model,
        "kv_heads": min((n for n in range(heads + 1) if not n or heads % n == 0), key=lambda n: _gap(values, n)),
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
    values = values | fixed_by_source(source)
    heads, tokens = values["heads"], values["tokens"]
    return {
        "layer": f"there is no layer {value} among {_layer_list(layers(source))} (counted from 0)",
        "training_step": f"the training was recorded after {', '.join(map(str, training_steps(source)))} steps",
        "tokens": f"{tokens:,} tokens of {values['d_model']:,} channels are over the limit of {MAX_CHANNELS:,} channels",
        "d_model": f"{heads} heads don't divide a d_model of {value}",
        "kv_heads": f"{value} kv_heads don't divide {heads} heads",
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


def _misfit(config: Config, name: str, nearest: Any) -> str:
    return f"{name}={short(getattr(config, name))}: {why_invalid(vars(config), name)}. The nearest that fits is {nearest!r}."
