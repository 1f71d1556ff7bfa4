"""What `generate` of transformers does between calls: positions of cached keys, and rows of a beam search."""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, NamedTuple

from attention.tracing.track import Place

EXPAND = "_expand_inputs_for_generation"
Watchers = Callable[[], "list[Any]"]


class Update(NamedTuple):
    """A cache was given `new` keys and returned `length` keys: `place` is that of the call that follows."""

    place: Place
    new: int
    length: int


def places(watchers: Watchers) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yields the functions of transformers to replace, as far as it is imported."""
    caches = sys.modules.get("transformers.cache_utils")
    generation = sys.modules.get("transformers.generation.utils")
    if cache := getattr(caches, "Cache", None):
        yield cache, "update", lambda original: _update(original, watchers)
    if mixin := getattr(generation, "GenerationMixin", None):
        if hasattr(mixin, "_beam_search"):
            yield mixin, "_beam_search", lambda original: _beam_search(original, watchers)
        if inspect.isfunction(inspect.getattr_static(mixin, EXPAND, None)):
            yield mixin, EXPAND, lambda original: _expand(original, watchers)


def _update(original: Callable, watchers: Watchers) -> Callable:
    @wraps(original)
    def update(self: Any, key: Any, value: Any, layer: int, *more: Any, **named: Any) -> Any:
        found = watchers()
        if not found:
            return original(self, key, value, layer, *more, **named)
        before = _before(self, layer, key.shape[-2])
        given = original(self, key, value, layer, *more, **named)
        if before is not None:
            length, new = given[0].shape[-2], key.shape[-2]
            past, offset = before
            first_key = offset if offset + length >= past + new else past + new - length
            place = Place(past, first_key, past + new - first_key)
            for watcher in found:
                watcher.on_cache_update(Update(place, new, length))
        return given

    return update


def _before(cache: Any, layer: int, new: int) -> tuple[int, int] | None:
    """The tokens in a layer of a cache, and the position of the first key that it will return; None if unknown."""
    try:
        if layer >= len(cache.layers):
            return 0, 0
        here = cache.layers[layer]
        return int(here.get_seq_length()), int(here.get_mask_sizes(new)[1])
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        return None


def _beam_search(original: Callable, watchers: Watchers) -> Callable:
    @wraps(original)
    def search(self: Any, input_ids: Any, *given: Any, **named: Any) -> Any:
        found, config = watchers(), named.get("generation_config")
        if not found or config is None:
            return original(self, input_ids, *given, **named)
        for watcher in found:
            watcher.search_begins()
        telling = copy.copy(config)
        telling.return_dict_in_generate = True
        output = original(self, input_ids, *given, **named | {"generation_config": telling})
        for watcher in found:
            watcher.search_ended(output.beam_indices.cpu(), input_ids.shape[1])
        return output if config.return_dict_in_generate else output.sequences

    return search


def _expand(original: Callable, watchers: Watchers) -> Callable:
    @wraps(original)
    def expand(*given: Any, **named: Any) -> Any:
        if named.get("expand_size", 1) > 1:
            for watcher in watchers():
                watcher.inputs_multiplied()
        return original(*given, **named)

    return expand
