"""A visitor's session: what is set, what is on the screen, and what the browser knows of it.

`page` is how every page begins: the controls, the view and its `part`s. `address_bar` is the link that a page takes up
and writes back. `visit_state` is everything that is kept, under one key of the session, and `uploads` the files that
the visitor has uploaded; `notes` draws messages about what could not be used.
`settings_state` holds one kind of settings and applies widgets to them; `model_run` runs a
model on a typed text or for a link (`run_links`), and `own_sentence` on the one that is typed on Start. `role_note` says on
how many other texts the role of a real model's head holds. `question_in_link` and
`card_in_link` are the parts of a link that all pages share; `widget_sync`
tracks which values the browser has received. `gestures` handle clicks in pictures; `training_heartbeat` keeps a training
running while its visitor reads other pages; `browser_yield` gives the browser time to paint, and
`kept_bytes` knows what it keeps and need not be sent again. `share` is
the Share dialog, and `present` a page with one picture alone. On a host with little memory, large pictures wait for their
`memory_gate`.
"""
