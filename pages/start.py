"""Start: what attention does, shown with one head of a real model."""

from attention.ui.controls.story import STORY
from attention.ui.session import page
from attention.ui.views import card_bar, room, start

page.show(start.view, STORY, ahead=start.begin, above=[card_bar.bar(), room.part()], below=[start.BELOW])
