"""Timing: how long attention takes, here and on recorded machines, and from which length a GPU is faster."""

from attention.ui.controls import sweep
from attention.ui.session import page
from attention.ui.views import card_bar, classroom, room, timing

page.show(timing.view, sweep.SWEEP, aside=[card_bar.bar(), classroom.button(), room.part()])
