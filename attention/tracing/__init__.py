"""The attention that a model computes, recorded while it runs: queries, keys and values, from any kernel.

`watched` is the entry: `watch(model)`; `selection` holds which layers, heads and tokens are kept. `patching` replaces functions
meanwhile, `hooks` receives the calls of attention, with `report` for attention that is written by hand. `model_calls` knows the
arguments of torch's functions and of transformers', `torch_layers` what the layers of `torch.nn` compute without such a call,
`generating` what happens between the steps of `generate`, `compiled` handles torch.compile. A call as it was made is a
`sdpa_call`; `output_check` compares it with the output of the model's own layer. A `recorder` keeps the calls of one model, a
`track` joins those of a layer by their positions, and a `call` is the result, with its weights. `layer_names` numbers layers
and recognises those of attention, `parts` makes `imported.stack.Stack`s, `differential` those of differences of two softmaxes,
and `saved` writes files.

To support another kind of call: add a place in `hooks._places`, and a function that makes an `SdpaBatch` of its arguments.
"""
