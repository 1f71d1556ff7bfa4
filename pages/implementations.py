"""Implementations: published implementations of attention, compared with the reference."""

from attention.ui.session import page
from attention.ui.views import card_bar, classroom, implementations, own_text, room

page.show(implementations.view, below=[own_text.FIELD], aside=[card_bar.bar(), classroom.button(), room.part()])
