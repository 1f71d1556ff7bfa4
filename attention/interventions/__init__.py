"""What a model does if something in it is changed: one of its tokens, or one of its heads.

Each function takes a torch module with `model(input_ids) -> .logits`, as models of transformers are, and ids of one text.

`predictions` has what a model predicts: next tokens, losses, masked tokens. `ablation` switches heads off (`disagreement` finds
the head about which ways or measures disagree most), `trained` those of a model that was trained here; `projections` finds
where heads write their outputs. `attribution` splits a logit into what each part adds, from the residual stream (`stream`),
and has the logit lens. `patching` replaces values of one run by those of another.

`leaks` replaces every token in turn and compares the outputs before it, which must not change in a causal model. `forward` runs a
model on ids and returns its outputs, and those of its layers. `variants` computes the same outputs in other ways: with another
kernel, token by token with a cache, padded on the left. `leak_page` draws the result for a notebook or a file.

To add a way of computing the outputs: a function and its name in `variants.VARIANTS`. To add a family of models whose heads
can be switched off: a line in `projections.FAMILIES`.
"""
