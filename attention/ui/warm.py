"""What a server does before its first visitor's script: imports all that scripts need, and takes over collecting garbage.

Imports of several scripts at once race: one finds a module that another has begun and not finished (seen with pandas, of
which Streamlit asks whether it is there). So one thread imports everything, and visitors wait for it at the door.
"""

from __future__ import annotations

import gc
import threading
import time
from importlib import import_module
from pathlib import Path

FOLDERS = ("controls", "views")  # of what pages import
USED = (  # what libraries import when they are first used; a test runs every page and finds what is missing here
    "PIL.ImageFile",
    "einops._torch_specific",
    "narwhals._interchange.dataframe",
    "orjson",
    "plotly.animation",
    "plotly.graph_objs._deprecations",
    "plotly.graph_objs.heatmap._colorbar",
    "plotly.graph_objs.heatmap.colorbar._title",
    "plotly.graph_objs.layout._image",
    "plotly.graph_objs.layout._margin",
    "plotly.graph_objs.layout._xaxis",
    "plotly.graph_objs.layout._yaxis",
    "plotly.graph_objs.layout.xaxis._title",
    "plotly.graph_objs.layout.yaxis._title",
    "plotly.io._json",
    "plotly.tools",
    "pyarrow.pandas_compat",
    "pyarrow.vendored.version",
    "streamlit.material_icon_names",
)
CLOCK = 2.0  # seconds between two collections


def warm() -> None:
    """Imports what pages import, themselves and when first used; from then on garbage is collected on a clock.

    Walking what was imported at every collection costs more than a pass, so it counts as no garbage any more. After every
    picture, as Streamlit would, collecting took a quarter of the time of 25 visitors.
    """
    for folder in FOLDERS:
        for path in sorted(Path(__file__).with_name(folder).glob("[a-z]*.py")):
            import_module(f"attention.ui.{folder}.{path.stem}")
    for name in USED:
        import_module(name)
    gc.collect()
    gc.freeze()
    gc.disable()
    threading.Thread(target=_collect, name="garbage", daemon=True).start()


def _collect() -> None:
    usual, _, _ = gc.get_threshold()
    while True:
        time.sleep(CLOCK)
        if gc.get_count()[0] > usual:  # else nobody was here
            gc.collect()
