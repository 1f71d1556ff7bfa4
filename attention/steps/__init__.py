"""A pass matrix by matrix: what a `step` is, which there are (`plan`), their numbers (`values`), and the `program` of them.

A step is a line of `plan.steps`, its numbers come from `values`, its line of code from `program`; `STEPS` in config.py has
its name, as a link carries it. `parts` are the pass in small, for a diagram; `lessons` say what each step is for.
`file_program` is the program of what was recorded or brought, `training_program` the one that trains a small model.
`mask_table` is the code of a mask that is no rule.
"""
