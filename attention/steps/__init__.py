"""A pass matrix by matrix: the class of a `step`, the list of steps (`plan`), their `values`, and their `program`.

All are read from the table of `attention/operations`: steps are listed by `plan.steps`, their tensors come from `values` and
their code from `program` and `projection_program`; `parts` groups them for a diagram. `STEPS` in knobs.py has their names,
as used in links.
`file_program` is the program of recorded or uploaded attention, `training_program` the one that trains a small model.
`mask_table` is the code of a mask that is no rule; `compared` says which steps of two passes can be subtracted.
"""
