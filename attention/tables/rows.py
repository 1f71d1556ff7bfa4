"""Converts tensors to rows and to files.

Rows are lists of plain dicts or columns of plain lists, which every table and chart library reads.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attention.analysis.head_numbers import OF_DISTRIBUTIONS
from attention.codec import link
from attention.config import Config
from attention.heads import Profile, profile, row_entropy
from attention.imported.nearest_mask import ranges as ranges
from attention.maps.picture import HeadMaps
from attention.number_format import format_mean, format_percent, format_token, format_weight
from attention.operations.softmax import SOFTMAXES
from attention.sources.layer_inputs import Source
from attention.sources.providers import (
    UPLOADED,
    distributes,
    has_scores,
    tokens,
)
from attention.sources.providers import keys as looked_at
from attention.steps.plan import steps
from attention.trace import Trace

CSV_ROWS = 1_000_000
NO_ENTROPY = "No entropy: the row is no distribution"
FAINT = 1e-9  # what a row that sums to less than one lacks at least: float32 rounds it to nothing
ROUNDED = 5e-4  # how far the sum of a row may be from one to be called its whole weight
MOST = 0.75  # share of a row that keys above the uniform weight need to be named alone
NEARLY = 0.95  # share of the largest weight of a row from which all its weights are about equal
NAMED = 3  # number of keys that a sentence names
STANDS_OUT = 1.75, 0.1  # of the second largest weight, and of the row: from there on, the largest weight is named
FEW = 4  # number of keys up to which attention counts as specific, even if few are visible


@dataclass(frozen=True)
class Row:
    """One query's weights in one head: its keys, entropy, largest weight, and how many keys hold 90%.

    `keys` has the columns key (position), token, weight and visible (not masked), one line per key; `seeing` is the
    number of visible keys.
    """

    head: int
    query: int
    label: str
    keys: dict[str, list[Any]]
    entropy: float
    greatest: float
    holding: int
    seeing: int

    @cached_property
    def sizes(self) -> list[float]:
        """The sizes of its weights, the largest first."""
        return sorted(map(abs, self.keys["weight"]), reverse=True)

    @cached_property
    def main_keys(self) -> int:
        """How many keys hold 90% of it, or are above the uniform weight if these are fewer and have most of it."""
        total = math.fsum(self.sizes)
        above = sum(weight > total / self.seeing for weight in self.sizes)
        fewest = above if not _is_wide(self) and math.fsum(self.sizes[:above]) >= MOST * total else self.holding
        return min(fewest, self.holding)


def labels(config: Config) -> list[str]:
    """Returns the tokens of a config's source for display; [] if they have no texts."""
    return list(tokens(config).labels)


def key_labels(config: Config) -> list[str]:
    """Returns the tokens of the keys for display, which differ if a source has another sequence."""
    return list(looked_at(config.for_page()).labels)


def row(trace: Trace) -> Row:
    """Returns the row of the selected query in the selected head."""
    config = trace.config
    return describe_row(config, trace.weights[config.head, config.query_index], trace.mask[config.query_index])


def describe_row(config: Config, weights: Float[Tensor, " k"], visible: Bool[Tensor, " k"]) -> Row:
    """Returns the selected row of a config, from its weights."""
    names, at = labels(config), list(range(config.n_keys))
    tokens = key_labels(config) or [str(i) for i in at]
    keys = {"key": at, "token": tokens, "weight": weights.tolist(), "visible": visible.tolist()}
    label = names[config.query_index] if names else ""
    entropy, greatest, seeing = float(row_entropy(weights)), float(weights.max()), int(visible.sum())
    return Row(config.head, config.query_index, label, keys, entropy, greatest, holding(weights), seeing)


def bin_row(found: Row, most: int) -> tuple[dict[str, list[Any]], int]:
    """Returns the columns of a row in at most `most` bars, and the number of keys per bar.

    A bar has the largest weight of its keys, with the position and the token of that key.
    """
    return bin_columns(found.keys, "weight", most)


def bin_columns(columns: dict[str, list[Any]], by: str, most: int) -> tuple[dict[str, list[Any]], int]:
    """Returns columns in at most `most` bars, and the number of keys per bar: its key of the largest number `by` by size."""
    numbers = torch.tensor(columns[by])
    tile = -(-len(numbers) // most)
    starts = torch.arange(0, len(numbers), tile)
    padded = F.pad(numbers.abs(), (0, -len(numbers) % tile), value=-1.0).view(-1, tile)
    return _at(columns, (starts + padded.argmax(-1)).tolist()), tile


def heaviest(found: Row, many: int) -> dict[str, list[Any]]:
    """Returns the columns of the `many` keys with the largest weights, the largest first."""
    return _at(
        found.keys, torch.tensor(found.keys["weight"]).abs().topk(min(many, len(found.keys["weight"]))).indices.tolist()
    )


def _at(columns: dict[str, list[Any]], keys: list[int]) -> dict[str, list[Any]]:
    return {name: [column[key] for key in keys] for name, column in columns.items()}


def focus(trace: Trace, side: int) -> tuple[Float[Tensor, "p r"], int, Float[Tensor, "p r"]]:
    """Returns the window of the selected head, at most `side` cells per side: cells, tokens per cell, visible keys."""
    rows, cols = (slice(*ends) for ends in trace.config.window)
    weights, seeing = trace.weights[trace.config.head, rows, cols], trace.mask[rows].sum(-1)
    tile = focus_tile(trace.config, side)
    cells, sights = pool_row(weights, trace.mask[rows, cols], seeing, tile)
    return cells, tile, sights


def pool_row(
    weights: Float[Tensor, "q k"], visible: Bool[Tensor, "q k"], seeing: Int[Tensor, " q"], tile: int
) -> tuple[Float[Tensor, "p r"], Float[Tensor, "p r"]]:
    """Returns the largest weight of each tile, NaN if all of it is masked, and the visible keys of the query that has it.

    It is the one of the largest magnitude.
    """
    if tile == 1:
        return weights.masked_fill(~visible, torch.nan), seeing[:, None].float().expand(weights.shape)
    size, at = F.max_pool2d(weights.abs().masked_fill(~visible, -1)[None], tile, ceil_mode=True, return_indices=True)
    cells = weights.flatten()[at[0]].masked_fill(size[0] < 0, torch.nan)
    return cells, seeing[at[0] // weights.shape[1]].float()


def focus_tile(config: Config, side: int) -> int:
    """Returns the tokens per side of a cell if the window of a config has at most `side` cells per side."""
    return -(-max(last - first for first, last in config.window) // side)


def holding(weights: Float[Tensor, " k"], share: float = 0.9) -> int:
    """Returns the smallest number of keys that together hold this share of a row's weight, negative ones by their size."""
    mass = weights.abs().sort(descending=True).values.double().cumsum(0)
    return int((mass < share * mass[-1]).sum()) + 1 if mass[-1] > 0 else 0


def mostly(found: Row, what: str) -> str:
    """Returns to how many visible keys a query attends, and how much they have.

    It is the predicate of a sentence; `what` is the reader's word for a token. The keys are those that hold 90% of the row,
    or those above the uniform weight if these are fewer and have most of it. More than half of the visible keys count as spread,
    unless one weight stands out.
    """
    if found.seeing == 1:
        return f"attends to its only visible {what}"
    total, count = math.fsum(found.sizes), found.main_keys
    many = f"{count:,} of {found.seeing:,} visible {what}s"
    held = format_percent(min(math.fsum(found.sizes[:count]) / (total or 1.0), 1.0))
    whole = "its weight" if abs(total - 1) < ROUNDED else "what all keys get"  # a row may sum to less than one
    if _is_even(found):
        return f"gives each of the {found.seeing:,} visible {what}s about {format_percent(1 / found.seeing)} of {whole}"
    if _spreads(found):
        over = f" over all {count:,} visible {what}s" if count == found.seeing else f": {many} have {held} of {whole}"
        return f"spreads its weight{over}"
    if _is_wide(found):
        return f"needs {many} for {held} of {whole}"
    return f"attends mostly to {many} ({held} of {whole})"


def puts(found: Row, what: str, largest: bool = False) -> str:
    """Returns which keys get how much of a row that is a distribution, and what all others get: the predicate of a sentence.

    At most `NAMED` keys are named, and none of a row that is spread. `largest`: only the first part of it, with the keys that
    get as much as the first one.
    """
    if _spreads(found):
        spread = mostly(found, what)
        return (
            spread
            if largest or _is_even(found)
            else f"{spread}; the largest weight is {format_percent(found.greatest)}"
        )
    size = [round(abs(weight), 3) for weight in found.keys["weight"]]
    equal = size.count(round(abs(found.greatest), 3))
    many = (equal if equal <= NAMED else 1) if largest else min(NAMED, found.main_keys)
    order = sorted(range(len(size)), key=lambda key: (-size[key], key))  # of equal ones, the first key comes first
    named = _at(found.keys, order[:many])
    keys = [*zip(named["weight"], named["token"], named["key"], strict=True)]
    least = size[order[many - 1]]
    ties = [found.keys["weight"][key] for key in order[many:] if size[key] == least]  # of keys that are not named
    others = found.seeing - len(keys) - len(ties)
    rest = max(
        0.0, math.fsum([*found.keys["weight"], *(-weight for weight in (*named["weight"], *ties))])
    )  # also 1e-20
    most = math.nextafter(1, 0) if rest else 1.0  # a weight that is rounded to one, beside others, is not all
    shares = [f"{format_percent(min(weight, most))} on {format_token(token, at, 'key')}" for weight, token, at in keys]
    shares[0] = shares[0].replace(" on ", " of its weight on ", 1)
    said = f"puts {(' and ' if largest else ', ').join(shares)}"
    if largest:
        return said
    said += f" and as much on {len(ties)} more" * bool(ties)
    if not others:
        return said
    if others == 1:
        return f"{said}; the other visible {what} gets {format_percent(rest)}"
    return f"{said}; the other {others:,} visible {what}s share {format_percent(rest)}"


def _spreads(found: Row) -> bool:
    """Whether a row needs many keys and none stands out, as set by `STANDS_OUT`."""
    if not _is_wide(found):
        return False
    first, second = found.sizes[:2]
    of_second, of_row = STANDS_OUT
    return first < of_second * second or first < of_row * math.fsum(found.sizes)


def _is_wide(found: Row) -> bool:
    """Whether a row needs more than half of its visible keys for 90% of its weight, and no key has more than half of it."""
    concentrated = 2 * found.sizes[0] > math.fsum(found.sizes)
    return found.holding > FEW and 2 * found.holding > found.seeing and not concentrated


def _is_even(found: Row) -> bool:
    """Whether all visible keys of a row that spreads its weight have nearly as much as the largest one."""
    return _spreads(found) and found.sizes[found.seeing - 1] >= NEARLY * found.sizes[0]


def entropy_text(config: Config, entropy: float) -> str:
    """Returns the entropy of a row as the end of a sentence, or why it has none."""
    if not distributes(config):
        return NO_ENTROPY
    return f"Entropy: {format_mean(entropy)} nats"


def support_text(found: Row, config: Config) -> str:
    """Returns how many keys of a row have weight, as in `Support: 4 of 18 keys. `; "" if all of them do."""
    if not (config.head_softmax.sparse and found.seeing and has_scores(config.source)):
        return ""
    return f"Support: {sum(weight > 0 for weight in found.keys['weight']):,} of {found.seeing:,} visible keys. "


def missing_share(found: Row, config: Config) -> str:
    """Returns how much of a row no key gets, as in `Sink: 23.0% (logit 1.50). `; "" if the softmax gives all of it to keys.

    A row that may sum to anything has its sum.
    """
    if found.seeing and not distributes(config):
        return f"{_negative_text(found)}Sum: {format_mean(math.fsum(found.keys['weight']))}. "
    rest = config.head_softmax.rest
    if not rest or not found.seeing:
        return ""
    share = max(1 - math.fsum(found.keys["weight"]), FAINT)
    logit = f" (logit {format_mean(config.sinks[found.head])})" if SOFTMAXES[config.softmax].learned else ""
    return f"{rest.removeprefix('the ').capitalize()}: {format_percent(share)}{logit}. "


def _negative_text(found: Row) -> str:
    """Returns how many weights of a row are negative, and the lowest; "" if none is."""
    many, least = sum(weight < 0 for weight in found.keys["weight"]), min(found.keys["weight"])
    if not many:
        return ""
    return f"Negative: {many:,} of {found.seeing:,} keys, down to −{format_weight(-least)}. "


def numbers(trace: Trace) -> dict[str, list[Any]]:
    """Returns the statistics of every head as columns, `head` first; columns are named as in `heads.Profile`."""
    found = profile(trace.weights, trace.mask, trace.texts or None)
    return without_distributions(columns(found, bool(trace.mask.any())), trace.config)


def columns(found: Profile, seeing: bool) -> dict[str, list[Any]]:
    """Returns the statistics of every head as columns, `head` first; None if no query has a visible key."""
    heads = list(range(len(found.entropy)))
    known = {name: number for name, number in vars(found).items() if number is not None}
    return {"head": heads} | {name: values(number, seeing) for name, number in known.items()}


def without_distributions(found: dict[str, Any], config: Config) -> dict[str, Any]:
    """Returns the columns without statistics that need distributions, if the rows of a config are none."""
    return {name: each for name, each in found.items() if distributes(config) or name not in OF_DISTRIBUTIONS}


def values(number: Float[Tensor, " h"], seeing: bool) -> list[float | None]:
    """Returns a statistic of every head, None for each if no query has a visible key."""
    return number.tolist() if seeing else [None for _ in number]


def npz(trace: Trace) -> bytes:
    """Returns the trace as a NumPy archive: weights (h q k), mask (q k), those of q k v context output x there are, the link."""
    needs = {"q": {"q"}, "k": {"k"}, "v": {"v"}, "context": {"v"}, "output": {"v", "projections"}, "x": {"x"}}
    parts = ("weights", "mask", *(name for name, parts in needs.items() if trace.has >= parts))
    memory = io.BytesIO()
    arrays = {name: np.ascontiguousarray(getattr(trace, name).numpy()) for name in parts}
    np.savez_compressed(memory, link=np.array(link(trace.config)), **arrays)  # pyright: ignore[reportArgumentType]  arrays by name
    return memory.getvalue()


def vectors_npz(config: Config) -> bytes:
    """Returns queries q (h n d) and keys k (g n d) of an uploaded layer as a NumPy archive, with the link."""
    memory = io.BytesIO()
    query, key = UPLOADED.queries_and_keys(Source.of(config), config, range(config.heads))
    np.savez(memory, link=np.array(link(config)), q=query.numpy(), k=key.numpy())
    return memory.getvalue()


def maps_npz(config: Config, maps: HeadMaps) -> bytes:
    """Returns maps as a NumPy archive: mean and most (h p p), tile, statistics of every query (h q), and the link."""
    memory = io.BytesIO()
    arrays = {name: getattr(maps, name).numpy() for name in ("mean", "most", "lse", "entropy", "greatest", "distance")}
    np.savez_compressed(memory, link=np.array(link(config)), tile=np.array(maps.tile), **arrays)
    return memory.getvalue()


def csv_heads(trace: Trace) -> range:
    """Returns the heads that a CSV file of the weights has: all, or only the selected one if all are too many lines."""
    one, lines = trace.config.head, int(trace.mask.sum()) * len(trace.weights)
    return range(len(trace.weights)) if lines <= CSV_ROWS else range(one, one + 1)


def weights_csv(trace: Trace) -> bytes:
    """Returns a line per visible pair of the heads in `csv_heads`: head, query, key, their tokens, weight to nine digits."""
    config = trace.config
    names = [_cell(name) for name in labels(config)] or [""] * config.tokens
    others = [_cell(name) for name in key_labels(config)] or [""] * config.n_keys
    pairs = trace.mask.nonzero().tolist()
    memory = io.StringIO(newline="")
    write = csv.writer(memory)
    write.writerow(["head", "query", "key", "query_token", "key_token", "weight"])
    for head in csv_heads(trace):
        found = trace.weights[head][trace.mask].tolist()
        write.writerows(
            [head, q, k, names[q], others[k], f"{weight:.9g}"] for (q, k), weight in zip(pairs, found, strict=True)
        )
    return memory.getvalue().encode()


def _cell(text: str) -> str:
    """Returns the text such that a spreadsheet does not take it for a formula."""
    return f"'{text}" if text[:1] in "=+-@" else text


def costs(config: Config) -> dict[str, list[Any]]:
    """Returns every step of a pass as columns: shape, memory that it adds, operations, and the shares of these in percent."""
    plan = steps(config)
    memory, work = (sum(getattr(step, part) for step in plan) for part in ("new_bytes", "flops"))
    return {
        "step": [step.name for step in plan],
        "axes": [step.axes for step in plan],
        "shape": [" × ".join(f"{size:,}" for size in step.sizes) for step in plan],
        "bytes": [step.new_bytes for step in plan],
        "memory": [100 * step.new_bytes / memory for step in plan],
        "flops": [step.flops for step in plan],
        "work": [100 * step.flops / work for step in plan],
    }


def duration(seconds: float) -> str:
    """Returns seconds in words: under a second, 12 s, 3 min."""
    return "under a second" if seconds < 1 else f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def quantity(number: float, unit: str) -> str:
    """Returns a number with three digits and a prefix: 9437184 FLOP is 9.44 MFLOP."""
    power = min(4, max(0, int(math.log10(max(number, 1)) // 3)))
    return f"{number / 1000**power:.3g} {' kMGT'[power].strip()}{unit}"
