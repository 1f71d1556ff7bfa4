"""Your data: attention of a model of one's own, from a file."""

from attention.ui.controls import reading
from attention.ui.session import page
from attention.ui.views import your_data

page.show(your_data.view, reading.READING)
