"""Controls: `knobs` makes the widget of a knob from the knob's own line, `kind` describes one kind of settings.

One sidebar per file: `picture` of a config, `published` of the page Implementations, `story` of the Start page, `sweep` of
timings, `recipe` of a training, `tour` of examples, `reading` of an uploaded file, `prompt` of a model, `bug_series` of the page
Find the bug. `lengths` has the stops of sliders whose ends depend on other knobs, `own_text` what typing a text changes,
`opening_head` which head and query a chosen source opens with, `known_values` which values of a link are replaced, `reasons` why
a knob has no effect. None of them knows the session: callbacks are passed in.

To add a sidebar, write one file like `sweep`, with one `Kind`, and add its settings to `knobs.SETTINGS`.
"""
