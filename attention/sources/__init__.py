"""Where attention comes from: queries, keys and values of the heads of some layer, whoever made them.

A config names a source, and its origin (`origins`) gives one layer (`given`) with whatever of it there is, and its tokens,
named once; `trace.attended` makes a pass of any. `generated` makes them from the knobs: an input, projections, positions;
`stretches` those of a long sequence, some tokens at a time; `constructed` has the maps of heads that were built by hand for a
role. `recorded` has them from a file, `trained` from one of a model that this app trains, as they were after some steps,
`brought` from whatever a visitor has opened or run.

To add an origin: a file here with a class that has what `origins.Origin` asks for, and its line in `ORIGINS`. Where the knobs
don't say its sizes, `config.SHAPES` gets the function that does, and `config.SOURCES` the names that a link may have: a config
takes the sizes of its source, and a link leaves out what the source says by itself.
"""
