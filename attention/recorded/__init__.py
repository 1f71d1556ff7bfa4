"""Attention that was recorded: a format of our own (`file`), the recordings that ship (`shipped`), and the scripts that make
them again: `constructed` one that is made by hand, `models` those of real models, `minilm` and `smollm2`, computed here from
weights that some packages have (`packages`). `bounded_json` parses JSON of strangers, for all who read files.

Recordings stand below the knobs, as a config must fit what it shows. Another one is its file here and its line in
`shipped.SHIPPED`; another text of the same models is a line in `models.RECORDED` too.
"""
