"""The sentence that is typed on Start: MiniLM reads it, and Start shows the head of its story on it.

The sentence is a knob of Start. It is set once the run is done, so that the picture stays until then. A link that has one is
opened as a link with a run of MiniLM.
"""

from __future__ import annotations

from dataclasses import replace

from attention.models.prompt import Prompt
from attention.recorded.shipped import MINILM
from attention.story.head import HEAD, LAYER, Vectors
from attention.story.settings import CHARACTERS, MOST, OWN, STORIES, WORD, Story
from attention.summary import legible
from attention.ui.session import model_run
from attention.ui.session.visit_state import session
from attention.ui.text import start as text


def source_of(story: Story) -> str:
    """The source of the heads on the visitor's own sentence; "" if it was not read in this visit."""
    return model_run.source_of(Prompt(model=MINILM, text=story.own)) if story.is_own else ""


def vectors_of(story: Story) -> Vectors | None:
    """The vectors of the tokens of the visitor's own sentence; None if it was not read in this visit."""
    return session().kept.vectors.get(source_of(story))


def name_run(query: dict[str, str]) -> dict[str, str]:
    """A query of Start, with the run that reads its sentence if that is the visitor's own."""
    story, _ = STORIES.from_query(query)
    return query | {model_run.RUN: MINILM, f"{model_run.RUN}_text": story.own} if story.is_own else query


def read_typed(story: Story, typed: str) -> Story | str:
    """Requests the run that reads a typed sentence; returns what to show until then, or why the sentence can't be read.

    Nothing typed means the sentences that ship.
    """
    own = " ".join(legible(typed).split())
    model_run.cancel()
    if not own:
        sentence = STORIES.defaults["sentence"] if story.is_own else story.sentence
        return text.OWN_BLANK if typed else replace(story, own="", sentence=sentence, query=WORD).at_own_sizes
    if len(own) > CHARACTERS:
        return text.OWN_LONG.format(most=MOST, shown=story.own if story.is_own else story.shipped.text)
    asked = replace(story, own=own, sentence=OWN, query=WORD, step=STORIES.defaults["step"]).at_own_sizes
    if source_of(asked):
        return asked
    request(asked)
    return story


def request(story: Story, typed: bool = True) -> None:
    """Requests the run that reads the visitor's own sentence; the page that is open then shows it."""
    query = STORIES.to_query(story) | {"layer": str(LAYER), "head": str(HEAD)}
    model_run.start(Prompt(model=MINILM, text=story.own), query, typed)
