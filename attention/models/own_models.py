"""The two models that run here by this app's own lines: MiniLM and SmolLM2 of installed packages.

They need the library tokenizers, and not transformers. To add another, write its modules as in `recorded/minilm.py`, and a
line in `OWN`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from attention.models.catalogue import Offer
from attention.models.packages import ModelError
from attention.models.sizes import megabytes
from attention.recorded import minilm, smollm2
from attention.recorded.packages import MissingError

Hear = Callable[[str, float], object]  # called with the current step, and the share that is done
Room = Callable[[int], bool]
FLOAT = 4  # bytes


class Encoding(dict[str, Any]):
    """Token ids and their kinds as a mapping, as tokenizers of transformers return them; `encodings` has their places."""

    def __init__(self, found: Any, as_tensors: bool) -> None:
        self.encodings = [found]
        named = {"input_ids": found.ids, "attention_mask": found.attention_mask, "token_type_ids": found.type_ids}
        super().__init__({name: torch.tensor([each]) if as_tensors else list(each) for name, each in named.items()})

    def sequence_ids(self, at: int = 0) -> list[int | None]:
        """Returns for each token the text that it is of: 0, 1, or None for a mark."""
        return self.encodings[at].sequence_ids


class TextTokenizer:
    """A tokenizer of the library tokenizers, with those methods of transformers that are called here."""

    is_fast = True

    def __init__(self, made: Any, model_max_length: int) -> None:
        self.made, self.model_max_length = made, model_max_length
        self.all_special_ids = [number for number, token in made.get_added_tokens_decoder().items() if token.special]

    def __call__(
        self,
        text: str,
        second: str | None = None,
        *,
        truncation: bool = False,
        max_length: int | None = None,
        return_tensors: str | None = None,
        verbose: bool = True,
    ) -> Encoding:
        """Returns the tokens of a text or two, at most `max_length` if they are to be truncated."""
        if truncation:
            self.made.enable_truncation(max_length or self.model_max_length)
        else:
            self.made.no_truncation()
        return Encoding(self.made.encode(text, second), return_tensors is not None)

    def decode(self, ids: int | Sequence[int], clean_up_tokenization_spaces: bool = False) -> str:
        """Returns the text of tokens."""
        return self.made.decode([ids] if isinstance(ids, int) else list(ids), skip_special_tokens=False)


def _minilm(hear: Callable[[float], object]) -> tuple[Any, Any]:
    return minilm.load_minilm(), minilm.make_tokenizer()


def _smollm2(hear: Callable[[float], object]) -> tuple[Any, Any]:
    return smollm2.load_smollm2(hear), smollm2.make_tokenizer()


# By the package: bytes of the weights in memory, and what loads the network and its tokenizer.
OWN: Mapping[str, tuple[int, Callable[[Callable[[float], object]], tuple[Any, Any]]]] = {
    minilm.MINILM.distribution: (FLOAT * 22_713_216, _minilm),
    smollm2.SMOLLM2.distribution: (FLOAT * 134_515_008, _smollm2),
}


def load_own(offer: Offer, most: int, room: Room, hear: Hear) -> tuple[Any, TextTokenizer, int]:
    """Returns the network, the tokenizer and the bytes of the weights of an installed package; raises ModelError.

    `room`: whether there is memory for a number of bytes. It is called before any memory is allocated.
    """
    size, read = OWN[offer.where]
    if size > most:
        raise ModelError(
            f"“{offer.name}” takes {megabytes(size)} of memory; this server allows up to {megabytes(most)}."
        )
    if not room(size):
        raise ModelError(
            f"“{offer.name}” takes {megabytes(size)} of memory, which this server does not have free right now. Try a smaller "
            "model, or try again later."
        )
    try:
        net, made = read(lambda share: hear("Converting its weights to float32, once", share))
    except MissingError as error:
        raise ModelError(str(error)) from error
    return net, TextTokenizer(made, net.config.max_position_embeddings), size
