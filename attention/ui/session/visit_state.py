"""All that a session keeps. Sole owner of st.session_state: one key for what this app knows, beside those of widgets.

What a page wants to find again in its next run is a field of `Remembered`. The other keys are widgets', of knobs and of what
a page draws besides (a switch, a fold, the marks of `told`); Streamlit drops one when its widget is no longer drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import streamlit as st

from attention.config import Config
from attention.imported.files import File
from attention.imported.reading import Read
from attention.imported.registry import Upload, is_uploaded
from attention.models.parts import Part as Layers
from attention.timing.recordings import Timing
from attention.training.recipe import Recipe
from attention.ui.jobs.model_jobs import ModelJob
from attention.ui.jobs.timing_process import TimingJob
from attention.ui.jobs.training_jobs import TrainingJob
from attention.ui.question_codec import Draft
from attention.ui.session.part import Part
from attention.ui.session.settings_state import SettingsState
from attention.ui.session.widget_sync import Widgets, WidgetSync

KEY = "session"


@dataclass(frozen=True, eq=False)
class Taken:
    """What became of a `file`: what was `asked` (the file, that of its tokens, the reading), what was found, or a problem.

    `source`: what it is known by, or what it was before, where there is a problem. Of one that was closed the file is None.
    """

    asked: tuple[str, str, Any]
    found: Read | None = None
    source: str = ""
    problem: str = ""
    file: File | None = None


@dataclass
class VisitState:
    """What single pages find again in their next run.

    Heads: `code`, was the fold with the program open when it was last there? `large`: should the one with the head in focus be
    open, whoever has not moved it? `turns`: clicks in the map of layers and heads. `stopped`: the long sequence whose drawing
    this visitor has cancelled. Predict: `revealed`, the question that was opened, and does one hide the page (`closed`)? The
    `answers` that were given, by the keys of their widgets, with those of them that `here`, on this page, were drawn. For
    a class: is that fold open (`classroom`), and the `draft` of a question. Timing: the `sweep` that this visitor has asked
    for, and whether it was open when it was last drawn (`going`); the recordings that are `opened`, by their names, what was
    wrong with the last ones (`problems`), and how many `uploads` there were. Training: the one that this visitor has asked for
    (`learning`), the film that is played and its next picture (`film`), which films have begun by
    themselves (`played`), and the sources that `steps` of trainings are in this visit, with the page
    that one of them `leads` to.
    Model: the one that this visitor has run (`reading`), their own `picture` as a PNG, why the last one was `refused`, and what
    was `shown` of readings: by reading, part and choices, the source and what it holds.
    Whatever was `brought` in this visit, by its source: it is there as long as it stands here; `absent`: the name of what the
    last link was about and this visit does not have, and the rest of that link (`wanted`). Your data: the file that was
    `taken` in last, and what became of those that the owner has named (`given`), once they were opened.
    """

    code: bool = False
    large: bool | None = None
    turns: int = 0
    stopped: Config | None = None
    revealed: str | None = None
    closed: bool = False
    answers: dict[str, Any] = field(default_factory=dict)
    here: set[str] = field(default_factory=set)
    classroom: bool = False
    draft: Draft = field(default_factory=Draft)
    sweep: TimingJob | None = None
    going: bool = False
    opened: dict[str, list[Timing]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    uploads: int = 0
    learning: TrainingJob | None = None
    film: tuple[Recipe, int] | None = None
    played: set[Recipe] = field(default_factory=set)
    steps: dict[tuple[Recipe, int], str] = field(default_factory=dict)
    leads: str = ""
    reading: ModelJob | None = None
    picture: bytes = b""
    refused: str = ""
    shown: dict[tuple[Any, ...], tuple[str, Layers]] = field(default_factory=dict)
    brought: dict[str, Upload] = field(default_factory=dict)
    absent: str = ""
    taken: Taken | None = None
    given: list[Taken] | None = None
    wanted: dict[str, str] = field(default_factory=dict)


@dataclass
class Session:
    """What this app knows of a visitor: settings, what is on the screen, and what the browser was told.

    `page`: the name of the page, and `about`: which kind of settings it shows, of those that are `held`. `parts` beside its
    view, the `looks` that they were drawn with and those that `follow` a change, once the view is drawn. `run`: the fragments
    of the last run that took up what widgets say; `fresh`: a callback has done so for the run that it asked for. `ahead`
    starts what the view waits for. The view has `drawn` these settings, `viewed` then by the clock; it `arrives` when it is
    the first of the session, and is `hurried` when it follows close upon the one before. `visitor`: a name for this session.
    `kept`: what single pages find again.
    """

    page: str = ""
    about: str = ""
    held: dict[str, SettingsState[Any]] = field(default_factory=dict)
    told: WidgetSync = field(default_factory=WidgetSync)
    parts: dict[str, Part] = field(default_factory=dict)
    looks: dict[str, object] = field(default_factory=dict)
    follow: frozenset[str] = frozenset()
    run: list[str] | None = None
    fresh: bool = False
    ahead: Callable[[Any], object] | None = None
    drawn: Any = None
    viewed: float | None = None
    arrives: bool = True
    hurried: bool = False
    visitor: str = field(default_factory=lambda: uuid4().hex)
    kept: VisitState = field(default_factory=VisitState)

    @property
    def here(self) -> SettingsState[Any]:
        """The settings that the page is about."""
        return self.held[self.about]

    @property
    def stale_parts(self) -> frozenset[str]:
        """The parts on the screen that are not what they should be, other than by what was moved there."""
        setting = self.here.setting
        return frozenset(
            name
            for name, look in self.looks.items()
            if self.told.pending(self.parts[name].knobs) or look != self.parts[name].look(setting)
        )


def session() -> Session:
    """The visitor's."""
    if KEY not in st.session_state:
        st.session_state[KEY] = Session()
    return st.session_state[KEY]


def widgets() -> Widgets:
    """What each widget holds, by its key."""
    return st.session_state


def put(**values: Any) -> None:
    """Sets knobs: the next rerun takes them up as if a widget had been moved, and tells their widgets."""
    state, here = session(), session().here
    state.told.set(st.session_state, here.by_widget_key(values))
    here.forget(values)


def taken_up() -> Any:
    """The settings of what the widgets say now."""
    state = session()
    here, before = state.here, state.here.setting
    here.take_up(st.session_state, state.told)
    if not may_see(here.setting):  # a browser that was told of no such source says its name
        here.setting = before
        state.told.set(st.session_state, here.widget_values)
    return here.setting


def may_see(setting: Any) -> bool:
    """May this visit see what settings name? What somebody else has brought it may not."""
    source = getattr(setting, "source", "")
    return not is_uploaded(source) or source in session().kept.brought


def reconcile() -> None:
    """Puts right what a browser says that has yet to hear of new values."""
    state = session()
    state.told.reconcile(st.session_state, state.here.widget_values)
