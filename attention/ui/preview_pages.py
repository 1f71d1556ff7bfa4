"""The pictures of links to pages that show something else than a head of their settings, as `preview` draws these.

To add one, write a function of the entries of a link, and list it in `PAGES`. It never shows what belongs to a visit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import UInt8

from attention.charts import theme
from attention.charts.head_map import MASKED, HeadMap, color_cells, color_changes
from attention.charts.preview import Card
from attention.charts.thumbnail import interpolate, lines, rgb
from attention.charts.timing_look import COPY, CPU, GPU
from attention.config import Config
from attention.imported.registry import is_uploaded
from attention.knobs import GENERATED, KNOBS, SOURCES
from attention.number_format import format_head, format_mean, format_percent
from attention.pinned import Sides, differing_knobs, pinned_source, sides_of
from attention.published import ROWS, case
from attention.published.hunts import BUGS
from attention.recorded.file import RecordingError
from attention.settings import ConfigError
from attention.sources.providers import mask_in_use, source_title
from attention.tables import rows as tables
from attention.timing import chart_findings, comparison, cpu_gpu_series, cpu_gpu_summary, line_names, recordings
from attention.timing.break_even import BreakEven, break_even, of_pair, pair
from attention.timing.cpu_gpu_settings import BREAK_EVEN
from attention.timing.recordings import Timing
from attention.timing.subject import subject
from attention.trace import bytes_of
from attention.training import shipped
from attention.training.head_scores import texts
from attention.training.history import frame_weights
from attention.training.recipe import LAST, OWN, TELLING
from attention.training.run import probe
from attention.ui import results
from attention.ui.budget import UNDER_WAY
from attention.ui.controls.bug_series import BUGS as BUG_SERIES
from attention.ui.controls.picture import PICTURE
from attention.ui.controls.recipe import RECIPE
from attention.ui.controls.sweep import SWEEP
from attention.ui.menu import page_title
from attention.ui.text import sharing as text

PATIENCE = 8.0  # seconds that a picture may take; a chat waits about as long
SIDE = 504  # pixels of a chart
SERIES = 4  # lines of a chart
GROUND = "#ffffff"  # the colour below lines
NAMED = 3  # settings that differ and are named
Entries = Mapping[str, str]
Drawn = tuple[Card, HeadMap]


def training(entries: Entries) -> Drawn | None:
    """The selected head at the step of a link, of a training that ships."""
    recipe = RECIPE.open(entries)[0] if entries else replace(RECIPE.open({})[0], at=LAST)
    name = shipped.shipped_name(recipe.alone)
    if not name:
        return None
    try:
        course = shipped.course(name)
    except RecordingError:
        return None
    moment = course.nearest_frame(recipe.at)
    weights = frame_weights(recipe.alone, moment).flatten(0, 1)
    head = int(course.last.scores[OWN].argmax()) if recipe.head == TELLING else recipe.head
    words = texts(recipe, probe(recipe))
    mask = recipe.rule.square(len(words), len(words), recipe.span)
    cells = weights[head].masked_fill(~mask, torch.nan)
    pixels = color_cells(
        cells, mask.float().sum(-1, keepdim=True).expand_as(cells), "linear", bool((weights < 0).any())
    )
    said = text.TRAINING.format(
        step=f"{moment.step:,}",
        steps=f"{recipe.steps:,}",
        accuracy=format_percent(moment.accuracy),
        loss=format_mean(moment.loss),
    )
    title = text.TRAINED_HEAD.format(head=format_head(head % recipe.heads, head // recipe.heads), task=recipe.task)
    return Card(title, (said,)), HeadMap(pixels, 1, (0, 0), words, words, -1, ())


def timing(entries: Entries) -> Drawn | None:
    """The first sentence of the page, and its times as lines."""
    timed, shown = SWEEP.open(entries)[0], results.timing.shipped_timings()
    found = subject(timed, [], [], shown)
    if found.follows:
        crossing = of_pair(pair(found.timings)) if timed.chart == BREAK_EVEN else None
        headline = found.answers[0].headline
        series = [[(each.length, each.seconds) for each in line] for line in _lines(found.timings)[:SERIES]]
    else:
        crossing = break_even(shown, timed.one_text) if timed.picture == BREAK_EVEN else None
        cpu, gpus = cpu_gpu_series.cpu(timed.versus, shown), cpu_gpu_series.gpus(timed.versus, shown)
        headline, _ = chart_findings.headline(cpu_gpu_summary.headline(cpu, gpus, timed.versus))
        series = [[(at.length, at.seconds) for at in each.points if at.seconds] for each in (cpu, *gpus) if each]
    if crossing:
        return _timing_card(line_names.of_keys(crossing.headline, crossing.timings), _crossing_pixels(crossing))
    return _timing_card(headline, lines(series, SIDE, GROUND)) if any(series) else None


def _crossing_pixels(found: BreakEven) -> UInt8[np.ndarray, "p r 4"]:
    """The lines of the break-even, in the colours of its chart: the CPU, and the GPU with the copy and alone."""
    gpu = [(at.length, at.seconds, at.moved) for at in found.gpu.points if at.seconds]
    cpu = [(at.length, at.seconds) for at in found.cpu.points if at.seconds]
    series = [
        cpu,
        *([(length, seconds + moved * copied) for length, seconds, moved in gpu] for copied in (True, False)),
    ]
    return lines(series, SIDE, GROUND, [color for color, _ in (CPU, COPY, GPU)], found.crossing_point)


def _timing_card(headline: str, pixels: UInt8[np.ndarray, "p r 4"]) -> Drawn:
    return Card(page_title("timing"), (headline,)), HeadMap(pixels[..., :3], 1, (0, 0), (), (), -1, ())


def _lines(timings: Sequence[Timing]) -> list[list[Timing]]:
    """The timings that have a time, line by line."""
    return [comparison.with_times(line) for line in recordings.lines(comparison.with_times(timings)).values()]


def implementations(entries: Entries) -> Drawn | None:
    """The selected head of a published implementation, and how far it is off."""
    config = _config(entries)
    if config is None or results.published.refusal(config):
        return None
    row = ROWS[config.implementation]
    printed = bool(row.as_printed) and config.version == "as printed"
    shown = config.for_page(results.published.PAGE)
    with reserved(config, case.bytes_of(config)):
        found = results.published.comparison.begin(shown, config.implementation, printed).result(PATIENCE)
    weights = found.reference if found.weights is None else found.weights
    head = min(config.head, len(weights) - 1)
    visible = found.mask if found.visible is None else found.visible[head]
    cells = weights[head].masked_fill(~visible, torch.nan)
    pixels = color_cells(cells, visible.float().sum(-1, keepdim=True).expand_as(cells), config.color_scale)
    verdict = text.VERDICTS[printed].format(verdict=found.judgement.verdict)
    words = tuple(tables.labels(config)[: len(cells)])
    said = (verdict, row.mistake) if printed else (verdict,)
    return Card(row.name, said), HeadMap(pixels, 1, (0, 0), words, words, -1, ())


def find_the_bug(entries: Entries) -> Drawn | None:
    """The map that the wrong code makes, and the question."""
    series, _ = BUG_SERIES.open(entries)
    hunt = BUGS[series.bug]
    found = results.published.hunt_maps.begin(hunt).result(PATIENCE)
    pixels = interpolate(
        found.wrong[0].numpy(), (theme.WEIGHTS if hunt.shows == "weights" else theme.INFLUENCE)["light"]
    )
    pixels[~found.wrong_visible[0].numpy()] = rgb(MASKED)
    words = tuple(tables.labels(hunt.config)[: len(pixels)])
    title = text.BUG.format(number=[*BUGS].index(series.bug) + 1, count=len(BUGS))
    return Card(title, (hunt.says,)), HeadMap(pixels.round().astype(np.uint8), 1, (0, 0), words, words, -1, ())


def masks(entries: Entries) -> Drawn | None:
    """The mask in use, and how many pairs it keeps."""
    config = _config(entries)
    if config is None or not mask_in_use(config.source):
        return None
    config = shown_side(entries, config)
    used = results.masks.exhibit.begin(config, config.depth).result(PATIENCE)
    ink = (used.pixels.numpy() / 255.0)[..., None]
    pixels = (1 - ink) * np.array(rgb(MASKED)) + ink * np.array(rgb(theme.NEUTRALS["light"]["text"]))
    span = text.SPAN.format(span=config.span) if used.rule.span else ""
    said = text.PAIRS.format(pairs=f"{used.pairs:,}", whole=f"{used.whole:,}", share=format_percent(used.share))
    title = text.MASK.format(name=used.name[:1].upper() + used.name[1:], span=span)
    return Card(title, (said, used.rule.help)), HeadMap(
        pixels.round().astype(np.uint8), used.tile, (0, 0), (), (), -1, ()
    )


def heads(entries: Entries) -> Drawn | None:
    """The selected head of B minus A, and what both sides differ in; None if the link compares nothing."""
    config = _config(entries)
    sides = _sides(entries, config) if config and config.side == "difference" else None
    if sides is None or not _has_difference(sides.a, sides.b):
        return None
    pair = (sides.a.head if sides.of_head else sides.b.head, sides.b.head)
    with reserved(sides.b, bytes_of(sides.a) + bytes_of(sides.b)):
        found = results.heads.differences.begin(sides.a, sides.b, (pair,)).result(PATIENCE)
    pixels = color_changes(found.change[0], found.in_a[0] | found.in_b[0], sides.b.colors, sides.b.color_scale)
    queries, keys = (tuple(each(sides.b)) for each in (tables.labels, tables.key_labels))
    title = text.DIFFERENCE.format(head=format_head(sides.b.head), heads=sides.b.heads)
    drawn = HeadMap(pixels, found.tile, (0, 0), queries, keys, sides.b.query_index, ())
    return Card(title, _differences(sides)), drawn


def _differences(sides: Sides) -> tuple[str, ...]:
    """What both sides differ in, a line each."""
    said = []
    for name, values in [*differing_knobs(sides).items()][:NAMED]:
        a, b = (_value(name, value) for value in values)
        said.append(text.DIFFERS.format(label=KNOBS[name].label, a=a, b=b))
    return tuple(said)


def _value(name: str, value: Any) -> str:
    """A value of a setting in words."""
    return source_title(f"{value}") if name == "source" else f"{KNOBS[name].names.get(value, value)}"


def shown_side(entries: Entries, config: Config) -> Config:
    """The config that a page of one head shows: that of side A if the link has chosen it, else this one."""
    sides = _sides(entries, config) if config.side == "a" else None
    return sides.a if sides else config


def _sides(entries: Entries, config: Config) -> Sides | None:
    """Both sides of a link; None if it compares nothing, or something that can't be opened or belongs to a visit."""
    code = entries.get("against", "")
    if not (code and is_ours(pinned_source(code))):
        return None
    try:
        return sides_of(replace(config, against=code))
    except ConfigError:
        return None


def _has_difference(a: Config, b: Config) -> bool:
    """Whether two sides have a difference, head by head."""
    same = (a.heads, a.tokens, a.n_keys) == (b.heads, b.tokens, b.n_keys)
    return same and not any(each.truncated is not each for each in (a, b))


@contextmanager
def reserved(config: Config, size: int) -> Iterator[None]:
    """Memory for what is drawn; raises TimeoutError if there is none now."""
    if not UNDER_WAY.would_fit(config, size):
        raise NotYet
    with UNDER_WAY.reserve(config, size):
        yield


def _config(entries: Entries) -> Config | None:
    """The settings of a link; None if they are of an upload."""
    if not is_ours(entries.get("source", GENERATED)):
        return None
    return PICTURE.open({**entries, "against": ""} if entries else PICTURE.begins)[0]


def is_ours(source: str) -> bool:
    """Whether a source is one that every visitor has."""
    return not source or (source in SOURCES and not is_uploaded(source))


PAGES: dict[str, Callable[[Entries], Drawn | None]] = {
    "heads": heads,
    "layers": heads,
    "masks": masks,
    "training": training,
    "timing": timing,
    "implementations": implementations,
    "find_the_bug": find_the_bug,
}
