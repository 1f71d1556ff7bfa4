"""Models of the `transformers` library, read from this machine or a model hub, run on what a visitor gives them.

`catalogue` says which models there are and where each lies, `packages` which libraries that needs; `sizes` what one takes in
memory, before anything of it is loaded; `hub` brings one here; `loading` gives a `Model`, `loaded` keeps some. `run` has it read
(`inputs`: text, two texts, a picture; `labels`: what its tokens are called), and gives the attention of all layers as parts
(`parts`), each a `Stack`, of what `seen` saw as it happened. `summaries` make other stacks of one: means, rollout, norms,
words. `pictures` draws the one that ships.

Nothing of a model's own code is run, and no pickle is opened: weights come from safetensors and GGUF.
"""
