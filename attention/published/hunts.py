"""The bugs of the page Find the bug: code with a mistake, settings that show it, the possible answers, and the right one.

To add a bug, add an entry to `HUNTS`. Its mistake must show at its settings without raising, and exactly one answer is right.
The order is that of the series, from easy to hard.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention.config import Config
from attention.published.case import case
from attention.published.common import COMMON
from attention.published.compare import compare_case, influence
from attention.published.row import Row
from attention.published.rows import ROWS, hunt_name

CODE: dict[str, Row] = ROWS | COMMON
SMALL: dict[str, Any] = {"tokens": 12, "d_model": 64, "batch": 1}


@dataclass(frozen=True)
class Hunt:
    """A question about the row `name` of `CODE`: `shows` selects one of its pictures, `says` describes it.

    `shows`: "weights" of the selected `heads` by query and key, or "influence" of each token on each output. `seen`: where the
    mistake shows in the picture. `offered`: the possible answers, each with the evidence against it in the pictures or in the
    code, which is empty for the right answer.
    """

    name: str
    config: Config
    shows: str
    says: str
    seen: str
    offered: tuple[tuple[str, str], ...]
    heads: tuple[int, ...] = (0,)

    @property
    def row(self) -> Row:
        """The code with the mistake, and without it."""
        return CODE[self.name]

    @property
    def guesses(self) -> tuple[str, ...]:
        """The possible answers."""
        return tuple(guess for guess, _ in self.offered)

    @property
    def answer(self) -> str:
        """The right answer."""
        return next(guess for guess, against in self.offered if not against)

    def against(self, guess: str) -> str:
        """The evidence against an answer; empty if the answer is right."""
        return dict(self.offered)[guess]


@dataclass(frozen=True, eq=False)
class HuntMaps:
    """The pictures of a bug: maps by query and key of the correct and of the wrong code, and where each has a value.

    `source`: the code that made the wrong maps.
    """

    correct: Float[Tensor, "m q k"]
    wrong: Float[Tensor, "m q k"]
    correct_visible: Bool[Tensor, "m q k"]
    wrong_visible: Bool[Tensor, "m q k"]
    source: str

    @property
    def differs(self) -> Bool[Tensor, "m q k"]:
        """The cells that are masked in one of both alone, or whose numbers differ by at least `VISIBLE`."""
        both = self.correct_visible & self.wrong_visible
        apart = (self.correct - self.wrong).abs() >= VISIBLE
        return (self.correct_visible != self.wrong_visible) | (both & apart)

    @property
    def masked_apart(self) -> Bool[Tensor, "m q k"]:
        """The cells that are masked in one of both alone."""
        return self.correct_visible != self.wrong_visible

    @property
    def marked_cells(self) -> Bool[Tensor, "m q k"]:
        """The cells that are masked in one of both alone; if there are none, the `MOST` largest differences.

        If they are more than half of the map, those of the last query only: frames around all cells point to none.
        """
        masked = self.masked_apart
        if masked.float().mean() > 0.5:
            masked[:, :-1] = False
        if masked.any():
            return masked
        apart = ((self.correct - self.wrong).abs() * self.differs).flatten()
        chosen = torch.zeros_like(apart, dtype=torch.bool)
        chosen[apart.topk(min(MOST, int(self.differs.sum()))).indices] = True
        return chosen.view_as(masked)


MOST = 10  # the largest differences that are marked
VISIBLE = 0.01  # the least difference of two numbers from 0 to 1 that counts as one
HUNTS: tuple[Hunt, ...] = (
    Hunt(
        name="mask-off-by-one",
        config=Config(heads=1, projections="independent", **SMALL),
        shows="weights",
        says="One causal head: each token attends to itself and to earlier tokens.",
        seen="Every row but the last has one more visible cell, right of the diagonal: the next token.",
        offered=(
            (
                "Queries and keys are swapped",
                "Then the scores would be transposed. The mask comes later, so the triangle would not move.",
            ),
            ("The mask lets the next token through", ""),
            (
                "The mask is applied after the softmax",
                "It is applied to the scores. Rows would not sum to one otherwise.",
            ),
            ("The scale 1/√d is missing", "The line of `scores` applies it."),
        ),
    ),
    Hunt(
        name="softmax-over-queries",
        config=Config(heads=1, projections="independent", **SMALL),
        shows="weights",
        says="One causal head: each token attends to itself and to earlier tokens.",
        seen="Columns sum to one instead of rows: the last column has one visible cell, which gets 100%.",
        offered=(
            ("The mask hides earlier tokens", "It masks later tokens, in both versions: hatched cells are the same."),
            (
                "Values are multiplied by the wrong axis",
                "The maps show weights, which are computed before the values are used.",
            ),
            ("The scale 1/√d is missing", "The line of `scores` applies it."),
            ("The softmax runs over queries", ""),
        ),
    ),
    Hunt(
        name="boolean-mask",
        config=Config(heads=1, projections="independent", **SMALL),
        shows="weights",
        says="One causal head: each token attends to itself and to earlier tokens.",
        seen="Every pair that was visible is hatched, and the other way round; the last query sees nothing.",
        offered=(
            (
                "The softmax runs over queries",
                "It runs over the last axis, `dim=-1`: every row with a visible key sums to one.",
            ),
            ("The mask is inverted", ""),
            ("The mask is off by one", "Then one diagonal would be hatched differently. Here every pair is."),
            (
                "Queries and keys are swapped",
                "Then the scores would be transposed. The mask comes later, so the triangle would not move.",
            ),
        ),
    ),
    Hunt(
        name="window-of-four",
        config=Config(heads=1, projections="independent", **SMALL),
        shows="weights",
        says="One head with a window: each token attends to four tokens, itself and the three before it.",
        seen="From the fifth row on, five cells are visible instead of four.",
        offered=(
            ("The next token is visible", "Everything above the diagonal is hatched, in both versions."),
            ("The window is one token too long", ""),
            ("The scale 1/√d is missing", "The line of `scores` applies it."),
            ("The window begins at the first token", "It moves along with the query, in both versions."),
        ),
    ),
    Hunt(
        name="two-heads",
        config=Config(heads=2, **SMALL),
        shows="weights",
        heads=(0, 1),
        says="Two causal heads of one layer, each with queries and keys of its own.",
        seen="Both heads have the same map, and its rows are flat: no weight of the last row is above 14%.",
        offered=(
            (
                "The scale 1/√d is missing",
                "Both heads apply it, in the lines of `scores_1` and `scores_2`. Without it, rows would be sharper than "
                "correct; these are flatter.",
            ),
            (
                "The mask hides earlier tokens",
                "It masks later tokens, in both versions: nothing has weight above the diagonal.",
            ),
            ("Both heads reuse one head’s weights", ""),
            ("The heads are joined wrongly", "The maps show weights, which are computed before heads are joined."),
        ),
    ),
    Hunt(
        name="fused",
        config=Config(heads=4, **SMALL),
        shows="influence",
        says="Four causal heads. Influence: how much the output of a row changes if the token of a column is replaced.",
        seen="There is colour above the diagonal: outputs change with later tokens, although the mask hides them.",
        offered=(
            ("The mask is applied too late", "It is added to the scores before the softmax, as it should be."),
            ("The softmax runs over queries", "It runs over the last axis, `dim=-1`, which is the keys."),
            ("The heads’ outputs are joined in the wrong order", ""),
            ("Queries and keys are swapped", "Each score is a query times a key, and rows of the scores are queries."),
        ),
    ),
    Hunt(
        name="split-by-view",
        config=Config(heads=4, mask="full", projections="independent", **SMALL),
        shows="influence",
        says="Four heads without a mask. Influence: how much the output of a row changes if the token of a column is "
        "replaced.",
        seen="Tokens fall into blocks of three: no token has influence outside of its block.",
        offered=(
            (
                "A mask hides distant tokens",
                "The code masks nothing, and a window would move along with the query.",
            ),
            ("The output projection is missing", "The line of `output` applies it. It mixes channels, never tokens."),
            ("The softmax runs over queries", "It runs over the last axis, `dim=-1`, which is the keys."),
            ("Heads get blocks of tokens, not of channels", ""),
        ),
    ),
    Hunt(
        name="position-weights",
        config=Config(heads=1, mask="full", **SMALL),
        shows="weights",
        says="One head without a mask: each token attends to all tokens.",
        seen="All rows are the same: the weights no longer depend on the query.",
        offered=(
            ("Each key has one weight for all queries", ""),
            ("The softmax runs over queries", "It runs over the keys, the last axis: every row sums to one."),
            ("The values are not used", "The line of `context` multiplies the weights by the values."),
            (
                "Queries and keys are swapped",
                "Each is computed with its own matrix. Swapped, the rows of the map would still differ from each other.",
            ),
        ),
    ),
    Hunt(
        name="functional",
        config=Config(heads=4, tokens=12, d_model=64, batch=4),
        shows="weights",
        heads=(0, 3),
        says="Two of four causal heads, in the first of four sequences. It has no padding; the last one ends with three tokens "
        "of it.",
        seen="In the last row, head 3 masks the last three tokens, which are padding in the fourth sequence only; head 0 "
        "sees them.",
        offered=(
            ("The softmax runs over queries", "It runs over the last axis, `dim=-1`: every row sums to one."),
            ("The causal mask is off by one", "Then head 0 would be wrong as well. It is right in every row."),
            ("Padding of one sequence masks another", ""),
            (
                "Head 3 has the queries of head 0",
                "Then only its weights would change, and it would be hatched like head 0.",
            ),
        ),
    ),
    Hunt(
        name="head-matrices",
        config=Config(heads=1, mask="full", projections="independent", **SMALL),
        shows="influence",
        says="One head without a mask. Influence: how much the output of a row changes if the token of a column is replaced.",
        seen="Only the diagonal is strong: each output depends almost only on its own token. The second fault has no "
        "effect here, as there is one head.",
        offered=(
            (
                "The weights are transposed",
                "Transposed weights would still mix tokens. Here, each output depends almost only on its own token.",
            ),
            ("The sum runs over queries instead of keys", ""),
            ("The scale 1/√d is missing", "The line of `weights` applies it."),
            ("The output projection is missing", "The line of `output` applies it. It mixes channels, never tokens."),
        ),
    ),
)
BUGS: dict[str, Hunt] = {hunt_name(hunt.name): hunt for hunt in HUNTS}  # by their names in a link


@torch.no_grad()
def hunt_maps(hunt: Hunt) -> HuntMaps:
    """Returns the pictures of a bug."""
    given, heads = case(hunt.config, crosses=hunt.row.crosses), list(hunt.heads)
    correct, wrong = (compare_case(hunt.row, given, printed) for printed in (False, True))
    name = f"def {hunt.row.version(True).__name__}("
    code = wrong.source.replace(name, "def attention(")
    if hunt.shows == "influence":
        reaches = [influence(hunt.row, given, printed) for printed in (False, True)]
        should, does = (reach[None].float() / reach.max() for reach in reaches if reach is not None)
        return HuntMaps(should, does, should > 0, does > 0, code)
    assert correct.weights is not None and wrong.weights is not None, hunt.name
    return HuntMaps(
        correct.weights[heads],
        wrong.weights[heads],
        correct.visible[heads],
        wrong.weights[heads] != 0,
        code,
    )
