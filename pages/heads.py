"""Heads: the maps of all heads of a layer."""

from attention.ui.session import page
from attention.ui.views import card_bar, classroom, heads, heads_all_layers, room

page.show(
    heads.view,
    ahead=heads.begin,
    any_length=True,
    title=heads.TITLE,
    above=[heads.CHOICES],
    aside=[card_bar.bar(), classroom.button(), room.part()],
    below=[heads.FIELDS, heads.ROW, heads_all_layers.MAP, heads.HEAD, heads.CODE, heads.FILES],
)
