"""What an example says is so, checked with its numbers; each opens where its card leads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil, log
from threading import Event
from typing import Any
from urllib.parse import parse_qsl

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention import Config, trace
from attention.analysis import head_distances, head_numbers
from attention.analysis.head_roles import roles
from attention.analysis.mask_reach import reach
from attention.analysis.number_types import compare_number_types
from attention.analysis.position_curves import biases
from attention.analysis.row_stages import shown_stages
from attention.analysis.scaling import jacobian_norm
from attention.charts import theme
from attention.charts.thumbnail import EDGE, HATCH, INKS, LINES, SIDE, lines, page_thumbnail, rgb, thumbnail
from attention.codec import from_query, to_query
from attention.examples import EXAMPLES
from attention.fitting import layers
from attention.inputs import DOCUMENTS, make_generator, tokens
from attention.lessons.cards import gallery
from attention.maps.exact import head_maps
from attention.operations.rotary import rotation_of
from attention.published import ROWS
from attention.published.case import case
from attention.published.compare import judge, leak
from attention.settings import EDITION
from attention.sources import constructed
from attention.sources.chunks import queries_and_keys
from attention.sources.providers import idle
from attention.steps.values import values
from attention.timing import cpu_gpu_series, recordings
from attention.timing.cpu_gpu_settings import VERSUS, CpuGpuSettings
from attention.timing.cpu_gpu_summary import ratios
from attention.trace import forget_logits
from attention.ui.jobs.map_jobs import MapJob
from tests.samples import is_first, sample
from tests.test_pages import ROOT, SECONDS, run


def names(config: Config) -> list[str]:
    t = trace(config)
    return [role.name if role else "" for role in roles(t.weights, t.mask, t.queries.texts, "word")]


def built_claim(config: Config) -> bool:
    """Six do what is said of them; the maps of the last two, and of no other, are others with another seed."""
    said, c = names(config), config.d_model
    one, two = (constructed.queries_to_keys(c, config.heads, seed, c - 2 * (c // 4)) for seed in (0, 1))
    heads = [
        pair for maps in zip(one, two, strict=True) for pair in [[x.unflatten(1, (config.heads, -1)) for x in maps]]
    ]
    drawn = [any(not torch.equal(a[:, head], b[:, head]) for a, b in heads) for head in range(config.heads)]
    return (
        said[:6] == ["same word", "one back", "first word", "three back", "nearby", "itself, one back"]
        and drawn == [False] * 6 + [True] * 2
        and said[-2:] == ["uniform", ""]
        and config.heads == 8
    )


def over_copies(config: Config) -> tuple[float, float, float]:
    """The weight of a head on what followed earlier copies of its query: of the earliest, of the last, of all.

    A mean over queries with two copies or more.
    """
    t = trace(config)
    texts, found = [text.casefold() for text in t.queries.texts], []
    for query in range(len(texts)):
        after = [at + 1 for at in range(query) if texts[at] == texts[query]]
        if len(after) > 1:
            row = t.weights[config.head, query, after]
            found.append((float(row[0]), float(row[-1]), float(row.sum())))
    first, last, every = torch.tensor(found).mean(0).tolist()
    return first, last, every


def spreads_over_copies(config: Config) -> bool:
    """Both earlier copies have about as much, in the mean; the row that opens has weight on both, and hardly any elsewhere."""
    first, last, every = over_copies(config)
    t = trace(config)
    texts = [text.casefold() for text in t.queries.texts]
    after = [at + 1 for at in range(config.query_index) if texts[at] == texts[config.query_index]]
    opens = t.weights[config.head, config.query_index, after]
    both = len(after) == 2 and float(opens.min()) > 0.1 and float(opens.sum()) > 0.9
    return both and every > 0.9 and abs(first - last) < 0.05 and "the last time" not in EXAMPLES["real"].says


def flattens(config: Config) -> bool:
    """The largest weight of every row that sees more than one key falls; that of one word back is as it says."""
    usual, hot = (trace(each) for each in (replace(config, temperature=1.0), config))
    rows = usual.mask.sum(-1) > 1
    falls = bool((hot.weights.amax(-1)[:, rows] < usual.weights.amax(-1)[:, rows]).all())
    numbers = [f"{float(t.weights[config.head].diagonal(-1).mean()):.2f}" for t in (usual, hot)]
    return falls and config.temperature == 4 and all(number in EXAMPLES["temperature"].says for number in numbers)


def rests(config: Config) -> bool:
    """Seven tenths on what begins the text; under “plus one”, which acts here, that loses most of what no key gets."""
    t, other = trace(config), trace(replace(config, softmax="plus one"))
    lost = (t.weights - other.weights)[config.head].sum(0)
    first = float(head_numbers.numbers(t.weights, t.mask, t.texts)["first"][config.head])
    beside = float(head_numbers.numbers(other.weights, other.mask, other.texts)["first"][config.head])
    return (
        round(first, 1) == 0.7 and first - beside > 0.1 and float(lost[0]) > 0.7 * float(lost.sum())
        and t.texts[0] == "[start]" and not idle("softmax", config)
    )  # fmt: skip


def passes_hardly_any_gradient(config: Config) -> bool:
    """Nearly all weight on one key; of most rows the Jacobian is hundreds of times less than with scaling."""
    weights, divided = (trace(replace(config, scale=scale)).weights[0, 2:] for scale in ("none", "1/sqrt(d_head)"))
    left, usual = (float(jacobian_norm(each.double()).median()) for each in (weights, divided))
    return config.d_head == 1024 and float(weights.amax(-1).mean()) > 0.9 and left < usual / 100 and left < 0.01


def in_three_steps(config: Config) -> bool:
    """Scaled, hidden and put through the softmax, its dot products are its weights, a panel each; something is hidden."""
    panels = [stage.label for stage in shown_stages(config).values()]  # of the page, in their order
    t = trace(config)
    scores, sees = t.scores[config.head, config.query_index].double(), t.mask[config.query_index]
    powers = scores.masked_fill(~sees, -torch.inf).exp()
    weights = t.weights[config.head, config.query_index].double()
    told = not sees.all() and torch.allclose(powers / powers.sum(), weights, atol=1e-6)
    return told and panels == ["Scores", "Scaled scores", "Logits", "Weights"]


def overflows(config: Config) -> bool:
    t = trace(config)
    naive = next(each for each in compare_number_types(t) if (each.dtype, each.exponent) == ("float16", "naive"))
    sound = next(
        each for each in compare_number_types(t) if (each.dtype, each.exponent) == ("float16", "max-subtracted")
    )
    return round(float(t.logits[config.head].max())) == 25 and naive.broken == config.tokens and sound.broken == 0


def continues(config: Config) -> bool:
    t, words = trace(config), [text.casefold() for text in trace(config).queries.texts]
    after = [at + 1 for at in range(config.query_index) if words[at] == words[config.query_index]]
    return (
        words[config.query_index] == "the"
        and len(after) > 1
        and float(t.weights[config.head, config.query_index, after].sum()) > 0.9
    )


def packed_claim(config: Config) -> bool:
    """As many texts as the title says; all weight of each is within it."""
    weights, starts = trace(config).weights, range(0, config.tokens, config.span)
    within = [weights[:, at : at + config.span, at : at + config.span].sum(-1).min() for at in starts]
    return len(starts) == 3 and EXAMPLES["packing"].title.startswith("Three texts") and float(min(within)) > 0.999


def bounded(config: Config) -> bool:
    """Scaled scores are at most 8, else 27; the last query of the broad head puts over twice the uniform weight on a key."""
    on, off = trace(config), trace(replace(config, qk_norm="off"))
    top, other = (float(t.weights[config.head, -1].max()) * config.tokens for t in (on, off))
    largest = float(off.scores.abs().max())
    return (
        float(on.scores.abs().max()) < 8.0001
        and config.d_head == 64
        and round(largest) == 27
        and top > 2 > 1.01 > other
    )


def buckets(config: Config) -> bool:
    """One bucket per distance up to 7, the last one from 91 on; nothing changes beyond."""
    bias = biases(config, torch.arange(1000.0, dtype=torch.float64))[0]
    jumps = (bias.diff().nonzero()[:, 0] + 1).tolist()
    return jumps[:8] == list(range(1, 9)) and jumps[-1] == config.distance == 91


def slopes(config: Config) -> bool:
    at = torch.tensor([float(config.distance)], dtype=torch.float64)
    code, paper = (biases(replace(config, positions=name), at)[config.head] for name in ("alibi bloom", "alibi"))
    return (round(float(code), 2), round(float(paper), 2)) == (-7.07, -0.16)


def fraction(config: Config) -> bool:
    """The first two of eight channels of queries are turned."""
    turned = (trace(config).q - trace(replace(config, positions="none")).q).abs().amax((0, 1)) > 1e-6
    return turned.tolist() == [True] * 2 + [False] * 6


def yarn(config: Config) -> bool:
    rotation = rotation_of(config, config.d_head)
    kept = rotation.kept_shares(torch.float64)
    numbers = (rotation.pairs, int((kept == 1).sum()), int((kept == 0).sum()), config.distance)
    return numbers == (64, 24, 24, 20_000) and f"{rotation.gain:.4f} {rotation.gain**2:.4f}" == "1.1386 1.2965"


def rests_in_the_sink(config: Config) -> bool:
    """Below a thousandth in five heads; the broad one's share and sum are as it says."""
    sums = trace(config).weights.double().sum(-1).mean(-1)
    said = f"{100 * (1 - float(sums[config.head])):.1f}%", f"{float(sums[config.head]):.3f}"
    return int((sums > 0.999).sum()) == 5 and all(number in EXAMPLES["nothing"].says for number in said)


def weighs_every_key(config: Config) -> bool:
    """Every weight of the last row is nearly one under a sigmoid; under a softmax the word before has nearly all."""
    t, row = trace(config).weights[config.head, -1], trace(replace(config, softmax="standard")).weights[config.head, -1]
    said = EXAMPLES["everything"].says
    broad = trace(config).logits[6, -1]  # before the logarithm of 16 is subtracted
    sums = [f"{float((broad - shift).sigmoid().sum()):.1f}" for shift in (0, log(16))]
    without = f"sum to {sums[0]} instead of {sums[1]}." in said and config.sigmoid_length == 16
    return bool((t > 0.99).all()) and f"sums to {float(t.sum()):.1f}." in said and float(row[-2]) > 0.9 and without


def late_rows(config: Config) -> tuple[float, float]:
    """The mean number of keys with weight, and the mean largest weight, of the last hundred rows of all heads."""
    found = trace(config).weights[:, -100:]
    return float((found > 0).double().sum(-1).mean()), float(found.amax(-1).mean())


def keeps_few_keys(config: Config) -> bool:
    (kept, top), (every, flat) = late_rows(config), late_rows(replace(config, softmax="standard"))
    said = f"keep {kept:.0f} of about {every:.0f} keys", f"averages {top:.2f};", f"averages {flat:.3f}.", "would be 0."
    t = trace(config)
    found = sparsemax_by_sums_of_sums(t.logits[:, -100:].where(t.mask[-100:], -100.0))
    return all(each in EXAMPLES["sparse"].says for each in said) and not found.any()


def sparsemax_by_sums_of_sums(logits: torch.Tensor) -> torch.Tensor:
    """A threshold from the sum of all cumulative sums of the kept keys, where the last of these belongs (keras issue 23425)."""
    down = logits.sort(-1, descending=True).values
    sums = down.cumsum(-1)
    kept = down > (sums - 1) / torch.arange(1, down.shape[-1] + 1)
    return (logits - ((sums * kept).sum(-1, keepdim=True) - 1) / kept.sum(-1, keepdim=True)).clamp(min=0)


def test_a_threshold_from_sums_of_sums_is_right_for_one_key_alone():
    """The two rows of the issue: three close logits, of which two are kept, and a row that keeps one."""
    found = sparsemax_by_sums_of_sums(torch.tensor([[0.0, 0.5, 1.0], [0.0, 0.5, 3.0]]))
    assert found.tolist() == [[0, 0, 0.25], [0, 0, 1]]


def entmax_by_bisection(logits: torch.Tensor, alpha: float) -> torch.Tensor:
    """A row by bisection of its threshold, as the package entmax has it, whose powers have no limit at alpha 1."""
    z, low = logits.double() * (alpha - 1), logits.amax().double() * (alpha - 1) - 1
    step = 1 - len(z) ** (1 - alpha)
    found = z.new_zeros(len(z))
    for _ in range(50):
        step /= 2
        found = (z - low - step).clamp(min=0) ** (1 / (z.new_tensor(alpha) - 1))
        low = low + step if found.sum() >= 1 else low
    return found / found.sum()


def lies_between(config: Config) -> bool:
    """Keys with weight in the selected row under each of the three."""
    counts = [
        int((trace(replace(config, softmax=name)).weights[config.head, config.query_index] > 0).sum())
        for name in ("entmax-1.5", "sparsemax", "standard")
    ]
    row = trace(config).logits[config.head, config.query_index]
    near = (entmax_by_bisection(row, 1.0001) - row.double().softmax(-1)).abs().max() < 1e-3
    right = (entmax_by_bisection(row, 1.5) - trace(config).weights[config.head, config.query_index]).abs().max() < 1e-5
    equal = entmax_by_bisection(row, 1.0).unique().tolist() == pytest.approx([1 / 18])
    named = f"here {100 / 18:.1f}% each." in EXAMPLES["between"].says
    return counts == [5, 3, 18] and config.tokens == 18 and bool(near) and bool(right) and equal and named


def subtracts(config: Config) -> bool:
    """The largest weights of the last row: both copies of its word, and one below zero on the word before; and the sums."""
    found, t = trace(config).weights[config.head], trace(config)
    row, told = found[-1], EXAMPLES["difference"].says.replace("−", "-")
    named = [t.texts[key] for key in row.topk(2).indices.sort().values.tolist()]
    weights = " and ".join(f"{float(row[key]):.2f}" for key in row.topk(2).indices.sort().values)
    sums = trace(config).weights.sum(-1)
    same = torch.allclose(sums, torch.tensor(0.5), atol=5e-4) and config.sinks == (0.5,) * 8
    least = int(row.argmin()) == len(row) - 2 and f"weight is {float(row.min()):.2f}:" in told
    return named == ["boat", "boat"] and f"leaves them {weights};" in told and least and same


def closes_channels(config: Config) -> bool:
    """The gates of the row's head are between those it names, and its weights are those without a gate."""
    t = trace(config)
    gate = t.gate(config.query_index)
    assert gate is not None
    ends = f"go from {float(gate[config.head].min()):.2f} to {float(gate[config.head].max()):.2f}."
    same = torch.equal(t.weights, trace(replace(config, gate="off")).weights)
    return same and t.texts[config.query_index] == "took" and ends in EXAMPLES["channels"].says


def closes(config: Config) -> bool:
    """The row's weight is on the word before, as without a gate, and its gate is as the sentence says."""
    t, row = trace(config), config.query_index
    gate = t.gate(row)
    assert gate is not None
    weight, share = float(t.weights[config.head, row, row - 1]), f"{float(gate[config.head]):.2f}"
    same = torch.equal(t.weights, trace(replace(config, gate="off")).weights)
    return same and weight > 0.9 and t.texts[row] == "took" and f"gate is {share} " in EXAMPLES["gate"].says


def forgets(config: Config) -> bool:
    """What one word keeps and the others keep, and the weight on the words before it, with and without."""
    t, told = trace(config), EXAMPLES["forgetting"].says
    kept = forget_logits(t.given)["F"][:, config.head].sigmoid()
    word, rest = int(kept.argmin()), kept.sort().values[1]
    with_, without = (
        float(trace(each).weights[config.head, -1, :word].sum()) for each in (config, replace(config, forgetting="off"))
    )
    said = f"“{t.texts[word]}” keeps {float(kept[word]):.2f}, every other word at least {float(rest):.2f}"
    shown = f"without forgetting {without:.3f}" in told and f"would show {without:.3f}." in told
    return said in told and f"{with_:.3f} of its weight" in told and shown and word == 12


def stays_sharp(config: Config) -> bool:
    """The mean over heads of the largest weight of the last eight rows, at both lengths, with and without the scale."""

    def largest(tokens: int, scale: str) -> float:
        found = trace(replace(config, tokens=tokens, query_scale=scale)).weights[:, -8:]
        return float(found.amax(-1).mean())

    said = f"{largest(16, 'none'):.3f}", f"{largest(1000, 'none'):.3f}"
    near = all(abs(largest(n, "log n") - 0.35) < 0.015 for n in (16, 1000))
    flat = replace(config, query_scale="none", temperature=1 / log(1000))  # the logarithm of all keys for every query
    row = [f"{float(trace(each).weights[:, 15].amax(-1).mean()):.2f}" for each in (flat, config)]
    said = *said, f"would be {row[0]} instead of {row[1]}."
    return config.tokens == 1000 and near and all(number in EXAMPLES["fading"].says for number in said)


def quarter(config: Config) -> bool:
    changed = (trace(config).weights - trace(Config(projections="tied")).weights).abs().max()
    return config.n_kv_heads / config.heads == 1 / 4 and float(changed) > 0.1


def holds_at_any_length(config: Config) -> bool:
    """The same word, one back, the first and three back have their weight; so many lie under a pixel as it says."""
    pairs = ceil(config.tokens / theme.side(config.heads)) ** 2
    same, back, first, three = (last_row(config, head) for head in range(4))
    words = tokens(config.tokens, config.text, config.input)
    again = torch.tensor([word == words[-1] for word in words])
    tile = ceil(config.tokens / theme.side(config.heads))
    under = [float(part.max()) for part in same.split(tile)]  # what the pixels of the last row show
    flat = min(under) > 0.9 * max(under) and config.head == 1
    roles = float(same[again].sum()), float(back[-2]), float(first[0]), float(three[-4])
    return flat and min(roles) > 0.85 and f"the largest of {pairs / 1000:.0f} thousand weights" in EXAMPLES["long"].says


def last_row(config: Config, head: int = 0) -> torch.Tensor:
    """The weights of the last query in a head, the first unless another is named."""
    query, key = queries_and_keys(config)
    end, one = config.tokens, slice(head, head + 1)
    return head_maps(query[one], key[one], side=64, rows=(end - 1, end), tile=1, stats=False).mean[0, 0]


def finds_its_subject(config: Config) -> bool:
    """Thirteen texts; more than twice as much weight on its own as an even head has there."""
    begins = torch.rand(config.tokens, generator=make_generator(config.seed)) < DOCUMENTS / config.tokens
    own = begins.cumsum(0) == begins.sum()
    texts = int(begins.sum()) + int(not begins[0])
    named = EXAMPLES["documents"].title.startswith("Thirteen texts")
    return texts == 13 and named and float(last_row(config)[own].sum()) > 2 * float(own.float().mean())


def finds_its_copies(config: Config) -> bool:
    """The heaviest eight keys are the copies of the last token, each with over thirty times its even share.

    In the second head the seven before have next to nothing.
    """
    heaviest = last_row(config).topk(8)
    copies = torch.arange(1, 9) * config.tokens // 8 - 1
    none = float(last_row(config, head=1)[copies[:-1]].max()) * config.tokens < 0.01
    found = sorted(heaviest.indices.tolist()) == copies.tolist()
    return found and none and float(heaviest.values[-1]) * config.tokens > 30


def hands_over(config: Config) -> bool:
    """What the second head gives a word is half of the word before, and so is its part of the output; no matrix is large."""
    found = values(config)
    before, given, output = found["x"][:-1, :4], found["context"][config.head, 1:], found["output"][1:, 4:]
    near = torch.allclose(given, before, atol=0.005) and torch.allclose(output, before, atol=0.005)
    return near and config.head == 1 and found["x"].shape == (4, 8) and max(map(torch.numel, found.values())) <= 64


def outrun(versus: CpuGpuSettings) -> bool:
    shipped = recordings.shipped_recordings()
    cpu, gpu = cpu_gpu_series.cpu(versus, shipped), cpu_gpu_series.gpus(versus, shipped)[0]
    (at,) = (ratio for ratio in ratios(cpu, gpu) if ratio.length == 4096)
    named = "H100" in gpu.device and (gpu.dtype, gpu.kind, cpu.dtype) == ("float16", "recorded", "float32")
    return named and "2 cores" in cpu.device and at.alone > 1000 and at.moved < 100


def grew(config: Config) -> bool:
    """An induction head at the end, and none at first."""
    first = Config.of(config.source, layer=config.layer, head=config.head, training_step=0)
    end, begin = (names(each)[each.head] for each in (config, first))
    _, last, every = over_copies(config)
    told = every > 0.95 and last < 0.6 and "the last time" not in EXAMPLES["grown"].says
    return told and config.training_step == 1000 and end == "induction" != begin


def divided_claim(config: Config) -> bool:
    """Five heads continue, all on two layers; what is asked for is the largest group of like heads, and all of it rests."""
    found = {layer: trace(replace(config, layer=layer)) for layer in layers(config.source)}
    numbers = {layer: head_numbers.numbers(t.weights, t.mask, t.texts) for layer, t in found.items()}
    shares = {
        (layer, head): share
        for layer, known in numbers.items()
        for head, share in enumerate(known["induction"].tolist())
    }
    many = {cell for cell, share in shares.items() if share > 0.5}
    alone = all(share < 0.1 for cell, share in shares.items() if cell not in many)
    alike = head_distances.distances(
        torch.cat([head_distances.sample_rows(t.weights, t.mask, len(shares)) for t in found.values()])
    ).groups[0]
    group = [list(shares)[head] for head in alike]
    rests = all(float(numbers[layer]["first"][head]) > 0.9 for layer, head in group)
    return (
        len(shares) == 54 and len(many) == 5 and {layer for layer, _ in many} == {17, 18} and alone
        and len(group) == 3 and rests and (config.layer, config.head) in many
    )  # fmt: skip


HOLDS: dict[str, Callable[[Any], bool]] = {
    "roles": built_claim,
    "induction": continues,
    "real": lambda config: names(config)[config.head] == "induction" and spreads_over_copies(config),
    "division": divided_claim,
    "grown": grew,
    "sink": rests,
    "temperature": flattens,
    "unscaled": passes_hardly_any_gradient,
    "row": in_three_steps,
    "float16": overflows,
    "small": hands_over,
    "blind": lambda config: bool(
        (~trace(config).mask.any(-1)).any() and trace(config).weights[:, ~trace(config).mask.any(-1)].sum() == 0
    ),
    "window": lambda config: reach(config.rule, config.tokens, config.span, config.depth) == (16, 0),
    "packing": packed_claim,
    "alibi": lambda config: distance(config, 0) < 5 < 10 < distance(config, 7),
    "directions": bounded,
    "buckets": buckets,
    "slopes": slopes,
    "fraction": fraction,
    "yarn": yarn,
    "nothing": rests_in_the_sink,
    "everything": weighs_every_key,
    "sparse": keeps_few_keys,
    "between": lies_between,
    "difference": subtracts,
    "gate": closes,
    "channels": closes_channels,
    "forgetting": forgets,
    "fading": stays_sharp,
    "grouped": quarter,
    "leak": lambda config: leaks(config),
    "long": holds_at_any_length,
    "documents": finds_its_subject,
    "refrain": finds_its_copies,
    "gpu": outrun,
}


def distance(config: Config, head: int) -> float:
    weights = trace(config).weights[head, -1]
    return float((weights * torch.arange(config.tokens).flip(0)).sum())


def leaks(config: Config) -> bool:
    """The weights of the print are right, yet an early output changes with a later token; with one head it is right."""
    row, alone = ROWS[config.implementation], replace(config, heads=1)
    if judge(row, case(alone), printed=True).verdict != "agrees":
        return False
    right = judge(row, case(config), printed=True).square
    far = leak(row, case(config), printed=True)
    return right is not None and right.greatest < 1e-9 and far is not None and far > 0.01


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", EXAMPLES)
def test_what_an_example_says_is_so(name):
    assert HOLDS[name](EXAMPLES[name].config)


def test_every_example_has_its_claim_and_there_are_enough():
    assert HOLDS.keys() == EXAMPLES.keys() and len(EXAMPLES) >= 12
    for example in EXAMPLES.values():
        assert example.says.endswith(".") and example.asks.endswith(("?", "."))


PICTURES = [name for name, each in EXAMPLES.items() if isinstance(each.config, Config)]


@pytest.fixture
def preview_alone(monkeypatch):
    """A long sequence is drawn no further than its preview: exact heads of 65,536 tokens take a minute."""
    over = Event()

    def preview(drawing: MapJob) -> None:
        over.wait(SECONDS)
        drawing.end("cancelled")

    monkeypatch.setattr(MapJob, "run", preview)
    yield
    over.set()


@pytest.mark.parametrize("name", sample(PICTURES, is_first(lambda name: EXAMPLES[name].page)))
def test_the_page_of_an_example_shows_it(name, preview_alone):
    example = EXAMPLES[name]
    test = run(ROOT / "pages" / f"{example.page}.py", to_query(example.config))
    assert not test.exception and not test.warning and not test.error
    assert (
        from_query({key: value if isinstance(value, str) else value[-1] for key, value in test.query_params.items()})[0]
        == example.config
    )


def card_links(test: AppTest) -> dict[str, Any]:
    return {each.proto.label: each for each in test.get("page_link") if "card=" in each.proto.query_string}


def test_the_cards_lead_where_they_say():
    menu = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS).run()
    menu.switch_page("pages/examples.py").run()
    test = menu.button(key="section all").click().run()
    assert not test.exception
    links = card_links(test)
    assert [label.replace("\\", "") for label in links] == [card.example.title for card in gallery().values()]
    for card, link in zip(gallery().values(), links.values(), strict=True):
        query = dict(parse_qsl(link.proto.query_string, keep_blank_values=True))
        opened = VERSUS.from_query if card.example.page == "timing" else from_query
        assert opened(query) == (card.example.config, []) and query["card"] == card.name
    said = [caption.value.replace("\\", "") for caption in test.caption]
    assert all(card.finding in said for card in gallery().values())


def test_a_button_shows_the_cards_of_one_page():
    test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS).run().switch_page("pages/examples.py").run()
    test.selectbox(key="about").set_value("all").run().button(key="only masks").click().run()
    assert not test.exception and test.selectbox(key="about").value == "masks"
    titles = [card.example.title for card in gallery().values() if card.example.page == "masks"]
    assert [label.replace("\\", "") for label in card_links(test)] == titles and titles


def test_a_thumbnail_is_as_opaque_as_its_weights_and_hatched_where_they_are_masked():
    weights, mask = torch.tensor([[1.0, 0.5], [0.0, 0.25]]), torch.tensor([[True, True], [True, False]])
    image, half = thumbnail(weights, mask).astype(int), SIDE // 2
    assert image.shape == (SIDE, SIDE, 4)
    assert [image[at][3] for at in ((0, 0), (0, half), (half, 0))] == [255, 128, 0]
    assert (image[:half, :, :3] == rgb(INKS[0])).all(), "one colour"
    assert {tuple(each) for each in image[half:, half:].reshape(-1, 4)} == {
        (*rgb(INKS[2]), round(255 * opacity)) for opacity in HATCH
    }
    large = torch.rand(1000, 1000)
    assert max(thumbnail(large, large >= 0).shape) <= SIDE
    large[999, 0] = -2
    negative = thumbnail(large, large > 0.5, signed=True), thumbnail(large / 2, large > -3, signed=True)
    assert [image[-1, 0].tolist() == [*rgb(INKS[1]), 255] for image in negative] == [False, True]


def test_a_thumbnail_of_a_page_has_the_colours_of_its_maps():
    weights, mask = torch.tensor([[1.0, 0.0], [-1.0, 0.25]]), torch.tensor([[True, True], [True, False]])
    for page, colors in theme.WEIGHTS.items():
        image, half = page_thumbnail(weights, mask, page, signed=True).astype(int), SIDE // 2
        corners = [tuple(image[at]) for at in ((0, 0), (0, half), (half, 0))]
        ends = (colors[-1], colors[0], theme.NEGATIVE[page][-1])
        assert corners == [(*rgb(color), 255) for color in ends]
        assert (image[half:, half:] == thumbnail(weights, mask)[half:, half:]).all(), "the hatch"


def test_the_example_of_timing_opens_its_picture():
    test = run(
        ROOT / "pages" / "timing.py", {EDITION: str(len(VERSUS.editions)), **VERSUS.to_query(EXAMPLES["gpu"].config)}
    )
    assert not test.exception and not test.warning
    assert any(" an H100 in float16 is " in text.value.replace("\\", "") for text in test.markdown)


def test_lines_fall_and_rise_in_a_thumbnail():
    image = lines([[(1, 100.0), (100, 10_000.0)], [(1, 1.0), (100, 1.0)]]).astype(int)
    assert image.shape == (SIDE, SIDE, 4)
    ground, rising, flat = image[0, 0], image[EDGE, SIDE - EDGE], image[SIDE - EDGE, SIDE // 2]
    assert [*map(tuple, (rising, flat))] == [(*rgb(color), 255) for color in LINES[:2]] and ground[3] == 0
