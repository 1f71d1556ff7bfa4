"""What attention a model computes, seen while it computes it: its queries, keys and values, whatever its kernels are.

`watched` is what one asks: `watch(model)`. A call as it is made is `batched`, one sequence of it a `call`, with the weights
that follow. `places` are where calls pass, `passing` is who stands there and is told; `model_calls` knows the arguments of
torch's function and of those of transformers, `torch_layers` works out what the layers of `torch.nn` compute without such a
call. `parts` makes `brought.stack.Stack`s of calls, and `saved` writes these.

To see another kind of call: a place in `passing._places`, and a function that makes a `Batched` of its arguments.
"""
