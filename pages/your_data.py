"""Your data: attention from a file that the user uploads."""

from attention.ui.controls import reading
from attention.ui.session import page
from attention.ui.views import your_data

page.show(your_data.view, reading.READING)
