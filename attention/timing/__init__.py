"""Seconds with their spread: how long attention takes here, and from which length on another device pays.

    from attention.timing import Sweep, measure
    timings = measure(Sweep(lengths=(256, 1024), seconds=20))

or `python -m attention.timing --help` (`__main__`). `sweep` lists the cases, `implementations` what can be timed (a line of
its table adds one), `devices` where. `rounds` visits the cases one at a time (`one_at_a_time`), each made ready by `prepared`
and timed by `stopwatch`, while a `yardstick` tells whether the machine was left alone; `history` is what is known about a
case so far. `roofline` and `footprint` count operations and bytes. `recordings` is how timings are kept and travel,
`comparison` what they say about each other, `growth` how a line grows with length, `settling` whether to believe them,
`units` how seconds and bytes are written. CPU against GPU: `published` has what others have printed of GPUs, `versus` the
knobs of the picture, `rivals` its lines and `verdict` what they come to.
"""

from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.recordings import Timing
from attention.timing.rounds import Progress, measure
from attention.timing.sweep import Case, Sweep

__all__ = ["IMPLEMENTATIONS", "Case", "Progress", "Sweep", "Timing", "measure"]
