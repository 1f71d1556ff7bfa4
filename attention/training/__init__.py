"""A small transformer whose heads form while one watches: attention alone, trained on the CPU in seconds.

`tasks` are what it learns, `recipe` the knobs of a training, `model` what is trained, built from this package's own
attention, `adamw` how its weights move, `pace` how long it takes. `run` is the training as a loop that yields what there is to
see, `head_scores` what each head does by then, `course` all that was seen, and the file of it. `shipped` are the trainings that
come with the app, which `record` makes again. The program of plain PyTorch that trains the same model is in
`attention/steps/training_program.py`.

To add a task: a function and its `Task` in `tasks.TASKS`; `python -m attention.training.record NAME` makes its file.
"""
