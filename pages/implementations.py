"""Implementations: published implementations of attention, compared with the reference."""

from attention.ui.session import page
from attention.ui.views import classroom, implementations, own_text

page.show(implementations.view, below=[own_text.FIELD], aside=[classroom.fold()])
