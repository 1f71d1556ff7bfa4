"""Attention of one's own outside the app: in a notebook, and as one HTML file.

`shown` is what one types, `attention.show(…)` and `attention.html(…)`. `taken` makes stacks of what people have at hand;
`outputs` knows what models of transformers return.
`picture` makes of all layers what the browser draws. `page` is that as one file, `widget` as a widget, and `still` as a static
picture that a saved notebook keeps; `bundle` joins the browser's modules to one text for both. Outside of a notebook the app
shows it (`serving.launch`).
"""
