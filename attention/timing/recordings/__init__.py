"""Timings and their files, which state the device, the torch version and the day of each timing.

    timing    one timing, and the names of its device and its origin
    labels    the labels of timings when several are shown: the only place where labels are made
    schema    a timing as a row of a file, checked field by field
    files     writes and reads recordings, and lists those that ship with the app

`python -m attention.timing --out gpu.json` writes a recording on any machine. A file in this folder ships with the app, and
any file can be opened on the Timing page. A file is untrusted input: it is checked field by field, nothing in it is executed,
and its timings are marked as recorded wherever they are shown.
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
