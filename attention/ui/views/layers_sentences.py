"""Sentences about the map of layers and heads: what it shows, what its colours are, and which layers a recording has."""

from __future__ import annotations

from collections.abc import Mapping

from attention.analysis.head_numbers import EVERY
from attention.analysis.head_roles import COUNTS
from attention.config import Config
from attention.fitting import layers
from attention.number_format import format_weight
from attention.sources.providers import tokens, unit
from attention.ui.markdown import escape
from attention.ui.results.layers import Layer
from attention.ui.session import model_run
from attention.ui.text import layers as text
from attention.ui.views import heads_layers as maps
from attention.ui.views.known_metrics import repeats

OF_COPIES = "induction", "duplicate"  # patterns about tokens that occurred before
ENOUGH = 5  # such tokens, from which on a head is called after the pattern


def finding(config: Config, found: Mapping[int, Layer]) -> str:
    """Which heads have the largest values of the statistic, for the heading of a page."""
    name = maps.number(config, found)
    described, held = EVERY[name], maps.cells(name, found)
    if not held:
        return text.NONE
    if why := maps.absent(config, found):
        return why
    best, most = max(held.items(), key=lambda cell: cell[1])
    template = text.FINDINGS.get(name, text.FINDING)
    high = sum(value > maps.HIGH for value in held.values())
    if maps.is_weight(config, found):
        template = (text.WEIGHT_NONE, text.WEIGHT_ONE, text.WEIGHT)[min(high, 2)]
        if name == "induction" and high and not _is_rare(name, config):
            template = text.INDUCTION if high > 1 else text.INDUCTION_ONE
    return template.format(
        heads=text.ALL_HEADS.format(count=len(held)),
        most=maps.value_text(config, found, most, format_weight),
        best=maps.head_title(config, best),
        first=maps.head_title(config, best).capitalize(),
        statistic=escape(described.label.lower()),
        keys=text.KEYS.get(name, ""),
        count=high,
        named=(COUNTS[high] if high < len(COUNTS) else str(high)).capitalize(),
        unit=unit(config),
        where=_where(name, config),
    )


def _is_rare(name: str, config: Config) -> bool:
    """Whether a pattern is about tokens that occurred before, and too few did to call a head after it."""
    return name in OF_COPIES and repeats(tokens(config).texts) < ENOUGH


def _where(name: str, config: Config) -> str:
    """Of which queries a finding is, if not of all; of few copies, how many there are."""
    if not _is_rare(name, config):
        return text.WHERE.get(name, "")
    count = repeats(tokens(config).texts)
    return text.WHERE_ONCE if count == 1 else text.WHERE_FEW.format(count=count)


def statistic_caption(config: Config, found: Mapping[int, Layer]) -> str:
    """What the colours of the map are, as Markdown; "" if there is no map, as all heads have 0."""
    name = maps.number(config, found)
    if maps.absent(config, found):
        return ""
    if maps.is_weight(config, found):
        return text.STATISTIC_OF_WEIGHT.format(keys=text.KEYS[name], queries=text.QUERIES[name])
    meaning = f" ({text.MEANINGS[name]})" if name in text.MEANINGS else ""
    return text.STATISTIC.format(statistic=escape(EVERY[name].label.lower()), meaning=meaning)


def recorded_sentence(config: Config) -> str:
    """Which layers of the model are recorded, and why, as Markdown; "" if it has no others."""
    if not _leaves_layers_out(config):
        return ""
    model, why = model_run.reader(config.source), text.CHOSEN if config.source.startswith("recorded:") else ""
    count = len(layers(config.source))
    said = text.RECORDED_OF.format(count=count, model=escape(model.model), why=why) if model else ""
    return f"{said} {text.RECORDED}".lstrip()


def _leaves_layers_out(config: Config) -> bool:
    """Whether the source has several layers of a model, but not all from the first on."""
    numbers = layers(config.source)
    return len(numbers) > 1 and numbers != tuple(range(len(numbers)))
