"""The leak test finds each kind of leak that is planted in a small causal model, and none in models without."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import attention
from tests.model_families import family

IDS = (5, 3, 8, 1, 9, 4, 7, 2)
LATER = torch.ones(8, 8, dtype=torch.bool).triu(1)


class Layer(nn.Module):
    """One causal layer of attention, with a fault."""

    def __init__(self, fault: str):
        super().__init__()
        self.fault, self.maps, self.dropout = fault, nn.Linear(16, 48), nn.Dropout(0.5)

    def forward(self, x: Tensor) -> Tensor:
        """Adds the attention of `x` (b n 16) to it."""
        n, (q, k, v) = x.shape[1], self.maps(x).chunk(3, -1)
        visible = torch.ones(n, n, dtype=torch.bool).tril({"one off": 1, "no mask": n}.get(self.fault, 0))
        if self.fault == "inverted":
            visible = ~visible | torch.eye(n, dtype=torch.bool)
        x = x + self.dropout(F.scaled_dot_product_attention(q, k, v, visible))
        return (x - x.mean(1, keepdim=True)) if self.fault == "normalised over the sequence" else x


class Decoder(nn.Module):
    """Two causal layers with the arguments of a decoder of transformers; the fault is in the second layer, or in its cache."""

    def __init__(self, fault: str = ""):
        super().__init__()
        torch.manual_seed(0)
        self.fault, self.embed, self.positions = fault, nn.Embedding(12, 16), nn.Embedding(64, 16)
        self.layers = nn.ModuleList([Layer(""), Layer(fault)])

    def forward(
        self, input_ids: Tensor, past_key_values: Tensor | None = None, use_cache: bool = False
    ) -> SimpleNamespace:
        """Reads the cached ids again, which is a slow cache that is exact."""
        past = input_ids[:, :0] if past_key_values is None else past_key_values
        whole = torch.cat([past, input_ids], 1)
        begin = 1 if self.fault == "shifted cache" and past.shape[1] else 0
        x = self.embed(whole) + self.positions(begin + torch.arange(whole.shape[1]))
        for layer in self.layers:
            x = layer(x)
        if self.fault == "dropout":
            x = F.dropout(x, 0.5)
        kept = whole if use_cache else None
        return SimpleNamespace(logits=x[:, past.shape[1] :] @ self.embed.weight.T, past_key_values=kept)


def test_a_causal_model_has_no_leak_and_keeps_its_mode():
    model = Decoder().train()
    shares: list[float] = []
    found = attention.leaks(model, torch.tensor([IDS]), progress=shares.append)
    assert found.ok and not found.pairs and found.first_layer is None and not found.notes
    assert model.training and all(layer.training for layer in model.layers)
    assert shares == sorted(shares) and shares[-1] == 1
    assert (found.change[~LATER] > 100 * found.threshold).all(), "each output depends on each earlier token"
    assert [each.change is None for each in found.variants] == [True, False, True], (
        "no other kernel, a cache, no padding"
    )


@pytest.mark.parametrize(
    ("fault", "pairs"),
    [
        ("one off", LATER & ~LATER.triu(2)),
        ("no mask", LATER),
        ("normalised over the sequence", LATER),
        ("inverted", LATER),
    ],
)
def test_a_planted_leak_is_found_with_its_pairs_and_its_layer(fault, pairs):
    found = attention.leaks(Decoder(fault), IDS, compare=False)
    assert {leak[:2] for leak in found.pairs} == {(i, j) for i, j in pairs.nonzero().tolist()}
    assert not found.ok and found.first_layer == "layers.1"
    assert found.pairs[0].change == pytest.approx(float(found.change.triu(1).max()))
    assert "layers.1" in str(found) and "leak" in found.summary


def test_a_layer_that_only_looks_ahead_is_said_to_ignore_earlier_tokens():
    model = nn.Sequential(nn.Embedding(12, 16), Layer("inverted"))
    found = attention.leaks(model, IDS, compare=False)
    assert "No output changes with an earlier token: is the mask inverted?" in found.notes


def test_a_shifted_cache_differs_and_leaks_nothing():
    found = attention.leaks(Decoder("shifted cache"), IDS)
    assert not found.pairs and not found.ok
    (cached,) = (each for each in found.variants if each.name == "cached")
    assert cached.differs and float(cached.change[0]) <= cached.tolerance < float(cached.change[1:].min())


def test_dropout_in_eval_mode_is_named_since_it_hides_leaks():
    found = attention.leaks(Decoder("dropout"), IDS, compare=False)
    assert found.noise > 0.1 and found.threshold >= 4 * found.noise
    assert any("dropout" in note for note in found.notes)


def test_tokens_that_compete_for_an_expert_are_named():
    class Routed(nn.Module):
        """A causal model whose last part changes only as many tokens as it has places for, the largest first."""

        def __init__(self):
            super().__init__()
            self.decoder, self.expert_capacity = Decoder(), 3

        def forward(self, input_ids: Tensor) -> Tensor:
            x = self.decoder(input_ids).logits
            chosen = x[..., 0].flatten().topk(self.expert_capacity).indices
            return x + F.one_hot(chosen, x[..., 0].numel()).sum(0).view(x.shape[:-1])[..., None]

    found = attention.leaks(Routed(), IDS, changes=4, compare=False)
    assert any("limited capacity" in note for note in found.notes)
    assert found.pairs, "a later token takes a place"


@pytest.mark.parametrize("name", ["GPT-2", "Llama", "Mistral", "gpt-oss", "T5"])
def test_models_of_transformers_have_no_leak_and_the_same_outputs_in_every_way(name):
    model = family(name, window=4)
    inputs = {"input_ids": torch.tensor([IDS])} if name == "T5" else {}
    before = model.config._attn_implementation
    found = attention.leaks(model, IDS, inputs=inputs, changes=1)
    assert found.ok, str(found)
    assert sum(each.change is not None for each in found.variants) >= 2, str(found)
    assert model.config._attn_implementation == before


def test_a_model_that_reads_both_directions_is_described_as_that():
    found = attention.leaks(family("BERT"), IDS, changes=1, compare=False)
    assert len(found.pairs) == int(LATER.sum()) and "reads both directions: by design in an encoder" in found.summary
    assert "Reads both directions" in found.html() and "It leaks" not in found.html()


@pytest.mark.parametrize(
    ("ids", "more", "message"),
    [
        ((1,), {}, "one sequence of 2 to 512 tokens"),
        (torch.ones(2, 4, dtype=torch.long), {}, "one sequence of 2 to 512 tokens"),
        ((0.5, 1.5), {}, "whole numbers"),
        ((1, 99), {}, "the model knows tokens 0 to 11"),
        ((1, 2), {"tokens": ["a"]}, "1 tokens for 2 ids"),
        ((1, 2), {"changes": 0}, "at least once"),
    ],
)
def test_what_is_no_sequence_is_refused(ids, more, message):
    with pytest.raises(ValueError, match=message):
        attention.leaks(Decoder(), ids, **more)


def test_a_model_without_outputs_of_its_tokens_is_refused():
    with pytest.raises(ValueError, match=r"no outputs of shape \(1, 8, channels\)"):
        attention.leaks(lambda input_ids: torch.zeros(1, 3), IDS, vocabulary=12)
    with pytest.raises(ValueError, match="Pass `vocabulary`"):
        attention.leaks(lambda input_ids: torch.zeros(1, 8, 4), IDS)


def test_the_picture_shows_leaks_in_red_and_names_as_text(tmp_path):
    names = ["<b>&", *"bcdefgh"]
    found = attention.leaks(Decoder("one off"), IDS, tokens=names, compare=False)
    page = found.html(tmp_path / "leaks.html")
    assert (tmp_path / "leaks.html").read_text() == page
    assert page.count("#d6336c") == len(found.pairs) == 7 and "It leaks" in page
    assert "<b>&" not in page and "&lt;b&gt;&amp;" in page and page.count("http") == 2, (
        "http-equiv and the namespace of SVG"
    )
    long = attention.leaks(Decoder(), [at % 12 for at in range(60)], compare=False)
    assert (
        "token 59" in long.html() and repr(long) == f"Leaks(ok=True, leaks=0, tokens=60, threshold={long.threshold!r})"
    )
