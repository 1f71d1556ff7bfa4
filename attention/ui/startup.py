"""What a server does before the first script runs: it imports all modules and takes over garbage collection.

Imports by several scripts at once race: one finds a module that another has started to import (seen with pandas, for which
Streamlit checks). So one thread imports everything, and visitors wait for it (attention/serving/startup.py).
"""

from __future__ import annotations

import gc
import threading
import time
from importlib import import_module
from itertools import count
from pathlib import Path

from attention.runtime.budget import limit_arenas, trim
from attention.runtime.stall_detector import STALL_DETECTOR
from attention.serving.session_cleanup import only_few
from attention.streamlit_internals import ignore_pages_directory, name_drawn_fragments, remember_theme
from attention.ui.budget import BUDGET, EXPIRY, SPARE, SPARED, TIGHT
from attention.ui.rooms import CLASSROOMS
from attention.ui.views.room import is_allowed

FOLDERS = ("controls", "views")  # of the modules that pages import
USED = (  # what libraries import on first use; a test runs every page and reports what is missing here
    "PIL.BmpImagePlugin",
    "PIL.GifImagePlugin",
    "PIL.GimpGradientFile",
    "PIL.GimpPaletteFile",
    "PIL.ImageChops",
    "PIL.ImageColor",
    "PIL.ImageFile",
    "PIL.ImagePalette",
    "PIL.ImageSequence",
    "PIL.JpegImagePlugin",
    "PIL.JpegPresets",
    "PIL.PaletteFile",
    "PIL.PngImagePlugin",
    "PIL.PpmImagePlugin",
    "einops._torch_specific",
    "narwhals._interchange.dataframe",
    "orjson",
    "plotly.animation",
    "plotly.graph_objs._deprecations",
    "plotly.graph_objs.heatmap._colorbar",
    "plotly.graph_objs.heatmap.colorbar._title",
    "plotly.graph_objs.layout._annotation",
    "plotly.graph_objs.layout._font",
    "plotly.graph_objs.layout._image",
    "plotly.graph_objs.layout._legend",
    "plotly.graph_objs.layout._margin",
    "plotly.graph_objs.layout._shape",
    "plotly.graph_objs.layout._title",
    "plotly.graph_objs.layout._xaxis",
    "plotly.graph_objs.layout._yaxis",
    "plotly.graph_objs.layout.annotation",
    "plotly.graph_objs.layout.annotation._font",
    "plotly.graph_objs.layout.legend._title",
    "plotly.graph_objs.layout.legend.title._font",
    "plotly.graph_objs.layout.shape",
    "plotly.graph_objs.layout.shape._line",
    "plotly.graph_objs.layout.title",
    "plotly.graph_objs.layout.title._font",
    "plotly.graph_objs.layout.xaxis._tickfont",
    "plotly.graph_objs.layout.xaxis._title",
    "plotly.graph_objs.layout.yaxis._title",
    "plotly.graph_objs.scatter._line",
    "plotly.io._json",
    "plotly.tools",
    "pyarrow.pandas_compat",
    "pyarrow.vendored.version",
    "streamlit.emojis",
    "streamlit.material_icon_names",
)
CLOCK = 2.0  # seconds between two checks for garbage
TIDY = 15  # checks from one eviction of expired results to the next
ROUND, OLDEST = 5, 2  # checks from one collection of all objects to the next (others: new ones), oldest generation


def preload() -> None:
    """Imports what pages import, directly and on first use, and collects garbage on a timer from then on.

    Imported objects are frozen, as walking them at every collection costs more than a pass. Collecting after every picture,
    as Streamlit does, took a quarter of the time of 25 visitors.
    """
    gc.disable()
    limit_arenas(TIGHT)
    if TIGHT:
        only_few()
    for folder in FOLDERS:
        for path in sorted(Path(__file__).with_name(folder).glob("[a-z]*.py")):
            import_module(f"attention.ui.{folder}.{path.stem}")
    for name in USED:
        import_module(name)
    remember_theme()
    name_drawn_fragments()
    if is_allowed():  # otherwise the page of a room, which is in no folder, would not be found on a new server
        ignore_pages_directory()
    gc.freeze()
    threading.Thread(target=_collect, name="garbage", daemon=True).start()
    STALL_DETECTOR.start()


def _collect() -> None:
    (usual, _, _), left = gc.get_threshold(), False
    for turn in count(1):
        time.sleep(CLOCK)
        new, tidy = gc.get_count()[0] > usual, turn % TIDY == 0  # not new: no script has run
        left = left or new
        if tidy or (left and turn % ROUND == 0):  # includes what visitors who have gone since left
            gc.collect(OLDEST)
            left = False
            if tidy:
                BUDGET.tidy(time.monotonic() - EXPIRY)
                CLASSROOMS.expire()
        elif new:
            gc.collect(OLDEST - 1)
        if new and not tidy:
            SPARE.hold(SPARED)
            if TIGHT:
                BUDGET.room(0)
                trim()
