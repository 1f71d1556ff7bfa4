"""The app in a real browser, seen as a person sees it."""

from __future__ import annotations


def test_first_screen(tab):
    assert tab.link == {}


def test_keys_move_a_slider(tab):
    tab.slider("tokens").press("ArrowRight")
    tab.painted(tokens=19)
    assert tab.link == {"tokens": "19"}
