"""Attention outside the app: in a notebook, and as one HTML file.

`display` has `attention.show(…)` and `attention.html(…)`, `compared` has `attention.compare(…)`. `inputs` makes stacks of
what users have at hand, whose arrays `tensors` converts and `weight_checks` checks; `outputs` reads the outputs of
transformers. `picture` encodes all layers for the browser. `page` writes one file, `widget` is a notebook widget, and
`still` a static picture that a saved notebook keeps; `bundle` joins the browser's modules to one text for both.
Outside a notebook the app shows it (`serving.launch`).
"""
