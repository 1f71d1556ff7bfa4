"""Example pictures, each with a link, a sentence that is true of it, and a question for a class.

To add one, add a line to `EXAMPLES`, and what its sentence claims as a function of its name to tests/test_examples.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attention.codec import NEWEST, to_query
from attention.config import Config
from attention.inputs import BEFORE
from attention.recorded.file import RecordingError
from attention.settings import EDITION, Settings, choice
from attention.timing.cpu_gpu_settings import VERSUS, CpuGpuSettings

RANDOM: dict[str, Any] = {"projections": "independent", "input": "noise"}


@dataclass(frozen=True)
class Example:
    """A picture: the page that shows it, its settings, a sentence on what it shows, and a question about it."""

    title: str
    page: str
    config: Config | CpuGpuSettings
    says: str
    asks: str

    @property
    def query(self) -> dict[str, str]:
        """The query of its link, which is never empty: an empty one would keep the page at its current settings."""
        if isinstance(self.config, CpuGpuSettings):
            return VERSUS.to_query(self.config) or {EDITION: str(len(VERSUS.editions))}
        return to_query(self.config) or NEWEST


def _of(name: str, source: str, knobs: dict[str, int], *said: str, page: str = "heads") -> dict[str, Example]:
    """Returns an example of a source by its name; empty if the source's file is damaged, which leaves all others intact."""
    try:
        title, says, asks = said
        return {name: Example(title, page, Config.of(source, **knobs), says, asks)}
    except RecordingError:
        return {}


EXAMPLES: dict[str, Example] = {
    "roles": Example("Eight heads on one sentence", "heads", Config(),
        "Each head has a role: one attends to the same word, one to the previous word, one to the first word. The last two are random, and one of them is so weak that it attends to all words about equally.",
        "Which head attends to both occurrences of “bank”?"),
    "induction": Example("A head that continues a repeated text", "heads", Config(input=BEFORE, head=7, query=9),
        "For “the”, this head attends to the words that followed “the” before, so it could predict what comes next.",
        "What would the head attend to if “the” occurred for the first time?"),
    **_of("real", "recorded:smollm2-repeated", {"layer": 18, "head": 6}, "The same head in a real language model",
        "SmolLM2 reads random words three times. In layer 18, head 6 attends to the words that followed earlier copies; in the third pass it splits its weight between both.",
        "Which other heads on its map of layers do the same?"),
    **_of("division", "recorded:smollm2-repeated", {"layer": 18, "head": 6}, "Five induction heads among 54",
        "SmolLM2 reads random words three times. Of the six layers recorded here, five heads, all in layers 17 and 18, attend to what followed earlier copies; no other head puts a tenth of its weight there.",
        "Which three heads are nearly equal, and what do they attend to?", page="layers"),
    **_of("grown", "trained:induction", {"layer": 1, "head": 2}, "An induction head that formed in training",
        "In a thousand steps, a model of two layers learned to continue repeating letters. This head attends to what followed each letter before; the page Training shows it form.",
        "After how many training steps does it appear?"),
    **_of("sink", "recorded:smollm2-code", {"layer": 13, "head": 1}, "An attention sink",
        "The weights of a row sum to one. When this head of SmolLM2 finds nothing to attend to, it uses the start token, which gets seven tenths of its weight on average: a sink.",
        "Why not let a row sum to less than one? Try the softmax “plus one” under Advanced: which key loses most weight?"),
    "temperature": Example("The same heads at four times the temperature", "heads", Config(temperature=4.0, head=1),
        "Dividing the scores by four flattens every row: the head that attends one word back had 0.91 of its weight there and keeps 0.36.",
        "At which temperature does the head that attends one word back keep half of its weight there?"),
    "unscaled": Example("Why scores are divided by √d", "softmax", Config(topic="scaling", d_model=1024, heads=1, scale="none", **RANDOM),
        "With 1,024 channels and no scaling, nearly all weight falls on a single key by chance, and hardly any gradient flows back.",
        "How large can d_head be before half of the weight is on one key?"),
    "row": Example("From dot products to weights, step by step", "softmax", Config(head=4, query=12),
        "Dot products become weights in three steps, one panel each: scale, mask, take the softmax.",
        "Which step makes large differences larger?"),
    "float16": Example("Where float16 overflows", "softmax", Config(topic="precision", dtype="float16", exponent="naive", head=1),
        "The largest score of this head is 25. Its exponential exceeds the range of float16, so whole rows become NaN unless the largest score is subtracted first.",
        "Why does subtracting the same number from every score not change the weights?"),
    "small": Example("A pass small enough for paper", "steps", Config(tokens=4, heads=2, d_model=8, head=1),
        "Four words with eight channels each, and every number is shown in its cell. The second head passes each word the first four channels of the previous word.",
        "Where in the output do the first numbers of “The” reappear?"),
    "blind": Example("Fully masked rows", "masks", Config(mask="causal", combine="without", second="window", span=4, mask_detail="empty rows"),
        "If queries see only keys four or more tokens back, the first queries have no visible key. There the formula divides zero by zero, and implementations return different results.",
        "What should the output of a query with no visible key be?"),
    "window": Example("A short window, many layers", "masks", Config(mask="window", span=3, tokens=64, depth=8),
        "Each query sees only three tokens, yet through eight layers information travels 16 tokens.",
        "How many layers does a window of three need to cross 64 tokens?"),
    "packing": Example("Three texts in one sequence", "masks", Config(mask="causal", combine="and", second="documents", span=6),
        "Causal and documents combined: no word sees the texts before its own, as when training packs several texts into one sequence.",
        "What would a model learn without the second mask?"),
    "alibi": Example("ALiBi: a penalty for distance", "heads", Config(positions="alibi", tokens=64, head=0, **RANDOM),
        "ALiBi subtracts a penalty for distance from every score, steep in the first head and gentle in the last.",
        "Which head still attends to the beginning?"),
    "directions": Example("Only the direction of queries and keys counts", "heads", Config(qk_norm="on", head=6),
        "With queries and keys of equal length, no scaled score is above 8, the square root of d_head; without QK-norm the largest is 27. The broad head was broad because its queries are tiny: now its last query gives one key more than twice the uniform weight.",
        "Which head loses most of its sharpness, and what would a learned gain restore?"),
    "buckets": Example("T5: one number per bucket of distances", "softmax", Config(topic="positions", positions="t5", distance=91),
        "T5 adds a number to a score by the bucket of its distance: one per distance up to 7, then ever wider ones, and all keys from 91 tokens on share the last. A T5 learns the numbers; these are made up.",
        "Which two distances can such a head not tell apart, however long it is trained?"),
    "slopes": Example("ALiBi with twelve heads: paper and code differ", "softmax", Config(topic="positions", positions="alibi bloom", heads=12, d_model=768, head=8, distance=10),
        "Twelve is no power of two. By the sentence of the paper head 8 takes 0.16 from a score at distance 10; with the slopes of BLOOM and of the authors' code it takes 7.07.",
        "With how many heads do both agree?"),
    "fraction": Example("A quarter of the channels is rotated", "steps", Config(positions="rotary", rotary_fraction=0.25, tokens=4, heads=2, d_model=16, step="turned q"),
        "As in GPT-NeoX, a quarter of a head's channels is rotated by the position: here two of eight. The others are the same at every position.",
        "What can a head do with channels that carry no position?"),
    "yarn": Example("YaRN at factor 4, at distance 20,000", "softmax", Config(topic="positions", positions="rotary", rotary_base=1_000_000.0, rotary_scaling="yarn", rotary_factor=4.0, rotary_length=32_768, d_model=1024),
        "As in Qwen2.5 for long texts: 24 of 64 pairs stay as trained, 24 rotate four times more slowly. Cosines and sines are multiplied by 0.1 ln 4 + 1 = 1.1386, so scores grow by its square, 1.2965.",
        "What does your port multiply by, and where: queries, keys or scores?"),
    "nothing": Example("A head that attends to nothing", "heads", Config(softmax="sink", sink_logit=2.0, head=6),
        "Every head has a learned sink, as in gpt-oss: one more logit in the denominator, which belongs to no key. The five heads that find what they look for give it less than 0.1% of a row; the broad head, whose scores are all near zero, gives it 82.9%, so its rows sum to 0.171.",
        "At which mean of the sink logits does the head for equal words lose half of its weight?"),
    "everything": Example("A head that attends to everything", "heads", Config(softmax="sigmoid", head=1),
        "A softmax ignores what all scores of a row have in common, a sigmoid does not: every score of this head is far above ln 16, so each of 18 words gets a weight of nearly 1 and the last row sums to 18.0. Under a softmax the head attends one word back.",
        "What would have to change in training so that a head attends to one word under a sigmoid?"),
    "sparse": Example("Seven keys of a thousand", "heads", Config(softmax="sparsemax", tokens=1000, **RANDOM),
        "Sparsemax gives a weight of exactly zero to every key below a threshold. In these random heads, late rows keep 7 of about 950 keys and the largest weight averages 0.37; under a softmax all keys have some, and the largest averages 0.005.",
        "At which temperature do late rows keep a hundred keys?"),
    "between": Example("Between softmax and sparsemax", "softmax", Config(softmax="entmax-1.5", head=4),
        "Entmax-1.5 also has exact zeros, but squares what is above its threshold, so weights fade out. This row keeps five of 18 keys, sparsemax three, a softmax all: the panels below show each softmax by its difference.",
        "Which keys have weight under entmax-1.5 but not under sparsemax, and how large are their softmax weights?"),
    "gate": Example("A head that attends and hands on nothing", "heads", Config(gate="headwise", head=1, query=15, row_as="output"),
        "Each head multiplies what it found by a gate that its query's token opens or closes, as in Qwen3-Next. For “took”, this head attends to the word before as ever, yet its gate is 0.02 and next to nothing reaches the output. Tools that show the weights of such models show those before the gate.",
        "For which words does this head hand on more than nine tenths of what it found?"),
    "forgetting": Example("A word that makes a head forget", "heads", Config(forgetting="on", seed=57, head=6),
        "Each word decides how much of what came before it every head keeps. In the broad head “then” keeps 0.23, every other word at least 0.86: the last query gives the twelve words before “then” 0.216 of its weight, without forgetting 0.667. ALiBi takes as much for every pair at a distance, whatever is in between.",
        "Which head keeps least, and how far back does it still see?"),
    "fading": Example("Attention that does not fade with length", "heads", Config(query_scale="log n", tokens=1000, **RANDOM),
        "A softmax flattens over more keys: in these random heads the largest weight of late rows averages 0.173 among 16 tokens and 0.004 among 1,000. With scores times the logarithm of the visible keys (Scalable-Softmax) it stays near 0.35.",
        "Which temperature brings the largest weights back to 0.173, and does it at 16 tokens, too?"),
    "grouped": Example("Four heads per set of keys", "heads", Config(kv_heads=2, grouping="show", projections="tied"),
        "With two sets of keys and values for eight heads, the cache is a quarter of the size, and the weights change.",
        "Which head changes most?"),
    "leak": Example("A reshape that leaks the future", "implementations", Config(implementation="fused"),
        "The weights are right and every shape fits, but joining the heads in the wrong order mixes tokens: early rows contain later ones.",
        "Would the bug show with one head? Reduce the number of heads, and explain why."),
    "long": Example("65,536 tokens", "heads", Config(tokens=65_536, heads=4, d_model=256, head=1),
        "The roles hold at 65,536 tokens, and every weight is computed: one and three words back are thin lines, the first word is a column. Each pixel shows the largest of 117 thousand weights and contains a copy of every word, so the first head is one colour.",
        "What does the thin line of the second head look like when you zoom in?"),
    "documents": Example("Thirteen texts in 65,536 tokens", "heads", Config(tokens=65_536, heads=4, d_model=256, input="topics"),
        "The first head attends to similar tokens, which here are those on the same subject: its map has one block per text.",
        "Where does the longest text begin?"),
    "refrain": Example("A refrain of 8,192 tokens, eight times", "heads", Config(tokens=65_536, heads=4, d_model=256, input="refrain"),
        "The first head attends to every earlier copy of a token: seven lines, 8,192 tokens apart.",
        "Why does the second head show none of the seven lines?"),
    "gpu": Example("CPU against GPU", "timing", CpuGpuSettings(),
        "At 4,096 tokens an H100 in float16 is over a thousand times as fast as two CPU cores in float32. Including the copy from and to ordinary memory, it is less than a hundred times.",
        "Which takes longer at 16,384 tokens: the computation on the GPU, or the CPU↔GPU transfer?"),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Tour:
    """The settings of the page of examples."""

    about: str = choice(
        "all",
        ("all", "heads", "layers", "softmax", "steps", "masks", "implementations", "timing"),
        "Show",
        "Limits the examples to one page.",
        about="view",
    )

    def __post_init__(self) -> None:
        TOURS.check("about", self.about)


TOURS = Settings(Tour, "the examples")
