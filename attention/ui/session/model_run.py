"""A model's run that a typed text or a link asks for: it runs in the background, and its heads become the page's source.

A link carries a run as `run=MODEL&run_text=…`, next to the knobs of the picture. Opening it runs the model again, if it is
installed or on the owner's list; nothing is downloaded. A visit has one run at a time. If none is possible, a notice says
why, above a recording of the same model. Side A of a comparison may be a run as well: its entries are in the packed link, and
it runs first.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from typing import NoReturn

import streamlit as st
from torch import Tensor

from attention.array_files.limits import DataError
from attention.codec import to_query
from attention.config import Config
from attention.models.catalogue import Offer
from attention.models.heads_off import HeadsOff
from attention.models.labels import Labels
from attention.models.packages import ModelError
from attention.models.parts import Part
from attention.models.prompt import Prompt
from attention.pinned import pack_link, pinned_query, pinned_source
from attention.recorded.shipped import SHIPPED
from attention.settings import ConfigError
from attention.sources.providers import source_title
from attention.story.head import strongest_pair
from attention.story.settings import ENTRY, OWN, Story
from attention.tables import rows as tables
from attention.ui import next_step, results
from attention.ui.controls import own_text
from attention.ui.controls.prompt import offer_without_download
from attention.ui.jobs.job_queue import JOBS
from attention.ui.jobs.model_jobs import Ask, AskWithout, ModelJob, WithoutHeadsJob
from attention.ui.limits import models
from attention.ui.markdown import escape
from attention.ui.session import uploads
from attention.ui.session.run_links import RUN, other_entries, pinned_run, prompt_of, run_entries, with_pinned
from attention.ui.session.visit_state import Requested, session
from attention.ui.text import model_run as text

OF_SOURCE = ("tokens", "text", "source")  # knobs that do not follow to another run of the same text
OF_TOKENS = ("query", "rows", "cols", *OF_SOURCE)  # those that do not follow to another text
KEPT = 4  # sources of models per visit: the oldest is closed for a new one
LOOK = 0.3  # seconds between two checks of a run
SHOWN = 60  # characters of a text in a notice


def reader(source: str) -> Prompt | None:
    """The model that reads what is typed while a source is shown, with the text of that source; None if there is none."""
    kind, _, name = source.partition(":")
    entry = SHIPPED.get(name) if kind == "recorded" else None
    return Prompt(model=entry.model, text=entry.text) if entry and entry.model else session().kept.prompts.get(source)


def refusal(source: str) -> str:
    """Why the model that reads what is typed while a source is shown can't run here; "" if it can, or if there is none."""
    prompt = reader(source)
    try:
        if prompt is not None:
            offer_without_download(prompt.model)
    except ModelError as error:
        return str(error)
    return ""


def start(prompt: Prompt, query: dict[str, str], typed: bool = True) -> None:
    """Requests a run, whose heads will be shown with the knobs of a query; if it can't run, the notice says why."""
    kept = session().kept
    cancel()
    try:
        offer = offer_without_download(prompt.model)
    except ModelError as error:
        kept.requested = Requested(prompt, query, typed, why=str(error))
        return
    prompt = replace(prompt, model=offer.name).of_run
    kept.requested = Requested(prompt, query, typed, _request(prompt, offer))


def _request(prompt: Prompt, offer: Offer) -> ModelJob:
    """Requests the job of a run. One without some heads is no result of the page Model, which has all of them."""
    asked = Ask(offer, prompt.text, prompt.second, b"", models().most, download=False)
    kept, visitor = session().kept, session().visitor
    if prompt.off:
        other = prompt.other if prompt.how == "resample" else ""
        without = AskWithout(*asked, off=HeadsOff(prompt.heads_off, prompt.how, other))
        if (found := JOBS.find(WithoutHeadsJob, without)) is not None and found.found is None and not found.open:
            JOBS.forget(found)
        return JOBS.request(WithoutHeadsJob, without, visitor)
    if kept.reading is not None and kept.reading.settings == asked and not kept.reading.open:
        JOBS.forget(kept.reading)
    kept.reading = JOBS.request(ModelJob, asked, visitor)
    return kept.reading


def switch_head(config: Config, prompt: Prompt) -> dict[str, str]:
    """Switches the selected head of a run off, or on again: requests that run, for the same picture.

    Returns the knobs that show it at once, if this visit has it already.
    """
    off = set(prompt.heads_off) ^ {(config.layer, config.head)}
    wanted = replace(prompt, off=" ".join(f"{layer}.{head}" for layer, head in off)).of_run
    if source := source_of(wanted):
        cancel()
        return {"source": source}
    query = {name: value for name, value in to_query(config).items() if name not in OF_SOURCE}
    start(wanted, query | {"layer": str(config.layer), "head": str(config.head)})
    return {}


def cancel() -> None:
    """Gives up what was requested last, if it is not done."""
    kept = session().kept
    if kept.requested is not None and kept.requested.job is not None:
        kept.requested.job.leave(session().visitor)
    kept.requested = None


def read_typed(config: Config, prompt: Prompt, typed: str) -> list[str]:
    """Lets a model read a typed text, and shows the same head of it; returns a message for each part of it that is left out."""
    fitting, notes = own_text.fit_text(typed)
    if fitting.strip() and fitting != prompt.text:
        query = {name: value for name, value in to_query(config).items() if name not in OF_TOKENS}
        start(replace(prompt, text=fitting), query | {"layer": str(config.layer), "head": str(config.head)})
        if kept := session().kept.requested:
            names, query = tables.labels(config), config.query_index
            word = names[query] if config.query != own_text.LAST and names else ""
            session().kept.requested = replace(kept, new_text=True, word=word)
    return notes


def query_of(queries: Labels, word: str, weights: Tensor) -> int:
    """The query to select in a new text; `LAST` for the last token.

    It is the last token with the text of the selected `word`, else the word with the largest weight on a different one in the
    selected head, else the last word.
    """
    texts = [each.strip() for each in queries.texts]
    same = [at for at, each in enumerate(texts) if each == word.strip()]
    pair = strongest_pair(weights, texts) if weights.shape == (len(texts), len(texts)) else None
    words = [at for at, each in enumerate(texts) if not queries.special[at] and any(map(str.isalnum, each))]
    found = max(same or (pair or ())[:1] or words, default=len(texts) - 1)
    return found if found < len(texts) - 1 else own_text.LAST


def take_new_text(config: Config) -> bool:
    """Whether a text was typed, and no head has been selected since: true once, for a page that selects one."""
    kept = session().kept
    is_new, kept.new_text = kept.new_text == (config.source, f"{config.layer}", f"{config.head}"), None
    return is_new


def show_next(query: dict[str, str]) -> NoReturn:
    """Runs the page again with the settings of a query, as if a link with it had been opened."""
    session().kept.next_query = query
    st.rerun()


def open_link(query: dict[str, str]) -> dict[str, str]:
    """The query that a link with a run opens at once: its source if this visit has it, else a recording of the same model."""
    cancel()
    pinned = pinned_run(query)
    if pinned and (source := source_of(prompt_of(pinned))):
        query, pinned = with_pinned(query, source), {}
    if not pinned and RUN not in query:
        return query
    prompt, rest = prompt_of(pinned or query), query if pinned else other_entries(query)
    if not pinned and (source := source_of(prompt)):
        return rest | {"source": source}
    start(prompt, rest, typed=False)
    below = source_of(replace(prompt, off="").of_run) or recording_of(prompt)
    shown = {name: rest[name] for name in ("v", "layer", "head") if name in rest}
    return shown | {"source": below} if below else shown


def source_of(prompt: Prompt) -> str:
    """The source that this visit has of a run; "" if there is none."""
    return next((source for source, known in session().kept.prompts.items() if known == prompt), "")


def recording_of(prompt: Prompt) -> str:
    """The source of a recording of the same model, of the same text if there is one; "" if there is none."""
    alike = [name for name, entry in SHIPPED.items() if entry.learned and entry.model == prompt.model]
    same = [name for name in alike if SHIPPED[name].text == prompt.text]
    return f"recorded:{(same or alike)[0]}" if alike else ""


def take_result(knobs: Collection[str]) -> dict[str, str] | None:
    """The query of the requested run once it is done, with its source; None before, and if it has failed, which is noted.

    None as well on a page with these knobs that does not show the run, which stays for the next page. The query of `show_next`
    comes first.
    """
    kept = session().kept
    wanted, following, kept.next_query = kept.requested, kept.next_query, None
    if following is not None:
        return following
    if wanted is None or wanted.job is None or wanted.job.open or not _shows(knobs, wanted):
        return None
    kept.requested = replace(wanted, job=None, why=wanted.job.said or text.STOPPED)
    if wanted.job.found is None:
        return None
    try:
        source, part = register_part(wanted.job, wanted.prompt)
    except (ModelError, DataError) as error:
        kept.requested = replace(wanted, job=None, why=str(error))
        return None
    kept.requested = None
    kept.new_text = (source, wanted.query["layer"], wanted.query["head"]) if wanted.new_text else None
    if pinned_run(wanted.query):  # side A is done; B may be a run as well
        return open_link(with_pinned(wanted.query, source))
    query = {}
    if wanted.new_text:
        config = Config.of(source, layer=int(wanted.query["layer"]), head=int(wanted.query["head"]))
        weights = results.heads.trace(config).weights[config.head]
        query = {"query": f"{query_of(part.queries, wanted.word, weights)}"}
    return wanted.query | {"source": source} | query


def register_part(task: ModelJob, prompt: Prompt) -> tuple[str, Part]:
    """The source of a part of a run, summed up as the prompt says, and that part; raises ModelError and DataError."""
    assert task.found is not None
    kept, parts = session().kept, task.found.parts
    name = prompt.part if prompt.part in parts else next(iter(parts))
    key = (task.settings, name, prompt.summary, prompt.tokens)
    if key in kept.shown and kept.shown[key][0] in uploads.sources():
        return kept.shown[key]
    part = results.models.make_part(parts[name], prompt.summary, prompt.tokens)
    unused = [key for key, (source, _) in kept.shown.items() if source not in _pinned_sources()]
    for old in unused[: max(0, len(kept.shown) - KEPT + 1)]:
        source, _ = kept.shown.pop(old)
        uploads.close(source)
        kept.vectors.pop(source, None)
    source = uploads.hold(part.stack, "model", part.stack.title)
    kept.shown[key] = source, part
    if task.vectors is not None:
        kept.vectors[source] = task.vectors
    if task.found.patches is None:  # a link can't carry a picture
        offer, read, second, *_ = task.settings
        named = prompt.part if prompt.part in parts else ""
        ran = Prompt(
            model=offer.name, text=read, second=second, part=named, summary=prompt.summary, tokens=prompt.tokens
        )
        without = isinstance(task, WithoutHeadsJob)
        kept.prompts[source] = replace(ran, off=prompt.off, how=prompt.how, other=prompt.other) if without else ran
    return kept.shown[key]


def _pinned_sources() -> set[str]:
    """The sources of this visit that are side A of a comparison, shown or about to be."""
    codes = [getattr(here.setting, "against", "") for here in session().held.values()]
    wanted = session().kept.requested
    return {pinned_source(code) for code in [*codes, wanted.query.get("against", "") if wanted else ""]}


def _shows(knobs: Collection[str], wanted: Requested) -> bool:
    """Whether a page with these knobs shows a run: as its source, or as the sentence typed on Start."""
    return "source" in knobs or (OWN in knobs and ENTRY in wanted.query)


def carry(query: dict[str, str]) -> dict[str, str]:
    """The query as a link has it: a source that is a run is replaced by the model and its text, on both sides."""
    prompts, code = session().kept.prompts, query.get("against", "")
    if pinned_source(code) in prompts:
        with suppress(ConfigError):  # the text does not fit into a link
            query = query | {"against": pack_link(carry(pinned_query(code)))}
    prompt = prompts.get(query.get("source", ""))
    if prompt is None:
        return query
    return run_entries(prompt) | {name: value for name, value in query.items() if name != "source"}


def equal_layers(a: str, b: str) -> int | None:
    """The last layer whose maps are equal in two runs that differ in the heads that are off; None for any other sources."""
    one, two = (session().kept.prompts.get(source) for source in (a, b))
    if one is None or two is None or one == two or replace(one, off="").of_run != replace(two, off="").of_run:
        return None
    same = (one.how, one.other) == (two.how, two.other)
    either = {*one.heads_off} ^ {*two.heads_off} if same else {*one.heads_off, *two.heads_off}
    return min(layer for layer, _ in either)


def is_opening() -> bool:
    """Whether a link's run is not done yet, so that the address bar keeps the link."""
    wanted = session().kept.requested
    return wanted is not None and wanted.job is not None and not wanted.typed


def passed_by() -> None:
    """Another page was opened: why a run was not possible is no longer shown."""
    wanted = session().kept.requested
    if wanted is not None and wanted.job is None:
        session().kept.requested = None


def tell() -> None:
    """Shows the progress of a run, or why there is none. A page that does not show it leaves the result to the next page."""
    wanted = session().kept.requested
    if wanted is None:
        return
    if wanted.job is None:
        _show_refusal(wanted)
    elif wanted.job.open or _shows(session().here.kind.settings.knobs, wanted):
        st.fragment(_show_progress, run_every=LOOK)(wanted)


def _show_progress(wanted: Requested) -> None:
    """Draws the progress; once the run has ended, the page runs again and takes its result."""
    job = wanted.job
    if job is None or session().kept.requested is not wanted:
        return
    job.look(session().visitor)
    JOBS.tidy()
    if not job.open:
        st.rerun()
    named = {"model": escape(wanted.prompt.model), "text": escape(shorten(wanted.prompt.text))}
    before = JOBS.before(job)
    said = text.WAITING.format(**named, before=before, jobs="jobs" if before > 1 else "job") if before else ""
    runs = text.RUNNING_WITHOUT if wanted.prompt.off else text.RUNNING
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(min(job.share, 1.0), said or runs.format(**named))
        st.button(text.CANCEL, key="cancel run", on_click=cancel)


def _show_refusal(wanted: Requested) -> None:
    """Draws why a model could not run; after a typed text, with a link that shows it with hand-built heads."""
    shown = session().here.setting
    below = shown.shipped.source if isinstance(shown, Story) else recording_of(wanted.prompt)
    named = {"model": escape(wanted.prompt.model), "text": escape(shorten(wanted.prompt.text)), "why": wanted.why}
    what = text.RECORDING.format(title=escape(source_title(below))) if below else text.WITHOUT
    with st.container(border=True):
        typed = text.SWITCHED if wanted.prompt.off else text.TYPED
        st.markdown((typed if wanted.typed else text.LINK).format(**named, below=what))
        if wanted.typed and not wanted.prompt.off:
            typed = Config(text=wanted.prompt.text, tokens=own_text.fitting(wanted.prompt.text, "words"))
            next_step.page_link("heads", text.HAND_BUILT, to_query(typed), ":material/grid_view:")


def shorten(read: str) -> str:
    """A text in one line, cut to what a notice has room for."""
    line = " ".join(read.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
