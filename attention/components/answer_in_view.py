"""Scrolls the verdict on an answer into view: on a phone it is drawn below the window."""

from __future__ import annotations

from attention.components.registry import component


def answer_in_view(question: str, answer: str, *, verdict: str, start: str, key: str = "answer_in_view") -> None:
    """Scrolls once the `answer` to a question changes, or the `question` itself; the first ones scroll nothing.

    `verdict` and `start`: the keys of the containers that are scrolled to, after an answer and for another question.
    """
    data = {"question": question, "answer": answer, "verdict": _class(verdict), "start": _class(start)}
    component("answer_in_view")(key=key, data=data)


def _class(key: str) -> str:
    """The class that Streamlit gives a container with this key."""
    return f"st-key-{key.replace(' ', '-')}"
