"""Every setting of a picture, one line per knob: those that change its numbers, and those that only change the view.

A knob is a field whose line has its default, what is allowed, its label and its help (attention/settings.py); sidebar,
link, tests and command line read that line.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from attention.imported import registry
from attention.inputs import INPUTS
from attention.masks import COMBINATIONS, MASKS
from attention.operations.positions import POSITIONS
from attention.operations.qk_norm import OFF, ON
from attention.operations.scale import SCALES
from attention.operations.softmax import SOFTMAXES
from attention.operations.table import step_names
from attention.recorded import shipped
from attention.settings import Knob, asking, choice, real, text, whole
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
SOURCES = (
    GENERATED,
    *(f"recorded:{name}" for name in shipped.SHIPPED),
    *(f"{TRAINED}:{name}" for name in trainings.TITLES),
)
SENTENCE = "The river bank was steep so the boat left the bank and then the river took the boat"


# fmt: off
@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What changes the numbers of a picture: the key of everything that is computed and kept."""

    tokens: int = whole(18, 2, MAX_TOKENS, "Sequence length (tokens)", "How many tokens attend to each other. The weights of a head are a square of this side. Logarithmic from 128 on.")
    heads: int = whole(8, 1, 32, "Heads", "Each head has its own queries, keys and values, d_model / heads channels wide.")
    d_model: int = whole(512, 1, 2048, "Model width (d_model)", "Channels of a token. The heads share them, so the slider moves in steps of the number of heads.")
    mask: str = choice("causal", MASKS, "Mask", "Which keys a query may look at.")
    combine: str = choice("none", COMBINATIONS, "Combine with a second mask", "How the mask is joined with a second one.")
    second: str = choice("documents", MASKS, "Second mask", "What the mask is combined with; both have the same span.")
    span: int = whole(4, 1, MAX_TOKENS, "Span (tokens)", "The reach of masks that have one: window, prefix, document, stride, padding.")
    scale: str = choice("1/sqrt(d_head)", SCALES, "Scale", "What the dot products are multiplied by before the softmax.")
    temperature: float = real(1.0, 0.05, 20.0, "Temperature", "Divides the scaled scores: below 1 sharpens the softmax, above 1 flattens it.")
    input: str = choice("words", INPUTS, "Input", "Where the tokens come from.")
    text: str = text(SENTENCE, 2000, "Your own text", "Its words are the tokens; equal words get equal vectors. Enter applies it. The sequence length follows it until you move that slider; then the text is cut, or repeated. Typing here takes the place of another input or source.")
    projections: str = choice("constructed", ("constructed", "independent", "tied", "identity"), "Projections", "W_q, W_k, W_v, W_o. Constructed: by hand, a role for each head, on tokens of which half the channels say where they stand. Independent: random (Xavier), as in nn.MultiheadAttention. Tied: random with W_q = W_k, so that likeness shows. Identity: x itself.")
    source: str = choice(GENERATED, SOURCES, "Source", "Who made the queries, keys and values: the settings, or another whose recording is shown. A recording has tokens, heads and widths of its own; its mask and its scale are set as they were there until you change them.", beyond=registry.missing_upload)
    layer: int = whole(0, 0, 127, "Layer", "The layer of the source, where it has several; as its model counts them, from 0.")
    training_step: int = whole(0, 0, 3000, "Steps of training", "How far the model of the source had been trained when its heads were recorded.")
    seed: int = whole(0, 0, 9999, "Seed", "Another seed draws other vectors and other projections.")
    keys: int = whole(0, 0, 1024, "Keys of another sequence", "On the pages Steps and Implementations: keys and values come from another sequence of this many tokens (cross-attention); of a text, from its words backwards. 0: from the same (self-attention).", pages=("Steps", "Implementations"))
    d_v: int = whole(0, 0, 256, "Width of a value (d_v)", "On the pages Steps and Implementations: channels of a head's values, where they differ from those of queries and keys. 0: d_head.", pages=("Steps", "Implementations"))
    kv_heads: int = whole(0, 0, 32, "Key-value heads (kv_heads)", "Heads that share keys and values, as in grouped-query (Ainslie et al. 2023) and multi-query attention (Shazeer 2019). 0: one for each head.", advanced=True)
    sharing: str = choice("averaged", ("averaged", "drawn"), "Shared keys and values", "Where heads share them. Averaged: the mean of what each head had, so that the same weights are regrouped (Ainslie et al. 2023, section 2.1). Drawn: smaller projections of their own.", advanced=True)
    positions: str = choice("none", POSITIONS, "Positions", "How attention learns where a token stands.", advanced=True)
    softcap: float = real(0.0, 0.0, 100.0, "Softcap", "Squeezes scaled scores between -softcap and softcap by tanh (Gemma 2). 0: off.", advanced=True)
    softmax: str = choice("standard", SOFTMAXES, "Softmax", "Standard, or with one added to the denominator, so that a head can attend to nothing.", advanced=True)
    qk_norm: str = choice(OFF, (OFF, ON), "QK-norm", "Divides every query and key of a head by its root mean square, before positions (Qwen 3, Gemma 3, with a gain of 1): only directions count, and a scaled score is at most √d_head.", advanced=True)
    batch: int = whole(2, 1, 32, "Batch (sequences)", "How many sequences the published implementations get at once. The first is that of the other pages.", pages=("Implementations",))


@dataclass(frozen=True, kw_only=True)
class View:
    """What changes what is shown of these numbers, and how."""

    head: int = whole(0, 0, 127, "Head in focus", "The head that is drawn large.", about="focus")
    query: int = whole(LAST_QUERY, LAST_QUERY, MAX_TOKENS - 1, "Query in focus", "The token whose row of weights is drawn. -1 is the last one.", about="focus")
    colors: str = choice("auto", ("auto", "linear", "log", "times even", "own maximum"), "Colour scale", "Auto: linear up to 32 tokens, times even beyond. Linear: 0 to 1 in every head. Log: 0.0001 to 1. Times even: a weight over its even share, which is 1 / keys in sight; logarithmic, from 1/100 over 1 in the middle to 100. Own maximum: each head from 0 to its greatest weight, queries that see but one key aside.", about="view")
    axis: str = choice("auto", ("auto", "linear", "log"), "Axis of the row", "Auto: as the colours are. Linear: from 0 to the greatest weight of the row. Log: from a hundredth of the even share.", about="view")
    pool: str = choice("max", ("max", "mean"), "Pooling", "Where a head has more cells than pixels. Max: a pixel shows the greatest weight under it; no hot cell is lost, broad faint attention looks sparse. Mean: brightness adds up; a single hot cell fades.", about="view")
    rows: str = text("", 11, "Queries that are drawn large", "The first and the last, as in 100-611; nothing for all.", form=RANGE, formed=RANGED, about="view")
    cols: str = text("", 11, "Keys that are drawn large", "The first and the last, as in 100-611; nothing for all.", form=RANGE, formed=RANGED, about="view")
    layer_map: str = text("auto", 20, "Number in the map", "What the map of layers and heads is coloured by. Auto: induction where it is known, else the weight on the previous token.", about="view")
    across: str = text("previous", 20, "Number from left to right", "On the page Layers: where a head stands between left and right, when two numbers are compared.", about="view")
    upwards: str = text("induction", 20, "Number from below to above", "On the page Layers: how high a head stands, when two numbers are compared.", about="view")
    topic: str = choice("row", ("row", "all", "scaling", "precision"), "Show", "What the Softmax page shows: one row step by step, all rows of all heads, why scores are divided, or number types.", about="view")
    order: str = choice("position", ("position", "weight"), "Order of the keys", "By position, or the heaviest first.", about="view")
    dtype: str = choice("bfloat16", ("float32", "bfloat16", "float16"), "Number type", "The type that the head is computed in, against float64.", about="view")
    exponent: str = choice("max-subtracted", ("max-subtracted", "naive", "fused"), "Computed", "Max-subtracted: exp(l - max l), with scores materialised in the type, as eager code does. Naive: exp(l), as the formula says, materialised too. Fused: scores and softmax in float32, as the fused kernels of F.scaled_dot_product_attention, which are the default in use.", about="view")
    predict: str = choice("none", ("none", "mask", "temperature", "row"), "Predict, then reveal", "A question whose answer the page hides until it is opened.", about="view")
    ask: str = asking()
    depth: int = whole(4, 1, 128, "Layers", "After how many layers the reach of a mask is stated.", about="view")
    mask_detail: str = choice("effect", ("effect", "empty rows", "code"), "About the mask in use", "Effect: what it does to the weights. Empty rows: what becomes of queries that see nothing. Code: the mask to take away.", about="view")
    baseline: str = choice("auto", ("auto", *MASKS), "Baseline", "The mask that the effect is measured against. Auto: the source's own mask, full for generated attention. A baseline with a span has the span of the mask.", about="view")
    row_as: str = choice("auto", ("auto", "lines", "all lines", "output", "bars"), "Row in focus as", "Lines: its word joined to those that it looks at. All lines: of every row of the head. Output: its weights times the values, and their sum. Bars: its weight by key. Auto: lines beside the output up to 40 tokens, bars beyond.", about="view")
    grouping: str = choice("hide", ("hide", "show"), "Every grouping of keys and values", "The same weights from multi-head over grouped-query to multi-query attention.", about="view")
    step: str = choice("x", STEPS, "Step", "The matrix that the Steps page shows, with those that it is computed from.", about="view")
    steps: str = choice("one", ("one", "all"), "Steps at once", "One step with what it is computed from, or all matrices at once.", about="view")
    implementation: str = text("fused", 40, "Implementation", "The published implementation in focus.", about="focus")
    version: str = choice("as printed", ("as meant", "as printed"), "Version", "As printed: with the mistake of the document, where it has one. As meant: without.", about="view")
    row_detail: str = choice("code", ("code", "shapes", "costs", "demands"), "About this version", "Code: what runs. Shapes: of every tensor, line by line. Costs: parameters, operations, memory, time. Demands: which batch, length and mask it accepts, found by trying.", about="view")
    bug: str = choice("off", ("off", "question", "answer"), "Find the bug", "For teachers. Question: the pictures of a print with a mistake, without name, caption and error. Answer: what goes wrong, and why. Off: everything.", about="view")
# fmt: on


ENTRIES = (*fields(Numbers), *fields(View))
KNOBS: dict[str, Knob] = {entry.name: entry.metadata["knob"] for entry in ENTRIES}
DEFAULTS: dict[str, Any] = {entry.name: entry.default for entry in ENTRIES}
