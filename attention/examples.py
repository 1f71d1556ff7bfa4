"""Example pictures, each with a link, a sentence that is true of it, and a question with its answer.

To add one, add an entry to `EXAMPLES`, its line to lessons/findings.py, and what its sentence and its answer claim as functions of its name to
tests/test_examples.py and tests/test_lessons.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attention.codec import CONFIGS
from attention.config import Config
from attention.inputs import BEFORE
from attention.recorded.file import RecordingError
from attention.settings import Settings, choice
from attention.story.settings import STORIES, Story
from attention.timing.cpu_gpu_settings import VERSUS, CpuGpuSettings
from attention.training.recipe import RECIPES, Recipe

KINDS: dict[type, Settings[Any]] = {Config: CONFIGS, CpuGpuSettings: VERSUS, Story: STORIES, Recipe: RECIPES}
RANDOM: dict[str, Any] = {"projections": "independent", "input": "noise"}


BASIC, INTERMEDIATE, ADVANCED = LEVELS = ("Basic", "Intermediate", "Advanced")


@dataclass(frozen=True)
class Example:
    """A picture: the page that shows it, its settings, a sentence on what it shows, and a question about it.

    `guesses`: the answers to choose from, of which the one at `right` is right; `why` gives the reason. `level`: its
    difficulty, one of `LEVELS`; `needs`: what one needs to know first, empty for nothing.
    """

    title: str
    page: str
    config: Config | CpuGpuSettings | Story | Recipe
    says: str
    asks: str
    guesses: tuple[str, ...]
    right: int
    why: str
    level: str = BASIC
    needs: str = ""

    @property
    def answer(self) -> str:
        """The right guess."""
        return self.guesses[self.right]

    @property
    def query(self) -> dict[str, str]:
        """The query of its link, which is never empty: an empty one would keep the page at its current settings."""
        settings = KINDS[type(self.config)]
        return settings.to_query(self.config) or settings.newest


def _of(
    name: str, source: str, knobs: dict[str, int], title: str, *said: Any, page: str = "heads"
) -> dict[str, Example]:
    """Returns an example of a source by its name; empty if the source's file is damaged, which leaves all others intact."""
    try:
        return {name: Example(title, page, Config.of(source, **knobs), *said)}
    except RecordingError:
        return {}


EXAMPLES: dict[str, Example] = {
    "roles": Example("Eight heads on one sentence", "heads", Config(head=1, query=10),
        "Six heads follow a rule each: the same word, the previous word, the first word, three words back, nearby words, itself and the previous word. Head 6 attends to all words about equally, head 7 is random.",
        "Which head attends to both occurrences of “bank”?",
        ("Head 0", "Head 1", "Head 2"), 0,
        "Head 0 attends to the same word: from the second “bank” it gives 46% of its weight to each of the two. Head 1 is a previous-token head: it attends to the word before. Head 2 attends to the first word.",
        BASIC, ""),
    "induction": Example("A head that continues a repeated text", "heads", Config(input=BEFORE, head=7, query=9),
        "Here head 7 is not random, but built to continue a text: for “the”, it attends to the words that followed “the” before, so it could predict what comes next.",
        "What does the head attend to from a word that is new, such as “steep”?",
        ("The first word alone", "Several words, none of them clearly", "The word before"), 1,
        "There is nothing to find, so its weight spreads: no new word gives more than half of it to one of the words, if it sees three or more.",
        BASIC, "a head and its weights"),
    **_of("real", "recorded:smollm2-repeated", {"layer": 18, "head": 6}, "An induction head in a real model",
        "SmolLM2 reads random words three times. In layer 18, head 6 attends to the words that followed earlier copies; in the third pass it splits its weight between both.",
        "Which other heads on its map of layers do the same?",
        ("None", "All heads of layer 18", "Three heads of layer 17 and one more of layer 18"), 2,
        "Heads 3, 4 and 5 of layer 17 and head 7 of layer 18: each gives at least 0.6 of its weight to what followed an earlier copy.",
        INTERMEDIATE, "what an induction head is"),
    **_of("division", "recorded:smollm2-repeated", {"layer": 18, "head": 6}, "Five induction heads among 54",
        "SmolLM2 reads random words three times. Of the six layers recorded here, five heads, all in layers 17 and 18, attend to what followed earlier copies; no other head puts a tenth of its weight there.",
        "Which three heads are nearly equal, and what do they attend to?",
        ("Heads 3, 4 and 5 of layer 17: what followed a copy", "Heads 3, 4 and 8 of layer 18: the first token", "Heads 6, 7 and 8 of layer 13: the previous token"), 1,
        "Heads 3, 4 and 8 of layer 18 give at least 0.9 of their weight to the first token: three heads that have found nothing.",
        ADVANCED, "induction heads and sinks", page="layers"),
    **_of("grown", "trained:induction", {"layer": 1, "head": 2}, "An induction head that formed in training",
        "In a thousand steps, a model of two layers learned to continue repeating letters. This head attends to what followed each letter before; the page Training shows it form.",
        "After how many training steps does it appear?",
        ("Before step 60", "Between steps 140 and 200", "After step 500"), 1,
        "At step 140 it has 0.07 of its weight on what followed a copy, at step 200 it has 0.90: it forms within 60 steps.",
        INTERMEDIATE, "what an induction head is"),
    **_of("sink", "recorded:smollm2-code", {"layer": 13, "head": 1}, "An attention sink",
        "The weights of a row sum to one. When this head of SmolLM2 finds nothing to attend to, it uses one token, which gets seven tenths of its weight on average: a sink.",
        "Why not let a row sum to less than one? Try the softmax “plus one” under More settings, Advanced: which key loses most weight?",
        ("The start token", "The query itself", "All keys equally"), 0,
        "The start token: it got the weight that had nowhere to go. With “plus one” a row may sum to less than one, and the start token loses more than 0.7 of all weight that is lost.",
        INTERMEDIATE, "softmax"),
    "temperature": Example("The same heads at four times the temperature", "heads", Config(temperature=4.0, head=1),
        "Dividing the scores by four flattens every row: the head that attends one word back had 0.91 of its weight there and keeps 0.36.",
        "At which temperature does the head that attends one word back keep half of its weight there?",
        ("About 1.5", "About 2.7", "About 3.6"), 1,
        "At 2.7 the head keeps 0.50 of its weight on the word before, at 2 it keeps 0.64, at 3 only 0.46.",
        BASIC, "softmax"),
    "unscaled": Example("Why scores are divided by √d", "softmax", Config(topic="scaling", d_model=1024, heads=1, scale="none", **RANDOM),
        "With 1,024 channels and no scaling, nearly all weight falls on a single key by chance, and hardly any gradient flows back.",
        "How large can d_head be before half of the weight is on one key?",
        ("Between 4 and 8", "Between 64 and 128", "Between 256 and 512"), 0,
        "With 18 keys the largest weight averages 0.41 at 4 channels and 0.55 at 8. Divided by √d it stays near 0.23 at these and larger widths.",
        INTERMEDIATE, "dot products and softmax"),
    "row": Example("From dot products to weights", "softmax", Config(head=4, query=12),
        "Scores become weights in three steps: scale, mask, take the softmax.",
        "The logit of “The” is three quarters of the largest. Why is its weight almost 0?",
        ("It is masked", "Scaling divides it", "The softmax takes exponentials"), 2,
        "The softmax takes exponentials: a logit that is larger by 1 gets 2.7 times the weight, so a difference of 5 is a factor of about 150. Scaling divides all scores alike, and only later words are masked.",
        BASIC, "dot products"),
    "float16": Example("Where float16 overflows", "softmax", Config(topic="precision", dtype="float16", exponent="naive", head=1),
        "The largest logit of this head is 25. Its exponential exceeds the range of float16, so whole rows become NaN unless the largest logit is subtracted first.",
        "Why does subtracting the same number from every score not change the weights?",
        ("It cancels between numerator and denominator", "It does change them, but too little for float16", "Scores are rounded before the softmax"), 0,
        "exp(s − c) = exp(s) / exp(c): numerator and denominator are divided by the same exp(c), which cancels.",
        INTERMEDIATE, "softmax, number types"),
    "small": Example("A pass small enough for paper", "steps", Config(tokens=4, heads=2, d_model=8, head=1),
        "Four words with eight channels each, and every number is shown in its cell. The second head passes each word the first four channels of the previous word.",
        "Where in the output do the first numbers of “The” reappear?",
        ("In the row of “The”, channels 0 to 3", "In the row of “river”, channels 4 to 7", "Nowhere: the softmax mixes them"), 1,
        "The second head hands each word the first four channels of the word before, and writes them to the second half of the output: those of “The” are in the row of “river”.",
        INTERMEDIATE, "queries, keys and values"),
    "blind": Example("Fully masked rows", "masks", Config(mask="causal", combine="without", second="window", span=4, mask_detail="empty rows"),
        "If queries see only keys four or more tokens back, the first queries have no visible key. There the formula divides zero by zero, and implementations return different results.",
        "Which of these gives some queries no visible key?",
        ("A causal mask alone", "A window that includes the query", "Padding before the text, under a causal mask"), 2,
        "A padded query sees only earlier tokens, which are all padding. A causal mask alone, or a window that includes the query, always leaves the query itself. The output of such a query should be zeros: NaN would spread through the network.",
        INTERMEDIATE, "masks, softmax"),
    "window": Example("A short window, many layers", "masks", Config(mask="window", span=3, tokens=64, depth=8),
        "Each query sees only three tokens, yet through eight layers information travels 16 tokens.",
        "How many layers does a window of three need to cross 64 tokens?",
        ("22 layers", "32 layers", "64 layers"), 1,
        "Through each layer information travels two tokens, as a window of three includes the query itself: 63 tokens need 32 layers.",
        INTERMEDIATE, "masks"),
    "packing": Example("Three texts in one sequence", "masks", Config(mask="causal", combine="and", second="documents", span=6),
        "Causal and documents combined: no word sees the texts before its own, as when training packs several texts into one sequence.",
        "What would a model learn without the second mask?",
        ("To predict words from unrelated texts", "Nothing different: the softmax ignores them", "To read the texts backwards"), 0,
        "Without it every word attends to the texts before its own, so the model learns connections that exist only in the packed sequence.",
        INTERMEDIATE, "masks"),
    "alibi": Example("ALiBi: a penalty for distance", "heads", Config(positions="alibi", tokens=64, head=0, **RANDOM),
        "ALiBi subtracts a penalty for distance from every score, steep in the first head and gentle in the last.",
        "Which head still attends to the beginning?",
        ("The first head", "The fourth head", "The last head"), 2,
        "The last head, whose penalty is smallest: from the last token it attends 31 tokens back on average, the first head 1.5.",
        INTERMEDIATE, "scores"),
    "directions": Example("Only the direction of queries and keys counts", "heads", Config(qk_norm="on", head=6),
        "With queries and keys of equal length, no scaled score is above 8, the square root of d_head; without QK-norm the largest is 27. The broad head was broad because its queries are tiny: now its last query gives one key more than twice the uniform weight. Tools that take the outputs of q_proj and k_proj as queries and keys miss this step.",
        "What can a learned gain give back to such a head?",
        ("The size of its scores, so sharp rows", "Which queries were long and which were short", "Both"), 0,
        "A gain multiplies all queries or keys of a head alike: scores grow and rows sharpen. Which query was long stays unknown.",
        ADVANCED, "dot products, RMS norm"),
    "buckets": Example("T5: one number per bucket of distances", "softmax", Config(topic="positions", positions="t5", distance=91),
        "T5 adds a number to a score by the bucket of its distance: one per distance up to 7, then ever wider ones, and all keys from 91 tokens on share the last. A T5 learns the numbers; these are made up. It does not divide by √d_head: weights recomputed from its queries and keys with the usual scale are wrong.",
        "Which two distances can such a head not tell apart, however long it is trained?",
        ("3 and 4", "7 and 8", "100 and 200"), 2,
        "100 and 200: all distances from 91 on share the last bucket, and with it one number. 3 and 4, and 7 and 8, are in different buckets.",
        ADVANCED, "bias of scores"),
    "slopes": Example("ALiBi with twelve heads: paper and code differ", "softmax", Config(topic="positions", positions="alibi bloom", heads=12, d_model=768, head=8, distance=10),
        "Twelve is no power of two. By the sentence of the paper head 8 takes 0.16 from a score at distance 10; with the slopes of BLOOM and of the authors' code it takes 7.07.",
        "With how many heads do both agree?",
        ("6 heads", "12 heads", "16 heads"), 2,
        "16: with a power of two the slopes are one geometric sequence, in which paper and code agree. For other numbers the code mixes two such sequences.",
        ADVANCED, "ALiBi"),
    "fraction": Example("A quarter of the channels is rotated", "steps", Config(positions="rotary", rotary_fraction=0.25, tokens=4, heads=2, d_model=16, step="turned q"),
        "As in GPT-NeoX, a quarter of a head's channels is rotated by the position: here two of eight. The others are the same at every position.",
        "What can a head do with channels that carry no position?",
        ("Compare tokens by content, at any distance alike", "Nothing: they are masked", "Count the tokens in between"), 0,
        "Without rotation a channel adds the same product to the score at every distance, so a match counts the same near and far.",
        ADVANCED, "rotary positions"),
    "yarn": Example("YaRN at factor 4, at distance 20,000", "softmax", Config(topic="positions", positions="rotary", rotary_base=1_000_000.0, rotary_scaling="yarn", rotary_factor=4.0, rotary_length=32_768, d_model=1024),
        "As in Qwen2.5 for long texts: pairs 0 to 23 rotate as trained, pairs 40 to 63 four times more slowly. Cosines and sines are multiplied by 0.1 ln 4 + 1 = 1.1386, so scores grow by its square, 1.2965.",
        "What does a correct port multiply by 1.1386?",
        ("Scores, once", "Queries and keys, each once", "Values"), 1,
        "Cosines and sines have the factor, and both vectors are rotated by them, so a score grows by its square, 1.2965. A checkpoint's own attention_factor replaces 1.1386; SGLang once multiplied one by the other (pull request 33558).",
        ADVANCED, "rotary positions"),
    "nothing": Example("A head that attends to nothing", "heads", Config(softmax="sink", sink_logit=2.0, head=6),
        "Every head has a learned sink, as in gpt-oss: one more logit in the denominator, which belongs to no key. The five heads that find what they look for give it less than 0.1% of a row; the broad head, whose scores are all near zero, gives it 82.9% on average, which has no value and adds nothing to the output: its rows sum to 0.171 on average. For Granite with sinks, transformers returns weights without this: rows that sum to one.",
        "At which mean of the sink logits does the head for equal words lose half of its weight?",
        ("About 2.5", "About 4.7", "About 8"), 1,
        "At 4.7 the head for equal words keeps 0.50 of its weight: its scores for equal words are not much larger. At 8 it keeps 0.05.",
        ADVANCED, "softmax, sinks"),
    "everything": Example("A head that attends to everything", "heads", Config(softmax="sigmoid", head=1),
        "A softmax ignores what all scores of a row have in common, a sigmoid does not: every score of this head is far above ln 16, so each of 18 words gets a weight of nearly 1 and the last row sums to 18.0. Under a softmax the head attends one word back. x-transformers subtracts no logarithm (nor does Apple's own layer by default): there the broad head's last row would sum to 9.0 instead of 1.1.",
        "What would have to change in training so that a head attends to one word under a sigmoid?",
        ("Scores of all other words far below zero", "A larger score for that word", "Nothing: one word is enough"), 0,
        "A sigmoid weighs every key by itself. A larger score for one word takes nothing from the others: their own scores have to be far below zero.",
        ADVANCED, "softmax and sigmoid"),
    "sparse": Example("Seven keys of a thousand", "heads", Config(softmax="sparsemax", tokens=1000, **RANDOM),
        "Sparsemax gives a weight of exactly zero to every key below a threshold. In these random heads, late rows keep 7 of about 950 keys and the largest weight averages 0.37; under a softmax all keys have some, and the largest averages 0.005. Keras (issue 23425) once set the threshold too high if several keys were kept: all weights of these rows would be 0.",
        "How many keys do late rows keep at temperature 4?",
        ("About 2", "About 23", "All of them"), 1,
        "About 23: divided by four, scores lie closer together and more of them are above the threshold. Even at temperature 20 only 88 have weight.",
        ADVANCED, "softmax"),
    "between": Example("Between softmax and sparsemax", "softmax", Config(softmax="entmax-1.5", head=4),
        "Entmax-1.5 also has exact zeros, but squares what is above its threshold, so weights fade out. This row keeps five of 18 keys, sparsemax three, a softmax all: the panels below show each softmax by its difference. Of one family, α is 1.5 here, 2 for sparsemax and 1 for the softmax, where the bisection of the package entmax returns equal weights (issue 23): here 5.6% each.",
        "Which keys have weight under entmax-1.5 but not under sparsemax, and how large are their softmax weights?",
        ("“the” (13) and “river” (14): 9.2% and 13.6%", "“took” (15) and “the” (16): 18.2% and 21.8%", "“and” (11) and “then” (12): 3.4% and 5.7%"), 0,
        "“the” (13) and “river” (14) are below the threshold of sparsemax, which is higher. Under a softmax they get 9.2% and 13.6%.",
        ADVANCED, "softmax, sparsemax"),
    "difference": Example("A word that counts against", "heads", Config(softmax="differential", head=0),
        "Each head subtracts a second softmax, times λ = 0.5, from its first. For the last “boat” the first finds both “boat” and leaves them 0.43 and 0.42; the second finds the word before, whose weight is −0.47: its value is subtracted. All rows sum to 0.500. transformers returns both softmaxes of such a model, never their difference.",
        "What is the weight on the word before at λ = 0.2?",
        ("About −0.19", "Still −0.47: λ changes the sum of a row only", "0: below 0.5 nothing is subtracted"), 0,
        "The second softmax gives that word 0.95 at every λ. Times 0.2 it is 0.19, which is subtracted; rows then sum to 0.8.",
        ADVANCED, "softmax"),
    "gate": Example("A head that attends and hands on nothing", "heads", Config(gate="headwise", head=1, query=15, row_as="output"),
        "Each head multiplies what it found by a gate that its query's token opens or closes, as in Qwen3-Next. For “took”, this head attends to the word before as ever, yet its gate is 0.02 and next to nothing reaches the output. Tools that show the weights of such models show those before the gate.",
        "For which words does this head hand on more than nine tenths of what it found?",
        ("Both “river” and “took”", "“so” and both “bank”", "Every “the”"), 1,
        "“so” has a gate of 0.94, the two “bank” 0.93 and 0.92. For “river” the gate is below 0.04.",
        ADVANCED, "context of a head"),
    "channels": Example("A gate per channel", "heads", Config(gate="elementwise", head=1, query=15, row_as="output"),
        "With a gate per channel, the query's token lets some channels of a head through and closes others: for “took” the 64 gates of this head go from 0.02 to 0.96. The weights are those without a gate, so no map of weights shows what is lost.",
        "How many of the 64 channels keep more than half of what the head found for “took”?",
        ("None", "27", "64"), 1,
        "27 gates are above 0.5, and their mean is 0.44. A gate per head would have to treat all channels alike.",
        ADVANCED, "context of a head"),
    "forgetting": Example("A word that makes a head forget", "heads", Config(forgetting="on", seed=57, head=6),
        "Each word decides how much of what came before it every head keeps. In the broad head “then” keeps 0.23, every other word at least 0.86: the last query gives the twelve words before “then” 0.216 of its weight, without forgetting 0.667. ALiBi takes as much for every pair at a distance, whatever is in between. flash-linear-attention returns no weights of such a layer; a map of its queries and keys alone would show 0.667.",
        "In which of these heads does a word keep least of what came before it?",
        ("Head 1", "Head 2", "Head 6"), 0,
        "In head 1 a word keeps 0.49 of what came before it, on average; in head 2 it keeps 0.95, in head 6 0.90.",
        ADVANCED, "scores, ALiBi"),
    "fading": Example("Attention that does not fade with length", "heads", Config(query_scale="log n", tokens=1000, **RANDOM),
        "A softmax flattens over more keys: in these random heads the largest weight of late rows averages 0.173 among 16 tokens and 0.004 among 1,000. With scores times the logarithm of the visible keys (Scalable-Softmax) it stays near 0.35. axolotl takes the logarithm of the whole text for every query: in the row that sees 16 of 1,000 tokens it would be 0.63 instead of 0.28.",
        "Which temperature brings the largest weights back to 0.173, and does it at 16 tokens, too?",
        ("About 0.2; at 16 tokens it gives 0.60", "About 0.2; at 16 tokens it gives 0.173, too", "About 0.5; at 16 tokens it gives 0.29"), 0,
        "A temperature of 0.206 brings it back at 1,000 tokens, and sharpens 16 tokens to 0.60: no single temperature fits all lengths, but a factor that grows with the logarithm does.",
        ADVANCED, "temperature"),
    "grouped": Example("Four heads per set of keys", "heads", Config(kv_heads=2, grouping="show", projections="tied"),
        "With two sets of keys and values for eight heads, the cache is a quarter of the size, and the weights change.",
        "How large is the cache with one set for all heads?",
        ("Half", "A quarter", "An eighth"), 2,
        "An eighth: the cache has keys and values per set, so one set for eight heads takes an eighth of eight sets.",
        INTERMEDIATE, "keys and values"),
    "leak": Example("A reshape that leaks the future", "implementations", Config(implementation="fused"),
        "The weights are right and every shape fits, but joining the heads in the wrong order mixes tokens: early rows contain later ones.",
        "Would the bug show with one head?",
        ("Yes, it would", "No: there is nothing to join", "Only in the last row"), 1,
        "With one head nothing has to be joined, so the order of the axes makes no difference: tests with one head pass.",
        ADVANCED, "heads, shapes of tensors"),
    "long": Example("65,536 tokens", "heads", Config(tokens=65_536, heads=4, d_model=256, head=1),
        "The roles hold at 65,536 tokens, and every weight is computed: one and three words back are thin lines, the first word is a column. Each pixel shows the largest of 117 thousand weights and contains a copy of every word, so the first head is one colour.",
        "What does the thin line of the second head look like when you zoom in?",
        ("A diagonal, one token wide", "A block", "A column"), 0,
        "A diagonal just below the main one: each token attends to the one before it, so every row has a single strong cell.",
        INTERMEDIATE, "maps of weights"),
    "documents": Example("Thirteen texts in 65,536 tokens", "heads", Config(tokens=65_536, heads=4, d_model=256, input="topics"),
        "The first head attends to similar tokens, which here are those on the same subject: its map has one block per text.",
        "Where does the longest text begin?",
        ("At token 24,308", "At token 45,557", "At token 56,553"), 1,
        "At token 45,557: that text has 10,996 tokens, more than any other.",
        INTERMEDIATE, "maps of weights"),
    "refrain": Example("A refrain of 8,192 tokens, eight times", "heads", Config(tokens=65_536, heads=4, d_model=256, input="refrain"),
        "The first head attends to every earlier copy of a token: seven lines, 8,192 tokens apart.",
        "Why does the second head show none of the seven lines?",
        ("It attends by position, not by content", "Its weights are too small to see", "It is masked there"), 0,
        "The second head attends to the token before, whatever that token is: an earlier copy gets no weight for being a copy.",
        INTERMEDIATE, "maps of weights"),
    "gpu": Example("CPU against GPU", "timing", CpuGpuSettings(picture="time"),
        "At 4,096 tokens an H100 in float16 is over a thousand times as fast as two CPU cores in float32. Including the copy from and to ordinary memory, it is less than a hundred times.",
        "Which takes longer at 16,384 tokens: the computation on the GPU, or the CPU↔GPU transfer?",
        ("The computation on the GPU", "The transfer", "Both take equally long"), 1,
        "The transfer: 58 ms against 2.6 ms for the computation, 22 times as long.",
        INTERMEDIATE, "CPU and GPU memory"),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Tour:
    """The settings of the page of examples."""

    about: str = choice(
        "learn",
        ("all", "learn", "questions", "heads", "layers", "softmax", "steps", "masks", "implementations", "timing"),
        "Show",
        "Twelve steps in order, then five questions; or all examples, or those of one page.",
        names={"learn": "twelve steps", "all": "all examples", "questions": "five questions"},
        about="view",
    )

    def __post_init__(self) -> None:
        TOURS.check("about", self.about)


TOURS = Settings(Tour, "the examples")
