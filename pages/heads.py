"""Heads: what every head attends to, at once."""

from attention.ui.session import page
from attention.ui.views import heads

page.show(
    heads.view,
    ahead=heads.begin,
    any_length=True,
    above=[heads.TITLE],
    below=[heads.FIELDS, heads.HEAD, heads.CODE, heads.FILES],
)
