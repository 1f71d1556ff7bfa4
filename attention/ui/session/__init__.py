"""A visitor's session: what is set, what is on the screen, and what the browser knows of it.

`page` is how every page begins: the link, the controls, the view and what stands beside it, a `part` each. `state` is all
that is kept, under one key beside those of the widgets, and `brought` what a visitor has brought to it; `held` one kind of
settings in it, and how widgets move them; `carried` what every page's link has besides; `told` what the browser was told of its
widgets, and what it says back. `gestures` are what somebody does in a picture; `pause` is the time in which a browser draws it,
and where a host has little memory, large pictures wait for their `turn`.
"""
