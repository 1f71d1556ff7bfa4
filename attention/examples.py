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
        "Each head was built for a job: one finds the same word again, one looks one word back, one rests on the first word; the last two are drawn at random, and one of them is so faint that it attends to all words alike.",
        "Which head finds both times that “bank” is there?"),
    "induction": Example("A head that continues what it has read", "heads", Config(input=BEFORE, head=7, query=9),
        "After “the”, this head looks at the words that followed “the” before: it could guess what comes next.",
        "What would the head look at if “the” stood there for the first time?"),
    **_of("real", "recorded:smollm2-repeated", {"layer": 18, "head": 6}, "The same head in a real language model",
        "SmolLM2 reads random words three times over: on its layer 18, head 6 attends to the words that came next before; in the third reading it spreads its weight over both earlier ones.",
        "Which other heads on its map of layers do the same?"),
    **_of("division", "recorded:smollm2-repeated", {"layer": 18, "head": 6}, "Five heads of 54 that do one job",
        "SmolLM2 reads random words three times over: of the six layers recorded here, five heads, all on layers 17 and 18, attend to what came next before, and no other has a tenth of its weight there.",
        "Which three heads are nearly the same, and what do all of them look at?", page="layers"),
    **_of("grown", "trained:induction", {"layer": 1, "head": 2}, "An induction head that grew here",
        "A model of two layers learned, in a thousand steps, to continue letters that repeat: this head attends to what stood behind each letter before. Nobody built it; the page Training shows it form.",
        "After how many steps of training is it there?"),
    **_of("sink", "recorded:smollm2-code", {"layer": 13, "head": 1}, "A sink, where weight goes that has nowhere to go",
        "A row must spend a weight of one. Where this head of SmolLM2 finds nothing it rests on the mark that begins what it reads, with seven tenths of its weight: a sink.",
        "Why not simply let a row sum to less than one? Try the softmax “plus one” under Advanced: of which key does it take most?"),
    "temperature": Example("The same heads, four times as hot", "heads", Config(temperature=4.0, head=1),
        "Dividing the scores by four flattens every row: the head that looks one word back had 0.91 of its weight there, and keeps 0.36.",
        "Which temperature makes the head that looks one word back look there with half of its weight?"),
    "unscaled": Example("Why one divides by the root of d", "softmax", Config(topic="scaling", d_model=1024, heads=1, scale="none", **RANDOM),
        "With 1,024 channels and no scaling nearly all weight falls on a single key, by chance, and hardly any gradient passes.",
        "How large may d_head be before half of the weight is on one key?"),
    "row": Example("From dot products to weights, step by step", "softmax", Config(head=4, query=12),
        "Dot products become weights in three steps, a panel each: scale them, hide what may not be seen, take the softmax.",
        "Which step makes large differences larger?"),
    "float16": Example("Where float16 runs out of numbers", "softmax", Config(topic="precision", dtype="float16", exponent="naive", head=1),
        "The best score of this head is 25. Its exponential is over what float16 can hold, so without subtracting the greatest score first whole rows turn into no numbers.",
        "Why does subtracting the same number from every score change nothing else?"),
    "small": Example("A pass to follow with a pencil", "steps", Config(tokens=4, heads=2, d_model=8, head=1),
        "Four words of eight numbers each, and every number stands in its cell. The second head hands each word the first four numbers of the word before it.",
        "Where in the output do you find the first numbers of “The” again?"),
    "blind": Example("A row that sees nothing", "masks", Config(mask="causal", combine="without", second="window", span=4, mask_detail="empty rows"),
        "Whoever sees only what is four or more tokens back sees nothing at first: there the formula divides zero by zero, and code differs in what it makes of it.",
        "What should a query do that may look at nothing?"),
    "window": Example("A short window, many layers", "masks", Config(mask="window", span=3, tokens=64, depth=8),
        "Each query sees three tokens only, yet through eight layers news travels 16 tokens.",
        "How many layers does a window of three need to cross 64 tokens?"),
    "packing": Example("Three texts in one row", "masks", Config(mask="causal", combine="and", second="documents", span=6),
        "Causal and documents together: no word sees the texts before its own, as when training packs several into one row.",
        "What would a model learn if the second mask were forgotten?"),
    "alibi": Example("Nearness without positions in the tokens", "heads", Config(positions="alibi", tokens=64, head=0, **RANDOM),
        "ALiBi takes a penalty for distance off every score, steep in the first head and gentle in the last.",
        "Which head can still see the beginning?"),
    "grouped": Example("Four heads, one set of keys", "heads", Config(kv_heads=2, grouping="show", projections="tied"),
        "With two sets of keys and values for eight heads the cache is a quarter as large, and the weights are no longer the same.",
        "Which head has changed most?"),
    "leak": Example("A reshape that lets the future in", "implementations", Config(implementation="fused", bug="answer"),
        "The weights are right and every shape fits, yet joining the heads in the wrong order mixes tokens: early rows see later ones.",
        "Would the mistake show with one head? Take the number of heads down, and say why."),
    "long": Example("65,536 tokens", "heads", Config(tokens=65_536, heads=4, d_model=256, head=1),
        "The roles hold at 65,536 tokens, drawn exactly: one and three words back are thin lines, the first word is a column. Every pixel is the largest of 117 thousand weights, so that the same word is under each: the first head is one colour.",
        "What does the thin line of the second head look like when you zoom in?"),
    "documents": Example("Thirteen texts in 65,536 tokens", "heads", Config(tokens=65_536, heads=4, d_model=256, input="topics"),
        "The first head looks for the same word and finds the same subject: its square falls into blocks, one a text.",
        "Where does the longest text begin?"),
    "refrain": Example("A refrain of 8,192 tokens, eight times", "heads", Config(tokens=65_536, heads=4, d_model=256, input="refrain"),
        "The first head finds every earlier time that a token was sung: seven lines, 8,192 tokens apart.",
        "Why has the second head none of the seven lines?"),
    "gpu": Example("CPU against GPU", "timing", CpuGpuSettings(),
        "At 4,096 tokens an H100, in fp16 and as published, is over a thousand times as fast as two cores of a CPU in float32; where the data must travel there and back, over a hundred times.",
        "Which takes the GPU longer at 16,384 tokens: to compute, or the way there and back?"),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Tour:
    """The settings of the page of examples."""

    about: str = choice(
        "all",
        ("all", "heads", "layers", "softmax", "steps", "masks", "implementations", "timing"),
        "Show",
        "Examples of one page, or all.",
        about="view",
    )

    def __post_init__(self) -> None:
        TOURS.check("about", self.about)


TOURS = Settings(Tour, "the examples")
