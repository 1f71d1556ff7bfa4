"""Masks: which keys each query may attend to, and the effect on the weights."""

from attention.ui import results
from attention.ui.session import page
from attention.ui.text import comparing
from attention.ui.views import card_bar, classroom, masks, masks_changed, own_text, pinned_sides, room

page.show(
    masks.view,
    ahead=results.heads.begin,
    any_length=True,
    title=masks.TITLE,
    above=[own_text.READ_FIELD, pinned_sides.choice(masks_changed.has_mask_difference, comparing.OTHER_LENGTHS)],
    aside=[card_bar.bar(), classroom.button(), room.part()],
)
