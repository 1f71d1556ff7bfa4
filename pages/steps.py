"""Steps: a pass from x to output, or the part of it that the source contains, one matrix at a time."""

from attention.ui.controls.picture import SMALL
from attention.ui.session import page
from attention.ui.text import comparing
from attention.ui.views import card_bar, classroom, own_text, pinned_sides, room, steps, steps_changed

CHOICE = pinned_sides.choice(steps_changed.has_step_difference, comparing.OTHER_STEPS, steps_changed.has_sides)

page.show(
    steps.view,
    SMALL,
    title=steps.TITLE,
    above=[own_text.FIELD, CHOICE],
    aside=[card_bar.bar(), classroom.button(), room.part()],
)
