"""A pass matrix by matrix: the class of a `step`, the list of steps (`plan`), their `values`, and their `program`.

Steps are listed by `plan.steps`, their tensors come from `values` and their code from `program`; `STEPS` in config.py has
their names, as used in links. `parts` groups the steps for a diagram; `lessons` explains the purpose of each step.
`file_program` is the program of recorded or uploaded attention, `training_program` the one that trains a small model.
`mask_table` is the code of a mask that is no rule.
"""
