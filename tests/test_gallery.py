"""The masks beside each other: counted pair by pair, and the reach against powers of the boolean matrix."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attention.gallery import exhibit, flops, gallery, reach, shares
from attention.masks import MASKS

SQUARES = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.booleans(), min_size=n * n, max_size=n * n).map(lambda cells: torch.tensor(cells).view(n, n))
)


def by_powers(square, layers):
    """Farthest distances in the boolean power of (mask or identity), multiplied out."""
    n = len(square)
    step = (square | torch.eye(n, dtype=torch.bool)).long()
    power = torch.eye(n, dtype=torch.long)
    for _ in range(layers):
        power = (power @ step).clamp(max=1)
    distances = [q - k for q, k in power.nonzero().tolist()]
    return max(distances), -min(distances)


@given(SQUARES, st.integers(1, 14))
@settings(deadline=None, max_examples=150)
def test_reach_is_that_of_the_boolean_power(square, layers):
    assert reach(square, layers) == by_powers(square, layers)


@pytest.mark.parametrize("layers", [1, 2, 5, 40])
def test_reach_of_the_known_masks(layers):
    """By formula: a window of w lets each layer go w - 1 back (Jiang et al. 2023, section 2), a document ends."""
    n, span = 60, 4
    found = {each.name: (each.back, each.ahead) for each in gallery(n, span, layers)}
    far = min(n - 1, (span - 1) * layers)
    assert found["full"] == (n - 1, n - 1)
    assert found["causal"] == (n - 1, 0)
    assert found["window"] == (far, 0)
    assert found["local"] == (far, far)
    assert found["dilated"] == (min(n - 2, 2 * (span - 1) * layers) if layers > 1 else 6, 0)
    assert found["documents"] == (span - 1, span - 1)
    assert found["sinks"] == (n - 1, 0)
    assert found["prefix"] == (n - 1, span - 1)


@given(SQUARES, st.integers(1, 5))
@settings(deadline=None, max_examples=60)
def test_a_tile_holds_the_share_of_the_pairs_that_exist(square, tile):
    found, n = shares(square, tile), len(square)
    for i in range(0, n, tile):
        for j in range(0, n, tile):
            cells = square[i : i + tile, j : j + tile]
            assert float(found[i // tile, j // tile]) == pytest.approx(float(cells.float().mean()))


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize(("n", "span"), [(2, 1), (18, 4), (301, 40)])
def test_pairs_are_counted_one_by_one(name, n, span):
    found = exhibit(name, MASKS[name], n, span, 3)
    square = MASKS[name].square(n, n, span)
    assert found.pairs == int(square.sum())
    assert found.share == found.pairs / n**2
    assert found.blind == sum(not any(row) for row in square.tolist())
    assert found.pixels.shape == (-(-n // found.tile),) * 2 and found.pixels.shape[0] <= 96


def test_blocks_count_what_a_block_sparse_kernel_must_compute():
    """A causal mask of 4 blocks a side: 10 of 16 hold a pair, though hardly more than half of the pairs are kept."""
    found = exhibit("causal", MASKS["causal"], 512, 4, 1)
    assert (found.blocks, round(found.share, 3)) == (10 / 16, 0.501)
    assert exhibit("full", MASKS["full"], 18, 4, 1).blocks == 1


def test_operations_are_those_of_two_matrix_products():
    """q kᵀ: n² d_model multiplications and as many additions; weights times v: the same again."""
    assert flops(10, 64) == 2 * (2 * 10 * 10 * 64)
    assert flops(10, 64, 0.25) == 0.25 * flops(10, 64)


def test_documents_in_both_directions_are_not_those_of_a_decoder():
    """Llama 3 masks documents within a causal mask: `causal and documents`."""
    square = MASKS["documents"].square(4, 4, 2)
    assert torch.equal(square, square.T)
    assert "Llama" not in MASKS["documents"].users


def test_every_rule_says_who_uses_it_and_where_it_is_from():
    for each in gallery(8, 2, 1):
        assert len(each.rule.users) > 3 and len(each.rule.source) > 10
