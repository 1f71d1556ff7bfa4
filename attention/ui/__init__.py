"""The Streamlit side: how a page begins, its controls, cached calls into the core, and what each page shows.

From the ground up, where each may import what stands before it:

    words asked budget     a stranger's text as text; a question of their own; the memory of all that is kept or under way
    limits                 what an owner, and the memory of the host, let visitors measure and run
    onward                 from each page a next step, and links between pages
    background             tasks that take longer than a picture: maps of long sequences, sweeps, trainings, models
    compute                calls into the core whose results are kept, a file a page
    controls               the sidebars, and the widget of a knob
    session                what a visitor's page begins with and keeps, and how the link follows it
    proof lacking predict provenance    on several pages: the badge of a picture; what stands where a source lacks something; a
                           question; where the weights come from
    views                  what the pages show, a module a page and what it is made of
    warm                   what a server does before its first visitor's script

What `limits` an owner sets is among the settings of attention/serving/settings.py. `warm` imports all of it.

To add a page: write `views/NAME.py` with a `view(config)` that computes and draws, `pages/NAME.py` that calls
`page.show(NAME.view)`, a line for it in `app.py`, and its next step in `onward`. A page about settings of another
kind gives `show` that kind (`controls/kind.py`); what stands beside the view and seldom changes is a `Part` above or below it.
"""
