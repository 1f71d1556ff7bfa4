"""Masks: which query may look at which key, and what that does."""

from attention.ui import compute
from attention.ui.session import page
from attention.ui.views import classroom, masks

page.show(masks.view, ahead=compute.heads.begin, any_length=True, aside=[classroom.fold()])
