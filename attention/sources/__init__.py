"""Where attention comes from: queries, keys and values of the heads of one layer.

A config names a source, and its provider (`providers`) gives one layer (`layer_inputs`) with the parts that exist, and
its tokens; `trace.run_pass` makes a pass of any of them. `generated` makes them from the knobs: input, projections,
positions; `chunks` does so for long sequences, some tokens at a time; `constructed` has the projections of hand-built
heads. `recorded` reads them from a file, `trained` from a model that this app trains, at some step, `uploaded` from
what a visitor has uploaded or run. `spec` has the sizes and choices of a pass, as the operations read them.

To add a source: a file here with a class that implements `providers.SourceProvider`, and its line in `PROVIDERS`. If
the knobs don't determine its sizes, `fitting.SHAPES` gets the function that does, and `knobs.SOURCES` the names that a
link may have: a config takes the sizes of its source, and a link leaves out what the source determines.
"""
