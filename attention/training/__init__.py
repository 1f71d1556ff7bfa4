"""A small attention-only transformer that is trained on the CPU in seconds.

`tasks` defines what it learns, `recipe` the knobs of a training, `model` the network, built on this package's own attention,
`adamw` the optimizer, `pace` the duration. `run` is the training loop, which yields checkpoints, `head_scores` measures
what each head does, and `history` keeps all checkpoints and their file. `shipped` has the trainings that come with the app,
and `record` reproduces them. The plain PyTorch program that trains the same model is in
`attention/steps/training_program.py`.

To add a task, add a function and its `Task` to `tasks.TASKS`; `python -m attention.training.record NAME` makes its file.
"""
