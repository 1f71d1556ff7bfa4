"""Words that belong to no single control or picture.

The texts of a page are a module of its name, as templates with named fields: `start`, `heads`, `steps`, `softmax`, `masks`,
`training`, `examples`, `layers`, `model`, `your_data`, `timing`, `implementations`, `find_the_bug`.

    comparing   the comparison of two sides
    cards       the bar of an example, and the path of twelve
    controls    sidebars: what belongs to no single knob
    head_survey    a head of a real model over many texts
    interventions    next words and heads switched off, on the Model page
    grouping    the comparison of groupings on the Heads page
    jobs        a background job: progress, pause, cancel
    leaks       the leak test on the Model page
    lessons     a lesson of several questions: its editor, and the bar of a step
    model_run   a model's run that a typed text or a link asks for, on any page
    questions   questions that hide an answer, on every page
    rooms       rooms, in which a class answers
    sharing     descriptions of pages for programs that show links, and the Share dialog
    softmax_positions    positions, a topic of the Softmax page
    softmax_precision    number types, another
    terms       the terms of each page with their explanations, which are also those of docs/GLOSSARY.md

Labels and help texts of knobs are in `attention/knobs.py` and the other settings; sentences of packages without a page (charts,
tables, analysis) are beside what they describe.
docs/text.md lists all words by page. Words of the browser are in its modules, which it loads once: messages to them carry only
sentences that depend on what is shown.
"""
