"""Implementations: published implementations of attention, compared with the reference."""

from attention.ui.controls.published import PUBLISHED
from attention.ui.session import page
from attention.ui.views import card_bar, classroom, implementations, room

page.show(implementations.view, PUBLISHED, aside=[card_bar.bar(), classroom.button(), room.part()])
