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
from attention.operations.forgetting import FORGETS
from attention.operations.gate import GATES
from attention.operations.positions import POSITIONS
from attention.operations.qk_norm import OFF, ON
from attention.operations.query_scale import QUERY_SCALES
from attention.operations.rotary import BASE, FACTOR, FRACTION, LENGTH, SCALINGS, UNSCALED
from attention.operations.scale import SCALES
from attention.operations.softmax import SOFTMAXES
from attention.operations.table import step_names
from attention.recorded import shipped
from attention.settings import Knob, asking, choice, pinning, real, text, whole
from attention.training import shipped as trainings

MAX_WEIGHTS = 16_000_000  # maximum number of weights of one trace, heads x tokens x tokens: 64 MB in float32
MAX_CHANNELS = 2**25  # maximum number of channels of all tokens together: 128 MB in float32
MAX_TOKENS = 2**16  # maximum sequence length
LEAST_CAP = 1e-3  # smallest softcap except 0: all weights are uniform to three digits, and float32 can divide by it
LINEAR_MAX_TOKENS = 128  # maximum number of tokens for which the automatic colour scale goes from 0 to 1
MAX_TRACE_TOKENS = 1024  # maximum number of tokens whose weights are computed all at once, within MAX_WEIGHTS
LAST_QUERY = -1  # the selected query if none was chosen: the last token
KINDS = "kinds"  # a value of `layer_map`: what each head does, not a statistic of it
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
PASSAGE = (
    f"{SENTENCE}. It drifted past a mill, two willows and a row of grey houses whose windows were still dark. Near the "
    "bridge a girl saw the empty boat go by and ran along the path, calling her brother. He threw a rope, missed, "
    "threw it again and caught the bow. Together they pulled until mud held the keel. Under the seat lay a wet map, three "
    "apples and an old brass lamp. Whose were they? All day the children asked at every door, and at the last one a "
    "man in a blue coat smiled and said that he had waited for that lamp since spring."
)


# fmt: off
@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What changes the numbers of a picture: the key of everything that is computed and kept."""

    tokens: int = whole(18, 2, MAX_TOKENS, "Sequence length (tokens)", "Number of tokens. The weights of a head are a square of this side length. From 128 on, the steps are logarithmic.")
    heads: int = whole(8, 1, 32, "Heads", "Each head has its own queries, keys and values, d_model / heads channels wide.")
    d_model: int = whole(512, 1, 2048, "Model width (d_model)", "Channels per token. Each head gets d_model / heads of them, so the slider moves in steps of the number of heads.")
    mask: str = choice("causal", MASKS, "Mask", "Which keys a query may attend to.")
    combine: str = choice("none", COMBINATIONS, "Combine with a second mask", "How the mask and a second mask are combined.")
    second: str = choice("documents", MASKS, "Second mask", "Combined with the mask; both have the same span.")
    span: int = whole(4, 1, MAX_TOKENS, "Span (tokens)", "Size of masks that have one, for example the width of a window or the length of a prefix.")
    scale: str = choice("1/sqrt(d_head)", SCALES, "Scale", "Factor of the scores before the softmax.")
    temperature: float = real(1.0, 0.05, 20.0, "Temperature", "Scaled scores are divided by it: below 1 sharpens the softmax, above 1 flattens it.")
    input: str = choice("words", INPUTS, "Input", "How the token vectors x are made.")
    text: str = text(SENTENCE, 2000, "Text", "Type your own and press Enter. Its words are the tokens; equal words get equal vectors. The sequence length follows it until you move that slider; then the text is cut or repeated.")
    projections: str = choice("constructed", ("constructed", "independent", "tied", "identity"), "Projections", "W_q, W_k, W_v and W_o. Hand-built: heads with built-in roles. Independent: random (Xavier), as in nn.MultiheadAttention. Tied: random with W_q = W_k. Identity: x itself.", names={"constructed": "hand-built"})
    source: str = choice(GENERATED, SOURCES, "Source", "Where Q, K and V come from: these settings, a recorded model, a training run or a file. A recording brings its own mask and scale, which you can change.", beyond=registry.missing_upload)
    layer: int = whole(0, 0, 127, "Layer", "Layer of the source, counted from 0 as in its model.")
    training_step: int = whole(0, 0, 3000, "Training step", "Training step at which these heads were recorded.")
    seed: int = whole(0, 0, 9999, "Seed", "Seed of the random vectors and projections.")
    keys: int = whole(0, 0, 1024, "Cross-attention keys", "Steps and Implementations: number of tokens of a second sequence that keys and values come from; a text is read backwards. 0: self-attention.", pages=("Steps", "Implementations"))
    d_v: int = whole(0, 0, 256, "Value width (d_v)", "Steps and Implementations: channels of each value, if they differ from those of queries and keys. 0: d_head.", pages=("Steps", "Implementations"))
    kv_heads: int = whole(0, 0, 32, "Key-value heads (kv_heads)", "Number of key and value heads. With fewer than heads, groups of heads share them (GQA, Ainslie et al. 2023; MQA, Shazeer 2019). 0: one per head.", advanced=True)
    sharing: str = choice("averaged", ("averaged", "drawn"), "Shared keys and values", "Averaged: mean over the heads of a group (Ainslie et al. 2023, section 2.1). Separate: a smaller projection is drawn for them.", names={"drawn": "separate"}, advanced=True)
    positions: str = choice("none", POSITIONS, "Positions", "How the positions of tokens are encoded.", names={"alibi": "ALiBi", "alibi bloom": "ALiBi (slopes of BLOOM)", "t5": "T5 (bidirectional)", "t5 causal": "T5 (causal)"}, advanced=True)
    rotary_base: float = real(BASE, 100.0, 1e7, "Rotary base", "The slowest pair of channels rotates by one radian in about this many tokens. 10,000 in the paper, 500,000 in Llama 3, 1,000,000 in Qwen2.5.", advanced=True)
    rotary_fraction: float = real(FRACTION, 0.05, 1.0, "Rotated channels", "Fraction of a head's channels that are rotated, as 0.25 in GPT-NeoX. The others carry no position.", advanced=True)
    rotary_scaling: str = choice(UNSCALED, SCALINGS, "Rotary scaling", "How rotary positions are scaled to sequences longer than those of training.", names={"ntk": "NTK", "yarn": "YaRN", "yarn (not rounded)": "YaRN (not rounded)", "llama3": "Llama 3"}, advanced=True)
    rotary_factor: float = real(FACTOR, 1.0, 64.0, "Scaling factor", "Longest sequence divided by the original length.", advanced=True)
    rotary_length: int = whole(LENGTH, 8, 2**20, "Original length (tokens)", "Sequence length of training. YaRN and Llama 3 keep pairs that rotate several times within it.", advanced=True)
    softcap: float = real(0.0, 0.0, 100.0, "Softcap", "Limits scaled scores to ±softcap by tanh, as in Gemma 2. 0: off.", advanced=True)
    softmax: str = choice("standard", SOFTMAXES, "Softmax", "What turns a row of scores into weights: the standard softmax; one with a term added to the denominator, so a head can attend to nothing; or a function that takes its place.", names={"plus one": "softmax₁ (plus one)"}, advanced=True)
    sink_logit: float = real(0.0, -20.0, 20.0, "Sink logit", "For the softmax “sink”: mean of the sink logits that the seed draws, one per head; learned ones are shifted by it. The higher it is, the more of each row goes to no key.", advanced=True)
    sigmoid_length: int = whole(16, 1, MAX_TOKENS, "Sigmoid length (tokens)", "For the softmax “sigmoid”: the logarithm of this length is subtracted from every score, so that as many keys with a score of zero sum to about one. 1: nothing is subtracted.", advanced=True)
    diff_lambda: float = real(0.5, 0.0, 0.95, "Lambda (λ)", "For differential attention: the second softmax is multiplied by it and subtracted. Models learn it; training starts from 0.2 in the first layer, 0.8 in late ones.", advanced=True)
    qk_norm: str = choice(OFF, (OFF, ON), "QK-norm", "Divides every query and key by its root mean square, before positions, as in Qwen 3 and Gemma 3 (gain 1). Scaled scores are then at most √d_head.", advanced=True)
    query_scale: str = choice("none", QUERY_SCALES, "Query scale", "log n: scores are multiplied by the logarithm of the number of visible keys, so that the softmax does not flatten over more keys (Scalable-Softmax; its factor s is 1 / temperature).", advanced=True)
    gate: str = choice(OFF, GATES, "Output gate", "Multiplies the output of a head by numbers between 0 and 1 that depend on the query's token, before W_o (Qwen3-Next): one per head, or one per channel. Weights stay the same; only outputs change.", advanced=True)
    forgetting: str = choice("off", FORGETS, "Forgetting", "Each token has a forget gate per head, made from the token. The logarithms of the gates after a key, up to the query, are added to its logit (Forgetting Transformer). Not for cross-attention.", advanced=True)
    forget_bias: float = real(2.0, -4.0, 10.0, "Forget gate bias", "For forgetting: added to the logit of every forget gate. At 10 nothing is forgotten, at -4 nearly all of it, from one token to the next.", advanced=True)
    batch: int = whole(2, 1, 32, "Batch (sequences)", "Sequences per call of the published implementations. The first is that of the other pages.", pages=("Implementations",))


@dataclass(frozen=True, kw_only=True)
class View:
    """What changes what is shown of these numbers, and how."""

    head: int = whole(0, 0, 127, "Selected head", "Head that is shown enlarged.", about="focus")
    query: int = whole(LAST_QUERY, LAST_QUERY, MAX_TOKENS - 1, "Selected query", "Token whose row of weights is shown. -1: the last token.", about="focus")
    colors: str = choice("auto", ("auto", "linear", "log", "times even", "own maximum"), "Colour scale", "Auto: linear up to 128 tokens, × uniform beyond. Linear: 0 to 1. Log: 0.0001 to 1. × uniform: weight times the number of visible keys, 1/100 to 100, logarithmic. Per-head maximum: 0 to the largest.", names={"times even": "× uniform", "own maximum": "per-head maximum"}, about="view")
    axis: str = choice("auto", ("auto", "linear", "log"), "Scale of the row chart", "Auto: as the colour scale. Linear: 0 to the largest weight of the row. Log: from 1/100 of the uniform weight.", about="view")
    pool: str = choice("max", ("max", "mean"), "Pooling", "If a pixel covers several weights. Max: the largest, so no large weight is lost. Mean: their mean, so weights add up but a single large weight fades.", about="view")
    rows: str = text("", 11, "Zoom: queries", "First and last token, as in 100-611. Leave empty for all.", form=RANGE, formed=RANGED, about="view")
    cols: str = text("", 11, "Zoom: keys", "First and last token, as in 100-611. Leave empty for all.", form=RANGE, formed=RANGED, about="view")
    layer_map: str = text("auto", 20, "Colour the map by", "What the map shows of each head. At first: induction if a model's text repeats tokens, else previous token; if no head has much weight there, the strongest pattern, or the largest weight.", about="view")
    across: str = text("auto", 20, "X axis", "Head statistic on the x axis, on Layers. At first: entropy, or the weight on the first token if the map shows how spread the rows are.", about="view")
    upwards: str = text("auto", 20, "Y axis", "Head statistic on the y axis, on Layers. At first: that of the map.", about="view")
    topic: str = choice("row", ("row", "all", "scaling", "precision", "positions"), "Show", "One row step by step, all rows of all heads, why scores are divided by √d_head, number types, or positions by distance.", about="view")
    distance: int = whole(20_000, 1, 2**20, "Distance (tokens)", "Distance of the query and the key for which numbers are given.", about="view")
    order: str = choice("position", ("position", "weight"), "Key order", "By position, or the largest weight first.", about="view")
    dtype: str = choice("bfloat16", ("float32", "bfloat16", "float16"), "Precision (dtype)", "The head is computed in this type and compared with float64.", about="view")
    exponent: str = choice("max-subtracted", ("max-subtracted", "naive", "fused"), "Softmax computation", "Naive: exp(l). Max-subtracted: exp(l - max l). Both store scores in the chosen type, as eager code does. Fused: scores and softmax in float32, as in the fused kernels of PyTorch.", about="view")
    predict: str = choice("none", ("none", "mask", "temperature", "row"), "Predict first", "A question whose answer is hidden until it is revealed.", about="view")
    ask: str = asking()
    against: str = pinning()
    side: str = choice("difference", ("a", "b", "difference", "both"), "Side", "A: what was pinned. B: the current settings. B − A: the difference, on a fixed scale from −1 to 1. Side by side: both.", names={"a": "A", "b": "B", "difference": "B − A", "both": "side by side"}, about="view")
    depth: int = whole(4, 1, 128, "Stacked layers", "Layers stacked when computing how far information can travel.", about="view")
    mask_detail: str = choice("effect", ("effect", "empty rows", "code"), "About the mask", "Effect: how it changes the weights. Fully masked rows: queries with no visible key. Code: the mask as a PyTorch program.", names={"empty rows": "fully masked rows"}, about="view")
    baseline: str = choice("auto", ("auto", *MASKS), "Baseline", "Mask that the effect is measured against, with the same span. Auto: the source's own mask; full for generated attention.", about="view")
    row_as: str = choice("auto", ("auto", "lines", "all lines", "output", "bars"), "Show selected row as", "Lines: to the tokens it attends to. All lines: of every row. Output: values times weights, and their sum. Bars: weight per key. Auto: lines and output up to 40 tokens, bars beyond.", about="view")
    grouping: str = choice("hide", ("hide", "show"), "Compare MHA, GQA and MQA", "The same weights with keys and values per head (MHA), per group of heads (GQA) and for all heads (MQA).", about="view")
    step: str = choice("x", STEPS, "Step", "Matrix that the Steps page shows, with the matrices it is computed from.", about="view")
    steps: str = choice("one", ("one", "all"), "Matrices shown", "One step with the matrices it is computed from, or all matrices at once.", about="view")
    implementation: str = text("fused", 40, "Implementation", "Published implementation that is shown.", about="focus")
    version: str = choice("as printed", ("as meant", "as printed"), "Version", "Published: with the mistake of the document, if it has one. Corrected: without it.", names={"as meant": "corrected", "as printed": "published"}, about="view")
    row_detail: str = choice("code", ("code", "shapes", "costs", "demands"), "About this version", "Code: what runs. Shapes: of each tensor, line by line. Costs: parameters, operations, memory, time. Accepted inputs: batch, length and mask, found by trying.", names={"demands": "accepted inputs"}, about="view")
    view: str = choice("page", ("page", "present"), "Page", "Present: the selected head fills the screen; arrow keys change it, Esc leaves. Page: everything.", about="view")
    bug: str = choice("off", ("off", "question", "answer"), "Find the bug", "For teachers. Question: maps of published code with a mistake, without name, caption and error. Answer: what goes wrong, and why. Off: everything.", about="view")
# fmt: on


ENTRIES = (*fields(Numbers), *fields(View))
KNOBS: dict[str, Knob] = {entry.name: entry.metadata["knob"] for entry in ENTRIES}
DEFAULTS: dict[str, Any] = {entry.name: entry.default for entry in ENTRIES}
