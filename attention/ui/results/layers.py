"""The heads of all layers of a source, for the map and the page of layers: statistics, roles, distances.

The pass of a layer runs at low priority; its description is kept, the pass itself is not. Only a few layers are computed
at a time, so that no more of them are started after the user has changed a setting.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import streamlit as st
import torch
from jaxtyping import Float
from torch import Tensor

from attention.analysis import head_distances, head_numbers
from attention.analysis.head_distances import Distances
from attention.analysis.head_kinds import Role
from attention.analysis.head_roles import roles
from attention.charts.thumbnail import page_thumbnail, png
from attention.comparison.head_changes import compare_sides
from attention.comparison.sides import side_of
from attention.config import Config
from attention.fitting import layers as every_layer
from attention.fitting import training_steps
from attention.runtime.executors import Task
from attention.sources.providers import built_rules, distributes, unit
from attention.tables.rows import values, without_distributions
from attention.trace import Trace
from attention.trace import trace as passed
from attention.ui.results.heads import after_trace
from attention.ui.results.shared import AT_ONCE, LOW_PRIORITY, RESULTS, SPINNER, wait_with_spinner

COMPARING = "Comparing heads …"
SUBTRACTED = 2**22  # the maximum number of weights of one side that are compared for a sentence
COMPARED = 384  # the maximum number of heads whose distances are computed and drawn as a square


@dataclass(frozen=True, eq=False)
class Layer:
    """What is known about the heads of a layer: the statistics of `head_numbers.EVERY` that exist, None if no query has a
    visible key, and the role of each head, None if it has no clear one.
    """

    numbers: dict[str, list[float | None]]
    roles: list[Role | None]


def begin(config: Config) -> None:
    """Starts the first layers."""
    for each in _each(config.truncated)[:AT_ONCE]:
        _layer.begin(each)


def layers(config: Config) -> dict[int, Layer]:
    """The layers of the source of a config, keyed by number as the model counts them; shows the progress meanwhile."""
    slot, found, wanted = st.empty(), {}, _each(config)
    for at, each in enumerate(wanted):
        works = [_layer.begin(ahead) for ahead in wanted[at : at + AT_ONCE]]
        try:
            found[each.layer] = works[0].result(SPINNER)
        except NotYet:
            if works[0].done():
                raise
            slot.progress(at / len(wanted), f"Layer {each.layer}: {at + 1} of {len(wanted)} …")
            found[each.layer] = works[0].result()
    slot.empty()
    return found


def last_step(config: Config, found: Mapping[int, Layer]) -> tuple[Config, Mapping[int, Layer]]:
    """The config at the last training step of its source, and its layers; both as given if it is there."""
    step = training_steps(config.source)[-1]
    if config.training_step == step:
        return config, found
    return replace(config, training_step=step), at_step(config, step)


def at_step(config: Config, step: int) -> dict[int, Layer]:
    """The layers of the source of a config after a step of its training, which take milliseconds."""
    config = replace(config, training_step=step)
    return {each.layer: _layer.begin(each).result() for each in _each(config)}


def compared_layers(config: Config) -> tuple[int, ...]:
    """The layers whose heads are compared: all, or as many around the selected layer as there is room for."""
    numbers = every_layer(config.source)
    room = max(1, COMPARED // config.heads)
    first = max(0, min(numbers.index(config.layer) - room // 2, len(numbers) - room))
    return numbers[first : first + room]


def distances(config: Config) -> Distances:
    """The distances between the heads of the layers in `compared_layers`."""
    numbers = compared_layers(config)
    return wait_with_spinner(_distances.begin(config.of_layer(numbers[0]), numbers), COMPARING)


def pair_weights(config: Config, query: int, key: int) -> dict[tuple[int, int], float]:
    """The weight of a query on a key in every head, by layer and head."""
    works = {each.layer: _pair_weights.begin(each, query, key) for each in _each(config)}
    found = {layer: wait_with_spinner(work, COMPARING) for layer, work in works.items()}
    return {(layer, head): value for layer, values in found.items() for head, value in enumerate(values)}


class KeyShare(NamedTuple):
    """How many of the queries of a head put more than a share of their weight on a key."""

    above: int
    queries: int


def key_shares(config: Config, key: int, share: float) -> dict[tuple[int, int], KeyShare]:
    """How many queries put more than a share on a key, of those that see it, by layer and head; empty if none does."""
    works = {each.layer: _key_shares.begin(each, key, share) for each in _each(config)}
    found = {layer: wait_with_spinner(work, COMPARING) for layer, work in works.items()}
    return {(layer, head): value for layer, values in found.items() for head, value in enumerate(values)}


@RESULTS
def _key_shares(config: Config, key: int, share: float) -> Task[list[KeyShare]]:
    def compute() -> list[KeyShare]:
        done = passed(config)
        weights = done.weights[:, done.mask[:, key], key]
        queries = weights.shape[-1]
        return [KeyShare(many, queries) for many in (weights > share).sum(-1).tolist()] if queries else []

    return LOW_PRIORITY.submit(compute)


@RESULTS
def _pair_weights(config: Config, query: int, key: int) -> Task[list[float]]:
    return LOW_PRIORITY.submit(lambda: passed(config).weights[:, query, key].tolist())


def map_changes(a: Config, b: Config) -> tuple[str, dict[tuple[int, int], float]]:
    """How much the map of each head of all layers differs per row, and by which number of `row_numbers.EVERY`.

    Empty if these are too many weights to compare for a sentence, or layers have other numbers.
    """
    wanted = list(zip(_each(a), _each(b), strict=True))
    if len(wanted) * b.heads * b.tokens * b.n_keys > SUBTRACTED:
        return "", {}
    works = [_map_changes.begin(*pair) for pair in wanted]
    found = {pair[1].layer: wait_with_spinner(work, COMPARING) for pair, work in zip(wanted, works, strict=True)}
    measure, *others = {name for name, _ in found.values()}
    values = {(layer, head): value for layer, (_, rows) in found.items() for head, value in enumerate(rows)}
    return measure, {} if others else values


@RESULTS
def _map_changes(a: Config, b: Config) -> Task[tuple[str, list[float]]]:
    def compare() -> tuple[str, list[float]]:
        found = compare_sides(side_of(passed(a)), side_of(passed(b)))
        return found.measure, found.mean(found.measure)

    return LOW_PRIORITY.submit(compare)


@RESULTS
def picture(config: Config, head: int, page: str) -> Task[bytes]:
    """A thumbnail of a head of the selected layer, in the colours of a "light" or "dark" page."""
    signed = config.head_softmax.signed
    return after_trace(config, lambda found: png(page_thumbnail(found.weights[head], found.mask, page, signed)))


def _each(config: Config) -> list[Config]:
    """The `tensors` config of every layer."""
    return [config.for_page().of_layer(number) for number in every_layer(config.source)]


@RESULTS
def _layer(config: Config) -> Task[Layer]:
    return LOW_PRIORITY.submit(lambda: _describe_layer(passed(config)))


def _describe_layer(found: Trace) -> Layer:
    seeing = bool(found.mask.any())
    numbers = head_numbers.numbers(found.weights, found.mask, found.texts or None)
    return Layer(
        without_distributions({name: values(number, seeing) for name, number in numbers.items()}, found.config),
        _roles(found),
    )


def _roles(found: Trace) -> list[Role | None]:
    """The role of each head; None for every head of cross-attention, which has no named roles."""
    if found.config.is_cross or not distributes(found.config):
        return [None] * len(found.weights)
    config, line = found.config, found.queries.line
    return roles(found.weights, found.mask, found.texts, unit(config), line=line, rules=built_rules(config))


@RESULTS
def _distances(config: Config, numbers: tuple[int, ...]) -> Task[Distances]:
    """Computes one layer at a time, so that passes of other visitors go in between; no thread of the executor waits."""
    heads = len(numbers) * config.heads
    work = LOW_PRIORITY.submit(lambda: [_rows(config, numbers[0], heads)])
    for number in numbers[1:]:
        work = LOW_PRIORITY.then(work, partial(_with, config, number, heads))
    return LOW_PRIORITY.then(work, lambda rows: head_distances.distances(torch.cat(rows)))


def _with(config: Config, number: int, heads: int, before: list[Tensor]) -> list[Tensor]:
    """The rows of some layers, and of one more."""
    return [*before, _rows(config, number, heads)]


def _rows(config: Config, number: int, heads: int) -> Float[Tensor, "h r k"]:
    found = passed(config.of_layer(number))
    return head_distances.sample_rows(found.weights, found.mask, heads)
