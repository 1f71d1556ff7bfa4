"""Models of the `transformers` library, read from this machine or a model hub, run on what a visitor gives them.

`catalogue` says which models there are and where each lies, `packages` which libraries that needs; `sizes` what one takes in
memory, before anything of it is loaded, `config_fields` what its config says; `hub` brings one here; `loading` gives a `Model`,
`loaded` keeps some. `prompt` has the knobs of what is asked. `run` has a model read something (`inputs`: a text, two texts, a
picture; `labels`: what its tokens are called), `following` sees what its attention computes meanwhile, and `parts` makes stacks
of that. `summaries` make others of these: means, rollout, norms, words. `pictures` draws the one that ships.

Nothing of a model's own code is run, and no pickle is opened: weights come from safetensors and GGUF.
"""
