"""Heads: what every head attends to, at once."""

from attention.ui import compute, page
from attention.ui.views import heads

page.show(heads.view, ahead=compute.begin)
