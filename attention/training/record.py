"""Reproduces the shipped trainings: `python -m attention.training.record [NAME ...]` writes their files, by default all."""

from __future__ import annotations

import sys

import torch

from attention.training.history import record_training, write_training
from attention.training.shipped import path, recipe
from attention.training.tasks import TASKS

MADE = "python -m attention.training.record; trained in float32, kept in float16"

if __name__ == "__main__":
    torch.set_num_threads(1)  # the order of sums does not depend on the number of cores
    for name in sys.argv[1:] or TASKS:
        found = record_training(recipe(name))
        path(name).parent.mkdir(exist_ok=True)
        path(name).write_bytes(write_training(found, MADE))
        last = found.moments[-1]
        best = {each: f"{float(number.max()):.2f}" for each, number in last.scores.items()}
        print(
            f"{name}: {path(name).stat().st_size:,} bytes, loss {last.loss:.3f}, accuracy {last.accuracy:.3f}, {best}"
        )
