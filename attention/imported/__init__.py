"""Attention of other models: from a file, from a model that runs here, from a line of Python.

Every reader gives a `Stack` (`stack`): some layers of heads, as queries and keys or as weights alone, with their
tokens. What follows is the same for all: `validate` checks what can be shown, and `registry` keeps it for the visitor's
session, under the name that a config uses. `files` keeps uploaded files, so that they can be read again with other
choices.

Files come from strangers and are read as `attention.array_files` reads them; `torch_file` adds .pt, whose pickle
`pickle_tensors` reads as data. `detect` tells formats apart by their first bytes. `reading` makes a stack
of the arrays: which tensor is what, by name (`tensor_roles`), which are `steps` of `generate` (joined in `generated`),
which axis is which (`axes`), texts and numbers next to them (`metadata`), which pairs take part (`masks`) and which
rule of masks.py that is (`nearest_mask`), what is wrong with the numbers (`checks`), with tokens of a `token_file`.
`reading_knobs` are the choices of the user. `layer_weights` computes the weights of a layer. `sample` is an example file.
"""
