"""Steps: a pass from x to output, or the part of it that the source contains, one matrix at a time."""

from attention.ui.controls.picture import SMALL
from attention.ui.session import page
from attention.ui.views import card_bar, classroom, pinned_sides, room, steps

page.show(
    steps.view,
    SMALL,
    above=[steps.TITLE, pinned_sides.choice()],
    aside=[card_bar.bar(), classroom.button(), room.part()],
)
