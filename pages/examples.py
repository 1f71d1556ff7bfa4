"""Examples: prepared settings, each with a sentence and a question for a class."""

from attention.ui.controls import tour
from attention.ui.session import page
from attention.ui.views import examples, room

page.show(examples.view, tour.TOUR, aside=[room.part()])
