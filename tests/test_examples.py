"""What an example says is so, checked with its numbers; each opens where its card leads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import pytest
import torch
from streamlit.testing.v1 import AppTest

from attention import Config, trace
from attention.analysis import head_distances, head_numbers
from attention.analysis.head_roles import roles
from attention.analysis.mask_reach import reach
from attention.analysis.number_types import compared
from attention.charts.thumbnail import EDGE, SIDE, lines, thumbnail
from attention.codec import from_query, to_query
from attention.config import layers
from attention.examples import EXAMPLES
from attention.inputs import DOCUMENTS, seeded
from attention.maps.exact import head_maps
from attention.published import ROWS
from attention.published.case import case
from attention.published.compare import judged, leak
from attention.sources.stretches import queries_and_keys
from attention.steps.values import values
from attention.timing import recordings, rivals
from attention.timing.verdict import ratios
from attention.timing.versus import VERSUS, Versus
from tests.test_pages import ROOT, SECONDS, run


def names(config: Config) -> list[str]:
    t = trace(config)
    return [role.name if role else "" for role in roles(t.weights, t.mask, t.queries.texts, "word")]


def back(config: Config, head: int) -> float:
    return float(trace(config).weights[head].diagonal(-1).mean())


def overflows(config: Config) -> bool:
    t = trace(config)
    naive = next(each for each in compared(t) if (each.dtype, each.exponent) == ("float16", "naive"))
    sound = next(each for each in compared(t) if (each.dtype, each.exponent) == ("float16", "max-subtracted"))
    return round(float(t.logits[config.head].max())) == 25 and naive.broken == config.tokens and sound.broken == 0


def continues(config: Config) -> bool:
    t, words = trace(config), [text.casefold() for text in trace(config).queries.texts]
    after = [at + 1 for at in range(config.row) if words[at] == words[config.row]]
    return (
        words[config.row] == "the" and len(after) > 1 and float(t.weights[config.head, config.row, after].sum()) > 0.9
    )


def packed(config: Config) -> bool:
    weights = trace(config).weights
    return float(weights[:, 6:12, :6].max()) == 0 and float(weights[:, 6:12, 6:12].sum(-1).min()) > 0.999


def quarter(config: Config) -> bool:
    changed = (trace(config).weights - trace(Config(projections="tied")).weights).abs().max()
    return config.groups / config.heads == 1 / 4 and float(changed) > 0.1


def holds_at_any_length(config: Config) -> bool:
    query, key = queries_and_keys(config)
    maps = head_maps(query[1:2], key[1:2], side=64, rows=(config.tokens - 1, config.tokens), tile=1, stats=False)
    return float(maps.mean[0, 0, -2]) > 0.85


def last_row(config: Config) -> torch.Tensor:
    """The weights of the last query in the first head."""
    query, key = queries_and_keys(config)
    end = config.tokens
    return head_maps(query[:1], key[:1], side=64, rows=(end - 1, end), tile=1, stats=False).mean[0, 0]


def finds_its_subject(config: Config) -> bool:
    """More than twice as much weight on its own text as an even head has there."""
    begins = torch.rand(config.tokens, generator=seeded(config.seed)) < DOCUMENTS / config.tokens
    own = begins.cumsum(0) == begins.sum()
    return float(last_row(config)[own].sum()) > 2 * float(own.float().mean())


def finds_its_copies(config: Config) -> bool:
    """The heaviest eight keys are the copies of the last token, each with over thirty times its even share."""
    heaviest = last_row(config).topk(8)
    copies = torch.arange(1, 9) * config.tokens // 8 - 1
    return sorted(heaviest.indices.tolist()) == copies.tolist() and float(heaviest.values[-1]) * config.tokens > 30


def hands_over(config: Config) -> bool:
    """What the second head gives a word is half of the word before, and so is its part of the output; no matrix is large."""
    found = values(config)
    before, given, output = found["x"][:-1, :4], found["context"][config.head, 1:], found["output"][1:, 4:]
    near = torch.allclose(given, before, atol=0.005) and torch.allclose(output, before, atol=0.005)
    return near and config.head == 1 and found["x"].shape == (4, 8) and max(map(torch.numel, found.values())) <= 64


def outrun(versus: Versus) -> bool:
    cpu, gpu = rivals.cpu(versus, recordings.shipped()), rivals.gpus(versus, [])[0]
    (at,) = (ratio for ratio in ratios(cpu, gpu) if ratio.length == 4096)
    named = (gpu.device, gpu.dtype, gpu.kind, cpu.dtype) == ("H100", "fp16", "published", "float32")
    return named and "2 cores" in cpu.device and at.alone > 1000 > at.moved > 100


def grew(config: Config) -> bool:
    """An induction head at the end, and none at first."""
    first = Config.of(config.source, layer=config.layer, head=config.head, training_step=0)
    end, begin = (names(each)[each.head] for each in (config, first))
    return config.training_step == 1000 and end == "induction" != begin


def divided(config: Config) -> bool:
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
        torch.cat([head_distances.sampled(t.weights, t.mask, len(shares)) for t in found.values()])
    ).groups[0]
    group = [list(shares)[head] for head in alike]
    rests = all(float(numbers[layer]["first"][head]) > 0.9 for layer, head in group)
    return (
        len(shares) == 54 and len(many) == 5 and {layer for layer, _ in many} == {17, 18} and alone
        and len(group) == 3 and rests and (config.layer, config.head) in many
    )  # fmt: skip


HOLDS: dict[str, Callable[[Any], bool]] = {
    "roles": lambda config: names(config)[:3] == ["same word", "one back", "first word"],
    "induction": continues,
    "real": lambda config: names(config)[config.head] == "induction",
    "division": divided,
    "grown": grew,
    "sink": lambda config: float(trace(config).weights[config.head, :, 0].mean()) > 0.9,
    "temperature": lambda config: back(Config(), 1) > 0.9 and back(config, 1) < 0.4,
    "unscaled": lambda config: float(trace(config).weights[0, 2:].amax(-1).mean()) > 0.9,
    "row": lambda config: float(trace(config).weights[config.head, config.row].sum()) == pytest.approx(1),
    "float16": overflows,
    "small": hands_over,
    "blind": lambda config: bool(
        (~trace(config).mask.any(-1)).any() and trace(config).weights[:, ~trace(config).mask.any(-1)].sum() == 0
    ),
    "window": lambda config: reach(config.rule, config.tokens, config.span, config.depth) == (16, 0),
    "packing": packed,
    "alibi": lambda config: distance(config, 0) < 5 < 10 < distance(config, 7),
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
    """The weights of the print are right, yet an early output changes with a later token."""
    row = ROWS[config.implementation]
    right = judged(row, case(config), printed=True).square
    far = leak(row, case(config), printed=True)
    return right is not None and right.greatest < 1e-9 and far is not None and far > 0.01


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_an_example_says_is_so(name):
    assert HOLDS[name](EXAMPLES[name].config)


def test_every_example_has_its_claim_and_there_are_enough():
    assert HOLDS.keys() == EXAMPLES.keys() and len(EXAMPLES) >= 12
    for example in EXAMPLES.values():
        assert example.says.endswith(".") and example.asks.endswith(("?", "."))


SHORT = [name for name, each in EXAMPLES.items() if isinstance(each.config, Config) and each.config.tokens < 2000]


@pytest.mark.parametrize("name", SHORT)
def test_the_page_of_an_example_shows_it(name):
    example = EXAMPLES[name]
    test = run(ROOT / "pages" / f"{example.page}.py", to_query(example.config))
    assert not test.exception and not test.warning and not test.error
    assert (
        from_query({key: value if isinstance(value, str) else value[-1] for key, value in test.query_params.items()})[0]
        == example.config
    )


def test_the_cards_lead_where_they_say():
    menu = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS).run()
    test = menu.switch_page("pages/examples.py").run()
    assert not test.exception
    links = [link for link in test.get("page_link") if link.proto.label.startswith("Open on ")]
    assert len(links) == len(EXAMPLES)
    for name, card in zip(EXAMPLES, links, strict=True):
        query = dict(parse_qsl(card.proto.query_string, keep_blank_values=True))
        opened = VERSUS.from_query if EXAMPLES[name].page == "timing" else from_query
        assert query and opened(query) == (EXAMPLES[name].config, [])
        assert any(EXAMPLES[name].title in text.value for text in test.markdown)


def test_a_thumbnail_has_the_colours_of_its_weights():
    weights, mask = torch.eye(4), torch.ones(4, 4, dtype=torch.bool).tril()
    image = thumbnail(weights, mask).astype(int)
    assert image.shape == (SIDE, SIDE, 3)
    bright, dark, hidden = image[1, 1], image[-2, 1], image[1, -2]
    assert bright.sum() > 500 > 100 > dark.sum() and 100 < hidden.sum() < 500
    large = torch.rand(1000, 1000)
    assert max(thumbnail(large, large >= 0).shape) <= SIDE


def test_the_example_of_timing_opens_its_picture():
    test = run(ROOT / "pages" / "timing.py", VERSUS.to_query(EXAMPLES["gpu"].config))
    assert not test.exception and not test.warning
    assert any(" an H100 (fp16, published) is " in text.value.replace("\\", "") for text in test.markdown)


def test_lines_fall_and_rise_in_a_thumbnail():
    image = lines([[(1, 100.0), (100, 10_000.0)], [(1, 1.0), (100, 1.0)]]).astype(int)
    assert image.shape == (SIDE, SIDE, 3)
    ground, bright, low = image[0, 0], image[EDGE, SIDE - EDGE], image[SIDE - EDGE, SIDE // 2]
    assert bright.sum() > low.sum() > ground.sum()
