"""Whatever a machine would choose, maps are the same: pieces of any size, either exponential, rows pooled either way."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from torch import Tensor

from attention import HeadMaps, head_maps
from attention.maps import pooling, scoring, sizes, tiles, zoom
from attention.maps.exact import each_head
from attention.masks import causal, documents
from attention.operations.softmax import CONSTANT
from attention.runtime import processor
from tests.samples import sample
from tests.strategies import normal
from tests.test_maps import near

WITHIN = {"mean": 5e-7, "most": 2e-6, "lse": 1e-5, "entropy": 2e-5, "greatest": 2e-6, "distance": 1e-3}
CASES: dict[str, dict[str, Any]] = {
    "plain": {"mask": "full"},
    "small tiles": {"mask": "full", "side": 750},
    "tile of seven": {"mask": "causal", "tile": 7},
    "tile of 36, two of which end in a block": {"mask": "causal", "tile": 36},
    "large tiles": {"mask": "causal", "side": 5},
    "one tile": {"mask": "full", "side": 1},
    "cut often": {"mask": causal & documents, "span": 300},
    "running maxima": {"mask": "window", "span": 900, "scale": 1.5},
    "positions": {"mask": "causal", "positions": "alibi"},
    "softcap": {"mask": "sinks", "softcap": 5.0, "scale": 2.0, "span": 100},
    "one more": {"mask": "local", "softmax": "plus one", "span": 700},
    "window": {"mask": "causal", "rows": (33, 1401), "cols": (125, 1230), "tile": 3},
}


def options_of(cases: dict[str, dict[str, Any]]) -> list[Any]:
    """The options of these cases; those that repeat the kind of another are extended."""
    return sample(cases.values(), lambda options: next(name for name in CASES if CASES[name] is options) in FIRST)


WHOLE = {name: options for name, options in CASES.items() if "rows" not in options}
FIRST = ("plain", "tile of seven", "cut often", "running maxima", "one more", "window")  # of a kind; the rest take long
every_case = pytest.mark.parametrize("options", options_of(CASES), ids=CASES)
every_exponential = pytest.mark.parametrize("name", scoring.EXPONENTIALS)


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if 1,500 tokens were many: in float32, unless they are of float64."""
    monkeypatch.setattr(sizes, "PRECISE", 0)


def inputs(tokens: int = 1500, d: int = 16) -> tuple[Tensor, Tensor]:
    return normal(20, 2, tokens, d), normal(21, 1, tokens, d)


def agree(one: HeadMaps, other: HeadMaps) -> bool:
    return all(near(getattr(one, name), getattr(other, name), within) for name, within in WITHIN.items())


def use(monkeypatch: pytest.MonkeyPatch, exponential: str) -> None:
    monkeypatch.setattr(processor, "exponential", lambda dtype: exponential)


@pytest.mark.sampled(4)
@pytest.mark.usefixtures("long")
@every_case
def test_every_choice_draws_what_float64_draws(monkeypatch, options):
    query, key = inputs()
    exact = head_maps(query.double(), key.double(), **options)
    ways = (0, 1), (10_000, 1), (10_000, 10_000)  # side by side; apart wherever a tile is whole; turned into rows
    for cache, name, (short, lanes) in itertools.product((0, 2**22), scoring.EXPONENTIALS, ways):
        monkeypatch.setattr(processor, "caches", lambda cache=cache: {2: cache} if cache else {})
        monkeypatch.setattr(tiles, "SHORT", short)
        monkeypatch.setattr(tiles, "LANES", lanes)
        use(monkeypatch, name)
        found = head_maps(query, key, **options)
        assert found.mean.dtype == torch.float32 and agree(found, exact), (cache, name, short, lanes)


@pytest.mark.sampled(6)
@pytest.mark.usefixtures("long")
@every_exponential
@pytest.mark.parametrize("options", options_of(WHOLE), ids=WHOLE)
def test_windows_and_previews_are_the_same_by_either_exponential(monkeypatch, options, name):
    def looks(query: Tensor, key: Tensor) -> list[Tensor]:
        maps, seen = head_maps(query, key, **options), zoom.preview(query, key, **options)
        asked = maps, query, key, (9, 300), (2, 310)
        rest = zoom.pool_window(*asked, 1, "max"), zoom.diagonal(maps, query, key, 1)
        return [zoom.window(*asked), *rest, seen.mean, seen.lse]

    query, key = inputs()
    wanted = looks(query.double(), key.double())
    use(monkeypatch, name)
    found = looks(query, key)
    for one, other in zip(found, wanted, strict=True):
        assert near(one, other, 1e-5)


@every_exponential
def test_float64_is_as_exact_by_either_exponential(monkeypatch, name):
    query, key = inputs(700)
    scores = query.double() @ key.double().mT / 4
    use(monkeypatch, name)
    for softmax in CONSTANT:
        found = head_maps(query, key, "full", side=100, softmax=softmax)
        lse = scores.logsumexp(-1) if softmax == "standard" else torch.log1p(scores.exp().sum(-1))
        assert near(found.lse, lse, 1e-12)


@pytest.mark.parametrize(("cache", "piece"), [(None, 2**21), (2**19, 2**21), (5 * 2**20, 5 * 2**19), (2**24, 2**22)])
def test_a_piece_takes_half_of_the_second_cache_within_bounds(monkeypatch, cache, piece):
    monkeypatch.setattr(processor, "caches", lambda: {1: 2**15} | ({2: cache} if cache else {}))
    assert sizes.piece() == piece
    assert sizes.sizes(torch.float32).cells == piece // 4 and sizes.sizes(torch.float64).cells == piece // 8


def test_a_head_makes_jobs_for_all_threads_and_none_too_large():
    assert sizes.job(4096, 4096) == 2**20 and sizes.job(65_536, 65_536) == sizes.BAND
    assert sizes.job(300, 300) == sizes.JOB and sizes.job(16_384, 16_384) * sizes.SHARES == 2**28


@pytest.mark.parametrize("d", [8, 64])
@pytest.mark.parametrize("alike", [False, True])
def test_mild_scores_are_float32_and_weights_as_exact(monkeypatch, d, alike):
    """At the bound, and with equal words, whose scores are rounded alike."""
    query, key = normal(22, 1, 2600, d), normal(23, 1, 2600, d)
    if alike:
        query = key = normal(24, 1, 50, d)[:, torch.arange(2600) % 50]
    query = query * (sizes.MILD / float(query.norm(dim=-1).max() * key.norm(dim=-1).max()))
    options = {"mask": "causal", "scale": 1.0, "pool": "max"}
    asked = scoring.Scoring("causal", 4, 1.0)
    q, k = query[0], key[0]
    assert sizes.working(q * 0.999, k, asked) == torch.float32
    assert sizes.working(q * 1.01, k, asked) == sizes.working(q[:2048], k[:2048], asked) == torch.float64
    mild = head_maps(query * 0.999, key, **options)
    monkeypatch.setattr(sizes, "MILD", 0.0)
    exact = next(each_head(query * 0.999, key, **options))
    assert not torch.equal(mild.lse, exact.lse)
    assert near(mild.mean, exact.mean, 1e-6) and near(mild.most, exact.most, 1e-6)
    assert near(mild.greatest, exact.greatest, 1e-6) and near(mild.lse, exact.lse, 1e-5)


@pytest.mark.parametrize("tile", [3, 17, 36, 250, 300, 1000])
def test_blocks_are_as_tall_whatever_the_tile(monkeypatch, tile):
    """Of 512 rows but for the last: torch reduces those beyond a multiple of its vectors one by one."""
    heights, real = [], pooling.pool_rows

    def spied(job: pooling.RowJob) -> pooling.Pooled:
        heights.extend(stop - start for start, stop in itertools.pairwise(job.blocks.rows))
        return real(job)

    monkeypatch.setattr("attention.maps.exact.pool_rows", spied)
    query, key = inputs()
    found = head_maps(query[:1], key, "causal", tile=tile)
    assert heights == [220, 512, 512, 256]  # from the last rows on; two threads should not begin blocks at once
    shown = zoom.pool_window(found, query[:1], key, (0, 1500), (0, 1500), tile, "max")
    assert near(found.pooled_by("max").pixels, shown, 1e-6)


def test_parts_of_a_preview_and_of_a_zoom_are_as_tall(monkeypatch):
    """Multiples of torch's vectors, but for the last: 192 queries of a preview, 512 of a zoom."""
    looked, zoomed, sample, fold = [], [], zoom._sample, zoom._fold
    monkeypatch.setattr(zoom, "_sample", lambda *given: looked.append(len(given[-1])) or sample(*given))
    monkeypatch.setattr(zoom, "_fold", lambda *given: zoomed.append(given[1].shape[1]) or fold(*given))
    query, key = inputs(2600)
    zoom.preview(query[:1], key, tile=6)
    zoom.pool_window(head_maps(query[:1], key, stats=False), query[:1], key, (0, 600), (0, 100), 7)
    assert sorted(looked) == [50, 192, 192] and zoomed == [512, 88]


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize(("tokens", "tile"), [(8448 // 8, 17), (9216 // 8, 36), (1023, 250), (1025, 255)])
def test_odd_lengths_whose_blocks_end_within_tiles_are_exact(monkeypatch, tokens, tile):
    """Jobs of one block each, whose rows of tiles are joined, and of several."""
    query, key = inputs(tokens)
    exact = head_maps(query.double(), key.double(), "full", tile=tile)
    for cells in (1, sizes.JOB):
        monkeypatch.setattr(sizes, "JOB", cells)
        assert agree(head_maps(query, key, "full", tile=tile), exact)


@pytest.mark.usefixtures("long")
def test_a_tile_that_many_jobs_share_is_summed_as_exactly_as_one(monkeypatch):
    """The mean of all weights is 1 / n, to the step of a float32; parts that are added one by one in float32 miss it."""
    monkeypatch.setattr(sizes, "HEIGHT", 8)
    monkeypatch.setattr(sizes, "JOB", 1)
    query, key = normal(27, 1, 2600, 8), normal(28, 1, 2600, 8)
    (mean,) = head_maps(query, key, "causal", tile=2600, stats=False).mean.flatten().tolist()
    assert mean * 2600 == pytest.approx(1, rel=1e-7)


def test_each_head_is_of_float32_or_float64_by_its_own_scores(monkeypatch):
    """A sharp head makes no mild one slower, and progress counts the jobs of all."""
    query, key, told, dtypes, real = normal(25, 3, 2600, 8), normal(26, 3, 2600, 8), [], {}, pooling.pool_rows

    def spied(job: pooling.RowJob) -> pooling.Pooled:
        dtypes[job.head] = job.query.dtype, job.key.dtype
        return real(job)

    monkeypatch.setattr("attention.maps.exact.pool_rows", spied)
    query[1] *= 10
    every = list(each_head(query, key, "causal", progress=told.append))
    assert {head: found for head, (found, _) in dtypes.items()} == {
        0: torch.float32, 1: torch.float64, 2: torch.float32,
    }  # fmt: skip
    assert all(q == k for q, k in dtypes.values()) and told[-1] == 1 and told == sorted(told)
    alone = next(each_head(query[1:2], key[1:2], "causal"))
    assert torch.equal(every[1].lse, alone.lse)
