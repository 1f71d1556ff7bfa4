"""What a model does if something in it is changed: so far, one of its tokens.

`leaks` is the entry: it replaces every token in turn and compares the outputs before it, which must not change in a causal model.
`forward` runs a model on ids and returns its outputs, and those of its layers. `variants` computes the same outputs in other
ways: with another kernel, token by token with a cache, padded on the left. `leak_page` draws the result for a notebook or a file.

To add a way of computing the outputs: a function and its name in `variants.VARIANTS`.
"""
