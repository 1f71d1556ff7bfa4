"""Pictures of the weights at any length, in memory that grows with n: each pixel is a tile of exact weights.

`exact` computes the `picture` of every head and is the entry (`attention.head_maps`); `checks` validates its
arguments. `blocks` classifies the blocks of the square that a rule shows (with `bounds` and `quadtree`), and
`pooling` computes those a band of rows at a time, by `strips`, or `direct_strips` for what is no softmax: with the
scores of `scoring`, in pieces whose `sizes` suit the CPU, in `scratch` memory, summed into `tiles`. `jobs` spreads the
bands over threads or, through `cluster`, over machines. `zoom` computes any part from what a map stores, and the
preview; `estimate` predicts how long a map takes. A new mask needs no change here: a rule that `bounds` can't follow is
evaluated cell by cell.
"""
