"""Names at the ends of the lines of a chart with logarithmic axes (Plotly), which need no legend then."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from math import log10
from typing import Any

import plotly.graph_objects as go

from attention.charts.theme import PLOTLY_TEXT

MOST = 8  # lines that are told apart by colours and marks
FEW = 5  # lines that have their names at their ends; more of them have a legend
SPARSE = 3  # lines that have their names at their ends however crowded these are
LINE = 13  # pixels from one name to the next
SHIFTS = (13, 27, -26, 41, -40, -54)  # pixels of a name above the end of its line, in the order in which they are tried
BEHIND = (-2, 11, -15, 24, -28)  # the same for a name behind the end of its line
BELOW = -12  # the same for a name that begins below another point of its line
START = (26, 40, 54)  # the same for a name above the first point of its line
ABOVE = (16, 30, 44, -30, -44, 58, 72, 86, 100, 114, 128, 142)  # pixels of another text above a point
LETTER = 0.58  # mean width of a letter, of its height
NARROW, WIDE = 260, 830  # pixels of the width of a chart on a phone, and beside a sidebar
WIDEST = NARROW + 50  # pixels of a name, which may reach over the numbers of the axis
EDGE = 0.03  # part of the width of a chart by which a name may reach beyond the end of the longest line
HALF = 7  # pixels of half the height of a name
NEAR = 18  # pixels from a line within which a name of another one would be read as its own
BULLETS = {
    "circle": "●",
    "square": "■",
    "diamond": "◆",
    "triangle-up": "▲",
    "triangle-down": "▼",
    "cross": "✚",
    "x": "✖",
    "pentagon": "⬟",
    "hexagon": "⬢",
    "star": "★",
}  # by mark, for the others a dash
NO_BULLET = "–"
COVERED = 2  # cost of a name through which a line goes
CROWDED = 8  # cost of a name from which on a legend is better
FAR = 20  # pixels from the end of a line beyond which a stroke leads from its name to it
AXIS = 66  # pixels of the height of a figure that its margins and the axis below take

Corners = list[tuple[float, float]]
Place = tuple[tuple[float, float], int, bool]  # a point, pixels above it, and whether the name begins behind it


@dataclass
class _Room:
    """The room for names in a chart: `lines` by group and `pale` ones as corners, and the heights that are `taken` by names,
    at the start or elsewhere.

    `start` and `end`: the first and the last length; `low`: the logarithm of the lower end of the y axis; `scale`: pixels per
    factor of ten; `narrow`: pixels of the width of the chart on a phone.
    """

    start: float
    end: float
    low: float
    scale: float
    lines: list[tuple[str, Corners]]
    pale: list[Corners]
    taken: list[tuple[float, bool]] = field(default_factory=list)
    narrow: int = NARROW

    def cost(self, place: Place, group: str, width: float, last: tuple[float, float]) -> int:
        """How badly a name of a line of this width is placed; `last`: the end of the line."""
        (x, y), shift, behind = place
        at, lines = self.scale * log10(y), [line for _, line in self.lines]
        others = [line for of, line in self.lines if of != group]
        across = log10(x / self.start) / log10(self.end / self.start) if self.end > self.start else 0.0
        names = sum(abs(at + shift - other) < LINE and first is (x == self.start) for other, first in self.taken)
        left = [across * pixels + (8 if behind else 6 - width - 12) for pixels in (self.narrow, WIDE)]
        boxes = [
            (x0 / pixels, (x0 + width + 12) / pixels) for x0, pixels in zip(left, (self.narrow, WIDE), strict=True)
        ]
        covered, faintly = (
            sum(_covers(line, box, at + shift) for line in of for box in boxes) for of in (lines, self.pale)
        )
        cut = any(right > 1 + EDGE for _, right in boxes)
        below = at + shift - HALF < self.scale * self.low  # on the numbers of the axis
        low, high = sorted((at, at + shift))
        parted, little = (
            sum(low + 1 < height < high - 1 for height in _heights(of, across)) for of in (others, self.pale)
        )
        # A name along its line could be that of another line which is as near, unlike one at the end of its line.
        reach = [across, *(min(1.0, right) for _, right in boxes)]
        near = [abs(height - at - shift) < NEAR for part in reach for height in _heights(others, part)]
        either = (x, y) != last and any(near)
        return 100 * (names + cut + below + either) + COVERED * covered + faintly + 3 * parted + little


def name_lines(
    figure: go.Figure,
    height: int,
    ends: list[float],
    beside: float = 0,
    font: int = 11,
    narrow: int = NARROW,
    bare: bool = False,
    most: int = MOST,
) -> bool:
    """Writes the name of each line, `meta` of its trace, where it ends, and takes it out of the legend.

    A name is above its line, or elsewhere near if another name or a line is there. Lines without a name are avoided, too. A line
    behind the others (`zorder`) has no name where it would be on another name or line.
    `height` of the figure in pixels; `ends`: the logarithms of both ends of the y axis; `beside`: the last length of the chart; a
    name that fits before it is behind its line; `font`: the size of names in pixels;
    `narrow`: pixels of its width on a phone; `bare`: names have no mark, which would look like a value.
    Leaves the legend as it is, and returns False, if there are more than `most` lines, a name is wider than a phone, or one
    of several names would be on lines or other names.
    """
    drawn: list[Any] = list(figure.data)
    traces = [trace for trace in drawn if trace.meta]
    unnamed = [trace for trace in drawn if not trace.meta and "lines" in (trace.mode or "") and not trace.fill]
    last: dict[str, tuple[list[tuple[float, float]], str, str]] = {}  # of a line: its points, its name and its bullet
    for trace in sorted(traces, key=lambda trace: "lines" in trace.mode):  # marks that no line joins are overwritten
        if points := [each for each in zip(trace.x, trace.y, strict=True) if each[1]]:
            last[_group(trace)] = (sorted(points), trace.meta, _bullet(trace))
    if len(last) > most or any(len(name) * font * LETTER > WIDEST for _, name, _ in last.values()):
        return False
    scale = (height - AXIS) / (ends[1] - ends[0])
    start = min((points[-1][0] for points, *_ in last.values()), default=1.0)
    start = min([start, *(x for trace in traces for x in trace.x if x)], default=1.0)
    end = max(beside, max((x for trace in traces for x in trace.x if x), default=1.0))
    lines = [(_group(trace), _corners(trace, start, end, scale)) for trace in traces]
    room = _Room(
        start, end, ends[0], scale, lines, [_corners(trace, start, end, scale) for trace in unnamed], narrow=narrow
    )
    behind = {_group(trace) for trace in traces if (trace.zorder or 0) < 0}
    notes: list[dict[str, Any]] = []
    for group, (points, name, bullet) in sorted(last.items(), key=lambda each: -each[1][0][-1][1]):
        width = len(name) * font * LETTER
        is_behind = _room_behind(points[-1][0], beside, start) >= width
        places: list[Place] = [(points[-1], shift, is_behind) for shift in (BEHIND if is_behind else SHIFTS)]
        along: list[Place] = [
            (point, BELOW, True) for point in reversed(points[1:-1])
        ]  # if lines are in the way at the end
        at_line = 1 if NO_BULLET in bullet else len(places)  # a line without marks is named at the line
        places[at_line:at_line] = along
        places += [(points[0], shift, True) for shift in START]
        costs = [room.cost(place, group, width, points[-1]) for place in places]
        if group in behind and min(costs) >= COVERED:
            continue
        if len(last) > SPARSE and min(costs) >= CROWDED:
            return False
        best = [place for place, cost in zip(places, costs, strict=True) if cost == min(costs)]
        (x, y), shift, is_behind = min(best, key=_has_stroke)
        room.taken.append((scale * log10(y) + shift, x == start))
        text = escape(name) if bare else f"{bullet} {escape(name)}"
        place = {"x": log10(x), "y": log10(y), "xanchor": "right", "yanchor": "middle", "xshift": 6, "yshift": shift}
        if is_behind:
            place |= {"xanchor": "left", "xshift": 8}
        elif _has_stroke(((x, y), shift, is_behind)):
            stroke = {"arrowhead": 0, "arrowwidth": 1, "arrowcolor": "gray", "standoff": 4}
            place |= {"showarrow": True, "ax": 0, "ay": -shift, "yshift": 0, "borderpad": 0, **stroke}
        look = {"font": {"size": font, "color": PLOTLY_TEXT}, "showarrow": False}
        notes.append({"text": text} | look | place)
    for note in notes:
        figure.add_annotation(**note)
    for trace in traces:
        trace.showlegend = False
    return True


def _has_stroke(place: Place) -> bool:
    """Whether a stroke leads from a name to the end of its line, which is worse than a name at the line."""
    _, shift, is_behind = place
    return not is_behind and abs(shift) > FAR


def _group(trace: Any) -> str:
    """The line that a trace is a part of."""
    return trace.legendgroup or trace.meta


def clear_shift(figure: go.Figure, x: float, y: float, height: int, ends: list[float], letters: int) -> int:
    """Returns how many pixels above or below a point a text of two lines ends that few lines go through, and no name covers.

    `x`: the logarithm of the length; `y`: the time; `letters`: the number of letters times their height in pixels.
    """
    traces: list[Any] = list(figure.data)
    xs = [each for trace in traces for each in trace.x if each]
    start, end, scale = min(xs), max(xs), (height - AXIS) / (ends[1] - ends[0])
    lines = [_corners(trace, start, end, scale) for trace in traces if "lines" in trace.mode]
    across, at = (x - log10(start)) / (log10(end) - log10(start)), scale * log10(y)
    boxes = [(across - letters * LETTER / pixels, across) for pixels in (NARROW, WIDE)]
    notes: list[Any] = [note for note in figure.layout.annotations if note.xref != "paper"]

    def cost(shift: int) -> int:
        covered = sum(_covers(line, box, at + shift) for line in lines for box in boxes)
        near = [
            note for note in notes if abs(scale * note.y + (note.yshift or -(note.ay or 0)) - at - shift) < 2 * LINE
        ]
        return covered + sum(
            _meets(note, box, start, end, px) for note in near for box, px in zip(boxes, (NARROW, WIDE), strict=True)
        )

    return min(ABOVE, key=cost)


def _meets(note: Any, box: tuple[float, float], start: float, end: float, pixels: int) -> bool:
    """Whether a name begins or ends within this part of the width, or reaches over it."""
    text = note.text.partition("</span> ")[2] or note.text
    across, width = (note.x - log10(start)) / log10(end / start), len(text) * note.font.size * LETTER / pixels
    left = across if note.xanchor == "left" else across - width
    return left < box[1] and left + width > box[0]


def _corners(trace: Any, start: float, end: float, scale: float) -> Corners:
    """The points of a line: the part of the width of the chart at which they are, and their height in pixels."""
    if end <= start:
        return []
    points = [(x, y) for x, y in zip(trace.x, trace.y, strict=True) if x and y]
    return [(log10(x / start) / log10(end / start), scale * log10(y)) for x, y in points]


def _covers(line: Corners, box: tuple[float, float], middle: float) -> bool:
    """Whether a line goes through a name that is this part of the width, around this height."""
    for (x0, y0), (x1, y1) in pairwise(line):
        left, right = max(box[0], x0), min(box[1], x1)
        if left > right or x1 <= x0:
            continue
        ends = [y0 + (y1 - y0) * (x - x0) / (x1 - x0) for x in (left, right)]
        if min(ends) < middle + HALF and max(ends) > middle - HALF:
            return True
    return False


def _heights(lines: list[Corners], across: float) -> list[float]:
    """The heights of the lines that are there, at a part of the width."""
    found = []
    for line in lines:
        for (x0, y0), (x1, y1) in pairwise(line):
            if x0 <= across <= x1 and x0 < x1:
                found.append(y0 + (y1 - y0) * (across - x0) / (x1 - x0))
                break
    return found


def _bullet(trace: Any) -> str:
    """The mark of a line in its colour, to put before its name."""
    symbol = trace.marker.symbol if isinstance(trace.marker.symbol, str) else next(iter(trace.marker.symbol or ("",)))
    mark = BULLETS.get(symbol.removesuffix("-open"), NO_BULLET) if "markers" in trace.mode else NO_BULLET
    return f'<span style="color:{trace.line.color or trace.marker.color}">{mark}</span>'


def _room_behind(x: float, last: float, first: float) -> float:
    """Pixels behind the end of a line, up to the last length of the chart, in a narrow window."""
    return NARROW * log10(last / x) / log10(last / first) if x < last and first < last else 0.0
