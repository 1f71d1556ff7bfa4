"""Seconds with their spread: how long attention takes here, and from what length another device is faster.

    from attention.timing import Sweep, measure
    timings = measure(Sweep(lengths=(256, 1024), seconds=20))

or `python -m attention.timing --help` (`__main__`). `sweep` lists the cases, `visible` says which pairs of a query and a
key a case has, `implementations` what can be timed (a line of its table adds one), `devices` where. `rounds` visits the
cases one at a time (`one_at_a_time`), each prepared by `inputs` and timed by `stopwatch`, while an `interference_probe`
detects other load; `history` keeps what is known about a case so far. `roofline` and `footprint` count operations and
bytes. `recordings` stores timings as files, `comparison` compares them, `growth` fits how a line grows with length,
`convergence` says why times are not stable, `units` formats seconds and bytes, `answers` says in a sentence how long a
setting takes. CPU against GPU: `published` has figures of others, `data_sheets` the least time that a GPU can take,
`cpu_gpu_settings` the knobs of the picture, `cpu_gpu_series` its lines and `cpu_gpu_summary` its sentences. `chart_findings` has
one sentence per chart, `setting_finding` one on several settings, `ratio_finding` one on ratios, `line_choice` the lines that a
chart begins with, `line_names` the short names of lines, `result_table` the table of timings. `break_even` says from which length
on a GPU is faster for one text. `subject` says whether the page begins with that picture or with the sizes of the sweep.
"""

from attention.timing.implementations import IMPLEMENTATIONS
from attention.timing.recordings import Timing
from attention.timing.rounds import Progress, measure
from attention.timing.sweep import Case, Sweep

__all__ = ["IMPLEMENTATIONS", "Case", "Progress", "Sweep", "Timing", "measure"]
