"""Your data: attention from a file that the user uploads."""

from dataclasses import replace

from attention.ui.controls import reading
from attention.ui.session import page
from attention.ui.views import your_data, your_data_files

page.show(your_data.view, replace(reading.READING, applies=your_data_files.has_file, closed=True))
