"""Pictures of the weights at any length, in memory that grows with n: a pixel is a tile of exact weights.

`exact` makes the `picture` of every head and is the way in (`attention.head_maps`); `checks` refuses what can't be drawn. It asks
`blocks` which blocks of the square a rule shows (`bounds` and `quadtree` find out), has `pooling` compute the rest a band of
rows at a time after `scoring`, in pieces of such `sizes` as suit the CPU and in `scratch` memory, brought into their `tiles`,
spread by `jobs` over threads or, through `cluster`, over machines. `zoom` computes any part from what a map has stored, and the
preview; `estimate` says beforehand how long a map takes. A new mask needs nothing here: a rule that `bounds` can't follow is
asked cell by cell.
"""
