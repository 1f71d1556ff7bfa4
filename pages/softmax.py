"""Softmax: how one row of weights is computed, and the effect of scaling and number types on it."""

from attention.ui import results
from attention.ui.controls.picture import SCORES
from attention.ui.session import page
from attention.ui.text import comparing
from attention.ui.views import card_bar, classroom, own_text, pinned_sides, room, softmax, softmax_changed

page.show(
    softmax.view,
    SCORES,
    title=softmax.TITLE,
    above=[own_text.FIELD, pinned_sides.choice(softmax_changed.has_difference, comparing.ALL_ROWS)],
    ahead=results.heads.begin,
    aside=[card_bar.bar(), classroom.button(), room.part()],
)
