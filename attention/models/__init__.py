"""Models of other people, read from this machine or a model hub, run on the user's input.

`own_models` runs MiniLM and SmolLM2 by this app's own lines, `get_models` installs them; the others need transformers.
`catalogue` lists the models and where each is, `packages` the libraries that they need; `sizes` computes the memory of one before
it is loaded, `config_fields` reads its config; `hub` downloads one; `loading` gives a `Model`, `model_cache` keeps some.
`prompt` has the knobs. `run` makes a pass (`inputs`: a text, two texts, a picture; `labels`: the texts of tokens),
`linear_hooks` records the output projection, and `parts` makes stacks of the result. `summaries` derive others: means, rollout,
norms, words. `words` has what a language model predicts; `kv_cache` continues a run by one token, `heads_off` runs a model
without some heads. `pictures` has the example picture.

No code of a model is run, and no pickle is opened: weights come from safetensors and GGUF.
"""
