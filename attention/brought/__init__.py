"""Attention that a visitor brings: from a file, from a model that runs here, from a line of Python.

Whoever reads or runs something gives a `Stack` (`stack`): some layers of heads, as queries and keys or as weights alone, with
their tokens. Everything behind it is the same for all of them: `fitting` says what can be shown, and `held` holds it for as long
as its visitor's session does, under the name that a config knows it by. `files` keeps what was opened, to be read otherwise.

Files come from strangers. `safe_file`, `numpy_file` and `torch_file` say what is in one, as named `arrays`, without taking memory
before they know how much, and without running anything: `zip_file` has the files within a zip, and `pickle_tensors` reads what a
.pt says of its tensors. `opening` tells them by what they begin with. `reading` makes a stack of it: what arrays are by their
names (`naming`), which of them are `steps` of `generate` (joined in `generated`), which axis is which (`axes`), what stands
`beside` them in words, which pairs take part (`hiding`) and which rule of masks.py that is (`nearest_mask`), what is wrong with
the numbers (`checks`), with tokens of a `token_file`; `layer_weights` computes the weights of a layer. `sample` is a file to try
it with.
"""
