"""Tokens that are parts of a character are called by it, and tokens of a word are taken together, whatever cuts the text."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from attention.models.inputs import _places
from attention.models.labels import Labels, of_text
from attention.recorded.models import START
from tests.tiny_models import tokenizers, transformers

FAMILY = "👩\u200d👩\u200d👧"
# What is cut, and the words that it is made of.
TEXTS = {
    "Cyrillic": ("Привет, мир", ["Привет", ",", "мир"]),
    "Greek": ("Αθήνα καλημέρα", ["Αθήνα", "καλημέρα"]),
    "Greek with accents apart": ("Αθη\u0301να", ["Αθη\u0301να"]),
    "Hebrew": ("שלום עולם", ["שלום", "עולם"]),
    "Japanese": ("東京 タワー", ["東", "京", "タ", "ワ", "ー"]),
    "emoji with joiners": (f"{FAMILY} ok", [FAMILY, "ok"]),
    "a ligature": ("é né ﬁn", ["é", "né", "ﬁn"]),
}
FEW = "окпривтΑθηνακλμέρשלוםעok"  # letters that a tokenizer of whole letters knows


def byte_level() -> Any:
    """As GPT-2's, with some bytes of neighbouring letters merged."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=270, initial_alphabet=alphabet)
    made.train_from_iterator(["прир мир 東東 タタ"] * 3, trainer)
    return made


def unigram() -> Any:
    """As SentencePiece's, of letters, and of bytes where it has no letter."""
    bytes_ = [(f"<0x{byte:02X}>", -10.0) for byte in range(256)]
    made = tokenizers.Tokenizer(
        tokenizers.models.Unigram([("<unk>", 0.0), *bytes_, ("▁", -3.0), *((each, -4.0) for each in FEW[:8])], 0, True)
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    made.decoder = _of_bytes()
    return made


def letters_or_bytes() -> Any:
    """As that of the first Llamas."""
    names = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *dict.fromkeys(FEW[:8])]
    numbers = {name: number for number, name in enumerate(names)}
    made = tokenizers.Tokenizer(
        tokenizers.models.BPE(numbers, [], unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    )
    made.normalizer = tokenizers.normalizers.Replace(" ", "▁")
    made.decoder = _of_bytes()
    return made


def word_pieces() -> Any:
    """As BERT's: accents are taken off, and joiners."""
    known = sorted({each for text, _ in TEXTS.values() for each in text if not each.isspace()} | set("eαηε"))
    names = {name: number for number, name in enumerate(["[UNK]", *known, *(f"##{each}" for each in known)])}
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(names, unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=False, strip_accents=True)
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.decoder = tokenizers.decoders.WordPiece()
    return made


def _of_bytes() -> Any:
    found = tokenizers.decoders
    return found.Sequence([found.Replace("▁", " "), found.ByteFallback(), found.Fuse(), found.Strip(" ", 1, 0)])


CUTS: dict[str, Callable[[], Any]] = {
    "byte-level": byte_level,
    "unigram": unigram,
    "letters or bytes": letters_or_bytes,
    "word pieces": word_pieces,
}


def cut(name: str, text: str, known: bool = True) -> Labels:
    """The labels of a text by one of these; `known`: do we know where in the text each token begins?"""
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=CUTS[name]())
    found = made(text, return_tensors="pt")
    return of_text(made, found["input_ids"][0].tolist(), _places(found, text, "") if known else ())


def join_labels(labels: Labels) -> list[str]:
    """The words of a text, without those that are but spaces."""
    words = dict.fromkeys(labels.words, "")
    for word, text in zip(labels.words, labels.adds, strict=True):
        words[word] += text
    return [text for text in words.values() if text.strip()]


def as_cut(name: str, words: list[str]) -> list[str]:
    """The words as they are once a tokenizer has taken off accents and joiners."""
    if name != "word pieces":
        return words
    plain = unicodedata
    return [
        "".join(each for each in plain.normalize("NFD", word) if plain.category(each) not in ("Mn", "Cf"))
        for word in words
    ]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", CUTS)
def test_tokens_of_a_word_are_taken_together(name, text):
    said, words = TEXTS[text]
    labels = cut(name, said)
    assert join_labels(labels) == as_cut(name, words)
    assert not [each for each in labels.texts if "\ufffd" in each or not each]
    if name != "word pieces":  # the text that nobody has cut is known only as far as its tokens say it
        assert join_labels(cut(name, said, known=False)) == words


def test_a_part_of_a_character_says_which_and_of_how_many():
    assert cut("letters or bytes", "東ок").texts == ("東 1/3", "·東 2/3", "·東 3/3", "о", "·к")
    assert cut("unigram", "é\u200d").texts[1:] == ("é 1/2", "·é 2/2", "·U+200D 1/3", "·U+200D 2/3", "·U+200D 3/3")
    assert cut("letters or bytes", "η\u0301").texts[-2:] == ("·\u0301 1/2", "·\u0301 2/2")


def test_bytes_that_are_no_character_stay_apart():
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level())
    half = made("é")["input_ids"][:1]
    labels = of_text(made, [*half * 20, *made("ok")["input_ids"]])
    assert labels.texts == ("\ufffd",) * 20 + ("o", "·k")
    assert labels.words == (*range(21), 20)


def test_the_start_of_a_text_of_smollm2_has_the_name_that_it_has_in_the_recordings():
    made = byte_level()
    made.add_special_tokens(["<|im_start|>"])
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<|im_start|>")
    labels = of_text(tokenizer, [tokenizer.bos_token_id] * 2)
    assert labels.texts == (START, "<|im_start|>") and labels.special == (True, True)
