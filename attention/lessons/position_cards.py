"""What rotary positions and their scalings do, each as a card.

Every number of a card is computed by a test (tests/test_lessons.py).
"""

from __future__ import annotations

from typing import Any

from attention.config import Config
from attention.examples import ADVANCED, INTERMEDIATE, Example


def _rotary(length: int, distance: int, scaling: str = "none", **knobs: Any) -> Config:
    """Eight heads of 128 channels on the page of positions."""
    own = {"rotary_length": length, "rotary_scaling": scaling, "distance": distance}
    return Config(topic="positions", positions="rotary", d_model=1024, **own, **knobs)


POSITION_CARDS: dict[str, Example] = {
    "unplaced": Example("Without positions, order is invisible", "heads", Config(projections="independent", mask="full", query=10),
        "These heads have no positions and no mask, so equal words cannot be told apart: in every head both “bank” have the same row, and each row has the same weight for both.",
        "What else tells such heads something about the order?",
        ("A causal mask", "More heads", "A lower temperature"), 0,
        "Under a causal mask the first “bank” sees 3 tokens and the second 11, so in head 0 their rows differ by up to 0.37. Decoders with layers without positions, as in Llama 4, rely on it.",
        INTERMEDIATE, "masks"),
    "base": Example("A larger base reaches farther", "softmax", _rotary(8192, 8192, rotary_base=500_000.0),
        "At base 500,000, as in Llama 3, the slowest of 64 pairs makes a full turn in 2,559,196 tokens; at the usual 10,000 in 54,410. At distance 8,192 a constant query and key keep 0.265 of their score instead of 0.025. A program that assumes 10,000 computes other weights, without an error.",
        "How many pairs make less than one turn within 8,192 tokens at base 500,000?",
        ("14", "29", "64"), 1,
        "29, whose angle says how far a key is without ever repeating. At base 10,000 there are 14.",
        ADVANCED, "rotary positions"),
    "linear": Example("Positions divided by four", "softmax", _rotary(4096, 16_384, "linear"),
        "Linear scaling (position interpolation) divides positions by the factor: at distance 16,384 every pair is where distance 4,096 had it in training. Without it, 18 of 64 pairs would be at angles that never occurred. mlx-vlm (pull request 1709) and mlxcel (issue 1340) had versions that ignored the factor 8 of Gemma 3.",
        "What becomes harder for a head?",
        ("To tell neighbours apart", "To reach far back", "To attend to the first token"), 0,
        "One token turns every pair by a quarter of its angle: from distance 0 to 1 the score of a constant query and key falls by 0.002, unscaled by 0.030.",
        ADVANCED, "rotary positions"),
    "ntk": Example("A base that grows with the factor", "softmax", _rotary(4096, 16_384, "ntk"),
        "NTK-aware scaling raises the base from 10,000 to 40,890: the first pair rotates as in training, the last four times more slowly, those between by powers of that. At four times the original length, 17 of 64 pairs are still at new angles; under linear scaling and YaRN none is. The dynamic variant of transformers raises the base as a text grows, yet cached keys keep their rotation (issue 25104): at 8,192 tokens a constant query and the key at 4,095 score 0.026 instead of 0.244.",
        "Up to which distance does it keep all pairs at known angles?",
        ("About 4,100", "About 11,300", "About 16,400"), 1,
        "Up to 11,270. All slow pairs but the last are slowed by less than the factor, so the factor has to be larger than the ratio of the lengths.",
        ADVANCED, "rotary positions"),
    "llama3": Example("Llama 3.1 without its scaling", "softmax", _rotary(8192, 20_000, "llama3", rotary_base=500_000.0, rotary_factor=8.0),
        "Llama 3.1 leaves 29 of 64 pairs as in training and turns 29 eight times more slowly. Without that, 29 pairs are at angles at distance 20,000 that training never had. mlx-vlm (pull request 1710) and Unsloth (6197) had versions that read the base but not the scaling.",
        "Why do short prompts not show such a bug?",
        ("The error grows with the distance", "Short prompts use another base", "The softmax removes it"), 0,
        "A constant query and key score 0.612 instead of 0.611 at distance 100, and 0.560 instead of 0.492 at 1,000. At distance 0 nothing differs.",
        ADVANCED, "rotary positions"),
}  # fmt: skip
