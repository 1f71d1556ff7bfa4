"""Steps: from x to output, one matrix at a time."""

from attention.ui.session import page
from attention.ui.views import classroom, steps

page.show(steps.view, aside=[classroom.fold()])
