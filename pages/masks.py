"""Masks: which query may look at which key, and what that does."""

from attention.ui import page
from attention.ui.views import masks

page.show(masks.view)
