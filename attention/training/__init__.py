"""A small attention-only transformer that is trained on the CPU in seconds.

`tasks` are what it learns, `recipe` the knobs of a training, `model` the network, built on this package's own attention,
`adamw` the optimizer, `pace` the time that it takes. `run` is the training loop, which yields checkpoints, `head_scores`
measures what each head does, `history` keeps all checkpoints, and their file. `shipped` are the trainings that come with the
app; `record` makes them again. The plain PyTorch program that trains the same model is in
`attention/steps/training_program.py`.

To add a task: a function and its `Task` in `tasks.TASKS`; `python -m attention.training.record NAME` makes its file.
"""
