"""The masks beside each other: counted pair by pair, and the reach against powers of the boolean matrix."""

from unittest.mock import patch

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from attention.analysis.mask_gallery import FAINT, exhibit, flops, gallery, ink_levels, of_table
from attention.analysis.mask_reach import dependency_chain, reach, sliding_minimum
from attention.maps import quadtree
from attention.masks import COMBINATIONS, MASKS, Rule
from tests.samples import examples, sample

LONG = 65_536
SQUARES = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.booleans(), min_size=n * n, max_size=n * n).map(lambda cells: torch.tensor(cells).view(n, n))
)
RULES = st.builds(
    lambda how, one, other: COMBINATIONS[how](MASKS[one], MASKS[other]),
    *map(st.sampled_from, (list(COMBINATIONS), list(MASKS), list(MASKS))),
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
@settings(deadline=None, max_examples=examples(150))
def test_reach_is_that_of_the_boolean_power(square, layers):
    assert reach(Rule(lambda q, k, n, span: square[q, k], ""), len(square), 1, layers) == by_powers(square, layers)


@given(RULES, st.integers(1, 80), st.integers(1, 90), st.integers(1, 9), st.sampled_from([0, quadtree.SMALL]))
@settings(deadline=None, max_examples=examples(150))
def test_reach_by_squares_is_that_of_the_boolean_power(rule, n, span, layers, small):
    with patch.object(quadtree, "SMALL", small):
        assert reach(rule, n, span, layers) == by_powers(rule.square(n, n, span), layers)


@given(st.integers(1, 2**70), st.integers(1, 5))
@settings(deadline=None)
def test_a_pattern_slides_over_values_as_its_bits_say(pattern, many):
    bits = [at for at in range(pattern.bit_length()) if pattern >> at & 1]
    values = torch.randperm(bits[-1] + many, generator=torch.Generator().manual_seed(pattern % 1000))
    want = [min(int(values[start + at]) for at in bits) for start in range(many)]
    assert sliding_minimum(pattern, values[None], many).tolist() == [want]


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


KNOWN = {  # at 65,536 tokens: keys of the query at q under a span w, and the reach of 4 layers
    "full": (lambda q, w: LONG, lambda w: (LONG - 1, LONG - 1)),
    "causal": (lambda q, w: q + 1, lambda w: (LONG - 1, 0)),
    "window": (lambda q, w: min(w, q + 1), lambda w: (4 * (w - 1), 0)),
    "local": (lambda q, w: min(w, q + 1) + min(w, LONG - q) - 1, lambda w: (4 * (w - 1), 4 * (w - 1))),
    "prefix": (lambda q, w: max(w, q + 1), lambda w: (LONG - 1, w - 1)),
    "documents": (lambda q, w: min(w, LONG - q // w * w), lambda w: (w - 1, w - 1)),
    "dilated": (lambda q, w: min(w, q // 2 + 1), lambda w: (8 * (w - 1), 0)),
    "strided": (lambda q, w: min(w, q + 1) + max(0, q // w), lambda w: (LONG - 1, 0)),
    "global": (
        lambda q, w: min(w, q + 1) + min(w, LONG - q) - 1 + (q >= w) if q else LONG,
        lambda w: (LONG - 1, LONG - 1),
    ),
    "sinks": (lambda q, w: min(w, q + 1) + min(4, max(0, q + 1 - w)), lambda w: (LONG - 1, 0)),
    "padding": (lambda q, w: LONG - w, lambda w: (LONG - 1, LONG - 1 - w)),
}


def test_the_pairs_of_every_rule_are_counted():
    assert KNOWN.keys() == MASKS.keys(), (
        "count a new rule in KNOWN: the keys of a query at q, and the reach of four layers"
    )


@pytest.mark.sampled(5)
@pytest.mark.parametrize("span", sample([4, 300, 512], lambda span: span == 300))
@pytest.mark.parametrize("name", MASKS)
def test_at_65536_tokens_every_rule_is_as_its_formula(name, span):
    keys, far = KNOWN[name]
    found = exhibit(name, MASKS[name], LONG, span, 4)
    assert found.pairs == sum(keys(q, span) for q in range(LONG))
    assert (found.back, found.ahead) == far(span)
    assert (found.blind, found.tile, found.pixels.shape) == (0, 683, (96, 96))


def test_a_window_of_512_among_65536_keeps_less_than_a_hundredth():
    found = exhibit("window", MASKS["window"], LONG, 512, 4)
    assert (found.pairs, round(100 * found.share, 3)) == (33_423_616, 0.778)
    assert found.blocks == (1 + 2 + 3 + 4 + 5 * 508) / 512**2  # a row of blocks sees its own and four before it
    assert (found.pixels > 0).nonzero().diff().unique().tolist() == [-1, 0]  # the diagonal, and what is just below it


def test_joined_masks_are_counted_at_65536_tokens():
    within = exhibit("", MASKS["causal"] & MASKS["documents"], LONG, 512, 4)
    assert (within.pairs, within.back, within.ahead) == (LONG * 513 // 2, 511, 0)
    rest = exhibit("", MASKS["documents"] - MASKS["causal"], LONG, 512, 4)
    assert (rest.pairs, rest.back, rest.ahead) == (LONG * 511 // 2, 0, 511)
    assert rest.empty.tolist() == list(range(511, LONG, 512))  # the last of each document
    skipping = exhibit("", MASKS["dilated"] & MASKS["documents"], LONG, 511, 9)
    assert (skipping.back, skipping.ahead) == (510, 0)
    even = exhibit("", MASKS["dilated"] & MASKS["prefix"], LONG, 8192, 9)
    assert (even.back, even.ahead) == (LONG - 2, 0)  # of the parity of the last token there is no first one


@pytest.mark.parametrize(("tokens", "tile"), [(7, 1), (200, 3), (10, 5)])
def test_ink_grows_with_what_a_tile_keeps_and_is_never_too_little_to_see(tokens, tile):
    side = -(-tokens // tile)
    sizes = torch.tensor([min(tile, tokens - at * tile) for at in range(side)])
    whole = sizes[:, None] * sizes
    both = tokens, tokens
    assert (ink_levels(whole, both, tile) == 255).all() and not ink_levels(0 * whole, both, tile).any()
    one = ink_levels(torch.ones_like(whole), both, tile)
    assert torch.equal(one, (FAINT + (255 - FAINT) / whole).round().to(torch.uint8))


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize(("n", "span"), [(2, 1), (18, 4), (301, 40)])
def test_pairs_are_counted_one_by_one(name, n, span):
    found = exhibit(name, MASKS[name], n, span, 3)
    square = MASKS[name].square(n, n, span)
    assert found.pairs == int(square.sum())
    assert found.share == found.pairs / n**2
    assert found.empty.tolist() == [at for at, row in enumerate(square.tolist()) if not any(row)]
    assert found.blind == len(found.empty)
    assert found.pixels.shape == (-(-n // found.tile),) * 2 and found.pixels.shape[0] <= 96


@pytest.mark.sampled(15)
@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize(("n", "m"), [(6, 8), (8, 6), (3, 200), (300, 130)])
def test_another_sequence_is_looked_at_as_a_rectangle(name, n, m):
    found, square = exhibit(name, MASKS[name], n, 4, 3, m), MASKS[name].square(n, m, 4)
    assert (found.pairs, found.whole, found.share) == (int(square.sum()), n * m, int(square.sum()) / (n * m))
    assert found.empty.tolist() == (~square.any(1)).nonzero()[:, 0].tolist()
    assert found.pixels.shape == (-(-n // found.tile), -(-m // found.tile)) and max(found.pixels.shape) <= 96
    if found.tile == 1:
        assert torch.equal(found.pixels == 255, square)
    padded = F.pad(square, (0, -m % 128, 0, -n % 128)).unflatten(1, (-1, 128)).unflatten(0, (-1, 128))
    assert found.blocks == float(padded.any(3).any(1).float().mean())
    assert found.back is None and found.ahead is None, "nothing goes on from layer to layer"


def test_a_mask_given_pair_by_pair_is_counted_as_the_rule_that_it_is():
    rule = MASKS["window"]
    table, found = (exhibit("", each, 300, 40, 3) for each in (of_table(rule.square(300, 300, 40)), rule))
    assert torch.equal(table.pixels, found.pixels)
    for name in ("pairs", "blocks", "back", "ahead", "blind", "tile"):
        assert getattr(table, name) == getattr(found, name)


def test_blocks_count_what_a_block_sparse_kernel_must_compute():
    """A causal mask of 4 blocks a side: 10 of 16 hold a pair, though hardly more than half of the pairs are kept."""
    found = exhibit("causal", MASKS["causal"], 512, 4, 1)
    assert (found.blocks, round(found.share, 3)) == (10 / 16, 0.501)
    assert exhibit("full", MASKS["full"], 18, 4, 1).blocks == 1


def test_operations_are_those_of_two_matrix_products():
    """q kᵀ: n² d_model multiplications and as many additions; weights times v: the same again."""
    assert flops(10 * 10, 64) == 2 * (2 * 10 * 10 * 64)
    assert flops(10 * 10, 64, 0.25) == 0.25 * flops(10 * 10, 64)


def test_documents_in_both_directions_are_not_those_of_a_decoder():
    """Llama 3 masks documents within a causal mask: `causal and documents`."""
    square = MASKS["documents"].square(4, 4, 2)
    assert torch.equal(square, square.T)
    assert "Llama" not in MASKS["documents"].users


def test_every_rule_says_who_uses_it_and_where_it_is_from():
    for each in gallery(8, 2, 1):
        assert len(each.rule.users) > 3 and len(each.rule.source) > 10


@pytest.mark.parametrize(
    ("name", "layers", "chain"),
    [("causal", 4, [11, 0]), ("window", 2, [11, 8, 5]), ("window", 9, [11, 8, 5, 2, 0]), ("padding", 1, [11, 0])],
)
def test_a_chain_leads_from_the_last_query_as_far_back_as_it_reaches(name, layers, chain):
    assert dependency_chain(MASKS[name].square(12, 12, 4), layers) == chain
