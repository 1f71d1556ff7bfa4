"""Makes the recording of two layers: `python -m attention.recorded.constructed` writes its file.

Four heads that occur in trained models, built by hand from unit vectors. Layer 0 has a head that attends to the
previous token and one that attends to the same word. Layer 1 has an induction head, whose keys contain the token before
each token, as the first head of layer 0 would have written it, and a head that attends to the first token.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention.recorded.file import OWN, Recording, write_recording
from attention.recorded.shipped import path

NAME = "two-layers"
TEXT = "a heron stood by the weir . later a heron stood by the weir"
WIDTH = 16  # channels: enough for a unit vector per position, or per word and one for the first token
SURE = 48.0  # length of a query; divided by the root of WIDTH, it is a lead of 12 before the softmax
REST = 0.5  # score of the first token, relative to that of a match


def hand_built_recording() -> Recording:
    """Returns the recording, with queries, keys and values of both layers."""
    tokens = tuple(TEXT.split())
    n, words = len(tokens), list(dict.fromkeys(tokens))
    unit, first = torch.eye(WIDTH), torch.eye(WIDTH)[-1]
    place, word = unit[:n], torch.stack([unit[words.index(token)] for token in tokens])
    before = torch.cat([torch.zeros(1, WIDTH), word[:-1]])  # the previous word
    start = torch.cat([first[None], torch.zeros(n - 1, WIDTH)])  # only at the first token
    rest = REST * first.expand(n, -1)
    previous = torch.cat([place[:1], place[:-1]])  # the first token has no previous one
    heads = [[(previous, place), (word, word)], [(word + rest, before + start), (first.expand(n, -1), start)]]
    return Recording(
        what="Four heads of two layers: previous token and same word; induction and first token.",
        weights="None: built by hand from unit vectors, not learned.",
        license="MIT, as this project",
        made="python -m attention.recorded.constructed",
        tokens=tokens,
        q=SURE * _stack_layers([[q for q, _ in layer] for layer in heads]),
        k=_stack_layers([[k for _, k in layer] for layer in heads]),
        v=_stack_layers([[word, word], [word, word]]),
        own=OWN | {"mask": "causal", "scale": "1/sqrt(d_head)"},
    )


def _stack_layers(layers: list[list[Tensor]]) -> Float[Tensor, "l h n d"]:
    return torch.stack([torch.stack(layer) for layer in layers])


if __name__ == "__main__":
    path(NAME).write_bytes(write_recording(hand_built_recording()))
