"""A text that is continued by a token with the keys and values of its run gives what a pass over the whole text gives."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from attention.models import kv_cache
from attention.models import run as runs
from attention.models.catalogue import FOLDER, PACKAGE, Offer
from attention.models.loading import TEXT, Model
from attention.recorded import smollm2
from tests.model_families import NARROW, WIDE, family

READ, LONGER = "5 3 8 1 9 4 7 2", "5 3 8 1 9 4 7 2 6"
CACHED = ["GPT-2", "Llama", "OPT", "Mistral", "Gemma 2", "Gemma 3", "Qwen3"]
OTHERS = ["GPT-J", "BLOOM", "Falcon with ALiBi", "gpt-oss", "DeepSeek-V3", "Qwen3-Next"]
SIZES = {"hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2}
NEAR = {"rtol": 1e-4, "atol": 1e-5}


class Numbers:
    """A tokenizer of texts that are numbers."""

    is_fast, all_special_ids, model_max_length = False, (), 64

    def __call__(self, text: str, *more: str, return_tensors: str | None = None, **named: object) -> dict[str, object]:
        ids = [int(each) for each in text.split()]
        return {"input_ids": torch.tensor([ids]) if return_tensors else ids}

    def decode(self, ids: list[int], **named: object) -> str:
        return " ".join(map(str, ids))


def of_transformers(name: str, window: int = WIDE) -> Model:
    net = family(name, window)
    return Model(Offer(name, "there", FOLDER), net.base_model, TEXT, 0, Numbers(), language_model=net)


def our_llama() -> Model:
    torch.manual_seed(3)
    sizes = {"intermediate_size": 37, "vocab_size": 60, "max_position_embeddings": 64}
    net = smollm2.Llama(SimpleNamespace(**smollm2.CONFIG | SIZES | sizes)).eval().requires_grad_(False)
    for weight in net.parameters():
        weight.normal_(0, 0.3 if weight.ndim > 1 else 1)
    return Model(Offer("ours", "ours", PACKAGE), net, TEXT, 0, Numbers(), language_model=net)


def read(model: Model, text: str, before: runs.Run | None = None) -> runs.Run:
    return runs.run(model, text, "", None, lambda share: None, before=before)


def tokens_run(model: Model) -> list[int]:
    """The number of tokens of each pass from here on."""
    found: list[int] = []
    model.language_model.register_forward_pre_hook(
        lambda module, given, named: found.append(named["input_ids"].shape[1]), with_kwargs=True
    )
    return found


def check_equal(one: runs.Run, two: runs.Run) -> None:
    for name, part in two.parts.items():
        mine, theirs = one.parts[name].stack, part.stack
        assert [mine.queries, mine.own, mine.what] == [theirs.queries, theirs.own, theirs.what]
        for each in ("q", "k", "v", "weights", "square"):
            torch.testing.assert_close(getattr(mine, each), getattr(theirs, each), **NEAR)
        torch.testing.assert_close(one.parts[name].norms, part.norms, **NEAR)
    assert one.words is not None and two.words is not None and one.words.ids == two.words.ids
    for each in ("ids", "probabilities", "losses", "entropy", "last"):
        mine, theirs = (getattr(words.predictions, each) for words in (one.words, two.words))
        torch.testing.assert_close(mine, theirs, equal_nan=True, **NEAR)
    assert one.words.texts == two.words.texts


@pytest.mark.parametrize("name", ["ours", *CACHED])
def test_a_token_with_a_cache_equals_a_pass_over_the_whole_text(name):
    model = our_llama() if name == "ours" else of_transformers(name)
    first, whole = read(model, READ), read(model, LONGER)
    passes = tokens_run(model)
    check_equal(read(model, LONGER, first), whole)
    assert passes == [1], "one pass over one token"
    check_equal(read(model, f"{LONGER} 3", read(model, LONGER, first)), read(model, f"{LONGER} 3"))


@pytest.mark.filterwarnings("ignore:attention.watch can't see 2 layers")  # linear attention has no weights
@pytest.mark.parametrize("name", OTHERS)
def test_what_keys_and_values_do_not_determine_is_run_again(name):
    model = of_transformers(name)
    first = read(model, READ)
    passes = tokens_run(model)
    check_equal(read(model, LONGER, first), read(model, LONGER))
    assert passes == [9, 9]


@pytest.mark.parametrize(("window", "passes"), [(NARROW, [9]), (8, [1, 9])])
def test_a_window_that_the_new_token_leaves_is_seen(window, passes):
    model = of_transformers("Mistral", window)
    first, whole = read(model, READ), read(model, LONGER)
    found = tokens_run(model)
    check_equal(read(model, LONGER, first), whole)
    assert found == passes


def test_another_text_does_not_use_the_cache():
    model = our_llama()
    first = read(model, READ)
    passes = tokens_run(model)
    for text in ("5 3 8 1 9 4 7 1 6", f"{LONGER} 3", READ):
        read(model, text, first)
    assert passes == [9, 10, 8]
    assert kv_cache.reusable_part(model, {"input_ids": torch.tensor([[1, 2]])}, first.parts, None) is None
