"""Names beside the points of heads: those that are seen are read, at whatever width."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from attention.charts.head_points import NEVER, WIDTHS, beside


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 360)), min_size=1, max_size=24), st.integers(0, 3))
def test_names_that_are_seen_touch_no_other_and_no_point(places, many):
    names, first = [f"L{at}H{at}" for at in range(len(places))], range(min(many, len(places)))
    found = beside(names, first, lambda width: [(x * width, y) for x, y in places])
    room = [each.room for each in found]
    assert all(room[at] == WIDTHS[0] for at in first[:1]), "the selected head has its name at any width"
    for width in WIDTHS:
        seen = [at for at, least in enumerate(room) if least <= width]
        boxes = {}
        for at in seen:
            wide, x = 6 * len(names[at]), places[at][0] * width
            boxes[at] = x - 11 - wide if found[at].left else x + 11, places[at][1], wide
            assert width != WIDTHS[1] or boxes[at][0] + wide <= width, "it would be cut"
        for at in seen:
            x, y, wide = boxes[at]
            for other in set(seen) - {at}:
                left, top, long = boxes[other]
                assert x >= left + long or left >= x + wide or abs(y - top) >= 11, (width, at, other)
            for other, (share, down) in enumerate(places):
                inside = x <= share * width <= x + wide and abs(down - y) <= 5.5
                assert other == at or at in first[:1] or not inside, "only the very first may cover a point"


def test_a_name_is_on_the_side_where_it_covers_no_point():
    places = [(0.5, 200.0), (0.54, 195.0)]
    assert [each.left for each in beside(["H0", "H1"], [0], lambda width: [(x * width, y) for x, y in places])] == [
        True,
        False,
    ]


def test_a_name_with_nothing_near_it_is_always_there():
    places = [(0.1, 20.0), (0.5, 200.0), (0.51, 201.0)]
    assert beside(["H0", "H1", "H2"], [], lambda width: [(x * width, y) for x, y in places])[0].room == WIDTHS[0]
    some = beside(["H0", "", "H2"], [2], lambda width: [(x * width, y) for x, y in places])
    assert [each.room for each in some[1:]] == [NEVER, WIDTHS[0]], "one has no name"
