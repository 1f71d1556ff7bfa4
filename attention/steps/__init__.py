"""A pass matrix by matrix: which there are (`plan`), their numbers (`values`), and the program that computes them.

A step is a line of `plan.steps`, its numbers come from `values`, its line of code from `program`; `STEPS` in config.py has
its name, as a link carries it.
"""
