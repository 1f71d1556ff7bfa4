"""Masks: which query may look at which key, and what that does."""

from attention.ui import results
from attention.ui.session import page
from attention.ui.views import classroom, masks

page.show(masks.view, ahead=results.heads.begin, any_length=True, aside=[classroom.fold()])
