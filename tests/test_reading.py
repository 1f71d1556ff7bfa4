"""What is read of a file beside its plain arrays: numbers and texts alone, masks that differ, names that mean nothing here."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
import torch

from attention.array_files import safe_file
from attention.array_files.limits import LONGEST, DataError
from attention.imported import detect, token_file
from attention.imported.layer_weights import layer
from attention.imported.reading import Read, Reading, read_stack
from attention.imported.registry import register
from attention.masks import MASKS
from tests.bad_files import Q, W, npz, pt, weights_after_dropout
from tests.strategies import normal

TOKENS = np.array(["the", "cat", "<b>sat</b>", "on", "it"])
CAUSAL = np.tril(np.ones((5, 5), bool))
QK = {"q": Q, "k": Q[::-1].copy()}


def of(how: Reading = Reading(), /, **arrays: object) -> Read:  # noqa: B008  it is frozen
    """What is read of an .npz of these."""
    return read_stack(
        detect.arrays(npz(**{name: np.asarray(value) for name, value in arrays.items()}), "x.npz"), {}, how
    )


def refusal_text(**arrays: object) -> str:
    with pytest.raises(DataError) as refusal:
        of(**arrays)
    return str(refusal.value)


@pytest.mark.parametrize("count", [4, 6])
def test_texts_that_do_not_fit_the_tokens_are_left_out(count):
    found = read_stack(detect.arrays(npz(q=Q, k=Q), "x.npz"), {"tokens": tuple("abcdefg"[:count])}, Reading())
    assert found.found == [f"{count} texts of tokens don't fit 5: positions are shown instead."]
    assert found.stack.queries == ()


def test_a_scale_is_a_number_alone():
    found = of(**QK, scale=0.125)
    assert "Scale: 0.125, from the file; the queries were multiplied by it." in found.said
    assert found.stack.q is not None and torch.equal(found.stack.q, torch.from_numpy(Q) * 0.125)
    assert "Scale: 1/sqrt(d_head), from the file." in of(**QK, scale=0.5).said
    assert "Scale: 1/d_head, from the file." in of(**QK, scale=np.array([0.25])).said


def test_numbers_alone_of_other_kinds_of_files():
    q, k = torch.from_numpy(Q), torch.from_numpy(QK["k"])
    tensors = {"q": q, "k": k, "scale": torch.tensor(1.0), "softcap": torch.tensor(30)}
    for name, data in (("x.safetensors", safe_file.write_safetensors(tensors, {})), ("x.pt", pt(tensors))):
        found = read_stack(detect.arrays(data, name), {}, Reading())
        assert found.stack.own["scale"] == "none" and found.stack.own["softcap"] == 30


def test_texts_alone_are_what_a_header_says():
    found = of(**QK, mask="window", span=2, title="Mine", what="By me.", tokens=TOKENS)
    assert found.stack.own["mask"] == "window" and found.stack.own["span"] == 2
    assert (found.stack.title, found.stack.what) == ("Mine", "By me.")
    assert found.stack.queries == tuple(TOKENS) and found.found == []


@pytest.mark.parametrize("name", ["tokens", "labels", "texts", "input_tokens", "words", "Token"])
def test_lists_of_texts_are_tokens_where_they_are_called_so(name):
    assert of(weights=W, author=np.array(["somebody"] * 5), **{name: TOKENS}).stack.queries == tuple(TOKENS)


def test_tokens_go_before_what_is_only_called_like_them():
    found = of(weights=W, tokens=TOKENS, zz_labels=TOKENS[::-1], keys=TOKENS)
    assert found.stack.queries == found.stack.keys == tuple(TOKENS)


def test_tokens_as_one_text_are_its_words():
    assert of(weights=W, tokens="the cat <b>sat</b> on it").stack.queries == tuple(TOKENS)
    assert of(weights=W, tokens=json.dumps(list(TOKENS))).stack.queries == tuple(TOKENS)


def test_what_is_not_used_is_said():
    found = of(weights=W, author=TOKENS, **{"<script>": 3}, hidden=Q)
    assert "Not used: 'hidden', 'author', '<script>'." in found.said and found.stack.queries == ()
    assert not any("Not used" in said for said in of(weights=W, tokens=TOKENS).said)
    assert any("'e4' and 4 more." in said for said in of(weights=W, **{f"e{at}": 1 for at in range(9)}).said)


def test_a_mask_of_no_such_name_is_said():
    (told,) = of(**QK, mask="casual").found
    assert told.startswith("The mask 'casual' in the file is not one of: full, causal")


def test_single_numbers_are_no_attention():
    assert "It has only single numbers, no arrays: 'scale'." in refusal_text(scale=1.0)


@pytest.mark.parametrize("arrays", [QK, {"weights": W}], ids=["queries and keys", "weights"])
def test_layers_have_masks_of_their_own(arrays):
    squares = np.stack([CAUSAL, np.ones((5, 5), bool)])
    added = np.where(squares, 0, -np.inf).astype(np.float32)
    for named in (
        {"mask": squares},
        {"mask": added},
        {f"layers.{at}.mask": square for at, square in enumerate(squares)},
    ):
        found = of(**arrays, **named)
        assert found.stack.square is not None and torch.equal(found.stack.square, torch.from_numpy(squares))
        assert any("15, 25 pairs are visible." in said for said in found.said)
        for at, square in enumerate(squares):
            assert torch.equal(layer(found.stack, at)[1], torch.from_numpy(square))
    assert "There are masks for some layers, but none for layer 1." in refusal_text(
        **arrays, **{"layers.0.mask": CAUSAL}
    )
    assert "a mask of layer 7; the layers are 0, 1." in refusal_text(**arrays, **{"layers.7.mask": CAUSAL})


@pytest.mark.parametrize("arrays", [QK, {"weights": W}], ids=["queries and keys", "weights"])
def test_heads_with_masks_that_differ_are_refused_with_where(arrays):
    heads = np.stack([CAUSAL, CAUSAL, np.ones((5, 5), bool)])
    assert "The mask of head 2 differs from that of head 0." in refusal_text(**arrays, mask=heads)
    both = np.stack([np.stack([CAUSAL] * 3), heads])
    assert "The mask of layer 1, head 2 differs from that of layer 1, head 0." in refusal_text(**arrays, mask=both)
    added = np.where(both, 0, -np.inf).astype(np.float32)
    assert "The mask of layer 1, head 2 differs from that of layer 1, head 0." in refusal_text(**arrays, mask=added)


def test_a_header_lists_the_rules_of_the_layers():
    names = json.dumps(["window", "causal"])
    found = of(**QK, mask=names, span="[2, 4]")
    assert found.stack.rules == (("window", 2), ("causal", 4)) and found.stack.square is None
    assert "Masks of the layers: window (2), causal, from the file." in found.said
    weights = of(weights=W, mask=names, span="[2, 4]").stack
    assert weights.square is not None and weights.square.sum((1, 2)).tolist() == [9, 15]
    padded = of(**QK, mask=names, span="[2, 4]", attention_mask=np.array([[1, 1, 1, 1, 0]])).stack
    assert padded.rules == () and padded.square is not None and padded.square.sum((1, 2)).tolist() == [8, 14]
    assert "a name for each of 2 layers" in refusal_text(**QK, mask='["window"]')
    assert "whole numbers from 1 to" in refusal_text(**QK, mask=names, span="[0, 4]")


def test_masks_that_are_the_same_are_one():
    for mask in (
        np.stack([CAUSAL] * 2),
        np.stack([CAUSAL] * 3),
        np.broadcast_to(CAUSAL, (2, 3, 5, 5)),
        CAUSAL[None, None],
    ):
        assert of(**QK, mask=mask).stack.own["mask"] == "causal"
    named = {f"layers.{at}.mask": CAUSAL for at in range(2)}
    assert of(**QK, **named).stack.own["mask"] == "causal"


def test_the_mask_of_the_sequence_that_is_shown():
    weights = np.broadcast_to(W, (4, 2, 3, 5, 5)).swapaxes(0, 1)  # layers, sequences, heads
    masks = np.stack([CAUSAL, CAUSAL, np.ones((5, 5), bool), CAUSAL])[:, None]
    for item, causal in ((1, True), (2, False)):
        found = of(Reading(item=item), weights=weights, mask=masks).stack.square
        assert found is not None and torch.equal(found, torch.from_numpy(CAUSAL if causal else masks[2, 0]))


def test_masks_of_several_parts_are_each_its_own():
    parts = {"encoder.weights": W, "decoder.weights": W, "encoder.mask": np.ones((5, 5), bool), "decoder.mask": CAUSAL}
    for part, pairs in ((0, 25), (1, 15)):
        found = of(Reading(part=part), **parts).stack.square
        assert found is not None and int(found.sum()) == pairs
    strange = refusal_text(weights=W, other_mask=CAUSAL, third_mask=CAUSAL)
    assert "There are several masks, 'other', 'third': their names must say which layer each belongs to." in strange


def test_weight_where_a_mask_hides_is_said():
    weights = W * CAUSAL / (W * CAUSAL).sum(-1, keepdims=True)
    assert of(weights=weights, mask=CAUSAL).found == []
    (told,) = of(weights=weights, mask=~CAUSAL).found
    assert told.startswith("30 of 30 rows have weight on masked pairs. Largest: layer 0, head 0, query 0, with 1.")
    assert "Is it inverted?" in told


def test_weights_have_the_mask_that_is_named_or_chosen():
    wanted = torch.from_numpy(CAUSAL)
    for found in (of(weights=W, mask="causal"), of(Reading(mask="causal"), weights=W)):
        assert found.stack.square is not None and torch.equal(found.stack.square, wanted)
        assert "rows have weight on masked pairs" in found.found[0]
    free = of(Reading(mask="full"), weights=np.broadcast_to(np.eye(5, dtype=np.float32), (2, 3, 5, 5)))
    assert free.stack.square is None


def test_weights_beside_queries_and_keys_are_left_and_said_so():
    mine = of(**QK)
    weights = torch.stack([layer(mine.stack, at)[0] for at in range(2)]).numpy()
    found = of(**QK, weights=weights)
    assert "weights were not used: they follow from queries and keys." in found.said and found.found == []
    assert found.stack.weights is None
    (told,) = of(**QK, weights=weights[:, ::-1]).found
    assert (
        told.startswith("The weights in it differ from what its queries and keys come to: by ")
        and "layer 0, head" in told
    )
    (told,) = of(**QK, weights=W[:, :2]).found
    assert "of shape (2, 5, 5) (heads, queries, keys): not those of its queries and keys." in told


def test_weights_are_not_parameters_whatever_their_name():
    for name in ("attn_weight", "layer.3.attention.weight", "weight"):
        assert of(**{name: W[0]}).stack.weights is not None
    drawn = normal(0, 5, 5).numpy()
    for values in (drawn, np.zeros((5, 5), np.float32)):
        assert "It has the parameters of a model" in refusal_text(**{"layer.3.attention.weight": values})


def test_a_scale_that_no_float_holds_is_said():
    for scale in ("1" + "0" * 400, "1e999", "NaN", "wide"):
        said = {"scale": scale, "title": json.dumps("\ud800 mine"), "tokens": json.dumps(list("abcd\ud800"))}
        tensors = {name: torch.from_numpy(part) for name, part in QK.items()}
        found = read_stack(detect.arrays(safe_file.write_safetensors(tensors, said), "x.safetensors"), {}, Reading())
        assert found.stack.own["scale"] == "1/sqrt(d_head)"
        assert found.stack.title == " mine"
        assert found.found[0].startswith("The scale '") and "in the file is not a usable number" in found.found[0]
        held = register(found.stack)
        assert [*"abcd", "U+D800"] == list(held.stack.queries)


def test_views_in_a_file_of_torch_are_what_they_were():
    q, k = normal(0, 2, 3, 5, 4), normal(1, 2, 3, 4, 5)
    both = normal(2, 2, 6, 5, 4)
    for saved in (
        {"q": torch._neg_view(q), "k": k.transpose(-1, -2)},  # pyright: ignore[reportPrivateImportUsage]
        {"q": both[:, :3], "k": both[:, 3:]},
        {"q": q[:, :1].expand(2, 3, 5, 4), "k": torch.nn.Parameter(q)},
        {"q": q.bfloat16(), "k": q.half()},
        {"q": q.double(), "k": q},
    ):
        found = read_stack(detect.arrays(pt(saved), "x.pt"), {}, Reading()).stack
        assert found.q is not None and found.k is not None
        assert torch.equal(found.q.double(), saved["q"].resolve_neg().double())
        assert torch.equal(found.k.double(), saved["k"].double())


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickles_of_every_protocol_say_the_same(protocol):
    memory = io.BytesIO()
    saved = {
        "weights": torch.from_numpy(W),
        "tokens": list("abcde"),
        "title": "Mine",
        "none": None,
        "more": [1, (2.5, [])],
    }
    torch.save(saved, memory, pickle_protocol=protocol)
    found = read_stack(detect.arrays(memory.getvalue(), "x.pt"), {}, Reading())
    assert found.stack.weights is not None and torch.equal(found.stack.weights, torch.from_numpy(W))
    assert (found.stack.queries, found.stack.title) == (tuple("abcde"), "Mine")


def test_rows_of_padding_are_rows_without_weight():
    weights = W.copy()
    weights[:, :, 3:] = np.nan
    found = of(weights=weights)
    assert found.found == ["12 rows of weights are NaN and shown as rows without weight."]
    assert found.stack.weights is not None and not found.stack.weights[:, :, 3:].any()
    assert torch.equal(found.stack.weights[:, :, :3], torch.from_numpy(W[:, :, :3]))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a\u2028b\nc\x85\nd\x0ce\n\x1c\nf\xa0g\n", ["a\u2028b", "c\x85", "d\x0ce", "\x1c", "f\xa0g"]),
        ("the\r\ncat\r\n \r\non\r\nit\r\n", ["the", "cat", " ", "on", "it"]),
        ("\r\n\n\t\nb\nc", ["\r", "", "\t", "b", "c"]),
    ],
)
def test_only_line_feeds_end_a_line_of_tokens(text, tokens):
    lines, _ = token_file.read_text(text.encode())
    assert list(lines) == tokens


def test_as_many_words_as_there_can_be_tokens_are_read():
    assert len(token_file.read_text(b"a " * LONGEST)[1]) == LONGEST
    assert token_file.read_text(b"a\nb c " + b"a " * LONGEST) == (("a", "b c " + "a " * LONGEST), ())
    with pytest.raises(DataError, match="more than 65,536 lines or words"):
        token_file.read_text(b"a " * (LONGEST + 1))


def test_words_of_a_text_may_have_other_spaces_in_them():
    _, words = token_file.read_text("the\xa0cat sat\u2028 on\tit\n".encode())
    assert words == ("the\xa0cat", "sat\u2028", "on", "it")


@pytest.mark.parametrize("name", ["window", "local", "sinks", "prefix", "documents", "padding"])
def test_a_mask_that_is_a_rule_is_read_as_that_rule(name):
    """Then queries and keys stand under the rule, and another mask can be chosen."""
    q, square = np.random.default_rng(0).normal(size=(1, 2, 12, 4)).astype(np.float32), MASKS[name].square(12, 12, 3)
    found = of(q=q, k=q[:, :, ::-1].copy(), mask=square.numpy())
    assert found.stack.square is None and (found.stack.own["mask"], found.stack.own["span"]) == (name, 3)
    (said,) = [each for each in found.said if each.startswith("Mask: ")]
    assert f"{int(square.sum())} pairs are visible. This is {name}, span 3 (" in said


def test_a_mask_that_is_no_rule_is_named_by_the_nearest():
    square = MASKS["causal"].square(12, 12, 1)
    square[:, :2] = False
    q = np.random.default_rng(0).normal(size=(1, 2, 12, 4)).astype(np.float32)
    found = of(q=q, k=q, mask=square.numpy())
    assert found.stack.square is not None and torch.equal(found.stack.square, square)
    assert any("This is causal, with 2 masked keys at the start (padding)." in each for each in found.said)
    square[7, 4] = False
    found = of(weights=(square / square.sum(-1, keepdim=True).clamp(min=1)).float().numpy()[None, None])
    assert found.stack.square is None, "zeros that are those of no rule may be weights"


@pytest.mark.parametrize(("left", "name"), [(0, "window"), (2, "causal"), (2, "window")])
def test_the_mask_of_weights_alone_is_read_from_their_zeros(left, name):
    square = MASKS[name].square(12, 12, 4)
    square[:, :left] = False
    weights = torch.rand(2, 3, 12, 12, generator=torch.Generator().manual_seed(0)) * square
    weights[0, 0, 9, 5:8] = 0  # of one head alone
    found = of(weights=(weights / weights.sum(-1, keepdim=True).clamp(min=1e-9)).numpy())
    assert found.stack.square is not None and torch.equal(found.stack.square, square)
    assert any(each.startswith("Mask: read from the zeros of all heads. This is") for each in found.said)


def test_the_span_of_a_mask_is_said_with_what_it_counts():
    said = " ".join(of(**QK, mask="window", span=2).said)
    assert "Mask: window, span 2 (each query attends to itself and 1 key before it: sliding_window=2" in said


CAUSAL_WEIGHTS = W * CAUSAL / (W * CAUSAL).sum(-1, keepdims=True)


def steps(
    prompt: int, sequences: int = 1, cut: int = 5, crossing: bool = False
) -> tuple[tuple[torch.Tensor, ...], ...]:
    """The weights of two layers as generate returns them: all of the prompt, then a row a step, of the last so many keys."""
    whole = torch.from_numpy(W if crossing else CAUSAL_WEIGHTS).float()
    rows = [range(prompt), *(range(at, at + 1) for at in range(prompt, 5))]
    keys = [range(5) if crossing else range(max(0, each.stop - cut), each.stop) for each in rows]
    return tuple(
        tuple(layer[:, each.start : each.stop, seen.start : seen.stop].expand(sequences, -1, -1, -1) for layer in whole)
        for each, seen in zip(rows, keys, strict=True)
    )


def of_torch(value: object, how: Reading = Reading()) -> Read:  # noqa: B008  it is frozen
    return read_stack(detect.arrays(pt(value), "x.pt"), {}, how)


@pytest.mark.parametrize("prompt", [1, 3, 5])
@pytest.mark.parametrize("named", [False, True])
def test_steps_of_generate_are_the_rows_of_one_map(prompt, named):
    given = steps(prompt)
    found = of_torch({"attentions": given, "sequences": torch.zeros(1, 6).long()} if named else given)
    assert found.said[0] == f"Steps: {len(given)}, as generate returns them, joined into the rows of one map."
    assert found.stack.weights is not None
    assert torch.equal(found.stack.weights, torch.from_numpy(CAUSAL_WEIGHTS).float())
    assert found.stack.square is not None and torch.equal(found.stack.square, torch.from_numpy(CAUSAL))


def test_steps_that_look_at_another_sequence_keep_its_keys():
    found = of_torch({"cross_attentions": steps(1, crossing=True), "decoder_attentions": steps(1)})
    assert found.stack.weights is not None and torch.equal(found.stack.weights, torch.from_numpy(W))
    assert len(found.parts) == 2


def test_steps_of_several_sequences_say_what_nobody_knows():
    found = of_torch(steps(3, sequences=4), Reading(item=2))
    assert found.said[0].endswith(
        "Sequence 2 of 4 was taken in each step: that is one sequence unless these are beams."
    )
    with pytest.raises(DataError, match="There is no sequence 4 in each of its steps"):
        of_torch(steps(3, sequences=4), Reading(item=4))


def test_steps_whose_positions_nobody_knows_or_that_are_too_many_are_refused():
    with pytest.raises(DataError, match="Its steps have not got the same layers each"):
        of_torch([*steps(3)[:2], steps(3)[2][:1]])
    row = torch.ones(1, 64, 1, 1)
    with pytest.raises(DataError, match="more than its steps have room for"):
        of_torch([(row,)] * 900)
    with pytest.raises(DataError, match="are shown at the most"):
        of_torch([(torch.full((1, 1, 1100, 1), 1.0),), (torch.ones(1, 1, 1, 1),)])


@pytest.mark.parametrize("name", ["arr_{}", "layer_{}", "{}", "L{}"])
def test_layers_that_have_a_number_and_no_name_are_weights(name):
    found = of(**{name.format(at): layer[None] for at, layer in enumerate(W)})
    assert found.stack.weights is not None and torch.equal(found.stack.weights, torch.from_numpy(W))
    assert not any("Not used" in said for said in found.said)
    assert "No array is named like weights" in refusal_text(**{name.format(at): part for at, part in enumerate((Q, Q))})


def test_a_tuple_of_layers_and_a_whole_output_are_read():
    layers = tuple(layer[None] for layer in torch.from_numpy(W))
    outputs = pytest.importorskip("transformers.modeling_outputs")
    whole = outputs.BaseModelOutput(last_hidden_state=torch.zeros(1, 5, 4), attentions=layers)
    for saved in (layers, list(layers), {"attentions": layers}, whole):
        found = of_torch(saved)
        assert found.stack.weights is not None and torch.equal(found.stack.weights, torch.from_numpy(W))


def test_weights_after_dropout_are_told_from_scores():
    layers = tuple(torch.from_numpy(weights_after_dropout()).split(1))
    for saved in (layers, {"weights": torch.cat(layers)}):
        with pytest.raises(DataError, match=r"If this is dropout, save in evaluation mode, model\.eval"):
            of_torch(saved)


@pytest.mark.parametrize("mask", [np.array([[1, 1, 1, 1, 1], [0, 0, 1, 1, 1]]), np.array([[1.0] * 5, [0, 0, 1, 1, 1]])])
def test_a_mask_of_keys_is_padding(mask):
    parts = {name: np.stack([QK[name]] * 2, 1) for name in QK}
    keys = torch.from_numpy(mask[1] == 1)
    for how, whole in (
        (Reading(item=1), torch.ones(5, 5).bool()),
        (Reading(item=1, mask="causal"), torch.from_numpy(CAUSAL)),
    ):
        found = of(how, **parts, attention_mask=mask)
        assert found.stack.square is not None and torch.equal(found.stack.square, whole & keys)
        assert "Mask of keys, from the file: 2 of 5 are padding." in found.said
    assert of(**parts, attention_mask=mask).stack.square is None
    weights = np.stack([CAUSAL_WEIGHTS] * 2, 1)
    square = of(Reading(item=1), weights=weights, attention_mask=mask).stack.square
    assert square is not None and torch.equal(square, torch.from_numpy(CAUSAL) & keys)


EAGER = np.stack([CAUSAL_WEIGHTS] * 2, 1)  # (l b h q k), as a model in eager mode has it: the second text is padded
EAGER[:, 1, ..., :2, :] = 1 / 5
EAGER[:, 1, ..., 2:, :2] = 0
EAGER[:, 1] /= EAGER[:, 1].sum(-1, keepdims=True)
PADDED = np.array([[1, 1, 1, 1, 1], [0, 0, 1, 1, 1]])


@pytest.mark.parametrize("mask", [{}, {"attention_mask": PADDED}])
def test_uniform_rows_of_left_padding_are_shown_as_they_are(mask):
    """Eager attention gives queries of padding the same weight on every key: no mask hides it, and no warning is due."""
    found = of(Reading(item=1), weights=EAGER, **mask)
    assert found.found == [] and found.stack.square is not None
    square = torch.from_numpy(CAUSAL) & torch.from_numpy(PADDED[1] == 1)
    square[:2] = True
    assert torch.equal(found.stack.square, square)
    assert any(said.startswith("2 queries have no visible key and equal weights on all keys") for said in found.said)


def test_a_mask_the_other_way_round_is_still_told():
    (warning,) = of(Reading(item=1), weights=EAGER, attention_mask=1 - PADDED).found
    assert "Is it inverted?" in warning


def test_a_padding_mask_tells_a_batch_from_layers():
    one_layer = EAGER[0]
    assert one_layer.shape[0] == 2 != one_layer.shape[1]
    found = of(Reading(item=1), weights=one_layer, attention_mask=PADDED)
    assert found.stack.weights is not None
    assert torch.equal(found.stack.weights[0], torch.from_numpy(one_layer[1]))
    assert any("2 sequences" in said for said in found.said)
    q = np.random.default_rng(0).normal(size=(2, 3, 5, 4)).astype(np.float32)
    stack = of(Reading(item=1), q=q, k=q, attention_mask=PADDED).stack
    assert stack.q is not None and torch.equal(stack.q[0], torch.from_numpy(q[1]))
    with pytest.raises(DataError, match=r"padding mask of 2 sequences, choose axes with a b, as b h q k"):
        of(Reading(weights="l h q k"), weights=one_layer, attention_mask=PADDED)
    assert of(weights=np.stack([W[0]] * 5), mask=CAUSAL).stack.weights.shape[0] == 5, "a square mask, and five layers"


@pytest.mark.parametrize("names", [["0", "1"], ["arr_0", "arr_1"], ["layers.3.weights", "layers.7.weights"]])
def test_layers_without_numbers_of_their_own_say_so(names):
    found = of(**dict(zip(names, W[:2], strict=True)))
    told = any(said.startswith("Layers are numbered by their order in the file") for said in found.said)
    assert told == ("layers" not in names[0]) and (found.stack.numbers == (3, 7)) == (not told)


def test_one_query_says_what_to_bring():
    said = refusal_text(weights=np.full((2, 3, 1, 9), 1 / 9, np.float32))
    assert said.startswith("There is 1 query; at least 2 are needed.")
    assert "torch.save(out.attentions, 'steps.pt')" in said


def test_advice_about_objects_can_be_followed():
    ragged = np.empty(2, object)
    ragged[:] = [W[0], W[1]]
    assert "np.savez('layers.npz', *layers)" in refusal_text(weights=ragged)
    memory = io.BytesIO()
    np.savez(memory, *ragged)
    assert read_stack(detect.arrays(memory.getvalue(), "layers.npz"), {}, Reading()).stack.weights is not None
