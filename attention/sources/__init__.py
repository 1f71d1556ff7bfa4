"""Where attention comes from: queries, keys and values of the heads of some layer, whoever made them.

`generated` makes them from the knobs of a config: an input, projections, positions.
"""
