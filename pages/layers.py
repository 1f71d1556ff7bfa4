"""Layers: the heads of all layers, compared by their statistics and by their distances from each other."""

from attention.ui.controls.picture import LAYERED
from attention.ui.session import page
from attention.ui.text import comparing
from attention.ui.views import classroom, layers, layers_alike, layers_compared, layers_table, pinned_sides, room
from attention.ui.views.card_bar import bar

page.show(
    layers.view,
    LAYERED,
    ahead=layers.begin,
    title=layers.TITLE,
    above=[layers.TEXT_FIELD, pinned_sides.choice(pinned_sides.has_layer_difference, comparing.OTHER_HEADS)],
    aside=[bar(), classroom.button(), room.part()],
    below=[layers_compared.COMPARED, layers_alike.LIKENESS, layers_table.TABLE, layers_table.DOWNLOADS],
)
