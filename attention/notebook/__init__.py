"""Attention of one's own in a notebook, in a file for a blog, and in the app: `attention.show(…)`, `attention.html(…)`.

`shown_weights` has the weights of one layer.
"""
