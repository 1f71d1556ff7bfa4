"""The pass from x to the output as a table of operations, one file per operation.

`operation` has the record of an operation and the `Spec` that it reads; `table` has all of them in the order of computation,
and computes any matrix of a pass from the ones that it is given.
`project`, `qk_norm`, `positions` (with `rotary` and `distance_bias`), `scores`, `scale`, `query_scale`, `softcap`, `bias`,
`forgetting` (what both add is written part by part in `score_bias`), `mask`, `softmax` (with `normalisers`, `sparse`,
`thresholds`, `sigmoid` and `differential`), `context`, `gate` and `output` are the operations: what each computes, its formula,
its line of PyTorch, its cost, which cells a cell depends on, and its sentence.
`by_torch` computes the same with torch's own attention, or by definition.

To add a choice of an operation, add its record to the dict of its file (`SCALES`, `POSITIONS`, `SCALINGS`, `SOFTMAXES`). To add
an operation, write a file with its record and add that to `TABLE`. Steps, Softmax, Code, costs and checks read the table. The
fast path (`attend`, `maps`) does not, and a test compares the two.
"""
