"""What attention a model computes, seen while it computes it: its queries, keys and values, whatever its kernels are.

`watched` is what one asks: `watch(model)`; `choice` says which layers, heads and tokens are kept. `places` are functions that are
replaced meanwhile, `passing` the calls of attention that pass there, with `report` for attention that is written by hand;
`model_calls` knows the arguments of torch's functions and of those of transformers, `torch_layers` works out what the layers of
`torch.nn` compute without such a call, `generating` what happens between the steps of `generate`, `compiled` what torch.compile
made. A call as it is made is `batched`, and `output_check` compares it with the output that a model got. A `recorder` keeps the
calls of one model, a `track` joins those of a layer by their positions, and a `call` is what comes of it, with the weights that
follow. `layer_names` numbers layers and knows those of attention, `parts` makes `brought.stack.Stack`s, `differential` those of
differences of two softmaxes, and `saved` writes these.

To see another kind of call: a place in `passing._places`, and a function that makes a `Batched` of its arguments.
"""
