"""All that a session keeps; the only module that uses `st.session_state`.

This app has one key there, next to those of widgets. What a page keeps for its next run is a field of `VisitState`. The
other keys belong to widgets: those of knobs, and those that a page draws besides (a switch, an expander, the marks of
`WidgetSync`). Streamlit drops such a key when its widget is no longer drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.imported.files import File
from attention.imported.reading import Read
from attention.imported.registry import Upload, is_uploaded
from attention.models.parts import Part as Layers
from attention.models.prompt import Prompt
from attention.pinned import pinned_source
from attention.story.head import Vectors
from attention.timing.recordings import Timing
from attention.timing.webgpu.results import Measurement
from attention.training.recipe import Recipe
from attention.ui.jobs.model_jobs import LeakJob, LoadedModelJob, ModelJob
from attention.ui.jobs.timing_process import TimingJob
from attention.ui.jobs.training_jobs import TrainingJob
from attention.ui.lesson_codec import Step
from attention.ui.question_codec import Draft
from attention.ui.session.part import Part
from attention.ui.session.settings_state import SettingsState
from attention.ui.session.widget_sync import Widgets, WidgetSync

KEY = "session"


@dataclass(frozen=True, eq=False)
class Taken:
    """The result of opening a `file`: what was `asked` (file, tokens, reading), and what was found or the problem.

    `source`: its name, or its previous name if there is a problem. `file` is None after the source was closed.
    """

    asked: tuple[str, str, Any]
    found: Read | None = None
    source: str = ""
    problem: str = ""
    file: File | None = None


@dataclass(frozen=True, eq=False)
class Requested:
    """A model's run that a typed text or a link asks for, and the query of the picture that it will be shown in.

    `job`: the run; None if it can't run or has failed, and `why`. `new_text`: the text was typed beside the picture of another.
    `word`: the token that was selected there; "" for the last one.
    """

    prompt: Prompt
    query: dict[str, str]
    typed: bool = True
    job: ModelJob | None = None
    why: str = ""
    new_text: bool = False
    word: str = ""


@dataclass
class VisitState:
    """What single pages keep for their next run, page by page."""

    # Heads
    code: bool = False  # the expander with the program was open when it was last drawn
    large: bool | None = None  # the expander with the selected head was last opened by default; None before that
    folds: dict[str, bool] = field(default_factory=dict)  # folds that the settings asked to open, by key
    turns: int = 0  # clicks in the map of layers and heads
    stopped: object = None  # the settings of the long drawing or comparison that was cancelled

    # Predict
    revealed: str | None = None  # the question whose answer was opened
    closed: bool = False  # a question hides the page
    asked: str = ""  # the built-in question that the visitor asked last
    answers: dict[str, Any] = field(default_factory=dict)  # by the keys of their widgets
    here: set[str] = field(default_factory=set)  # the keys that were drawn on this page

    # Layers
    source_here: str = ""  # drawn last since the page was opened

    # Find the bug, and classes
    first_guesses: dict[str, bool] = field(default_factory=dict)  # whether they were right, by bug
    classroom: bool = False  # the dialog is open
    draft: Draft = field(default_factory=Draft)

    # Timing
    sweep: TimingJob | None = None  # requested by this visitor
    going: bool = False  # the sweep was under way when it was last drawn
    finished: int = 0  # sweeps that ended while they were drawn
    opened: dict[str, list[Timing]] = field(default_factory=dict)  # recordings, by name
    problems: list[str] = field(default_factory=list)  # with the last recordings that were opened
    uploads: int = 0  # uploads so far
    measurements: dict[tuple[str, str], Measurement] = field(default_factory=dict)  # of the browser, by mask and d_head
    unmeasured: str = ""  # why the last measurement was not taken

    # Training
    learning: TrainingJob | None = None  # requested by this visitor
    film: tuple[Recipe, int] | None = None  # the recipe that is playing and its next tick
    speed: float = 1.0
    lessons: int = 0  # trainings that fail, begun so far
    trained: Recipe | None = None  # shown last
    steps: dict[tuple[Recipe, int], str] = field(default_factory=dict)  # sources made of steps of trainings
    leads: str = ""  # the page that opens one of these

    # Model
    reading: ModelJob | None = None  # run by this visitor
    leak_test: LeakJob | None = None
    studies: dict[str, LoadedModelJob] = field(default_factory=dict)  # of the model's heads, by kind
    every_way: object = None  # the study of all heads in turn that was requested in every way
    appended: tuple[int, ...] = ()  # ids of the text to which a token was appended
    refused_token: str = ""  # why none was
    selected: tuple[int, int] | None = None  # layer and head
    picture: bytes = b""  # their own, as a PNG
    refused: str = ""  # why the last picture was refused
    shown: dict[tuple[Any, ...], tuple[str, Layers]] = field(
        default_factory=dict
    )  # source and content by reading and part
    requested: Requested | None = None  # the run that a typed text or a link requested last
    prompts: dict[str, Prompt] = field(default_factory=dict)  # what to run again, by source
    vectors: dict[str, Vectors] = field(
        default_factory=dict
    )  # of the tokens of a sentence that MiniLM has read, by source
    new_text: tuple[str, ...] | None = None  # source, layer and head of the last text that was typed
    next_query: dict[str, str] | None = None  # the settings that the next run shows

    # Uploads and Your data
    uploaded: dict[str, Upload] = field(
        default_factory=dict
    )  # by source; an upload exists as long as it is listed here
    absent: str = ""  # the source that the last link named and this visit does not have
    wanted: dict[str, str] = field(default_factory=dict)  # the query of that link
    taken: Taken | None = None  # the last file
    given: list[Taken] | None = None  # results for the owner's files, once they were opened

    # Examples, lessons and presentations
    card: str = ""  # shown on Examples
    step: str = ""  # the last step of the path that was opened
    opened_steps: set[str] = field(default_factory=set)  # all of them
    lesson: str = ""  # that of the link
    chain: list[Step] = field(default_factory=list)  # the steps of a lesson that is being made
    editing: int | None = None  # the index of the step that is in the form
    presented: str = ""  # the question whose answer a presentation shows


@dataclass
class Session:
    """What this app knows of a visitor: settings, what is on the screen, and what the browser was sent.

    `page`: the name of the page. `held`: the settings of each kind; `about`: the kind that the page shows. `told`: what the
    browser has received of the page's widgets. `parts`: the parts next to its view; `looks`: what they were drawn with;
    `follow`: parts to rerun after a change, once the view is drawn.
    `pictures`: the names of what the browser keeps (`kept_bytes`), by fragment and by the key of the picture; `earlier`,
    `current`: those of the last run and of this one of the fragment that runs.
    `run`: the fragments of the last run that took up the values of widgets. `ahead` starts what the view waits for. `drawn`:
    the settings that the view has drawn, and `viewed` the time of that. `below_title`: the place below a title that the view
    does not draw. `arrives`: whether the view is the first of the session; `hurried`: whether it follows closely on the
    previous one; `leaves`: whether it opens another page. `visitor`: a name for this session. `kept`: what single pages keep
    for their next run.
    """

    page: str = ""
    about: str = ""
    held: dict[str, SettingsState[Any]] = field(default_factory=dict)
    told: WidgetSync = field(default_factory=WidgetSync)
    parts: dict[str, Part] = field(default_factory=dict)
    looks: dict[str, object] = field(default_factory=dict)
    follow: frozenset[str] = frozenset()
    pictures: dict[str, dict[str, str]] = field(default_factory=dict)
    earlier: dict[str, str] = field(default_factory=dict)
    current: dict[str, str] = field(default_factory=dict)
    run: list[str] | None = None
    ahead: Callable[[Any], object] | None = None
    drawn: Any = None
    viewed: float | None = None
    below_title: DeltaGenerator | None = None
    arrives: bool = True
    hurried: bool = False
    leaves: bool = False
    visitor: str = field(default_factory=lambda: uuid4().hex)
    kept: VisitState = field(default_factory=VisitState)

    @property
    def here(self) -> SettingsState[Any]:
        """The settings that the page is about."""
        return self.held[self.about]

    def begin(self, fragment: str) -> None:
        """Notes which fragment draws from now on."""
        self.earlier, self.current = self.pictures.get(fragment, {}), {}
        self.pictures[fragment] = self.current

    def current_looks(self) -> dict[str, object]:
        """The looks of all parts under the current settings."""
        setting = self.here.setting
        return {name: part.look(setting) for name, part in self.parts.items()}

    def stale_parts(self, looks: Mapping[str, object]) -> frozenset[str]:
        """The parts that were drawn with other looks than these, other than by the widgets that were moved in them."""
        return frozenset(
            name
            for name, look in self.looks.items()
            if self.told.pending(self.parts[name].knobs) or look != looks[name]
        )

    def redraw(self, part: str) -> None:
        """Has a part drawn again by the next change though it looks the same, as its widget was set back."""
        if part in self.looks:
            self.looks[part] = None


def session() -> Session:
    """The session of this visitor, created on the first call."""
    try:
        return st.session_state[KEY]
    except KeyError:
        st.session_state[KEY] = created = Session()
        return created


def widgets() -> Widgets:
    """The values of all widgets, by key."""
    return st.session_state


def put(**values: Any) -> None:
    """Sets knobs: the next rerun takes them up as if a widget had been moved, and sends them to their widgets."""
    state, here = session(), session().here
    state.told.set(st.session_state, here.by_widget_key(values))
    here.forget(values)


def taken_up() -> Any:
    """Takes up the values of the widgets and returns the settings."""
    state = session()
    here, before = state.here, state.here.setting
    here.take_up(st.session_state, state.told)
    if not may_see(here.setting):  # the browser sends the name of a source that it was never offered
        here.setting = before
        state.told.set(st.session_state, here.widget_values)
    return here.setting


def may_see(setting: Any) -> bool:
    """Whether this visit may see what the settings name, on both sides: not if it is another visitor's upload."""
    return not foreign_uploads(getattr(setting, "source", ""), pinned_source(getattr(setting, "against", "")))


def foreign_uploads(*sources: str) -> list[str]:
    """The uploads among these sources that this visit does not have."""
    return [source for source in sources if is_uploaded(source) and source not in session().kept.uploaded]


def reconcile() -> None:
    """Corrects widget values from a browser that has not received newer ones yet."""
    state = session()
    state.told.reconcile(st.session_state, state.here.widget_values)
