"""Open marks in charts of timings: times that are not stable, on a dotted line, with an entry of the legend that says why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import plotly.graph_objects as go

from attention.timing import convergence

GROUP = "open marks"  # of the entry of a legend that explains them
LINE = 2  # pixels of the line of an open mark
JOINT = 1.5  # the same of the dotted line
LAST = 2000  # rank of the last entry of a legend; the others have 1000
EXPLANATION = "open marks: {why}"


def trace_points(is_stable: Sequence[bool], of_stable: bool) -> list[int]:
    """Returns the numbers of the points of a trace of stable or unstable times.

    The line through stable times has a gap at an unstable one between them, which is among the points therefore.
    """
    own = [at for at, each in enumerate(is_stable) if each is of_stable]
    return list(range(own[0], own[-1] + 1)) if own and of_stable else own


def join(
    figure: go.Figure, label: str, name: str, xs: Sequence[float], ys: Sequence[float | None], style: dict[str, Any]
) -> None:
    """Adds a dotted line through all points of a line, with the `name` of that line at its end; it has no marks of its own.

    `style`: the colour and the mark of the line. `label`: its group in the legend.
    """
    figure.add_scatter(
        x=list(xs),
        y=list(ys),
        name=name,
        meta=name,
        legendgroup=label,
        showlegend=False,
        mode="lines+markers",
        marker={"symbol": style["symbol"], "opacity": 0, "color": style["color"]},
        line={"color": style["color"], "width": JOINT, "dash": "dot"},
        hoverinfo="skip",
    )


def explain(figure: go.Figure, reasons: Iterable[str], device: str = "") -> None:
    """Adds one legend entry that explains open marks, by the reasons of all of them, for each `device` if they differ."""
    earlier: list[Any] = list(figure.select_traces({"legendgroup": GROUP}))
    known = [each for trace in earlier for each in zip(trace.text, trace.ids, strict=True)]
    every = list(dict.fromkeys([*known, *((why, device) for why in reasons if why)]))
    words = {of: convergence.open_marks(why for why, each in every if each == of) for _, of in every}
    alike = len(set(words.values())) == 1
    told = dict.fromkeys(why if alike else f"{why} ({of})" for of, why in words.items())
    texts, devices = ([*values] for values in zip(*every, strict=True))
    said = {"name": EXPLANATION.format(why=", ".join(told)), "text": texts, "ids": devices}
    if earlier:
        earlier[0].update(said)
        return
    figure.add_scatter(
        x=[None],
        y=[None],
        mode="markers",
        marker={"symbol": "circle-open", "size": 8, "color": "gray", "line": {"width": LINE}},
        legendgroup=GROUP,
        legendrank=LAST,
        hoverinfo="skip",
        **said,
    )
