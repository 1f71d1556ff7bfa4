"""Timings, and how they travel: as files that say on which device, with which torch and on which day.

    timing    one timing, and what its device and its origin are called
    labels    what a timing is called where several are shown: the only place where such names are made
    schema    a timing as a row of a file, checked field by field
    files     recordings written and read, and those that ship with the app

`python -m attention.timing --out gpu.json` writes one on any machine; a file that is put into this folder ships with
the app, and one can be opened on the Timing page. A file is text from a stranger: it is checked field by field,
nothing in it is executed, and its timings are marked as recorded wherever they are shown.
"""

from attention.timing.recordings.files import FORMAT, read_recording, sheet, shipped_recordings, table, write_recording
from attention.timing.recordings.labels import labels, lines, place
from attention.timing.recordings.schema import TRAVELS, RecordingError, from_row, row
from attention.timing.recordings.timing import Timing, name

__all__ = [
    "FORMAT",
    "TRAVELS",
    "RecordingError",
    "Timing",
    "from_row",
    "labels",
    "lines",
    "name",
    "place",
    "read_recording",
    "row",
    "sheet",
    "shipped_recordings",
    "table",
    "write_recording",
]
