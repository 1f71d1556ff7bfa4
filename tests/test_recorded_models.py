"""Heads of real models, from the files that ship: they do what they are known for, and their numbers are their models' own."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attention import Config, trace
from attention.fitting import layers
from attention.knobs import SOURCES
from attention.recorded import models, packages
from attention.recorded.packages import MissingError
from attention.recorded.shipped import SHIPPED, path, recording
from attention.recorded.smollm2 import CONFIG, rotate
from attention.sources.providers import TITLES, source_title

REAL = list(models.RECORDED)
SMOLLM2, MINILM = ([name for name in REAL if name.startswith(model)] for model in ("smollm2", "minilm"))
MEGABYTE = 2**20


def weights(name: str, layer: int) -> Tensor:
    return trace(Config.of(f"recorded:{name}", layer=layer)).weights


def prefix_matching(name: str, layer: int) -> Tensor:
    """Mean weight on what followed the earlier copies of a token, over the tokens that have one (Olsson et al. 2022)."""
    tokens = recording(name).tokens
    after = {q: [k + 1 for k in range(q) if tokens[k] == tokens[q]] for q in range(len(tokens))}
    found = weights(name, layer)
    return torch.stack([found[:, q, keys].sum(-1) for q, keys in after.items() if keys]).mean(0)


def previous(name: str, layer: int) -> Tensor:
    return weights(name, layer).diagonal(-1, -2, -1).mean(-1)


def test_all_files_together_are_small():
    assert sum(path(name).stat().st_size for name in SHIPPED) < 3 * MEGABYTE
    assert set(REAL) == set(SHIPPED) - {"two-layers"}


@pytest.mark.parametrize("name", MINILM)
def test_a_head_of_minilm_looks_at_the_token_before(name):
    assert previous(name, 0)[2] > 0.95
    assert previous(name, 0)[[head for head in range(12) if head != 2]].max() < 0.5
    assert trace(Config.of(f"recorded:{name}")).mask.all()


def test_an_induction_head_of_smollm2_finds_what_came_after_the_same_word():
    assert prefix_matching("smollm2-repeated", 18)[6] > 0.8
    assert prefix_matching("smollm2-repeated", 17)[3:6].min() > 0.7
    assert max(prefix_matching("smollm2-repeated", layer).max() for layer in (1, 11, 13, 16)) < 0.1


@pytest.mark.parametrize("name", SMOLLM2)
def test_heads_of_smollm2_look_at_the_token_before_and_at_the_first(name):
    assert previous(name, 16)[0] > 0.75 and previous(name, 11)[1] > 0.6
    assert weights(name, 18)[8, 1:, 0].mean() > 0.9
    assert not trace(Config.of(f"recorded:{name}")).mask[0, 1:].any()


@pytest.mark.parametrize(("name", "layer", "head"), [("smollm2-street", 13, 8), ("minilm-street", 3, 1)])
def test_a_head_knows_who_was_too_tired(name, layer, head):
    tokens = recording(name).tokens
    row = weights(name, layer)[head, tokens.index("it")]
    assert row.argmax() == tokens.index("animal") and row.max() > 0.4


def test_a_layer_is_called_as_its_model_counts_it():
    config = Config.of("recorded:smollm2-repeated")
    assert config.layer == 1 and layers(config.source) == models.CHOSEN == (1, 11, 13, 16, 17, 18)
    found = recording("smollm2-repeated")
    assert torch.equal(trace(Config.of(config.source, layer=18)).q, found.q[5])
    assert found.shape.numbers == models.CHOSEN and recording("minilm-code").shape.numbers == tuple(range(6))


@pytest.mark.parametrize("name", REAL)
def test_it_is_said_whose_weights_these_are_and_what_was_read(name):
    found = recording(name)
    said = trace(Config.of(f"recorded:{name}")).provenance
    for part in ("package", "License: Apache-2.0", "attention.recorded.models", "reading"):
        assert part in said
    assert found.v is None and found.q.half().float().equal(found.q)


def test_tokens_can_be_read():
    repeated, street, code = (recording(name).tokens for name in SMOLLM2)
    assert repeated[:3] == ("[start]", "revert", "link") and len(repeated) == 76
    assert repeated[1:26] == repeated[26:51] == repeated[51:]
    assert street[2:6] == ("animal", "didn", "'t", "cross")
    assert "\n   " in code and "price" in code
    assert recording("minilm-street").tokens[:3] == ("[CLS]", "the", "animal")


def test_a_piece_that_goes_on_with_a_word_is_marked():
    assert [
        models._display_piece(*pair) for pair in ((" gren", "ade"), ("(", "rows"), ("it", " was"), (":", "\n  "))
    ] == [
        "·ade",
        "rows",
        "was",
        "\n  ",
    ]


def test_every_source_has_a_name_that_says_what_it_is():
    assert TITLES.keys() == set(SOURCES)
    assert source_title("recorded:smollm2-street") == "SmolLM2: a tired animal"
    assert max(map(len, TITLES.values())) <= 25  # what the menu has room for


def test_turning_is_by_pairs_and_keeps_what_is_between_two_positions():
    """A query and a key meet as they do wherever they stand, as far apart; the first position is not turned."""
    generator = torch.Generator().manual_seed(3)
    q, k = (torch.randn(1, 1, 8, generator=generator).expand(1, 9, 8) for _ in range(2))
    base = CONFIG["rope_theta"]
    scores = rotate(q, base)[0] @ rotate(k, base)[0].T
    assert torch.equal(rotate(q, base)[:, 0], q[:, 0])
    assert torch.equal(rotate(q, base)[:, 5:], rotate(q[:, 5:], base, 5)), "counted from another position"
    for apart in range(-8, 9):
        line = scores.diagonal(apart)
        torch.testing.assert_close(line, line[:1].expand_as(line), rtol=0, atol=1e-5)
    pair = rotate(torch.tensor([[[0.0, 0, 1, 0], [0, 0, 1, 0]]]), base)[0, 1, 2:]
    angle = torch.tensor(base**-0.5)
    torch.testing.assert_close(pair, torch.stack([angle.cos(), angle.sin()]))


def test_a_missing_package_is_named_with_what_to_do():
    with pytest.raises(MissingError, match=r"no_such_library is missing\. Try: attention-lab get-models"):
        packages.library("no_such_library")
    absent = packages.WeightsPackage("no-such-weights", "1", "no_such_weights", "x", "", 0)
    with pytest.raises(MissingError, match=r"of no-such-weights are missing\. Try: attention-lab get-models"):
        packages.weights_file(absent)
