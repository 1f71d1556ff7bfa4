"""Stacks as somebody could bring them, small enough for every page."""

from __future__ import annotations

from pathlib import Path

import torch
from streamlit.testing.v1 import AppTest

from attention.imported.registry import Upload, register
from attention.imported.stack import Stack
from attention.ui.session.visit_state import KEY, Session, VisitState
from tests.strategies import newest, normal

WORDS = ("the", "cat", "sat", "on", "the", "mat")
OTHERS = ("die", "Katze", "sass", "auf", "der", "Matte", "<b>dort</b>", "$x$")
LAYERS, HEADS, N, M, D = 3, 4, len(WORDS), len(OTHERS), 8
WHAT = "Made for a test"


def weights(queries: int = N, keys: int = N, heads: int = HEADS) -> Stack:
    """Weights alone, of all pairs."""
    return Stack("weights.npz", WHAT, weights=torch.softmax(normal(1, LAYERS, heads, queries, keys), -1))


def named_upload() -> Stack:
    """Queries and keys that heads share, with values and texts, as a causal model has them."""
    q, k, v = (normal(seed, LAYERS, heads, N, D) for seed, heads in ((2, HEADS), (3, 2), (4, 2)))
    own = {"mask": "causal", "scale": "1/sqrt(d_head)"}
    return Stack("model.safetensors", WHAT, WORDS, WORDS, q.half(), k.half(), v.half(), own=own)


def square_upload() -> Stack:
    """With a mask that no rule says."""
    square = torch.rand(N, N, generator=torch.Generator().manual_seed(5)) > 0.4
    square[:, 0], square[2] = True, False
    q, k = normal(6, 1, HEADS, N, D), normal(7, 1, HEADS, N, D)
    return Stack("square.npz", WHAT, WORDS, WORDS, q, k, square=square)


def layered_upload() -> Stack:
    """With a rule for each layer, as of a model with local and global attention."""
    q, k = normal(16, 2, HEADS, N, D), normal(17, 2, HEADS, N, D)
    rules = (("window", 3), ("causal", 4))
    return Stack("layers.npz", WHAT, WORDS, WORDS, q, k, own={"scale": "1/sqrt(d_head)"}, rules=rules)


def squares() -> Stack:
    """With a mask of its own for each layer."""
    square = torch.rand(2, N, N, generator=torch.Generator().manual_seed(18)) > 0.4
    square[..., 0] = True
    q, k = normal(19, 2, HEADS, N, D), normal(20, 2, HEADS, N, D)
    return Stack("squares.npz", WHAT, WORDS, WORDS, q, k, square=square)


def crossing(alone: bool = False) -> Stack:
    """A sequence that looks at another one, as queries and keys or as weights alone."""
    if alone:
        found = torch.softmax(normal(8, LAYERS, HEADS, N, M), -1)
        return Stack("cross.npz", WHAT, WORDS, OTHERS, weights=found)
    q, k, v = normal(9, 2, HEADS, N, D), normal(10, 2, HEADS, M, D), normal(11, 2, HEADS, M, D)
    return Stack("cross.npz", WHAT, WORDS, OTHERS, q, k, v)


def wide() -> Stack:
    """As many heads and channels as large models have; of some layers in the middle."""
    q, k = normal(12, 2, 64, 5, 128), normal(13, 2, 8, 5, 128)
    return Stack("wide.safetensors", WHAT, q=q, k=k, numbers=(40, 79), own={"scale": "1/sqrt(d_head)"})


def long() -> Stack:
    """More tokens than are shown weight by weight."""
    q, k = normal(14, 2, 2, 2000, D), normal(15, 2, 1, 2000, D)
    return Stack("long.npz", WHAT, q=q, k=k, own={"mask": "causal", "scale": "1/sqrt(d_head)"})


STACKS = {
    "weights": weights,
    "named": named_upload,
    "squared": square_upload,
    "layered": layered_upload,
    "squares": squares,
    "crossing": crossing,
    "crossing alone": lambda: crossing(alone=True),
    "wide": wide,
}


def open_page(
    page: Path, holding: Upload, query: dict[str, str] | None = None, seconds: int = 60, opens: str = ""
) -> AppTest:
    """A page that shows what its visitor has brought; `opens`: the key of a fold that is open."""
    test = AppTest.from_file(str(page), default_timeout=seconds)
    test.session_state[KEY] = Session(kept=VisitState(uploaded={holding.source: holding}))
    if opens:
        test.session_state[opens] = True
    test.query_params.update(newest({"source": holding.source, **(query or {})}))
    return test.run()


def holding(name: str) -> Upload:
    """One of the above, held."""
    return register(STACKS[name]())
