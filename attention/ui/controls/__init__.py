"""Controls: `knobs` makes the widget of a knob from the knob's own line, `kind` says what belongs to one kind of settings.

A sidebar a file: `picture` of a config, `sweep` of timings, `recipe` of a training, `tour` of examples, `reading` of a file
that is opened, `prompt` of a model. `lengths` has the stops of sliders whose ends depend on other knobs, `own_text` what typing
a text means for others, `reasons` why a knob does nothing here. None knows the session: it is handed what to call when a widget
was moved.

To have another sidebar, write one file like `sweep`, with one `Kind`, and add its settings to `knobs.SETTINGS`.
"""
