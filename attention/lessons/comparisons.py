"""Two pictures compared, each as a card: what is pinned as A, what B changes, and a question about the difference.

Every number of a card is computed by a test (tests/test_lessons.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from attention.config import Config
from attention.examples import BASIC, INTERMEDIATE, RANDOM, Example
from attention.pinned import pin
from attention.recorded.file import RecordingError


def _against(a: Config, b: Config) -> Config:
    """Returns B with A pinned."""
    return replace(b, against=pin(a))


def _scaling() -> Config:
    a = Config(d_model=1024, heads=1, scale="none", **RANDOM)
    return _against(a, replace(a, scale="1/sqrt(d_head)"))


def _window() -> Config:
    a = Config(head=2)
    return _against(a, replace(a, mask="window", span=4))


def _training() -> Config:
    b = Config.of("trained:induction", layer=1, head=2)
    return _against(replace(b, training_step=140), b)


def _meanings() -> Config:
    a, b = (Config.of(f"recorded:minilm-{name}", layer=3, head=1, query=10) for name in ("street", "wide"))
    return _against(a, b)


def _rotary() -> Config:
    a = Config(projections="identity", heads=1, d_model=64, query=16)
    return _against(a, replace(a, positions="rotary"))


def _complement() -> Config:
    return _against(Config(), Config(mask="full", combine="without", second="causal"))


# fmt: off
_CARDS: dict[str, tuple[str, Callable[[], Config], str, str, tuple[str, ...], int, str, str, str]] = {
    "without-scaling": ("With and without √d, subtracted", _scaling,
        "At a width of 1,024, A has no scaling and B divides the scores by √d. In A the largest weight of a row averages 0.97, in B 0.29.",
        "Which row is equal on both sides?",
        ("The first", "The last", "None"), 0,
        "The only visible key of the first token is itself, so its weight is 1 whatever the scale. All 17 other rows change, by 0.36 to 0.89 of their weight.",
        BASIC, "softmax"),
    "window-causal": ("A causal mask against a window", _window,
        "A is causal, B a window of four tokens. Head 2 attends to the first word, which leaves the window: 0.77 of a row's weight moves. Head 1 attends one word back and moves 0.003.",
        "Why do weights inside the window grow?",
        ("Their scores grow", "They share what the masked keys had", "The window multiplies them by four"), 1,
        "Scores stay equal, and each row still sums to one: what the masked keys had is shared among the visible ones, in proportion to their weights.",
        BASIC, "masks"),
    "before-after": ("A head before and after it formed", _training,
        "A is step 140 of a training, B step 1,000. At first 0.12 of the weight of this head is on what followed earlier copies, in the end 0.96: an induction head.",
        "What happened to the entropy of its rows?",
        ("It fell by more than a nat", "It stayed the same", "It rose by more than a nat"), 0,
        "It fell by 1.29 nats, from 1.78 to 0.49: a head that has found what it looks for spreads its weight over fewer tokens.",
        INTERMEDIATE, "what an induction head is"),
    "two-meanings": ("One pronoun, two sentences, subtracted", _meanings,
        "MiniLM reads of an animal and a street: in A “it was too tired”, in B “it was too wide”. Head 1 of layer 3 moves 0.45 of the weight of “it”: “animal” had 0.68 and keeps 0.28.",
        "Which token gains most of that weight?",
        ("“street”", "“[CLS]”", "“wide”"), 1,
        "“[CLS]” gains 0.22, a token where heads put weight that they have no use for. “cross” gains 0.08, “street” 0.07 and “wide” 0.03.",
        INTERMEDIATE, "maps of weights"),
    "rotary-none": ("With and without rotary positions", _rotary,
        "Tokens are compared as they are, so in A the last “the” gives each of the five “the” the same weight, 0.20. B turns queries and keys by their positions: it gives itself 0.53.",
        "Which of the earlier four keeps most in B?",
        ("The first, 16 tokens back", "The nearest, 3 tokens back", "All four keep the same"), 1,
        "The nearest keeps 0.15, the first 0.06: equal vectors that are turned by different angles no longer match, and the angle grows with the distance.",
        INTERMEDIATE, "positions"),
    "mask-turned": ("A mask with True turned round", _complement,
        "A is causal. B is what scaled_dot_product_attention does with torch.triu(ones, 1).bool(), written for nn.MultiheadAttention, where True is masked. Every row of every head changes entirely: by 1.000.",
        "What does the last query attend to in B?",
        ("The first token", "Itself", "Nothing"), 2,
        "In B a query sees later tokens only, and the last one has none: all of its weights are zero. In A it sees all 18 tokens. No pair is visible on both sides.",
        INTERMEDIATE, "masks"),
}
# fmt: on


def _example(title: str, config: Callable[[], Config], *said: object) -> Example | None:
    """Returns a card, None if the file of a source is damaged, which leaves all others intact."""
    try:
        return Example(title, "heads", config(), *said)  # pyright: ignore[reportArgumentType]  as in `_CARDS`
    except RecordingError:
        return None


COMPARISONS: dict[str, Example] = {name: card for name, said in _CARDS.items() if (card := _example(*said))}
