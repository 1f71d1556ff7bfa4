"""The Streamlit side: how a page begins, its controls, cached calls into the core, and what each page shows.

`session` is what a visitor's page begins with and keeps, `controls` the sidebars and the widget of a knob, `compute` the calls
into the core whose results are kept, `views` what the pages show, a module a page and what it is made of.

To add a page: write `views/NAME.py` with a `view(config)` that computes and draws, `pages/NAME.py` that calls
`page.show(NAME.view)`, and a line for it in `app.py`. A page about settings of another kind gives `show` that kind
(`controls/kind.py`); what stands beside the view and seldom changes is a `Part` above or below it.
"""
