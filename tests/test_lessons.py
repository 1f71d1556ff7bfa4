"""Cards, the path and its questions: links carry the card, answers stay hidden until revealed, every claim is computed."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import quote_plus, urlencode

import pytest
import torch
import torch.nn.functional as F
from google.protobuf import text_format
from streamlit.testing.v1 import AppTest
from torch import nn

from attention import Config, trace
from attention.analysis import head_numbers
from attention.analysis.head_roles import roles as head_roles
from attention.analysis.mask_reach import reach
from attention.analysis.position_curves import biases, constant_score, pairs_unscaled, untrained_pairs, wavelengths
from attention.analysis.scaling import sweep
from attention.comparison.head_changes import Changes, compare_sides
from attention.comparison.sides import side_of
from attention.examples import EXAMPLES, LEVELS, Example
from attention.inputs import DOCUMENTS, make_generator
from attention.knobs import MAX_TRACE_TOKENS
from attention.lessons.cards import find_card, gallery, path
from attention.lessons.comparisons import COMPARISONS
from attention.lessons.findings import FINDINGS, LONGEST
from attention.lessons.misconceptions import MISCONCEPTIONS
from attention.lessons.path import CHECKS, Check
from attention.lessons.position_cards import POSITION_CARDS
from attention.masks import MASKS
from attention.number_format import format_percent
from attention.operations.rotary import BASE, Rotation, rotation_of
from attention.pinned import sides_of
from attention.settings import CARD
from attention.steps.plan import by_name
from attention.story.settings import Story
from attention.timing import cpu_gpu_series, recordings
from attention.trace import Trace, forget_logits
from attention.ui import results
from attention.ui.controls.kind import Kind
from attention.ui.controls.picture import PICTURE
from attention.ui.controls.recipe import RECIPE
from attention.ui.controls.story import STORY
from attention.ui.controls.sweep import SWEEP
from attention.ui.markdown import escape
from attention.ui.session.visit_state import KEY
from attention.ui.text import cards as text
from attention.ui.text import questions as words
from tests.test_examples import late_rows, leaks, over_copies
from tests.test_pages import ROOT, SECONDS, run

CARDS = gallery() | path()
KINDS: dict[str, Kind] = {"start": STORY, "training": RECIPE, "timing": SWEEP}


def says(name: str, *parts: str) -> bool:
    """Whether all parts are in the answer of a card or the reason for it."""
    example = CARDS[name].example
    return all(part in f"{example.answer} {example.why} {example.says}" for part in parts)


def two(number: float | torch.Tensor) -> str:
    return f"{float(number):.2f}"


def weights(config: Config, **changed) -> torch.Tensor:
    return trace(replace(config, **changed)).weights


def numbers(config: Config, **changed) -> dict[str, torch.Tensor]:
    found = trace(Config.of(config.source, **{"layer": config.layer, **changed}))
    return head_numbers.numbers(found.weights, found.mask, found.texts)


def roles(c: Config) -> bool:
    found = weights(c)[:3, 10]
    halves = found[0, [2, 10]]
    return (
        says("roles", "46%") and [f"{float(each):.0%}" for each in halves] == ["46%"] * 2 and float(found[1, 9]) > 0.5
    )


def induction(c: Config) -> bool:
    t = trace(c)
    texts = [text.casefold() for text in t.texts]
    first = [at for at, text in enumerate(texts) if at > 1 and text not in texts[:at]]
    return bool((t.weights[c.head, first].amax(-1) < 0.5).all()) and len(first) == 9


def real(c: Config) -> bool:
    found = [(layer, head) for layer in (1, 11, 13, 16, 17, 18)
             for head, share in enumerate(numbers(c, layer=layer)["induction"].tolist()) if share > 0.59]  # fmt: skip
    return found == [(17, 3), (17, 4), (17, 5), (18, 6), (18, 7)] and (c.layer, c.head) == (18, 6)


def grown(c: Config) -> bool:
    shares = [two(over_copies(Config.of(c.source, layer=1, head=2, training_step=step))[2]) for step in (140, 200)]
    return shares == ["0.07", "0.90"] and says("grown", *shares)


def lost_to_the_start(c: Config) -> bool:
    lost = (weights(c) - weights(c, softmax="plus one"))[c.head].sum(0)
    return int(lost.argmax()) == 0 and float(lost[0] / lost.sum()) > 0.7


def hot(c: Config) -> bool:
    kept = [two(weights(c, temperature=t)[1].diagonal(-1).mean()) for t in (2.7, 2.0, 3.0)]
    return kept == ["0.50", "0.64", "0.46"] and says("temperature", *kept)


def unscaled(c: Config) -> bool:
    found = {width: sweep(c.tokens, width) for width in (4, 8, 16, 1024)}
    told = two(found[4][0].greatest), two(found[8][0].greatest)
    near = all(abs(divided.greatest - 0.23) < 0.015 for _, divided in found.values())
    assert found[1024][0].greatest > 0.9 and "1,024 channels puts nearly all weight" in path()["learn-8"].learns
    return told == ("0.41", "0.55") and says("unscaled", *told) and near and c.tokens == 18


def exponentials(c: Config) -> bool:
    """The first word is visible and three quarters as high as the largest; its weight is below a hundredth of that one's."""
    t = trace(c)
    row, weights_ = t.logits[c.head, c.query_index], t.weights[c.head, c.query_index]
    share, difference = float(row[0] / row.max()), float(row.max() - row[0])
    factor = float(weights_.max() / weights_[0])
    return (
        (f"{share:.2f}", f"{difference:.0f}", f"{math.exp(1):.1f}") == ("0.75", "5", "2.7")
        and bool(t.mask[c.query_index, : c.query_index + 1].all())
        and abs(factor - 150) < 5
        and says("row", "2.7 times", "difference of 5", "about 150")
        and float(weights_[0]) < 0.005
    )


def cancels(c: Config) -> bool:
    scores = trace(c).scores[c.head].double()
    return torch.allclose(scores.softmax(-1), (scores - 20).softmax(-1)) and says("float16", "cancels")


def reappear(c: Config) -> bool:
    t = trace(c)
    same = torch.allclose(t.output[1, 4:8], t.x[0, :4], atol=0.01)
    return same and t.texts[1] == "river" and says("small", "row of “river”, channels 4 to 7")


def blind_rows(c: Config) -> bool:
    causal, window = (MASKS[name].square(c.tokens, c.tokens, c.span) for name in ("causal", "window"))
    padded = causal & (torch.arange(c.tokens) >= 4)
    empty = (~padded.any(-1)).nonzero().flatten().tolist()
    zero = bool((trace(c).context[:, ~trace(c).mask.any(-1)] == 0).all()) and not trace(c).mask.any(-1).all()
    return zero and bool(causal.any(-1).all()) and bool(window.any(-1).all()) and empty == [0, 1, 2, 3]


def longest_text(c: Config) -> bool:
    begins = (torch.rand(c.tokens, generator=make_generator(c.seed)) < DOCUMENTS / c.tokens).nonzero().flatten()
    edges = torch.cat([torch.tensor([0]), begins, torch.tensor([c.tokens])])
    sizes = edges.diff()
    return says("documents", f"{int(edges[sizes.argmax()]):,}", f"{int(sizes.max()):,}")


def slopes_agree(c: Config) -> bool:
    at = torch.tensor([10.0], dtype=torch.float64)

    def same(heads: int) -> bool:
        both = (
            replace(c, heads=heads, d_model=heads * 64, head=0, positions=name) for name in ("alibi", "alibi bloom")
        )
        one, other = (torch.tensor([float(each) for each in biases(config, at)]) for config in both)
        return torch.allclose(one, other)

    return [same(heads) for heads in (6, 12, 16)] == [False, False, True]


def sinks(c: Config) -> bool:
    kept = [two(weights(c, sink_logit=mean).sum(-1)[0].mean()) for mean in (4.7, 8.0)]
    return kept == ["0.50", "0.05"] and says("nothing", *kept)


def wide(c: Config) -> bool:
    kept, hottest = (late_rows(replace(c, temperature=t))[0] for t in (4.0, 20.0))
    return says("sparse", f"About {kept:.0f}", f"only {hottest:.0f} have")


def between(c: Config) -> bool:
    row = {name: weights(c, softmax=name)[c.head, c.query_index] for name in ("entmax-1.5", "sparsemax", "standard")}
    keys = ((row["entmax-1.5"] > 0) & (row["sparsemax"] == 0)).nonzero().flatten().tolist()
    shares = [f"{100 * float(row['standard'][key]):.1f}%" for key in keys]
    return keys == [13, 14] and says("between", *(f"“{trace(c).texts[key]}” ({key})" for key in keys), *shares)


def channels(c: Config) -> bool:
    gate = trace(c).gate(c.query_index)[c.head]
    return (
        says("channels", f"{int((gate > 0.5).sum())} gates are above", f"mean is {two(gate.mean())}.")
        and len(gate) == 64
    )


def order_is_invisible(c: Config) -> bool:
    """Both “bank” have one row in every head, and one weight in every row; under a causal mask the rows differ."""
    t, causal = trace(c), trace(replace(c, mask="causal"))
    at = [place for place, text in enumerate(t.texts) if text == "bank"]
    rows, columns = t.weights[:, at], t.weights[..., at]
    apart = (causal.weights[0, at[0]] - causal.weights[0, at[1]]).abs().max()
    same = torch.equal(rows[:, 0], rows[:, 1]) and torch.allclose(columns[..., 0], columns[..., 1], atol=1e-6)
    seen = [f"first “bank” sees {at[0] + 1} tokens", f"second {at[1] + 1},", f"up to {two(apart)}."]
    return same and len(at) == 2 and c.query_index == at[1] and says("unplaced", *seen)


def rotated(c: Config) -> tuple[Rotation, Rotation, Callable[[Rotation, int], float]]:
    """How the heads of a card are rotated, without its scaling too, and the score of a constant query and key."""
    found = rotation_of(c, c.d_head)

    def score(rotation: Rotation, distance: int) -> float:
        return float(constant_score(rotation, c.d_head, torch.tensor([float(distance)], dtype=torch.float64)))

    return found, pairs_unscaled(found), score


def reaches_farther(c: Config) -> bool:
    found, _, score = rotated(c)
    usual, at = replace(found, base=BASE), c.distance
    turns, other = (f"{float(wavelengths(each)[-1]):,.0f}" for each in (found, usual))
    few, less = (int((wavelengths(each) > at).sum()) for each in (found, usual))
    kept = f"keep {score(found, at):.3f} of their score instead of {score(usual, at):.3f}"
    return found.base == 5e5 and says(
        "base", f"in {turns} tokens", f"in {other}.", kept, f"{few}, whose", f"are {less}."
    )


def divides_positions(c: Config) -> bool:
    found, plain, score = rotated(c)
    same = torch.allclose(c.distance / found.periods(torch.float64), c.distance / 4 / plain.periods(torch.float64))
    new = untrained_pairs(plain, c.distance), untrained_pairs(found, c.distance)
    falls = [f"{score(each, 0) - score(each, 1):.3f}" for each in (found, plain)]
    return same and new == (18, 0) and says("linear", "18 of 64", f"by {falls[0]}, unscaled by {falls[1]}.")


def raises_the_base(c: Config) -> bool:
    found, plain, _ = rotated(c)
    slower = found.periods(torch.float64) / plain.periods(torch.float64)
    others = [untrained_pairs(replace(found, scaling=name), c.distance) for name in ("ntk", "linear", "yarn")]
    ends = untrained_pairs(found, 11_270), untrained_pairs(found, 11_271) > 0
    told = [f"to {found.stretched_base:,.0f}:", "17 of 64 pairs", "Up to 11,270."]
    turns = round(float(slower[0]), 9) == 1 and round(float(slower[-1]), 9) == 4 and bool((slower.diff() > 0).all())
    now, then = (replace(found, factor=1 + 4 * (n / 4096 - 1)) for n in (8192, 4096))  # as a text grows
    key = then.periods(torch.float64), now.periods(torch.float64)
    scores = [f"{float((8192 / now.periods(torch.float64) - 4095 / each).cos().mean()):.3f}" for each in key]
    cached = says("ntk", f"score {scores[0]} instead of {scores[1]}.")
    return others == [17, 0, 0] and ends == (0, True) and turns and says("ntk", *told) and cached


def needs_its_scaling(c: Config) -> bool:
    found, plain, score = rotated(c)
    kept = found.kept_shares(torch.float64)
    counts = int((kept == 1).sum()), int((kept == 0).sum()), untrained_pairs(plain, c.distance)
    told = [
        f"{score(found, at):.3f} instead of {score(plain, at):.3f} at {where}"
        for at, where in ((100, "distance 100"), (1000, "1,000"))
    ]
    return counts == (29, 29, 29) and score(found, 0) == score(plain, 0) == 1 and says("llama3", *told)


def gates(c: Config) -> bool:
    t = trace(c)
    found = {at: float(t.gate(at)[c.head]) for at in range(c.tokens)}
    handed = [t.texts[at] for at, gate in found.items() if gate > 0.9]
    shut = max(gate for at, gate in found.items() if t.texts[at] == "river")
    return handed == ["bank", "so", "bank"] and says("gate", *{two(found[at]) for at in (2, 5, 10)}) and shut < 0.04


def scales_what_is_subtracted(c: Config) -> bool:
    """With no lambda the first softmax has nothing on the word before, so what is subtracted is lambda times the second."""
    first, less = (float(weights(c, diff_lambda=each)[c.head, -1, -2]) for each in (0.0, 0.2))
    second = (first - less) / 0.2
    found = "difference", f"About −{two(-less)}", f"gives that word {two(second)}", f"it is {two(0.2 * second)}"
    return says(*found) and bool((weights(c, diff_lambda=0.2).sum(-1) - 0.8).abs().max() < 1e-3)


def keeps(c: Config) -> bool:
    kept = forget_logits(trace(c).given)["F"].sigmoid().mean(0)
    return [two(kept[head]) for head in (1, 2, 6)] == ["0.49", "0.95", "0.90"] and int(kept.argmin()) == 1


def brings_back(c: Config) -> bool:
    def largest(tokens: int, t: float) -> float:
        return float(weights(c, tokens=tokens, query_scale="none", temperature=t)[:, -8:].amax(-1).mean())

    return abs(largest(1000, 0.206) - 0.173) < 0.001 and two(largest(16, 0.206)) == "0.60" and says("fading", "0.60")


def transferred(v) -> bool:
    gpu = cpu_gpu_series.gpus(v, recordings.shipped_recordings())[0]
    (at,) = (point for point in gpu.points if point.length == 16_384)
    times = f"{1000 * at.moved:.0f} ms", f"{1000 * at.seconds:.1f} ms", f"{at.moved / at.seconds:.0f} times"
    return says("gpu", *times)


def first_column(c: Config) -> bool:
    found = weights(c)[c.head]
    one = trace(c).mask[0].sum() == 1 and float(found[0, 0]) == 1
    return bool(one) and bool((found[:, 0] > 0.9).all()) and says("axis", f"sums to {float(found[:, 0].sum()):.1f}.")


def true_is_kept(c: Config) -> bool:
    later = torch.triu(torch.ones(c.tokens, c.tokens), 1).bool()
    q, eye = torch.randn(c.tokens, 8), torch.eye(c.tokens)
    kept = F.scaled_dot_product_attention(q[None, None, :-1], q[None, None], eye[None, None], attn_mask=later[:-1])[
        0, 0
    ]
    module = nn.MultiheadAttention(8, 1, batch_first=True)
    other = module(q[None], q[None], q[None], attn_mask=later)[1][0]
    same = torch.equal(trace(c).mask, later) and torch.equal(kept > 0, later[:-1]) and not later[-1].any()
    return same and torch.equal(other > 0, ~later)


def counts_itself(c: Config) -> bool:
    return trace(c).mask[10].nonzero().flatten().tolist() == [8, 9, 10] and c.span == 3


def over_queries(c: Config) -> bool:
    sums = trace(c).scores[0].double().softmax(-2).sum(-1)
    return says("over", f"Between {float(sums.min()):.2f} and {float(sums.max()):.2f}")


def longer_value(c: Config) -> bool:
    t = trace(c)
    row, long = t.weights[c.head, c.query_index], t.v[c.head].norm(dim=-1)
    small, large = t.texts.index("was"), t.texts.index("river")
    added, times = row * long, float(long[small] / long[large])
    told = (
        f"{float(row[large]):.3f}",
        f"{float(row[small]):.3f}",
        f"{times:.1f} times",
        f"{float(added[small] / added[large]):.1f} times",
    )
    return int(row.argmax()) == large and says("importance", *told) and t.texts[c.query_index] == "left"


def costs(c: Config) -> bool:
    one, two_ = by_name(replace(c, heads=8)), by_name(c)
    products = ("Q", "K", "V", "scores", "context", "output")
    same = all(one[name].flops == two_[name].flops for name in products)
    doubled = [name for name in one if two_[name].flops == 2 * one[name].flops > 0]
    return same and doubled == ["scaled", "weights"] and says("cost", f"{two_['scores'].flops:,}")


def root(c: Config) -> bool:
    told = [two(point.greatest) for width in (4, 1024) for point in sweep(c.tokens, width)]
    one, divided = sweep(c.tokens, 1)
    return (
        one.greatest == divided.greatest
        and told[0] + " without scaling and " + told[1] in CARDS["root"].example.why
        and says("root", *told)
    )


def last_row_sees_all(c: Config) -> bool:
    mask = trace(c).mask
    return bool(mask[-1].all()) and not mask[:-1].all(-1).any()


def both(config: Config) -> tuple[Trace, Trace, Changes]:
    """Sides A and B of a card, and how much they differ."""
    sides = sides_of(config)
    a, b = (trace(side) for side in sides[:2])
    return a, b, compare_sides(side_of(a), side_of(b))


def scaling_changes(a: Trace, b: Trace, found: Changes) -> bool:
    rows, largest = found.rows["variation"][0], [two(side.weights[0].amax(-1).mean()) for side in (a, b)]
    told = [two(rows[1:].min()), two(rows[1:].max()), *largest, "17 other rows"]
    return bool(rows[0] == 0) and len(rows) == 18 and a.config.d_head == 1024 and says("without-scaling", *told)


def window_shares(a: Trace, b: Trace, found: Changes) -> bool:
    """The weights of B are those of A at the visible keys, divided by their sum; the numbers of both heads are told."""
    left = a.weights.double() * b.mask
    moved = found.mean("variation")
    return (
        torch.allclose(left / left.sum(-1, keepdim=True), b.weights.double(), atol=1e-5)
        and moved[2] == max(moved)
        and says("window-causal", two(moved[2]), f"{moved[1]:.3f}")
    )


def head_formed(a: Trace, b: Trace, found: Changes) -> bool:
    every = [head_numbers.numbers(side.weights, side.mask, side.texts) for side in (a, b)]
    copies, entropies = [two(each["induction"][2]) for each in every], [each["entropy"][2] for each in every]
    told = [*copies, *map(two, entropies), f"fell by {-found.mean('entropy')[2]:.2f} nats"]
    return (a.config.training_step, b.config.training_step) == (140, 1000) and says("before-after", *told)


def weight_of_it_moves(a: Trace, b: Trace, found: Changes) -> bool:
    """One word differs; the head changes this row more than any other head of the model does, and every number is as told."""
    words = [(one, two_) for one, two_ in zip(a.texts, b.texts, strict=True) if one != two_]
    change, name = b.weights[1, 10] - a.weights[1, 10], b.texts.index
    told = [f"“animal” had {two(a.weights[1, 10, 2])} and keeps {two(b.weights[1, 10, 2])}"]
    told += [f"“[CLS]” gains {two(change[0])}", f"“cross” gains {two(change[name('cross')])}"]
    told += [f"“street” {two(change[name('street')])}", f"“wide” {two(change[name('wide')])}"]
    told += [f"moves {two(found.rows['variation'][1, 10])} of"]
    most = found.rows["variation"][:, 10].argmax() == 1 and change.argmax() == 0
    return words == [("tired", "wide")] and bool(most) and b.texts[10] == "it" and says("two-meanings", *told)


def nearest_keeps_most(a: Trace, b: Trace, found: Changes) -> bool:
    copies = [at for at, word in enumerate(a.texts) if word.casefold() == "the"]
    before, after = (side.weights[0, 16, copies] for side in (a, b))
    told = [two(before[0]), f"itself {two(after[4])}", f"nearest keeps {two(after[3])}, the first {two(after[0])}"]
    equal = torch.allclose(before, before[:1].expand(5)) and copies == [0, 6, 9, 13, 16]
    return equal and bool((after.diff() > 0).all()) and says("rotary-none", *told)


def no_pair_is_shared(a: Trace, b: Trace, found: Changes) -> bool:
    """B is what PyTorch does with that mask: its weights are those of the function, zero where it returns none."""
    mask = torch.triu(torch.ones(18, 18), 1).bool()
    output = F.scaled_dot_product_attention(b.q, b.k, torch.eye(18).expand(8, 18, 18), attn_mask=mask)
    return (
        bool((found.rows["variation"] > 1 - 1e-5).all())
        and not (a.mask & b.mask).any()
        and not b.weights[:, -1].any()
        and torch.allclose(output[:, :-1], b.weights[:, :-1], atol=1e-5)
        and int(a.mask[-1].sum()) == 18
    )


ANSWERS: dict[str, Callable[..., bool]] = {
    "roles": roles,
    "induction": induction,
    "real": real,
    "division": lambda c: (
        bool((numbers(c, layer=18)["first"][[3, 4, 8]] > 0.895).all())
        and int((numbers(c, layer=18)["first"] > 0.895).sum()) == 3
    ),
    "grown": grown,
    "sink": lost_to_the_start,
    "temperature": hot,
    "unscaled": unscaled,
    "row": exponentials,
    "float16": cancels,
    "small": reappear,
    "blind": blind_rows,
    "window": lambda c: [reach(c.rule, c.tokens, c.span, depth)[0] for depth in (31, 32)] == [62, 63],
    "packing": lambda c: bool((MASKS["causal"].square(c.tokens, c.tokens, c.span) & ~trace(c).mask).any()),
    "alibi": lambda c: says(
        "alibi",
        *(
            f"{float((weights(c)[head, -1] * torch.arange(c.tokens).flip(0)).sum()):.{digits}f}"
            for head, digits in ((7, 0), (0, 1))
        ),
    ),
    "directions": lambda c: torch.allclose(trace(c).q.norm(dim=-1), torch.tensor(float(c.d_head)).sqrt(), rtol=1e-3),
    "buckets": lambda c: c.distance == 91,  # the jumps are in tests/test_examples.py
    "slopes": slopes_agree,
    "fraction": lambda c: True,  # in tests/test_examples.py: the channels beyond the first quarter are not turned
    "yarn": lambda c: says("yarn", "by its square, 1.2965") and f"{(0.1 * math.log(4) + 1) ** 2:.4f}" == "1.2965",
    "nothing": sinks,
    "everything": lambda c: bool((trace(c).logits[c.head, -1] > 0).all()),
    "sparse": wide,
    "between": between,
    "difference": scales_what_is_subtracted,
    "gate": gates,
    "forgetting": keeps,
    "fading": brings_back,
    "grouped": lambda c: c.heads == 8 and replace(c, kv_heads=1).n_kv_heads / c.heads == 1 / 8,
    "leak": leaks,
    "long": lambda c: True,  # the previous token has most weight: in tests/test_examples.py
    "documents": longest_text,
    "refrain": lambda c: True,  # earlier copies have no weight in the second head: in tests/test_examples.py
    "gpu": transferred,
    "axis": first_column,
    "true": true_is_kept,
    "counts": counts_itself,
    "over": over_queries,
    "importance": longer_value,
    "cost": costs,
    "channels": channels,
    "unplaced": order_is_invisible,
    "base": reaches_farther,
    "linear": divides_positions,
    "ntk": raises_the_base,
    "llama3": needs_its_scaling,
    "root": root,
    "cache": last_row_sees_all,
    "without-scaling": lambda c: scaling_changes(*both(c)),
    "window-causal": lambda c: window_shares(*both(c)),
    "before-after": lambda c: head_formed(*both(c)),
    "two-meanings": lambda c: weight_of_it_moves(*both(c)),
    "rotary-none": lambda c: nearest_keeps_most(*both(c)),
    "mask-turned": lambda c: no_pair_is_shared(*both(c)),
}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", gallery())
def test_an_answer_is_right(name):
    assert ANSWERS[name](CARDS[name].example.config)


def test_every_card_has_its_answer_its_level_and_its_place():
    known = EXAMPLES.keys() | POSITION_CARDS.keys() | MISCONCEPTIONS.keys() | COMPARISONS.keys()
    assert ANSWERS.keys() == gallery().keys() == known
    assert len(MISCONCEPTIONS) == 8 and len(COMPARISONS) == 6
    titled: dict[str, Example] = {}
    assert all(titled.setdefault(card.example.title, card.example) is card.example for card in CARDS.values())
    for cards in (gallery(), path()):
        levels = [card.example.level for card in cards.values()]
        assert cards is path() or levels == sorted(levels, key=LEVELS.index)
        names = ["", *cards, ""]
        for at, card in enumerate(cards.values(), 1):
            assert (card.before, card.name, card.after) == tuple(names[at - 1 : at + 2])
            assert (card.number, card.count) == (at, len(cards)) and find_card(card.name) is card
            guesses = card.example.guesses
            assert (
                len(set(guesses)) == len(guesses) == 3
                and card.example.answer in guesses
                and card.example.why.endswith(".")
            )
    for check in CHECKS:
        assert len(set(check.guesses)) == 3 and check.answer in check.guesses


def test_the_finding_of_a_card_is_one_line_of_numbers_that_its_tested_texts_have():
    assert FINDINGS.keys() == gallery().keys() and len(set(FINDINGS.values())) == len(FINDINGS)
    assert all(len(said) <= LONGEST and said.endswith(".") for said in FINDINGS.values())
    for name, card in gallery().items():
        example = card.example
        texts = " ".join((example.title, example.says, example.why))
        assert [each for each in re.findall(r"−?\d(?:[\d,.]*\d)?", card.finding) if each not in texts] == [], name
        assert f"{example.answer}." not in card.finding, "it would give the answer away"


def test_the_path_leads_over_the_pages_to_a_real_model_and_ends_with_five_questions():
    pages = [card.example.page for card in path().values()]
    assert list(dict.fromkeys(pages)) == ["start", "heads", "steps", "softmax", "masks", "training"]
    assert len(pages) == 12 and len(CHECKS) == 5 and pages[-1] == "heads"
    last = list(path().values())[-1].example.config
    assert isinstance(last, Config) and last.source.startswith("recorded:smollm2")
    assert all(card.do and card.learns for card in path().values())
    assert not any(card.do or card.learns for card in gallery().values())


def test_the_first_steps_of_the_path_say_what_is_shown():
    one, two_ = (path()[f"learn-{number}"].example for number in (1, 2))
    river = {t: trace(Story(sentence="river", temperature=t).config) for t in (0.5, 1.0, 4.0)}
    row = {t: found.weights[found.config.head, 5] for t, found in river.items()}
    texts = river[1.0].texts
    assert texts[5] == "bank" and f"“{texts[int(row[1].argmax())]}”" == one.answer
    assert [format_percent(float(row[t].max())) in two_.why for t in (4, 0.5)] == [True] * 2
    assert format_percent(float(row[1].max())) in one.why and one.query["start"] == "sentence.account"


def test_beside_the_number_of_a_card_of_the_path_the_steps_of_start_have_none():
    test = open_card("learn-1")
    assert "1 of 12" in bar(test) and test.button_group(key="story_step").options == ["Look", "Weigh", "Combine"]


@pytest.mark.parametrize("name", CARDS)
def test_the_link_of_a_card_opens_its_picture(name):
    card = CARDS[name]
    kind = KINDS.get(card.example.page, PICTURE)
    setting, notes = kind.open(card.query)
    opened = getattr(setting, "versus", setting)
    assert (opened, notes) == (card.example.config, []) and card.query[CARD] == name


NUMBER = r"(?<![\d.,])\d[\d,.]*\d%?"
PROSE = re.compile(r"^ *(?:body|label|help|alt|json|bytes|content|format|caption): (.*)$", re.MULTILINE)
STYLE = re.compile(r"<style>.*?</style>")


def given_away(test: AppTest, asked: Example | Check, known: str = "") -> list[str]:
    """What a page says before *Reveal* that tells the right answer from the others: it names that answer alone, or it has a
    number of the reason, of three digits or more, that is not `known` from the card itself.
    """
    said = "\n".join(PROSE.findall(STYLE.sub("", sent(test, but=("Your guess",))))).replace(asked.asks, "")
    named = [guess for guess in asked.guesses if re.search(rf"(?<!\w){re.escape(guess)}(?!\w)", said, re.IGNORECASE)]
    told = [asked.answer] if named == [asked.answer] else []
    new = {each for each in re.findall(NUMBER, f"{asked.answer} {asked.why}") if sum(map(str.isalnum, each)) > 2}
    new -= set(re.findall(NUMBER, f"{known} {asked.asks} {asked.guesses}"))
    return told + [each for each in re.findall(NUMBER, said) if each in new]


def sent(test: AppTest, but: tuple[str, ...] = ()) -> str:
    """Everything that was sent to the browser, as text, but the widgets with these labels."""
    blocks, found = [test._tree], []
    while blocks:
        node = blocks.pop()
        proto = getattr(node, "proto", None)
        if getattr(proto, "label", None) in but:
            continue
        found.append("" if proto is None else text_format.MessageToString(proto, as_utf8=True))
        blocks += getattr(node, "children", {}).values()
    return "\n".join(found).replace("\\", "")


def open_card(name: str) -> AppTest:
    return run(ROOT / "pages" / f"{CARDS[name].example.page}.py", CARDS[name].query)


def bar(test: AppTest) -> str:
    return "\n".join(each.value for each in [*test.markdown, *test.caption]).replace("\\", "")


def choose(test: AppTest, question: str, guess: str) -> AppTest:
    """Chooses a guess, which is a pill or a line."""
    lines = [radio for radio in test.radio if radio.key == f"guess {question}"]
    return (lines or [test.button_group(key=f"guess {question}")])[0].set_value(guess).run()


SHORT = [name for name, card in CARDS.items() if getattr(card.example.config, "tokens", 0) <= MAX_TRACE_TOKENS]
LONG = sorted(CARDS.keys() - SHORT)  # their maps take half a minute of a processor each


def hints(config) -> list[str]:
    """What a page says of heads once no question withholds it, of a window's span, and of the temperatures of Start."""
    if not isinstance(config, Config):
        return ["· more even"]
    t = trace(config)
    found = head_roles(t.weights, t.mask, t.queries.texts, "word")
    window = [f"the {config.span - 1} word"] if (config.mask, config.combine) == ("window", "none") else []
    return [role.says for role in found if role] + window


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SHORT)
def test_a_page_shows_its_card_and_withholds_the_answer(name):
    card = CARDS[name]
    test = open_card(name)
    assert not test.exception and not test.warning
    assert f"**{card.example.title}** :gray[· {card.number} of {card.count}]" in bar(test)
    said = card.learns or card.example.says
    assert said in bar(test) and card.example.why.replace("*", "") not in sent(test)
    assert test.query_params[CARD] == name
    assert not given_away(test, card.example, f"{said} {card.do}")
    described = sent(test)
    assert not any(hint in described for hint in hints(card.example.config)), "what heads or buttons do"
    link = urlencode(test.query_params)
    assert not any(quote_plus(text) in link for text in (card.example.answer, card.example.why))
    wrong = next(guess for guess in card.example.guesses if guess != card.example.answer)
    choose(test, f"card {card.example.title}", escape(wrong))
    assert words.TRY_AGAIN in test.error[0].value and not given_away(test, card.example, f"{said} {card.do} {wrong}")


@pytest.mark.extended
@pytest.mark.parametrize("name", LONG)
def test_a_long_sequence_withholds_the_answer_of_its_card_once_all_of_its_weights_are_known(name):
    card, test = CARDS[name], open_card(name)
    config, deadline = card.example.config, time.monotonic() + 600
    assert isinstance(config, Config)
    while (drawing := results.long.STUDIO.find(config.for_page())) is None or drawing.open:
        assert time.monotonic() < deadline, "the map is not done"
        time.sleep(0.5)
        test.run()
    said = sent(test.run())
    assert not test.exception and drawing.state == "done"
    assert not given_away(test, card.example, f"{card.example.says} {card.do}") and card.example.why not in said
    roles = [role.says for role in results.long.roles(config, drawing) if role]
    assert roles and not any(role in said for role in roles)


@pytest.mark.parametrize("name", ["window", "learn-1"])
def test_every_guess_is_judged_and_only_the_right_one_reveals_the_answer(name):
    test, example = open_card(name), CARDS[name].example
    for guess in (*example.guesses, *example.guesses):
        choose(test, f"card {example.title}", guess)
        (alert,) = [*test.success, *test.error]
        right, named = guess == example.answer, guess if guess.startswith("“") else f"“{guess}”"
        assert alert.icon == f":material/{'check_circle' if right else 'cancel'}:"
        assert alert.value.startswith("Right. " if right else f"Not quite: you chose {named}. {words.TRY_AGAIN}")
        assert (example.why[-30:] in alert.value.replace("\\", "")) == right


def test_a_changed_picture_says_so_and_is_restored():
    test = open_card("temperature")
    assert text.CHANGED not in bar(test)
    test.slider(key="temperature").set_value(2.0).run()
    assert text.CHANGED in bar(test) and test.query_params[CARD] == "temperature"
    test.button(key="restore card").click().run()
    assert text.CHANGED not in bar(test) and test.slider(key="temperature").value == 4.0


def test_a_card_is_on_its_own_page_alone_and_can_be_closed():
    test = open_card("temperature")
    other = AppTest.from_file(str(ROOT / "pages/masks.py"), default_timeout=SECONDS)
    other.session_state[KEY] = test.session_state[KEY]
    other.run()
    assert CARDS["temperature"].example.says not in bar(other) and CARD not in other.query_params
    test = open_card("temperature")
    test.button(key="close card").click().run()
    assert CARDS["temperature"].example.says not in bar(test)
    assert CARD not in test.query_params and test.slider(key="temperature").value == 4.0


def test_a_link_with_the_name_alone_opens_the_picture_and_an_unknown_name_is_told():
    test = AppTest.from_file(str(ROOT / "pages/heads.py"), default_timeout=SECONDS)
    test.query_params[CARD] = "temperature"
    test.run()
    assert test.slider(key="temperature").value == 4.0
    test = run(ROOT / "pages/heads.py", {CARD: "<b>", "v": "3", "temperature": "2.0"})
    assert "is not a card of the examples" in test.warning[0].value and test.slider(key="temperature").value == 2.0


def test_the_path_is_resumed_where_it_was_left_and_its_questions_are_counted():
    menu = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS)
    test = menu.run().switch_page("pages/examples.py").run()
    assert all(card.learns in sent(test) for card in path().values())
    links = [link.proto.label for link in test.get("page_link")]
    assert text.BEGIN in links and sum(label[0].isdigit() for label in links) == 12
    test.session_state[KEY].kept.step = "learn-4"
    test.session_state[KEY].kept.opened_steps = {"learn-2", "learn-4"}
    test.run()
    assert [sum(each.value == badge for each in test.markdown) for badge in (text.HERE, text.VISITED)] == [1, 1]
    assert text.CONTINUE.format(number=4) in [link.proto.label for link in test.get("page_link")]
    quiz = run(ROOT / "pages/examples.py", {"about": "questions"})
    for number, check in enumerate(CHECKS, 1):
        assert check.why not in sent(quiz) and not given_away(quiz, check)
        choose(quiz, f"check {number}", escape(next(guess for guess in check.guesses if guess != check.answer)))
        assert words.TRY_AGAIN in quiz.error[0].value and check.why not in sent(quiz)
        choose(quiz, f"check {number}", check.answer)
        assert f"**{number} of 5** right" in bar(quiz) and not quiz.toggle
        assert sent(quiz).count(text.SEE.format(title="")) == number, "an answer leads to a card that shows it"
        assert not any(f"**{check.answer}.** {check.answer}" in each.value for each in quiz.success), "said once"
