"""What small models learn, seed by seed, and what a step costs: `python -m benchmarks.training`.

Ten seeds of each task with its defaults: how many get as far as the page says, by scores that are means over several sequences:
on one alone, of one period, a head that looks back by that much would pass for induction. And the time of a step against that
of the same model on torch's own attention, which gives no weights, in turns in one process.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from time import perf_counter

import torch
import torch.nn.functional as F

from attention.training.head_scores import scores, weights
from attention.training.model import Pairs
from attention.training.recipe import TEST, Recipe
from attention.training.run import Checkpoint, Run, draw_sequences, stack_layers, train
from attention.training.tasks import TASKS, Drawn
from benchmarks.interleaved import Ratio, environment, ratio, times, verdict

NEARLY_ALL = 0.9  # of the seeds
DEAREST = 1.15  # times torch's own attention, of a step
ROUNDS, LEAST = 15, 0.1  # rounds, and seconds that each has at the least
RIGHT = {"reverse": 0.97, "sort": 0.97, "brackets": 0.94, "majority": 0.97}


PROBES = 16  # sequences that scores are means over


def evaluate_heads(run: Run, moment: Checkpoint) -> Checkpoint:
    """The same moment with the scores of the model on several sequences that it was not trained on."""
    recipe = run.recipe
    test = draw_sequences(recipe, PROBES, TEST)
    with torch.inference_mode():
        _, heads = run.model.forward_with_scores(test.ids[:, :-1])
    q, k = (torch.stack([getattr(each, part) for each in heads], 1) for part in "qk")
    sinks = stack_layers(heads).sinks
    one = (Drawn(*(part[at : at + 1] for part in test)) for at in range(PROBES))
    every = [scores(recipe, each, weights(recipe, q[at], k[at], sinks)) for at, each in enumerate(one)]
    return replace(moment, scores={name: torch.stack([each[name] for each in every]).mean(0) for name in every[0]})


def best(moment: Checkpoint, name: str, layer: int) -> float:
    """The most that a head of a layer has of a number."""
    return float(moment.scores[name][layer].max())


def has_induction(moment: Checkpoint) -> bool:
    """Has induction been learned, by the two heads that are known for it?"""
    return moment.accuracy >= 0.9 and best(moment, "previous", 0) > 0.7 and best(moment, "induction", 1) > 0.6


def checkpoint_line(moment: Checkpoint, layers: int) -> str:
    scores = [f"{name} {'/'.join(f'{best(moment, name, at):.2f}' for at in range(layers))}" for name in moment.scores]
    rest = {"sink or lambda": moment.sinks, "gate": moment.gates}
    means = [
        f", mean {name} {'/'.join(f'{each:.2f}' for each in part.mean(1))}"
        for name, part in rest.items()
        if part is not None
    ]
    return f"accuracy {moment.accuracy:.3f}, loss {moment.loss:.3f}, by layer: {', '.join(scores)}{''.join(means)}"


VARIANTS = {
    "sink": {"softmax": "sink"},
    "QK-norm": {"qk_norm": "on"},
    "headwise gate": {"gate": "headwise"},
    "elementwise gate": {"gate": "elementwise"},
    "differential": {"softmax": "differential"},
}
CASES: dict[
    str, tuple[dict, Callable[[Checkpoint], bool], bool]
] = {  # settings, what is hoped for, of all or nearly all
    "induction": ({"task": "induction"}, has_induction, False),
    "induction, one head unscaled": (
        {"task": "induction", "heads": 1, "scale": "none"},
        lambda moment: moment.accuracy < 0.9,
        True,
    ),
    "induction, a learning rate of 1": (
        {"task": "induction", "rate": 1.0},
        lambda moment: moment.accuracy <= 0.1,
        True,
    ),
    "induction, one layer": ({"task": "induction", "layers": 1}, lambda moment: moment.accuracy <= 0.4, True),
    **{f"induction, {name}": ({"task": "induction"} | knobs, has_induction, False) for name, knobs in VARIANTS.items()},
    **{
        name: ({"task": name}, lambda moment, least=least: moment.accuracy >= least, False)
        for name, least in RIGHT.items()
    },
}


def last(settings: dict, seed: int) -> tuple[Recipe, Checkpoint, float]:
    """The last moment of a training, judged, and how many seconds it took."""
    task = TASKS[settings["task"]]
    own = {"layers": task.layers, "steps": task.steps, "positions": task.positions} | settings
    recipe, start = Recipe(**own, seed=seed), perf_counter()
    run, moment = [(run, seen) for run, seen in train(recipe) if seen][-1]
    return recipe, evaluate_heads(run, moment), perf_counter() - start


class Plain(Pairs):
    """The same on torch's own attention."""

    def context_and_weights(self, q, k, v, sinks=None):
        mask = None if self.causal else self.mask
        context = F.scaled_dot_product_attention(q, k, v, mask, is_causal=self.causal, scale=self.recipe.factor)
        return context, q[..., :0]


def cost(recipe: Recipe) -> Ratio:
    """What a step costs, in units of the same on torch's own attention."""
    ours, theirs = Run(recipe), Run(recipe)
    theirs.model.pairs = Plain(recipe)
    return ratio(times({"ours": ours.step, "torch": theirs.step}, ROUNDS, LEAST), "ours", "torch")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=[*CASES, "cost"], help="cases, or cost")
    given = parser.parse_args()
    torch.set_num_threads(1)
    print(f"What small models learn, and what a step costs; {environment()}")
    missed = False
    for name in [name for name in CASES if name in given.only]:
        settings, holds, every = CASES[name]
        good, spent = 0, list[float]()
        for seed in range(given.seeds):
            recipe, moment, seconds = last(settings, seed)
            good, spent = good + holds(moment), [*spent, seconds]
            print(f"      {name}, seed {seed}: {checkpoint_line(moment, recipe.layers)}, {seconds:.1f} s", flush=True)
        enough = good == given.seeds if every else good >= NEARLY_ALL * given.seeds
        missed |= not enough
        print(
            f"{'ok' if enough else 'MISSED':6}{name}: {good} of {given.seeds}, {median(spent):.1f} s each", flush=True
        )
    for name in TASKS if "cost" in given.only else ():
        found = cost(Recipe(task=name, layers=TASKS[name].layers, positions=TASKS[name].positions))
        missed |= found.median > DEAREST
        print(verdict(f"a step of {name} against torch's own attention", found, DEAREST), flush=True)
    sys.exit(missed)


if __name__ == "__main__":
    main()
