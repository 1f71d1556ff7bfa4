"""What positions do by distance: wavelengths of rotary pairs, the score of a constant query and key, and biases.

Everything is computed in float64 from the settings alone, at any distance; no tokens take part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from attention.config import Config
from attention.operations.positions import POSITIONS
from attention.operations.rotary import UNSCALED, Rotation, rotation_of


@dataclass(frozen=True)
class Model:
    """The positions of a published model; `knobs` are those of a config, `where` says which document has them."""

    title: str
    d_head: int
    knobs: dict[str, object]
    where: str


def _rotary(base: float, length: int, scaling: str = UNSCALED, factor: float = 4.0, fraction: float = 1.0) -> dict:
    return {
        "positions": "rotary",
        "rotary_base": base,
        "rotary_length": length,
        "rotary_scaling": scaling,
        "rotary_factor": factor,
        "rotary_fraction": fraction,
    }


MODELS: tuple[Model, ...] = (
    Model("Llama 3.1 8B", 128, _rotary(500_000.0, 8192, "llama3", 8.0), "config.json of Meta-Llama-3.1-8B"),
    Model(
        "Qwen2.5 7B + YaRN",
        128,
        _rotary(1_000_000.0, 32_768, "yarn", 4.0),
        "config.json and model card of Qwen2.5-7B-Instruct, which adds YaRN for texts beyond 32,768 tokens",
    ),
    Model(
        "gpt-oss 20B",
        64,
        _rotary(150_000.0, 4096, "yarn (not rounded)", 32.0),
        "config.json of gpt-oss-20b (truncate: false)",
    ),
    Model(
        "GPT-NeoX 20B", 96, _rotary(10_000.0, 2048, fraction=0.25), "Black et al. 2022, and config.json of gpt-neox-20b"
    ),
    Model("Phi-2", 80, _rotary(10_000.0, 2048, fraction=0.4), "config.json of phi-2 (partial_rotary_factor: 0.4)"),
    Model(
        "BLOOM 560M",
        64,
        {"positions": "alibi bloom", "heads": 16},
        "config.json of bloom-560m; build_alibi_tensor of transformers",
    ),
)
TRAINED, SCALED = "as trained", "scaled"  # the two series of every curve of rotary positions
FARTHEST_BIAS = 256  # distances of the chart of biases
POINTS = 600  # of a curve over the logarithm of the distance


def pairs_unscaled(rotation: Rotation) -> Rotation:
    """Returns the same pairs as they were trained, without a scaling."""
    return replace(rotation, scaling=UNSCALED)


def wavelengths(rotation: Rotation) -> Float[Tensor, " m"]:
    """Returns the tokens in which each pair makes a full turn."""
    return 2 * math.pi * rotation.periods(torch.float64)


def constant_score(rotation: Rotation, d: int, distances: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """Returns the score of a query and a key of ones at some distances, as a share of that of the unturned vectors.

    Each pair gives the cosine of its angle, times the square of the attention factor; channels that are not turned give one.
    """
    angles = distances[:, None] / rotation.periods(torch.float64)
    return (2 * rotation.gain**2 * angles.cos().sum(-1) + (d - 2 * rotation.pairs)) / d


def untrained_pairs(rotation: Rotation, distance: int) -> int:
    """Returns how many pairs are at an angle at this distance that no distance within the original length has.

    That is an angle within the first turn, larger than the one at the original length.
    """
    trained = rotation.length / pairs_unscaled(rotation).periods(torch.float64)
    angle = distance / rotation.periods(torch.float64)
    return int(((trained < 2 * math.pi) & (angle > trained * (1 + 1e-9))).sum())


def rotation_of_config(config: Config) -> Rotation:
    """Returns how the heads of a config are turned, or would be if its positions were rotary."""
    return rotation_of(config, config.d_head)


def biases(config: Config, distances: Float[Tensor, " n"]) -> Float[Tensor, "h n"]:
    """Returns what positions add to the scores of each head at some distances before the query; zeros if nothing."""
    to_scores, heads = POSITIONS[config.positions].to_scores, torch.arange(config.heads, dtype=torch.float64)
    if to_scores is None:
        return torch.zeros(config.heads, len(distances), dtype=torch.float64)
    at = distances.long()
    return to_scores(at, torch.zeros_like(at), heads[:, None], config.heads)


def spread(farthest: int) -> Float[Tensor, " n"]:
    """Returns whole distances up to the farthest, evenly on a logarithmic axis."""
    return torch.logspace(0, math.log10(farthest), POINTS, dtype=torch.float64).round().unique()
