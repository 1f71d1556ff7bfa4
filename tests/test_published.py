"""Published implementations: as meant each agrees with PyTorch; as printed each mistake does what its lesson says.

The prints are wrong on purpose. A test that fails here because a row agrees means that somebody has mended it.
"""

import inspect
import math
import sys
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from einops import rearrange
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from attention.attend import scaled_dot_product_attention
from attention.config import Config
from attention.knobs import KNOBS
from attention.layer import MultiHeadAttention
from attention.masks import MASKS
from attention.published import ROWS, Weights
from attention.published.case import CELLS, Case, case, left_out, masks, reference
from attention.published.compare import (
    WITHIN,
    compare,
    compare_case,
    costs,
    influence,
    judge,
    leak,
    time_row,
)
from attention.published.cost import cost
from attention.published.diff_lines import difference, short
from attention.published.record import record_run
from attention.published.row import Slip, random_tensor
from attention.published.supported_inputs import demands, small, with_length, with_padding
from attention.steps.values import values
from tests.fresh import ran
from tests.samples import examples

MISTAKEN = [name for name, row in ROWS.items() if row.as_printed]
SIZES = st.integers(1, 6)
NARROW = Config(tokens=12, heads=4, d_model=32, input="noise", projections="independent", batch=2)


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """On tensors as small as these, threads only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def random_case(batch, tokens, heads, width, channels, seed, keys=None, values=None):
    """Noise, biases included, and a random mask in which every query sees a key."""
    random = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, generator=random, dtype=torch.float64)  # noqa: E731 (short, and used below)
    keys, values = keys or tokens, values or width
    maps = [draw(heads, channels, width), draw(heads, channels, width), draw(heads, channels, values)]
    rest = [draw(heads, values, channels), draw(heads, width), draw(heads, width), draw(heads, values), draw(channels)]
    mask = torch.rand(batch, tokens, keys, generator=random) < 0.6
    mask[..., 0] = True
    x = draw(batch, tokens, channels)
    y = x if keys == tokens else draw(batch, keys, channels)
    return Case(x, y, y, Weights(*maps, *rest, batch=batch, tokens=tokens), mask)


def by_torch(row, case):
    """Output and weights by torch's own function, one head at a time."""
    w, mask = row.part(case.weights), masks(row, case)
    output, squares = 0, []
    for h in range(len(w.query)):
        q = case.query @ w.query[h] + w.query_bias[h]
        k = case.key @ w.key[h] + w.key_bias[h]
        v = case.value @ w.value[h] + w.value_bias[h]
        given = None if mask is None else mask[:, 0]
        context = F.scaled_dot_product_attention(q, k, v, given, scale=row.scale(q.shape[-1]))
        one = torch.eye(k.shape[1], dtype=q.dtype).expand(len(k), -1, -1)
        squares.append(F.scaled_dot_product_attention(q, k, one, given, scale=row.scale(q.shape[-1])))
        output = output + context @ w.output[h] if row.maps_back else context
    return output + w.output_bias if row.maps_back else output, torch.stack(squares, 1)


@pytest.mark.parametrize("name", ROWS)
@settings(deadline=None, max_examples=examples(15))
@given(batch=SIZES, tokens=SIZES, heads=st.integers(2, 4), width=SIZES, channels=SIZES, seed=st.integers(0, 99))
def test_as_meant_every_row_is_torch(name, batch, tokens, heads, width, channels, seed):
    row, made = ROWS[name], random_case(batch, tokens, heads, width, channels, seed)
    output, weights = by_torch(row, made)
    found = row.as_meant(**made.inputs(row))
    assert (found.output - output).abs().max() <= WITHIN
    assert (found.weights - weights).abs().max() <= WITHIN
    assert judge(row, made).verdict == "agrees"


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.crosses])
@settings(deadline=None, max_examples=examples(25))
@given(tokens=SIZES, keys=SIZES, width=SIZES, values=SIZES, seed=st.integers(0, 99))
def test_queries_and_keys_may_be_of_different_sequences_and_values_of_another_width(
    name, tokens, keys, width, values, seed
):
    row, made = ROWS[name], random_case(2, tokens, 3, width, 4, seed, keys, values)
    output, weights = by_torch(row, made)
    found = row.as_meant(**made.inputs(row))
    assert (found.output - output).abs().max() <= WITHIN
    assert (found.weights - weights).abs().max() <= WITHIN


@pytest.mark.parametrize("name", ["separate-maps", "fused", "functional"])
def test_transplanted_from_torchs_own_layer(name):
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(24, 4, batch_first=True).double()
    for bias in (theirs.in_proj_bias, theirs.out_proj.bias):
        nn.init.normal_(bias)
    x, mask = torch.randn(3, 5, 24).double(), torch.ones(3, 5, 5, dtype=torch.bool)
    made = Case.of(x, Weights.from_layer(MultiHeadAttention.from_torch(theirs)), mask)
    with torch.no_grad():
        found = ROWS[name].as_meant(**made.inputs(ROWS[name]))
        output, weights = theirs(x, x, x, average_attn_weights=False)
    assert (found.output - output).abs().max() < 1e-12
    assert (found.weights - weights).abs().max() < 1e-12


def test_heads_that_share_keys_get_copies_of_them():
    torch.manual_seed(0)
    layer = MultiHeadAttention(12, 6, kv_heads=2).double()
    x = torch.randn(2, 5, 12).double()
    made = Case.of(x, Weights.from_layer(layer), torch.ones(2, 5, 5, dtype=torch.bool))
    q, k, v = (rearrange(f(x), "b n (h d) -> b h n d", d=2) for f in (layer.q_proj, layer.k_proj, layer.v_proj))
    context = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    output = layer.out_proj(rearrange(context, "b h n d -> b n (h d)"))
    assert (reference(ROWS["separate-maps"], made).output - output).abs().max() < 1e-12
    assert torch.equal(made.weights.key[0], made.weights.key[2])


@settings(deadline=None, max_examples=examples(15))
@given(
    tokens=st.integers(2, 20),
    heads=st.sampled_from([2, 4, 8]),
    mask=st.sampled_from(sorted(set(MASKS) - {"padding"})),
    batch=st.integers(1, 8),
    positions=st.sampled_from(["none", "sinusoidal", "rotary"]),
    kv_heads=st.sampled_from([0, 1, 2]),
    projections=st.sampled_from(["independent", "tied", "identity"]),
)
def test_at_any_setting_rows_agree_as_meant(**knobs):
    config = Config(d_model=32, span=3, **knobs)
    made = case(config)
    sees = bool(made.mask.any(-1).all())
    for name, row in ROWS.items():
        if sees or row.mask in ("none", "causal", "window"):
            assert judge(row, made).verdict == "agrees", name


def test_the_first_sequence_is_the_one_of_the_other_pages():
    from attention import trace

    config = replace(NARROW, mask="causal")
    theirs, found = trace(config), compare(ROWS["functional"], config)
    assert (found.weights - theirs.weights).abs().max() < 1e-6
    assert torch.equal(case(config).query[0], theirs.x.double())


CROSSING = replace(NARROW, keys=7, d_v=5, mask="prefix", span=3)


def test_with_keys_of_another_sequence_rows_that_take_them_agree_and_the_others_attend_to_themselves():
    assert {compare(row, CROSSING).judgement.verdict for row in ROWS.values()} == {"agrees"}
    assert compare(ROWS["head-matrices"], CROSSING).weights.shape == (4, 12, 7)
    assert compare(ROWS["head-matrices"], CROSSING).steps[2].sizes == (2, 7, 5)  # values of 5 channels
    assert compare(ROWS["functional"], CROSSING).mask.shape == (12, 7)
    assert compare(ROWS["fused"], CROSSING).weights.shape == (4, 12, 12)
    pairs = compare(ROWS["position-weights"], CROSSING, printed=True)
    assert pairs.judgement.verdict == "raises" and "heads_of" not in pairs.raised_at


def test_keys_of_another_sequence_are_those_of_the_steps():
    theirs, found = values(replace(CROSSING, batch=1)), compare(ROWS["functional"], CROSSING)
    assert (found.weights - theirs["weights"]).abs().max() < 1e-6
    assert (found.target - theirs["output"]).abs().max() < 1e-5
    assert torch.equal(found.mask, theirs["mask"])


def test_influence_and_leak_of_another_sequence_are_of_its_tokens():
    made = case(CROSSING, crosses=True)
    reach = influence(ROWS["functional"], made)
    assert torch.equal(reach > 0, made.mask[0])
    assert leak(ROWS["functional"], case(replace(CROSSING, mask="causal"), crosses=True)) == 0


def test_a_long_sequence_is_cut():
    made = case(Config(tokens=1024, heads=8, d_model=32, batch=4, input="noise"))
    batch, tokens, _ = made.mask.shape
    assert len(case(Config(tokens=64, d_model=2048, batch=32)).query[0]) == 2
    assert case(NARROW, most=5).query.shape == (2, 5, 32)
    assert batch * 8 * tokens**2 <= CELLS < batch * 8 * (tokens + 1) ** 2


def test_settings_that_no_row_knows_are_named():
    assert left_out(NARROW) == []
    odd = replace(NARROW, positions="alibi", softcap=5.0, scale="none")
    assert left_out(odd) == ["scale none", "softcap 5.0", "alibi positions"]
    assert left_out(replace(NARROW, positions="sinusoidal")) == []


# as printed


def test_unscaled_saturates_with_width():
    points = {(series, x): y for series, x, y in ROWS["single-unscaled"].evidence().points}
    assert points["no scale", 64.0] > 0.4 > 4 * points["1/sqrt(d)", 64.0]
    assert points["no scale", 512.0] > 0.7
    assert all(y < 0.1 for (series, _), y in points.items() if series == "1/sqrt(d)")


def test_uniform_weights_are_nearly_one_hot():
    points = {(series, x): y for series, x, y in ROWS["single-causal"].evidence().points}
    assert points["uniform in [0, 1)", 12.0] > 3 * points["the same, centred", 12.0]
    assert points["uniform in [0, 1)", 128.0] > 0.95
    x = random_tensor(64, 4, 12, seed=0)
    q, k, v = (random_tensor(1, 12, 16, seed=s, uniform=True) for s in range(3))
    uniform = Weights.of(q, k, v, random_tensor(1, 16, 12, seed=3))
    weights = ROWS["single-causal"].as_meant(x, uniform).weights
    assert weights.amax(-1).mean() > 0.85
    assert (weights.triu(1) == 0).all()


def test_elementwise_product_of_weights_and_values_raises_for_most_batches():
    for batch in (2, 3, 7):
        found = compare(ROWS["head-matrices"], replace(NARROW, batch=batch), printed=True)
        assert found.judgement.verdict == "raises"
        assert found.judgement.error == (
            f"RuntimeError: The size of tensor a (12) must match the size of tensor b ({batch}) "
            "at non-singleton dimension 1"
        )
        assert found.raised_at.startswith("context = (weights.unsqueeze(-1) * v).sum(dim=1)")


def test_heads_joined_along_tokens_meet_an_output_map_of_another_width():
    found = compare(ROWS["head-matrices"], replace(NARROW, batch=1), printed=True)
    assert found.judgement.error == "RuntimeError: mat1 and mat2 shapes cannot be multiplied (48x8 and 32x32)"
    assert found.raised_at.startswith("output = joined @")
    assert [s.sizes for s in found.steps if s.name == "joined"] == [(1, 4 * 12, 8)]


def test_one_head_and_one_sequence_give_every_token_its_own_value_back():
    row, made = ROWS["head-matrices"], small(1, heads=1)
    found = row.as_printed(**made.inputs(row))
    received = found.weights[0, 0].sum(0)  # what a key gets of all queries
    own = made.value @ made.weights.value[0] * received[:, None]
    assert torch.allclose(found.output, own @ made.weights.output[0])
    assert judge(row, made, printed=True).verdict == "disagrees"


def test_one_weight_a_position_gives_one_vector_for_the_whole_sequence():
    row = ROWS["position-weights"]
    found = row.as_printed(**small().inputs(row))
    assert found.output.shape == (2, 1, 6)
    assert found.weights.shape == (2, 3, 1, 5)
    assert torch.allclose(found.weights.sum(-1), torch.ones(2, 3, 1).double())
    square = compare_case(row, small(), printed=True)
    assert square.judgement.verdict == "disagrees"
    assert all(torch.equal(square.weights[:, 0], square.weights[:, q]) for q in range(5))


def test_its_weights_are_the_softmax_of_the_squares_diagonal():
    row, made = ROWS["position-weights"], small()
    w = made.weights
    q, k = made.query[0] @ w.query[1], made.key[0] @ w.key[1]
    expected = torch.softmax((q @ k.T).diagonal(), -1)
    assert torch.allclose(row.as_printed(**made.inputs(row)).weights[0, 1, 0], expected)


def test_heads_joined_without_moving_their_axis_scramble_the_output_but_not_the_weights():
    found = compare(ROWS["fused"], replace(NARROW, tokens=64, d_model=64, heads=8), printed=True)
    assert found.judgement.verdict == "disagrees"
    assert found.judgement.square.greatest < 1e-12
    assert 1.2 < found.judgement.output.relative < 1.5


def test_scrambled_rows_are_the_tokens_of_one_head_after_another():
    row, made = ROWS["fused"], small(1, tokens=6)
    context = reference(replace(row, maps_back=False), made).output.view(1, 6, 3, 2).transpose(1, 2)
    rows = context[0].reshape(18, 2)  # head 0's six tokens, head 1's, head 2's: three pieces make a row of the output
    joined = torch.stack([torch.cat([*rows[3 * i : 3 * i + 3]]) for i in range(6)])
    expected = joined @ made.weights.output.flatten(0, 1)
    assert torch.allclose(row.as_printed(**made.inputs(row)).output[0], expected)


def test_scrambling_leaks_the_future_through_a_causal_mask():
    causal = replace(NARROW, mask="causal")
    assert leak(ROWS["fused"], case(causal)) == 0
    assert leak(ROWS["fused"], case(causal), printed=True) > 0.1
    assert leak(ROWS["fused"], case(replace(NARROW, mask="full", batch=1)), printed=True) is None


def test_what_raises_leaks_nothing_and_a_window_hides_from_some():
    window = replace(NARROW, mask="window", span=3)
    assert leak(ROWS["functional"], case(window), printed=True) is None
    assert leak(ROWS["functional"], case(window)) == 0
    assert leak(ROWS["fused"], case(window), printed=True) > 0.1


def test_influence_shows_which_token_reaches_which_output():
    row, made = ROWS["fused"], case(replace(NARROW, mask="causal", batch=1))
    above = torch.ones(12, 12, dtype=torch.bool).triu(1)
    meant, printed = influence(row, made), influence(row, made, printed=True)
    assert (meant[above] == 0).all() and (meant[~above] > 0).all()
    reach = torch.arange(12) // 3  # four heads of twelve tokens: a row of the output holds four pieces of one head
    expected = torch.arange(12)[None] <= 4 * (torch.arange(12) - 3 * reach)[:, None] + 3
    assert torch.equal(printed > 0, expected)


def test_influence_is_of_one_output_a_token():
    assert influence(ROWS["position-weights"], small(), printed=True) is None
    assert influence(ROWS["functional"], with_padding(2), printed=True) is None
    assert influence(ROWS["head-matrices"], small(1, heads=1), printed=True).shape == (5, 5)


def test_one_head_hides_the_scrambling():
    assert compare(ROWS["fused"], replace(NARROW, heads=1), printed=True).judgement.verdict == "agrees"


def test_a_mask_without_an_axis_for_heads_raises():
    found = compare(ROWS["functional"], NARROW, printed=True)
    assert found.judgement.error == (
        "RuntimeError: The size of tensor a (2) must match the size of tensor b (4) at non-singleton dimension 1"
    )
    assert "masked_fill" in found.raised_at
    assert (found.weights, found.judgement.output, found.difference) == (None, None, None)


def test_or_is_silently_wrong_with_as_many_sequences_as_heads():
    row, made = ROWS["functional"], with_padding(3)
    found = row.as_printed(**made.inputs(row)).weights
    assert judge(row, made, printed=True).verdict == "disagrees"
    for head in range(3):
        for sequence in range(3):
            hidden = (found[sequence, head] == 0).all(0)
            assert hidden.tolist() == [False] * (5 - head) + [True] * head  # what sequence `head` should have hidden


def test_and_right_by_chance_with_one_sequence():
    assert compare(ROWS["functional"], replace(NARROW, batch=1), printed=True).judgement.verdict == "agrees"


def test_three_slips_keep_it_from_running_at_all():
    errors = [slip.error for slip in ROWS["functional"].slips]
    assert errors[0].startswith("SyntaxError: expected ':'")
    assert errors[1].startswith("SyntaxError: invalid syntax")
    assert errors[2] == "AttributeError: 'MultiHeadAttention' object has no attribute 'd_v'"
    assert [slip.error for slip in ROWS["head-matrices"].slips] == ["NameError: name 'math' is not defined"]


def test_a_slip_that_does_not_raise_is_no_slip():
    with pytest.raises(AssertionError, match="'mended' did not raise"):
        _ = Slip("mended", lambda: None).error


def test_two_softmaxes_and_one_set_of_weights_for_both_heads():
    row, made = ROWS["two-heads"], small()
    found = row.as_printed(**made.inputs(row)).weights
    earlier = reference(ROWS["single-causal"], made).weights[:, 0]
    hidden = torch.ones(5, 5, dtype=torch.bool).triu(1)
    assert torch.equal(found[:, 0], found[:, 1])
    assert torch.allclose(found[:, 0], torch.softmax(earlier.masked_fill(hidden, -math.inf), -1))


def test_a_second_softmax_is_flat():
    """No key of a row more than e times as heavy as another that it sees; up to 0.2 and more off on plain noise."""
    found = compare(ROWS["two-heads"], replace(NARROW, d_model=256), printed=True)
    seen = torch.ones(12, 12, dtype=torch.bool).tril()
    for head in found.weights:
        assert (head.amax(-1) / head.masked_fill(~seen, 1).amin(-1)).max() <= math.e
    assert found.judgement.square.greatest > 0.2


def test_an_inverted_mask_shows_later_tokens_alone_and_leaves_the_last_row_empty():
    row, made = ROWS["boolean-mask"], small()
    weights = row.as_printed(**made.inputs(row)).weights
    assert (weights.tril() == 0).all() and (weights[..., -1, :] == 0).all()
    assert torch.allclose(weights[..., :-1, :].sum(-1), torch.ones(2, 3, 4).double())
    assert leak(row, case(NARROW)) == 0 < leak(row, case(NARROW), printed=True)


def test_the_same_mask_means_the_opposite_to_two_functions_of_torch():
    later = torch.ones(5, 5).triu(1).bool()
    layer, x = nn.MultiheadAttention(6, 1, batch_first=True), torch.randn(1, 5, 6)
    assert (layer(x, x, x, attn_mask=later)[1].triu(1) == 0).all()
    seen = F.scaled_dot_product_attention(x, x, torch.eye(5)[None], later)[0, :-1]
    assert (seen.tril() == 0).all() and torch.allclose(seen.sum(-1), torch.ones(4))


def test_a_window_that_does_not_count_the_query_has_one_key_more_and_short_sequences_are_right():
    row, made = ROWS["window-of-four"], small(tokens=7)
    keys = [
        (version(**made.inputs(row)).weights[0, 0] > 0).sum(-1).tolist() for version in (row.as_meant, row.as_printed)
    ]
    assert keys == [[1, 2, 3, 4, 4, 4, 4], [1, 2, 3, 4, 5, 5, 5]]
    assert [judge(row, small(tokens=n), printed=True).verdict for n in (4, 5)] == ["agrees", "disagrees"]


def test_heads_that_are_split_by_a_view_keep_a_token_in_its_quarter_of_the_sequence():
    row, made = ROWS["split-by-view"], case(replace(NARROW, batch=1))
    quarter = torch.arange(12) // 3
    assert torch.equal(influence(row, made, printed=True) > 0, quarter[:, None] == quarter)
    assert (influence(row, made) > 0).all()
    x = torch.arange(12 * 8.0).view(1, 12, 8)
    assert torch.equal(x.view(1, 4, 12, 2).view(4, -1, 2), x.view(4, -1, 2)), "as the thread has it"
    assert compare(row, replace(NARROW, heads=1), printed=True).judgement.verdict == "agrees"


@pytest.mark.parametrize("name", MISTAKEN)
def test_every_mistake_shows_at_the_settings_that_the_page_starts_with(name):
    assert compare(ROWS[name], Config(), printed=True).judgement.verdict in ("disagrees", "raises")
    assert compare(ROWS[name], Config()).judgement.verdict == "agrees"


# the wrong lines


@pytest.mark.parametrize("name", MISTAKEN)
def test_the_wrong_lines_are_what_differs_between_the_sources_of_both_functions(name):
    row = ROWS[name]
    found = difference(row)
    bare = lambda line: line.partition("  #")[0].rstrip()  # noqa: E731 (short, and used below)
    for function, sign in ((row.as_printed, "-"), (row.as_meant, "+")):
        lines = inspect.getsource(inspect.unwrap(function)).rstrip().splitlines()
        assert [bare(line.code) for line in found if line.sign in (" ", sign)][1:] == [bare(line) for line in lines[1:]]
    wrong = [line for line in found if line.sign != " "]
    assert 1 <= len(wrong) <= 8 and {line.code for line in wrong if line.sign == "-"}.isdisjoint(
        line.code for line in wrong if line.sign == "+"
    )
    cut = short(found)
    assert [line for line in cut if line.sign != " "] == wrong and len(cut) <= len(found)
    assert difference(ROWS["separate-maps"]) == []


# shapes, costs, demands


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("printed", [False, True])
def test_the_letters_of_every_axis_stand_for_one_size(name, printed):
    row = ROWS[name]
    crossing = row.crosses and not (printed and name == "position-weights")
    keys, values = (7, 6) if crossing else (5, 4)
    batch = 1 if printed and name in ("head-matrices", "functional") else 2
    found = compare_case(row, random_case(batch, 5, 2 if name == "two-heads" else 3, 4, 12, 0, keys, values), printed)
    letters = {"1": {1}, "2": {2}, "3": {3}, "4": {4}}
    labelled = [step for step in found.steps if step.axes]
    assert len(labelled) >= 6
    for step in labelled:
        axes = step.axes.replace("(", " ( ").replace(")", " ) ").split()
        outer, inside = [], None
        for axis in axes:
            if axis == "(":
                inside = []
            elif axis == ")":
                outer, inside = [*outer, inside], None
            else:
                (outer if inside is None else inside).append(axis)
        assert len(outer) == len(step.sizes), step
        for axis, size in zip(outer, step.sizes, strict=True):
            if isinstance(axis, str):
                letters.setdefault(axis, set()).add(size)
            else:
                assert math.prod(size_of(axis_, row, name, batch, keys, values) for axis_ in axis) == size, step
    assert all(len(sizes) == 1 for sizes in letters.values()), letters


def size_of(letter, row, name, batch, keys, values):
    heads = 2 if name == "two-heads" else 3
    return int(letter) if letter.isdigit() else {"b": batch, "h": heads, "d": 4, "e": values, "k": keys, "q": 5}[letter]


def test_the_record_keeps_what_a_line_made_and_puts_back_a_tracing_that_was_there():
    def watch(*_):
        return None

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        found = record_run(ROWS["single-unscaled"].as_meant, **small().inputs(ROWS["single-unscaled"]))
        assert sys.gettrace() is watch
    finally:
        sys.settrace(before)
    assert [step.name for step in found.steps] == ["query", "key", "value", "scores", "weights", "output"]
    assert found.steps[3].code == "scores = query @ key.transpose(-2, -1)  # b q k"
    assert found.steps[3].axes == "b q k"
    assert found.steps[3].sizes == (2, 5, 5)
    assert found.source.startswith("def single_unscaled(")


def test_the_source_is_every_function_that_ran():
    row = ROWS["functional"]
    found = record_run(row.as_printed, **small().inputs(row))
    for function in ("self_attention", "multi_head", "functional_as_printed"):
        assert f"def {function}(" in found.source
    assert "def functional(" not in found.source


def test_flops_and_parameters_are_those_of_the_formulas():
    b, n, h, c = 2, 12, 4, 32
    found = compare(ROWS["separate-maps"], NARROW)
    assert costs(ROWS["separate-maps"], NARROW)[0].flops == 2 * b * n * (4 * c * c + 2 * n * c)
    wide = replace(NARROW, tokens=2, d_model=256)
    assert costs(ROWS["fused"], wide)[0].peak < 8 * 256 * 256  # the map that it is built with is none of its costs
    assert found.parameters == 4 * (c * c + c)
    assert compare(ROWS["single-unscaled"], NARROW).parameters == 3 * (c * c + c)
    assert compare(ROWS["head-matrices"], NARROW).parameters == 4 * c * c
    assert compare(ROWS["single-causal"], NARROW).parameters == 3 * c * c // h
    assert compare(ROWS["two-heads"], NARROW).parameters == 2 * 4 * c * c // h
    assert ROWS["fused"].parameters(case(NARROW).weights) == 4 * (c * c + c)


def test_the_peak_is_what_is_alive_at_once():
    def run():
        first = torch.zeros(100)
        first = torch.zeros(200)  # both alive for a moment: 1200 bytes
        del first
        second = torch.zeros(250)
        return second.view(50, 5)  # a view is no new memory

    assert cost(run).peak == 1200


@pytest.mark.extended
def test_counting_imports_no_compiler():
    """It takes 75 MB of a server for good."""
    ran(
        "import sys, torch\n"
        "from attention.published.cost import cost\n"
        "assert cost(lambda: torch.ones(2, 3) @ torch.ones(3, 4)).flops == 48\n"
        "assert not {'sympy', 'torch._dynamo'} & set(sys.modules)\n"
    )


def test_a_cost_up_to_an_error_is_counted():
    def run():
        kept = torch.zeros(3, 4) @ torch.zeros(4, 5)
        return kept @ kept

    assert cost(run).flops == 2 * 3 * 4 * 5


def test_time_is_measured_beside_the_reference():
    found = time_row(ROWS["separate-maps"], NARROW, rounds=5)
    assert min(found.seconds, found.reference) > 0
    assert found.low <= found.high
    assert found.ratio == found.seconds / found.reference
    with pytest.raises(RuntimeError, match="must match the size"):
        time_row(ROWS["functional"], NARROW, printed=True, rounds=2)


def outcomes(name, printed=False):
    return {demand.trial: demand.outcome for demand in demands(ROWS[name], printed)}


def test_the_fused_row_takes_only_the_sizes_that_it_was_built_for():
    found = outcomes("fused")
    assert found["batch size other than built for"] == "raises"
    assert found["length other than built for"] == "raises"
    assert found["its mask, two sequences, three heads"] == "agrees"
    assert found["a boolean mask with a head axis"] == "disagrees"  # true is added as a one
    assert judge(ROWS["functional"], with_length(3, 5)).verdict == "agrees"


def test_the_functional_row_takes_crossing_sequences_and_as_printed_a_mask_for_one():
    assert outcomes("functional")["cross-attention to a longer sequence"] == "agrees"
    printed = outcomes("functional", printed=True)
    assert printed["its mask, one sequence"] == "agrees"
    assert printed["its mask, two sequences, three heads"] == "raises"
    assert printed["its mask, as many sequences as heads"] == "disagrees"
    assert printed["two sequences, three heads"] == "agrees"  # without a mask there is no mistake


def test_what_a_row_has_no_argument_for_is_not_tried():
    assert outcomes("separate-maps")["cross-attention to a longer sequence"] == "has no such argument"
    assert outcomes("separate-maps")["its mask, one sequence"] == "has no such argument"
    assert outcomes("two-heads")["one head"] == "raises"


def test_a_query_that_sees_nothing_makes_published_rows_give_nan_and_ours_zeros():
    row = ROWS["functional"]
    assert outcomes("functional")["a fully masked query"] == "disagrees"
    q = torch.randn(1, 1, 2, 4)
    ours = scaled_dot_product_attention(q, q, q, torch.tensor([[False, False], [True, True]]))
    assert (ours.weights[..., 0, :] == 0).all()
    made = replace(small(), mask=torch.zeros(2, 5, 5, dtype=torch.bool))
    assert judge(row, made).output.relative != judge(row, made).output.relative  # not a number


@pytest.mark.parametrize("name", ["softmax", "qk_norm", "query_scale", "gate", "forgetting", "positions"])
def test_settings_that_no_row_supports_are_left_out_and_fail_nothing(name):
    for value in KNOBS[name].choices:
        config = Config(tokens=8, heads=2, d_model=16, **{name: value})
        made = case(config)
        assert made.query.shape == (config.batch, 8, 16) and made.query.isfinite().all()
        assert bool(left_out(config)) is (value != KNOBS[name].choices[0]) or name == "positions"
