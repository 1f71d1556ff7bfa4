"""Layers: the heads of all layers, compared by their statistics and by their distances from each other."""

from attention.ui.controls.picture import LAYERED
from attention.ui.session import page
from attention.ui.text import comparing
from attention.ui.views import (
    classroom,
    layers,
    layers_alike,
    layers_compared,
    layers_copies,
    layers_table,
    own_text,
    pinned_sides,
    room,
)
from attention.ui.views.card_bar import bar

page.show(
    layers.view,
    LAYERED,
    ahead=layers.begin,
    title=layers.TITLE,
    above=[
        own_text.read_field(layers_copies.text_sentence),
        pinned_sides.choice(pinned_sides.has_layer_difference, comparing.OTHER_HEADS),
    ],
    aside=[bar(), classroom.button(), room.part()],
    below=[layers_compared.COMPARED, layers_alike.LIKENESS, layers_table.TABLE, layers_table.DOWNLOADS],
)
