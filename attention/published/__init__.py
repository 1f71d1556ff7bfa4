"""Eleven published implementations of attention, run on the same weights, with the mistakes that they were published with.

    rows               every row by its name, and by the name that does not reveal it
    weights            one set of weights, in the layouts that the rows need
    row                the properties of a row besides its code
    separate_maps head_matrices fused_map functional unrolled threads
                       one module per document, and one for threads: functions, corrected and as published, and rows
    record cost        shapes line by line, FLOPs, bytes and time of a function, observed while it runs
    compare supported_inputs    compares a row with the reference; finds the inputs that it supports by trying
    diff_lines         the lines in which published and corrected code differ
    hunts bug_series   the bugs of the page Find the bug, and its settings
    common             mistakes that are common and come from no document

To add a row, write it in the module of its document, and add it to `ROWS`. Its name there is also its name in a link, except
if the link asks for the mistake: then `hunt_name` gives a name that does not reveal the row and must never change.

>>> from attention.published.compare import compare
>>> compare(ROWS["fused"], attention.Config(tokens=8, heads=2, d_model=16)).judgement.verdict
'agrees'
"""

from attention.published.row import Evidence, Row, Slip
from attention.published.rows import HUNTS, ROWS, hunt_name, link_name
from attention.published.weights import Weights

__all__ = ["HUNTS", "ROWS", "Evidence", "Row", "Slip", "Weights", "hunt_name", "link_name"]
