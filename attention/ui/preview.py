"""What a link shows before it is opened: a title, a description and a picture, for a chat or a search engine.

A link is described from its settings alone. Its picture has the selected head, unless the link asks a question or names an
upload: an upload belongs to the visit that opened it.
"""

from __future__ import annotations

from concurrent.futures import TimeoutError as NotYet
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl

from streamlit import file_util

from attention.charts.head_map import HeadMap
from attention.charts.preview import Card, draw_card
from attention.config import Config
from attention.examples import Example
from attention.fitting import layers
from attention.knobs import GENERATED, SENTENCE
from attention.lessons.cards import find_card
from attention.models.catalogue import PACKAGES, RENAMED
from attention.models.prompt import RUN
from attention.number_format import format_head, format_percent, format_token, format_weight
from attention.recorded.shipped import MINILM
from attention.settings import CARD, ConfigError
from attention.sources.providers import distributes, label, mask_in_use, mask_name, source_title
from attention.trace import bytes_of
from attention.ui import preview_pages, results
from attention.ui.budget import UNDER_WAY
from attention.ui.controls.kind import Kind
from attention.ui.controls.picture import LAYERED, PICTURE, SCORES, SMALL
from attention.ui.controls.story import STORY
from attention.ui.limits import models
from attention.ui.menu import GROUPS, page_title
from attention.ui.question_codec import decode
from attention.ui.results.shared import LOW_PRIORITY
from attention.ui.text import sharing as text

PAGES = frozenset(name for names in GROUPS.values() for name in names)
KINDS: dict[str, Kind[Config]] = {  # pages whose picture is of a head
    "heads": PICTURE,
    "steps": SMALL,
    "softmax": SCORES,
    "masks": PICTURE,
    "layers": LAYERED,
}
USUAL = Config.of("recorded:minilm-river", layer=0, head=4, query=5)  # the head of the Start page
LONG = 120  # characters of the text of a run
OTHERS = ("page", CARD)  # entries of a link that are no settings
FONT = "static/media/SourceSansVF-Upright.*.woff2"  # the font of the app


class About(NamedTuple):
    """The title and the description of a link."""

    title: str
    description: str


def describe(page: str, query: str) -> About:
    """Describes a link of a page; never raises, whatever the query."""
    if page not in PAGES:
        return About(text.NAME, text.ABOUT)
    title, config = f"{page_title(page)} · {text.NAME}", _config(page, query)
    if example := _example(query):
        return About(f"{example.title} · {text.NAME}", example.asks)
    if config is None:
        return About(title, text.PAGES[page])
    if question := question_of(config):
        return About(f"{question} · {text.NAME}", text.QUESTION)
    if run := _of_run(query):
        return About(f"{run.title} · {text.NAME}", f"{run.lines[0]}. {text.PAGES[page]}")
    lines = " · ".join([head_title(config), *origin_lines(config)])
    return About(title, f"{lines}. {text.PAGES[page]}")


def draw(page: str, query: str) -> bytes | None:
    """Returns the picture of a link as a PNG; None if this server is too busy to draw it now."""
    story = STORY.open(_entries(query))[0] if page == "start" else None
    if story and story.is_own:
        return _draw_card(_of_text(MINILM, story.own))
    config = story.config if story else _config(page, query)
    if question := config and question_of(config):
        return _draw_card(Card(question, (text.QUESTION,)))
    if page in KINDS and (run := _of_run(query)) and not _example(query):
        return _draw_card(run)
    if page in preview_pages.PAGES:
        try:
            drawn = preview_pages.PAGES[page](_entries(query))
        except NotYet:
            return None
        if drawn:
            return _draw_card(_of_card(query) or drawn[0], drawn[1])
    if config is None:
        return _draw_page(page)
    config = preview_pages.shown_side(_entries(query), config)
    found = _map(config.truncated)
    if found is None:
        return None
    return _draw_card(_of_card(query) or Card(head_title(config), tuple(lines(config, found))), found)


def _of_card(query: str) -> Card | None:
    """The words of the example whose card a link carries, which give no answer away."""
    example = _example(query)
    return example and Card(example.title, (example.asks,))


def _of_run(query: str) -> Card | None:
    """The model and the text of a link to a run, which is not drawn: its weights are known once the link is opened."""
    entries = _entries(query)
    if RUN not in entries:
        return None
    words, name = entries.get(f"{RUN}_text", SENTENCE), RENAMED.get(entries[RUN], entries[RUN])
    known = name in {*models().offers, *PACKAGES}  # any other name could be anybody's words
    return _of_text(name if known else text.SOME_MODEL, words)


def _of_text(model: str, words: str) -> Card:
    """A model and the text that it reads once the link is opened."""
    cut = words if len(words) <= LONG else f"{words[: LONG - 1]}…"
    return Card(model, (text.ON_TEXT.format(text=cut),))


def _draw_page(page: str) -> bytes | None:
    """The picture of a page that shows more than a head, or of none: its words beside a head of a real model."""
    words = Card(page_title(page), (text.PAGES[page],)) if page in PAGES else Card(text.NAME, (text.ABOUT,))
    found = _map(USUAL)
    return found and _draw_card(words, found)


def _map(config: Config) -> HeadMap | None:
    """The head of a config; None if there is no room for it, or no time."""
    size = bytes_of(config)
    if not UNDER_WAY.would_fit(config, size):
        return None
    with UNDER_WAY.reserve(config, size):
        try:
            return results.sharing.begin_head_map(config).result(preview_pages.PATIENCE)
        except NotYet:
            return None


def _draw_card(card: Card, shown: HeadMap | None = None) -> bytes:
    return LOW_PRIORITY.submit(draw_card, card, shown, _font()).result()


def _config(page: str, query: str) -> Config | None:
    """The settings of a link whose picture is a head, as its page opens them; None if it shows something else."""
    kind = KINDS.get(page)
    if kind is None:
        return None
    entries = _entries(query)
    if not preview_pages.is_ours(entries.get("source", GENERATED)):
        return None
    found, _ = kind.open({**entries, "against": ""} if entries else kind.begins)
    return found


def _entries(query: str) -> dict[str, str]:
    """The settings of a link; those of its card if it has no others."""
    found = {name: value for name, value in parse_qsl(query) if name not in OTHERS and not name.startswith("embed")}
    return found or (dict(example.query) if (example := _example(query)) else {})


def _example(query: str) -> Example | None:
    """The example whose card a link carries. Its question is about the picture, of which nothing more is said."""
    card = find_card(dict(parse_qsl(query)).get(CARD, ""))
    return card and card.example


def question_of(config: Config) -> str:
    """The question that a link asks; "" if it asks none."""
    try:
        return decode(config.ask).text if config.ask else text.PREDICT * (config.predict != "none")
    except ConfigError:
        return ""


def lines(config: Config, found: HeadMap) -> list[str]:
    """What is written beside the head of a config."""
    return [*origin_lines(config), *_row(config, found)]


def head_title(config: Config) -> str:
    """The layer and the number of the selected head."""
    of = text.HEAD.format(head=format_head(config.head), heads=config.heads)
    several = len(layers(config.source)) > 1
    return text.LAYER_HEAD.format(layer=config.layer, head=config.head, heads=config.heads) if several else of


def grid_title(config: Config) -> str:
    """The number of heads, and their layer if there are several."""
    several = len(layers(config.source)) > 1
    form = text.LAYER_HEADS if several else text.HEADS
    return form.format(layer=config.layer, heads=config.heads)


def origin_lines(config: Config) -> list[str]:
    """Where the weights come from, the mask, and the length of the sequence."""
    origin = label(config)
    origin = f"{origin[:1].upper()}{origin[1:]}"
    where = [origin if config.source == GENERATED else f"{source_title(config.source)} ({label(config)})"]
    shown = config.truncated.tokens
    form = text.SEQUENCE if shown == config.tokens else text.FIRST
    mask = mask_name(config) if mask_in_use(config.source) else "own"
    return [*where, form.format(mask=mask, tokens=f"{config.tokens:,}", shown=f"{shown:,}")]


def _row(config: Config, found: HeadMap) -> list[str]:
    """The largest weights of the selected query."""
    if not found.heaviest:
        return []
    at = found.query - found.first[0]
    query = found.queries[at] if 0 <= at < len(found.queries) else ""
    form = format_percent if distributes(config) else format_weight
    keys = [
        text.KEY.format(key=format_token(token, key, "key"), weight=form(weight))
        for key, token, weight in found.heaviest
    ]
    return [text.ROW.format(query=format_token(query, found.query)), *keys]


def _font() -> Path | None:
    return next(Path(file_util.get_static_dir()).glob(FONT), None)
