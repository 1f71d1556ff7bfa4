"""Implementations: a bug to find, and published implementations of attention, compared with the reference."""

from attention.ui.session import page
from attention.ui.views import classroom, implementations, own_text
from attention.ui.views.published_hunt import HUNT

page.show(implementations.view, above=[HUNT, own_text.FIELD], aside=[classroom.fold(implementations.ASKS)])
