"""Tables of the topic Positions: pairs, curves by distance, models."""

from __future__ import annotations

from typing import Any

import torch

from attention.analysis.position_curves import (
    FARTHEST_BIAS,
    MODELS,
    SCALED,
    TRAINED,
    biases,
    constant_score,
    pairs_unscaled,
    spread,
    wavelengths,
)
from attention.config import Config
from attention.operations.rotary import UNSCALED, Rotation


def lengths(rotation: Rotation, distance: int) -> dict[str, float]:
    """Returns what the rules of the charts mark, in tokens; the scaled length only if there is a scaling."""
    scaled = {} if rotation.scaling == UNSCALED else {"× factor": rotation.length * rotation.factor}
    return {"original length": float(rotation.length)} | scaled | {"distance": float(distance)}


def _with_rules(columns: dict[str, list[Any]], rules: dict[str, float]) -> dict[str, list[Any]]:
    """Returns columns with a line for each rule, which has no other values."""
    count = len(next(iter(columns.values())))
    found = {name: [*values, *[None] * len(rules)] for name, values in columns.items()}
    blank = [None] * count
    return found | {"rule": [*blank, *rules], "tokens": [*blank, *rules.values()]}


def _kinds(rotation: Rotation) -> dict[str, Rotation]:
    plain = {TRAINED: pairs_unscaled(rotation)}
    return plain if rotation.scaling == UNSCALED else plain | {SCALED: rotation}


def pairs(rotation: Rotation, distance: int) -> dict[str, list[Any]]:
    """Returns columns pair, kind, wavelength, turns within the original length and kept share, and the rules."""
    columns: dict[str, list[Any]] = {name: [] for name in ("pair", "kind", "wavelength", "turns", "kept")}
    for kind, found in _kinds(rotation).items():
        waves = wavelengths(found)
        columns["pair"] += range(found.pairs)
        columns["kind"] += [kind] * found.pairs
        columns["wavelength"] += waves.tolist()
        columns["turns"] += (rotation.length / wavelengths(pairs_unscaled(rotation))).tolist()
        columns["kept"] += rotation.kept_shares(torch.float64).tolist()
    return _with_rules(columns, lengths(rotation, distance))


def scores(rotation: Rotation, d: int, distance: int, farthest: int) -> dict[str, list[Any]]:
    """Returns columns distance, kind and score of a constant query and key, and the rules."""
    columns: dict[str, list[Any]] = {"distance": [], "kind": [], "score": []}
    at = spread(farthest)
    for kind, found in _kinds(rotation).items():
        columns["distance"] += at.tolist()
        columns["kind"] += [kind] * len(at)
        columns["score"] += constant_score(found, d, at).tolist()
    return _with_rules(columns, lengths(rotation, distance))


def bias_lines(config: Config) -> dict[str, list[Any]]:
    """Returns columns head, distance and bias."""
    at = torch.arange(FARTHEST_BIAS + 1, dtype=torch.float64)
    found = biases(config, at)
    heads = torch.arange(config.heads).repeat_interleave(len(at))
    return {"head": heads.tolist(), "distance": at.repeat(config.heads).tolist(), "bias": found.flatten().tolist()}


def every_pair(rotation: Rotation, distance: int) -> dict[str, list[Any]]:
    """Returns one line per pair: wavelengths, turns in training, kept share, and turns at a distance."""
    plain = wavelengths(pairs_unscaled(rotation))
    scaled = wavelengths(rotation)
    return {
        "pair": list(range(rotation.pairs)),
        "wavelength": plain.tolist(),
        "turns in training": (rotation.length / plain).tolist(),
        "kept": rotation.kept_shares(torch.float64).tolist(),
        "scaled wavelength": scaled.tolist(),
        "turns at the distance": (distance / plain).tolist(),
        "scaled turns": (distance / scaled).tolist(),
    }


def models() -> dict[str, list[Any]]:
    """Returns one line per published model."""
    names = ("positions", "rotary_base", "rotary_fraction", "rotary_scaling", "rotary_factor", "rotary_length")
    columns: dict[str, list[Any]] = {"model": [model.title for model in MODELS], "d_head": [m.d_head for m in MODELS]}
    for name in names:
        columns[name] = [model.knobs.get(name) for model in MODELS]
    scaled = [model.knobs.get("rotary_scaling", "none") != "none" for model in MODELS]
    columns["rotary_factor"] = [
        value if used else None for value, used in zip(columns["rotary_factor"], scaled, strict=True)
    ]
    return columns | {"source": [model.where for model in MODELS]}
