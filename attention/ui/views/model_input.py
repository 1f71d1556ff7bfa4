"""The input of a model: fields for one or two texts, an upload for a picture, and the button that runs the model."""

from __future__ import annotations

import streamlit as st

from attention.models import pictures
from attention.models.catalogue import PICTURE, UNKNOWN, Offer, peek
from attention.models.packages import ModelError, missing
from attention.models.prompt import Prompt
from attention.recorded.shipped import MINILM, SHIPPED
from attention.story.head import RIDDLE
from attention.ui.controls import knobs
from attention.ui.controls.prompt import can_run, find_offer
from attention.ui.heading import draw_title
from attention.ui.jobs import model_jobs
from attention.ui.jobs.job_queue import JOBS
from attention.ui.limits import models
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import model as text

KNOB = frozenset({"model_text", "model_second"})
LINKED = frozenset({"model", "text", "second", "off"})  # a link with any of these asks for a run
KINDS = ["png", "jpg", "jpeg", "webp"]
RECORDED = {SHIPPED[name].text for name in RIDDLE.values()}  # what is shown without a run
HIGH = 68  # height of a field in pixels
PLACE = "model_picture"  # the key of the upload for a picture


def ask(prompt: Prompt) -> model_jobs.Ask | None:
    """What the button would request now; None if there is no model for it."""
    offer = find_offer(prompt)
    if offer is None:
        return None
    text, second = ("", "") if _sees(offer) else (prompt.text, prompt.second)
    return model_jobs.Ask(offer, text, second, page.visit_state().picture, models().most)


def _sees(offer: Offer) -> bool:
    """Whether a model reads pictures, according to its files or to its last result."""
    now = page.visit_state().reading
    looked = now is not None and now.settings.offer == offer and now.found is not None and now.found.patches is not None
    return looked or peek(offer) == PICTURE


def _same(wanted: model_jobs.Ask | None) -> bool:
    """Whether the request equals what is shown or running. For a model that reads pictures, the texts are ignored."""
    now = page.visit_state().reading
    if now is None or wanted is None or not (now.open or now.state == "done"):
        return False
    had = now.settings._replace(text="", second="") if _sees(wanted.offer) else now.settings
    return had._replace(download=wanted.download) == wanted


def _is_blank(wanted: model_jobs.Ask) -> bool:
    """Whether a model would get no text."""
    return not _sees(wanted.offer) and not wanted.text.strip()


def state_finding() -> str:
    """What the state of the run is, in a sentence, for a run without a result or without words."""
    task = page.visit_state().reading
    if task is None:
        return text.FINDING
    said = {"done": "done", "failed": "failed"}.get(task.state, "running" if task.open else "stopped")
    return text.STATES[said].format(model=escape(task.settings.offer.name))


def _draw(prompt: Prompt) -> None:
    offer = find_offer(prompt)
    with st.container(key="model-input"):
        if offer is not None and _sees(offer):
            _picture()
            _button(prompt)
        else:
            _fields(prompt)
        if said := _run_caption(prompt):
            st.caption(escape(said))


def _fields(prompt: Prompt) -> None:
    """Draws the field of the text, the button beside it, and a second field that a button opens."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        knobs.area("text", prompt, height=HIGH, label_visibility="collapsed", on_change=page.change)
        _button(prompt)
        with st.popover(text.SECOND, type="primary" if prompt.second else "secondary"):
            st.caption(text.SECOND_FOR)
            knobs.area("second", prompt, height=HIGH, placeholder=text.NO_SECOND, on_change=page.change)


def _button(prompt: Prompt) -> None:
    # Never disabled: the browser sends typed text when the field loses focus, and a click on a disabled button is lost.
    st.button(
        text.RUN,
        key="read",
        type="secondary" if _same(ask(prompt)) else "primary",
        icon=":material/play_arrow:",
        on_click=begin,
    )


def _run_caption(prompt: Prompt) -> str:
    """What is shown while the input is another one, if it is."""
    now, wanted = page.visit_state().reading, ask(prompt)
    if wanted is None or _same(wanted):
        return ""
    if _is_blank(wanted):
        return text.EMPTY
    shown = MINILM if now is None else now.settings.offer.name
    unknown = text.UNKNOWN if peek(wanted.offer) == UNKNOWN else ""
    if wanted.offer.name != shown and (now is None or now.state == "done"):
        return f"{text.NOT_RUN.format(model=wanted.offer.name, shown=shown)} {unknown}".rstrip()
    if now is None:
        return unknown if wanted.text.strip() in RECORDED else f"{text.RECORDED} {unknown}".rstrip()
    return text.BEFORE if now.state == "done" else ""


def _picture() -> None:
    """Draws the picture that a model reads, the sample or an uploaded one, and the upload."""
    left, right = st.columns([1, 2], gap="small", vertical_alignment="center")
    own = page.visit_state().picture
    left.image(
        own or pictures.png(pictures.sample_picture()),
        width=160,
        caption=text.YOUR_PICTURE if own else text.SAMPLE_PICTURE,
    )
    with right:
        st.file_uploader(
            text.UPLOAD, KINDS, key=PLACE, max_upload_size=16, on_change=_accept_picture, help=text.UPLOAD_HELP
        )
        if page.visit_state().refused:
            st.error(escape(page.visit_state().refused), icon=":material/error:")


def _accept_picture() -> None:
    """Accepts an uploaded picture, or says why not; a bad one changes nothing."""
    kept, file = page.visit_state(), page.widgets()[PLACE]
    kept.refused = ""
    try:
        kept.picture = pictures.png(pictures.open_picture(file.getvalue())) if file is not None else b""
    except ModelError as error:
        kept.refused = str(error)
    page.change()


def run_link(prompt: Prompt) -> None:
    """Runs what a link names, once: a model that is on this machine. Others wait for the button, which may download them."""
    if not LINKED & page.take_opened().keys() or not can_run():
        return
    kept, wanted = page.visit_state(), ask(prompt)
    if wanted is None or _is_blank(wanted):
        return
    if not _same(wanted) and peek(wanted.offer) != UNKNOWN and not missing(wanted.offer.needs):
        kept.reading = JOBS.request(model_jobs.ModelJob, wanted._replace(download=False), page.visitor())


def begin(**pair: int) -> None:
    """Runs the model on what the fields hold now, maybe newer than what was drawn; also again after a failure or a stop.

    `pair`: the knobs of a pair of tokens that is selected in the result.
    """
    kept, wanted = page.visit_state(), ask(page.current_setting())
    if wanted is None or _is_blank(wanted):  # the field says it, and what is shown stays
        return
    before = kept.reading
    if kept.reading is not None and _same(wanted):
        wanted = kept.reading.settings
    if kept.reading is not None and kept.reading.settings == wanted and not kept.reading.open:
        JOBS.forget(kept.reading)
    kept.reading = JOBS.request(model_jobs.ModelJob, wanted, page.visitor())
    kept.appended, kept.refused_token = (), ""
    kept_head = {} if _keeps_head(wanted.offer, before) else {"layer": 0, "head": -1}
    page.change(model=wanted.offer.name, patch=0, part="", **{"query": -1, "key": -1} | kept_head | pair)


def _keeps_head(offer: Offer, before: model_jobs.ModelJob | None) -> bool:
    """Whether a model is that of the result `before`, or of the recording that is shown without one."""
    return offer == before.settings.offer if before is not None else offer.name == MINILM


def _look(prompt: Prompt) -> object:
    """The state that the part is drawn with; None if no model can run."""
    wanted, kept = ask(prompt), page.visit_state()
    if wanted is None:
        return None
    now = kept.reading
    return (
        wanted,
        kept.refused,
        now is not None and (now.settings, now.open, now.state),
        wanted.offer in model_jobs.LOADED_MODELS,
    )


FIELDS = page.Part("what it reads", _draw, _look, KNOB)
TITLE = page.Part("title", lambda _: draw_title("model", help=text.HELP), lambda _: ())
