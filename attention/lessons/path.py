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
    """A card of the path, what to `do` there, and what one `learns` from it; "" for the sentence of its example."""

    example: Example
    do: str
    learns: str = ""


PATH: tuple[Step, ...] = (
    Step(Example("One word, two meanings", "start", Story(sentence="account").at_own_sizes,
        "What “bank” attends to changes with the sentence.",
        "In “He sat on the bank of the river.”, which word gets most of the weight of “bank”?",
        ("“sat”", "“of”", "“river”"), 2,
        "In that sentence, “river” gets 70.7% (choose it to see this): with other words around it, “bank” attends to another word."),
        "Choose the sentence about the river, and read what “bank” attends to."),
    Step(Example("Scores become weights", "start", Story(step="weigh"),
        "A softmax turns scores into weights that sum to one. A temperature divides the scores first.",
        "Which temperature makes the weights more even?",
        ("A temperature of 0.5", "A temperature of 4", "Neither: weights always sum to one"), 1,
        "At 4 the largest weight of “bank” falls to 19.2%; at 0.5 it grows to 97.4%. The sum stays one."),
        "Press the buttons 0.5 and 4, and watch the row of “bank”."),
    Step(EXAMPLES["roles"], "Click the small maps, and compare their rows of the second “bank”.",
        "Heads 0 to 5 follow a rule each, head 6 attends about evenly, head 7 is random."),
    Step(MISCONCEPTIONS["axis"], "Click cells in other rows: each row is another query.",
        "Each row is a query, each column a key."),
    Step(EXAMPLES["induction"], "Click a cell in the row of “steep”, then in a row of “the”.",
        "Head 7, random in step 3, is built here as an induction head: “the” attends to what followed “the” before."),
    Step(EXAMPLES["small"], "Press *Play*, or select *output* in the diagram, and look for the numbers of *x* there.",
        "Four words, and every number from the tokens to the output."),
    Step(EXAMPLES["row"], "Drag the bar of “The” upwards, and watch its weight.",
        "Scores become weights in three steps: scale, mask, softmax."),
    Step(EXAMPLES["unscaled"], "Press *Divide by √d again*, and see which line the blue mark is on.",
        "Without scaling, a head of 1,024 channels puts nearly all weight on one key, by chance."),
    Step(MISCONCEPTIONS["counts"], "In the settings, set *Span (tokens)* to 1: what does each word still see?",
        "A mask decides which keys a query sees: here at most three."),
    Step(EXAMPLES["window"], "Open *Reach through stacked layers* below, and move *Stacked layers*.",
        "Each query sees three tokens, yet information travels farther through layers."),
    Step(Example("A head forms in training", "training", Recipe(at=140),
        "These heads are not built: they form while a model is trained.",
        "Which heads have formed 60 steps later?",
        ("Only previous-token heads, in layer 0", "Previous-token heads in layer 0, and induction heads in layer 1", "Only induction heads, in layer 1"), 1,
        "Both, within 60 steps: at step 200 head 1 of layer 0 has 0.82 of its weight on the previous token, and head 2 of layer 1 has 0.88 on what followed a copy. The second reads what the first writes.",
        INTERMEDIATE, "what an induction head is"),
        "Move the slider to step 200, and compare the eight small maps."),
    *(Step(each, "Open *Heads of all layers* below, and look for heads like this one. Colours compare weights with the uniform weight, on a log scale.",
        "SmolLM2, a trained model, has heads that find what followed earlier copies.") for name, each in EXAMPLES.items() if name == "real"),
)  # fmt: skip

CHECKS: tuple[Check, ...] = (
    Check("Which weights sum to one under a softmax?",
        ("Those of one key over all queries", "Those of one query over all keys", "All weights of a head together"), 1,
        "Each query divides a weight of one among the keys that are visible to it: a row of the map.", "learn-4"),
    Check("Why are scores divided by √d_head?",
        ("So that their size does not grow with the width of a head", "So that they sum to one", "To save operations"), 0,
        "A dot product of d_head products has a variance that grows with d_head; in a wide head, the softmax would put nearly all weight on one key.", "learn-8"),
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
