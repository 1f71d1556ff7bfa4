"""The Streamlit side: how a page begins, its controls, cached calls into the core, and what each page shows.

Each may import what is listed before it:

    text                   the words of pages, and the explanations of terms
    menu                   the groups of pages
    rooms                  rooms of classes, in which students answer the question that a teacher asks
    markdown question_codec budget    escaping text for Markdown; questions packed into a link; the server's memory budget
    provenance             where the weights come from, and which settings are not those of their model
    lesson_codec           several questions with their pictures, packed into a link
    limits                 what an owner, and the memory of the host, let visitors measure and run
    next_step              a next step for each page, and links between pages
    jobs                   what takes longer than a picture: maps of long sequences, timings, trainings, models
    results                cached calls into the core, one file per page
    controls               the sidebars, and the widget of a knob
    preview_pages preview    what a link shows before it is opened
    session                how a page begins, what a visit keeps, and how the link follows it
    proof empty_states predict    used by several pages: the comparison with PyTorch; what is shown if a source lacks a part;
                           questions to predict
    heading                how a page begins: its title and one sentence on what it shows
    views                  what the pages show, one module per page and its parts
    startup                what a server does before the first script runs

`limits` that an owner sets are among the settings of attention/serving/settings.py. `startup` imports all of it.

To add a page: write `views/NAME.py` with a `view(config)` that computes and draws, `pages/NAME.py` that calls
`page.show(NAME.view)`, its name in `menu.py`, and its next step in `next_step`. A page about settings of another
kind passes that kind to `show` (`controls/kind.py`); what is drawn next to the view and seldom changes is a `Part`.
"""
