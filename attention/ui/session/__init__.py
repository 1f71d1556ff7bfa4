"""A visitor's session: what is set, what is on the screen, and what the browser knows of it.

`page` is how every page begins: the link, the controls, the view and its `part`s. `visit_state` is everything that is kept, under
one key of the session, and `uploads` the files that the visitor has uploaded. `settings_state` holds one kind of settings and
applies widgets to them; `question_in_link` is the part of a link that all pages share; `widget_sync` tracks which values the
browser has received. `gestures` handle clicks in pictures; `training_heartbeat` keeps a training running while its visitor
reads other pages; `browser_yield` gives the browser time to paint. On a host with little memory, large pictures wait for
their `memory_gate`.
"""
