"""Timing: how long attention takes, here and where it was recorded, and from which length on a GPU pays."""

from attention.ui.controls import sweep
from attention.ui.session import page
from attention.ui.views import classroom, timing

page.show(timing.view, sweep.SWEEP, aside=[classroom.fold()])
