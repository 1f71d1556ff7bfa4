"""Learn in 30 minutes: twelve steps in order, each a card with something to try, and five questions at the end."""

from __future__ import annotations

from dataclasses import dataclass

from attention.examples import EXAMPLES, INTERMEDIATE, Example
from attention.lessons.misconceptions import MISCONCEPTIONS
from attention.story.settings import Story
from attention.training.recipe import Recipe


@dataclass(frozen=True)
class Check:
    """A question without a picture, as an `Example` has it; `card`: the name of a card that shows the answer."""

    asks: str
    guesses: tuple[str, ...]
    right: int
    why: str
    card: str = ""

    @property
    def answer(self) -> str:
        """The right guess."""
        return self.guesses[self.right]


@dataclass(frozen=True)
class Step:
    """A card of the path, what one `learns` from it, and what to `do` there."""

    example: Example
    learns: str
    do: str


PATH: tuple[Step, ...] = (
    Step(Example("One word, two meanings", "start", Story(sentence="account"),
        "In “She opened an account at the bank in town to deposit money.”, “bank” gives most of its weight to “account”; in “He sat on the bank of the river.” it is “river”.",
        "In the first of these sentences, which word gets most of the weight of “money”?",
        ("“she”", "“town”", "“deposit”"), 2,
        "“deposit” gets 38.5%: each row of the map has weights of its own."),
        "What “bank” attends to changes with the sentence.",
        "Guess, then point at “money”."),
    Step(Example("Scores become weights", "start", Story(step="weigh"),
        "A softmax turns logits into weights that sum to one. Here logits are scaled scores, q · k divided by √d and by a temperature: at 1 the largest weight of “bank” is 70.7%.",
        "Which temperature makes the weights more even?",
        ("A temperature of 0.5", "A temperature of 4", "Neither: weights always sum to one"), 1,
        "At 4 the largest weight falls from 70.7% to 19.2%; at 0.5 it grows to 97.4%. The sum stays one."),
        "A softmax turns any scores into weights that sum to one.",
        "Guess, then press the buttons for 0.5 and 4."),
    Step(EXAMPLES["roles"], "Six heads follow a rule each, one attends about evenly, one is random.",
        "Click a cell of a map to select its query, and compare the eight heads."),
    Step(MISCONCEPTIONS["axis"], "Each row is a query, each column a key.",
        "Select other queries: only the row changes."),
    Step(EXAMPLES["induction"], "For “the”, a head attends to the words that followed “the” before.",
        "Select each “the” and see what its row attends to."),
    Step(EXAMPLES["small"], "Four words, and every number from the tokens to the output.",
        "Follow one number from x to the output, step by step."),
    Step(EXAMPLES["row"], "Scores become weights in three steps: scale, mask, softmax.",
        "Move the temperature and watch which panels change."),
    Step(EXAMPLES["unscaled"], "Without scaling, one key gets nearly all the weight, whatever the words.",
        "Change the model width, and set Scale to 1/√d_head."),
    Step(MISCONCEPTIONS["counts"], "A mask decides which keys a query sees: here at most three.",
        "Set the span to 1: what is left?"),
    Step(EXAMPLES["window"], "Each query sees three tokens, yet information travels farther through layers.",
        "Move *Stacked layers* and read how far information travels."),
    Step(Example("A head forms in training", "training", Recipe(at=140),
        "A model of two layers learns to continue repeating letters. At step 140 no head has a quarter of its weight on the previous token, or on what followed a copy.",
        "Which heads have formed 60 steps later?",
        ("Only previous-token heads, in layer 0", "Previous-token heads in layer 0, and induction heads in layer 1", "Only induction heads, in layer 1"), 1,
        "Both, within 60 steps: at step 200 head 1 of layer 0 has 0.82 of its weight on the previous token, and head 2 of layer 1 has 0.88 on what followed a copy. The second reads what the first writes.",
        INTERMEDIATE, "what an induction head is"),
        "These heads are not built: they form while a model is trained.",
        "Guess, then move the step to 200 and on."),
    *(Step(each, "SmolLM2, a trained model, has heads that find what followed earlier copies.",
        "Open the map of layers below the heads, and look for the others.") for name, each in EXAMPLES.items() if name == "real"),
)  # fmt: skip

CHECKS: tuple[Check, ...] = (
    Check("Which weights sum to one under a softmax?",
        ("Those of one key over all queries", "Those of one query over all keys", "All weights of a head together"), 1,
        "Each query divides a weight of one among the keys that are visible to it: a row of the map.", "learn-4"),
    Check("Why are scores divided by √d_head?",
        ("So that their size does not grow with the width of a head", "So that they sum to one", "To save operations"), 0,
        "A dot product of d_head products has a variance that grows with d_head; the softmax would put nearly all weight on one key.", "learn-8"),
    Check("Under a causal mask, which keys are visible to the third token?",
        ("The first two", "The first three", "All but the third"), 1,
        "The first three: a query sees itself and earlier tokens.", "learn-3"),
    Check("What does an induction head attend to?",
        ("The token after an earlier copy of the current token", "The previous token", "The first token"), 0,
        "The token that followed the current one before: a guess at what comes next.", "learn-5"),
    Check("A head finds nothing to attend to. Where does its weight usually go in a trained model?",
        ("Nowhere: its weights are zero", "To all tokens equally", "To a sink, often the first token"), 2,
        "To a sink, often the first token: a row has to sum to one, so its weight needs a place that changes little.", "sink"),
)  # fmt: skip
