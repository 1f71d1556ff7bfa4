"""Maps against the full matrix in float64, over all masks, shapes, tiles and windows."""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from time import sleep
from typing import Any, NamedTuple

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from attention import Cancelled, HeadMaps, head_maps
from attention.heads import row_entropy
from attention.maps import jobs, sizes, zoom
from attention.maps.checks import POOLS
from attention.maps.exact import each_head
from attention.masks import MASKS, Rule, causal, documents
from attention.operations.query_scale import QUERY_SCALES
from attention.operations.softmax import SOFTMAXES, takes_sinks
from attention.operations.thresholds import threshold_by_bisection
from tests.mass import mass_by_distance
from tests.position_oracle import bias
from tests.samples import examples
from tests.softmax_oracle import NO_DISTRIBUTIONS, POWERS, weights_of
from tests.strategies import normal, seeds
from tests.unchecked import without_checks

laws = settings(deadline=None, max_examples=examples(50))


class Case(NamedTuple):
    """What goes into a map."""

    query: Tensor
    key: Tensor
    mask: str | Rule
    options: dict[str, Any]


@st.composite
def cases(draw: st.DrawFn, whole: bool = False) -> Case:
    """Any inputs of small size, masks alone and combined, all options; `whole`: no windows."""
    n, heads = draw(st.integers(1, 60)), draw(st.sampled_from([1, 2, 4]))
    groups = draw(st.sampled_from([size for size in (1, 2, 4) if heads % size == 0]))
    d, seed = draw(st.integers(1, 6)), draw(seeds)
    mask = draw(st.sampled_from(list(MASKS)))
    rule = MASKS[mask] & MASKS[draw(st.sampled_from(list(MASKS)))] if draw(st.booleans()) else mask
    options = {
        "span": draw(st.integers(1, n + 3)),
        "scale": draw(st.sampled_from([None, 1.0, 20.0])),
        "side": draw(st.integers(1, n + 5)),
        "pool": draw(st.sampled_from(list(POOLS))),
        "positions": draw(st.sampled_from(["none", "alibi", "alibi bloom", "t5", "t5 causal"])),
        "softcap": draw(st.sampled_from([None, 3.0])),
        "query_scale": draw(st.sampled_from(QUERY_SCALES)),
        "softmax": draw(st.sampled_from(list(SOFTMAXES))),
    }
    if takes_sinks(options["softmax"]):
        options["sinks"] = normal(seed + 2, heads).tolist()
    if options["softmax"] == "differential":
        d, options["sinks"] = 2 * d, [abs(each) % 1 for each in options["sinks"]]
    for name in () if whole or not draw(st.booleans()) else ("rows", "cols"):
        ends = sorted(draw(st.lists(st.integers(0, n), min_size=2, max_size=2, unique=True)))
        options |= {name: tuple(ends), "tile": draw(st.sampled_from([None, 3]))}
    return Case(normal(seed, heads, n, d), normal(seed + 1, groups, n, d), rule, options)


def full(case: Case) -> tuple[Tensor, Tensor]:
    """All weights in float64 and the number of each row that they follow from, straight from the formula."""
    if case.options["softmax"] == "differential":
        each = zip(case.query.chunk(2, -1), case.key.chunk(2, -1), strict=True)
        plain = {**case.options, "softmax": "standard", "sinks": [0.0] * len(case.query)}
        (one, lse), (two, _) = (full(Case(q, k, case.mask, plain)) for q, k in each)
        return one - torch.tensor(case.options["sinks"], dtype=torch.float64)[:, None, None] * two, lse
    q, k, options = case.query.double(), case.key.double(), case.options
    heads, n = q.shape[:2]
    scores = q @ k.repeat_interleave(heads // len(k), 0).mT * (options["scale"] or 1 / math.sqrt(q.shape[2]))
    rule = case.mask if isinstance(case.mask, Rule) else MASKS[case.mask]
    visible = rule.square(n, n, options["span"])
    if options["query_scale"] == "log n":
        scores = scores * visible.sum(-1).clamp(min=1).double().log()[:, None]
    if options["softcap"]:
        scores = options["softcap"] * torch.tanh(scores / options["softcap"])
    scores = scores + bias(options["positions"], heads, n, n)
    scores = scores.masked_fill(~visible, -math.inf)
    softmax, sinks = options["softmax"], options.get("sinks", [0.0] * heads)
    return weights_of(scores, softmax, sinks), statistic_of(scores, softmax, sinks)


def statistic_of(scores: Tensor, softmax: str, sinks: list[float]) -> Tensor:
    """The logarithm of each row's denominator, its threshold, or what is subtracted from every score."""
    own = torch.tensor(sinks, dtype=torch.float64)[:, None]
    if softmax == "sigmoid":
        return own.expand(scores.shape[:2])
    if softmax in POWERS:
        found = threshold_by_bisection(scores, POWERS[softmax])[..., 0]
        return found.masked_fill(scores.isinf().all(-1), math.inf)
    lse = scores.logsumexp(-1)
    return lse if softmax == "standard" else torch.logaddexp(lse, own)


def pool_by_definition(weights: Tensor, tile: int, pool: str) -> Tensor:
    """Tile by tile, as the definition has it; of weights of both signs, the largest by its size."""

    def extreme(part: Tensor, dim: tuple[int, int]) -> Tensor:
        most, least = part.amax(dim), part.amin(dim)
        return torch.where(-least > most, least, most)

    reduce = torch.mean if pool == "mean" else extreme
    rows = [[reduce(part, (1, 2)) for part in strip.split(tile, 2)] for strip in weights.split(tile, 1)]
    return torch.stack([torch.stack(row, -1) for row in rows], 1)


def near(got: Tensor, want: Tensor, within: float) -> bool:
    return got.shape == want.shape and torch.allclose(got.double(), want.double(), rtol=0, atol=within)


def check(case: Case, within: float = 1e-6, stretched: float = 1e-6) -> None:
    """Pixels within an absolute error, statistics within one that is `stretched` for lengths and large logarithms."""
    weights, lse = full(case)
    maps = head_maps(case.query, case.key, case.mask, **case.options)
    n = case.query.shape[1]
    rows, cols = case.options.get("rows") or (0, n), case.options.get("cols") or (0, n)
    shown = weights[:, slice(*rows)]
    assert maps.tile == (case.options.get("tile") or (1 if "rows" in case.options else -(-n // case.options["side"])))
    for pool in POOLS:
        assert near(maps.pooled_by(pool).pixels, pool_by_definition(shown[:, :, slice(*cols)], maps.tile, pool), within)
    assert maps.pixels.dtype == torch.float32 and maps.pool == case.options["pool"]
    assert near(maps.lse, lse[:, slice(*rows)], stretched)
    distributes = case.options["softmax"] not in NO_DISTRIBUTIONS
    assert near(maps.entropy, row_entropy(shown), stretched) if distributes else maps.entropy.isnan().all()
    assert near(maps.greatest, shown.amax(-1), within)
    apart = (torch.arange(*rows)[:, None] - torch.arange(n)).abs()
    assert near(maps.distance, (shown * apart).sum(-1), stretched) if distributes else maps.distance.isnan().all()


@laws
@given(cases())
def test_every_pixel_and_number_is_that_of_the_full_matrix(case):
    check(case)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks, pieces and jobs so small that small squares have many of each, in float32 as long ones are."""
    small = {"PRECISE": 0, "HEIGHT": 8, "STEP": 5, "SMALLEST": 8 * 11 * 4, "LARGEST": 8 * 11 * 4, "JOB": 0, "BAND": 400}
    for name, value in small.items():
        monkeypatch.setattr(sizes, name, value)


@pytest.mark.usefixtures("small_blocks")
@settings(laws, suppress_health_check=[])
@given(case=cases())
def test_blocks_and_float32_change_nothing_but_the_rounding(case):
    sharp = case.options["scale"] == 20
    within = 2e-5 if sharp else 2e-6
    if case.options["query_scale"] == "log n":  # which multiplies the logits, and so their rounding
        within *= max(1.0, math.log(case.query.shape[1]))
    check(case, within, 1e-3 if sharp else 2e-4)


@laws
@given(cases(whole=True), st.data())
def test_windows_rows_and_diagonals_come_from_the_log_sum_exp(case, data):
    weights, _ = full(case)
    n, q, k = case.query.shape[1], case.query, case.key
    maps = head_maps(q, k, case.mask, **case.options)
    ends = st.lists(st.integers(0, n), min_size=2, max_size=2, unique=True).map(sorted)
    rows, cols = tuple(data.draw(ends)), tuple(data.draw(ends))
    assert near(zoom.window(maps, q, k, rows, cols), weights[:, slice(*rows), slice(*cols)], 1e-6)
    at, behind = data.draw(st.integers(0, n - 1)), data.draw(st.integers(1 - n, n - 1))
    assert near(zoom.row(maps, q, k, at), weights[:, at], 1e-6)
    assert near(zoom.diagonal(maps, q, k, behind), weights.diagonal(-behind, 1, 2), 1e-6)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and pieces of zoomed tiles so small that small windows have many of each."""
    for name, value in {"HEIGHT": 7, "STEP": 5, "BATCH": 7 * 11}.items():
        monkeypatch.setattr(zoom, name, value)


@pytest.mark.usefixtures("small_parts")
@settings(laws, suppress_health_check=[])
@given(case=cases(whole=True), tile=st.integers(1, 70), data=st.data())
def test_tiles_of_any_window_are_pooled_from_its_weights(case, tile, data):
    weights, _ = full(case)
    n, q, k = case.query.shape[1], case.query, case.key
    ends = st.lists(st.integers(0, n), min_size=2, max_size=2, unique=True).map(sorted).map(tuple)
    rows, cols = data.draw(ends), data.draw(ends)
    maps = data.draw(st.sampled_from(list(each_head(q, k, case.mask, **case.options))))
    for pool in POOLS:
        want = pool_by_definition(weights[maps.first : maps.first + 1, slice(*rows), slice(*cols)], tile, pool)
        assert near(zoom.pool_window(maps, q, k, rows, cols, tile, pool), want, 1e-6)


def test_tiles_of_several_heads_at_once_are_those_of_the_map():
    query, key = normal(12, 4, 5000, 8), normal(13, 2, 5000, 8)
    maps = head_maps(query, key, "sinks", 700, side=50)
    for pool in POOLS:
        assert near(
            zoom.pool_window(maps, query, key, maps.rows, maps.cols, 100, pool), maps.pooled_by(pool).pixels, 2e-7
        )


@laws
@given(cases(whole=True))
def test_mass_by_distance_counts_every_pair_once(case):
    weights, _ = full(case)
    n = case.query.shape[1]
    apart = (torch.arange(n)[:, None] - torch.arange(n)).abs()
    edges = [0, *(2**power for power in range(n.bit_length())), 2 * n]
    bins = [(apart >= low) & (apart < high) for low, high in itertools.pairwise(edges)]
    seeing = (weights > 0).any(-1).sum(-1).clamp(min=1)
    want = torch.stack([(weights * some).sum((1, 2)) / seeing for some in bins if some.any()], -1)
    found = mass_by_distance(head_maps(case.query, case.key, case.mask, **case.options), case.query, case.key)
    assert near(found, want, 1e-6)


@pytest.mark.parametrize("softmax", SOFTMAXES)
def test_queries_that_see_nothing_count_in_no_mean_of_mass(softmax):
    q, k = normal(14, 1, 20, 4), normal(15, 1, 20, 4)
    sinks = [0.5] if takes_sinks(softmax) else []
    maps = head_maps(q, k, causal - MASKS["padding"], 15, softmax=softmax, sinks=sinks)
    assert mass_by_distance(maps, q, k).sum().item() == pytest.approx(float(maps.mean.sum()) / 15)


@laws
@given(cases(whole=True))
def test_a_preview_shows_the_middle_query_of_every_tile(case):
    weights, lse = full(case)
    n = case.query.shape[1]
    found = zoom.preview(case.query, case.key, case.mask, **case.options)
    middle = (torch.arange(0, n, found.tile) + found.tile // 2).clamp(max=n - 1)
    for pool in POOLS:
        rows = [pool_by_definition(weights[:, at : at + 1], max(found.tile, 1), pool) for at in middle]
        want = torch.cat([row if row.shape[1] == 1 else row[:, :1] for row in rows], 1)
        assert near(found.pooled_by(pool).pixels, want, 1e-6)
    assert near(found.lse, lse[:, middle], 1e-6) and not found.exact


def test_one_hot_cell_among_millions_stays_visible():
    """Query 1,900 points where only key 700 is: by maximum its tile shows it whole, by mean a share of 1/64."""
    query, key = torch.zeros(1, 2048, 2), torch.zeros(1, 2048, 2)
    query[0, 1900, 0] = key[0, 700, 0] = 10.0
    maps = head_maps(query, key, scale=1.0, side=256)
    assert maps.pooled_by("max").pixels[0, 237, 87].item() == pytest.approx(1)
    assert maps.pixels[0, 237, 87].item() == pytest.approx(1 / 64, rel=0.1)
    assert maps.greatest[0, 1900].item() == pytest.approx(1)
    assert maps.distance[0, 1900].item() == pytest.approx(1200)
    assert maps.entropy[0, 1900].item() == pytest.approx(0, abs=1e-6)


def test_scores_far_from_zero_neither_overflow_nor_vanish():
    query, key = normal(0, 1, 5000, 8) * 30, normal(1, 1, 5000, 8) * 30
    maps = head_maps(query, key, "full", side=50)
    scores = query[0].double() @ key[0].double().T / math.sqrt(8)
    assert float(scores.max()) > 2000
    assert near(maps.mean[0], pool_by_definition(scores.softmax(-1)[None], 100, "mean")[0], 1e-5)
    assert torch.allclose(maps.lse[0], scores.logsumexp(-1), rtol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mask", ["full", "causal", "window", "sinks", "strided", "prefix"])
def test_long_maps_in_float32_agree_with_float64(mask):
    """Past PRECISE tokens: pixels to 1e-6, statistics to one millionth of their scale."""
    query, key = normal(0, 1, 4500, 8), normal(1, 1, 4500, 8)
    short = head_maps(query, key, mask, 300, pool="max")
    exact = head_maps(query.double(), key.double(), mask, 300, pool="max")
    assert exact.mean.dtype == torch.float64 and short.mean.dtype == torch.float32
    assert near(short.mean, exact.mean, 1e-6) and near(short.most, exact.most, 1e-6)
    assert near(short.lse, exact.lse, 2e-6) and near(short.entropy, exact.entropy, 1e-5)
    assert near(short.greatest, exact.greatest, 1e-6) and torch.allclose(short.distance, exact.distance, rtol=1e-5)


def test_combined_rules_and_heads_one_by_one():
    query, key = normal(2, 4, 300, 8), normal(3, 2, 300, 8)
    whole = head_maps(query, key, causal & documents, 32, positions="alibi")
    for at, one in enumerate(each_head(query, key, causal & documents, 32, positions="alibi")):
        assert one.numbers == range(at, at + 1) and one.heads == 4
        assert torch.equal(one.pixels[0], whole.pixels[at]) and torch.equal(one.entropy[0], whole.entropy[at])
        assert torch.equal(
            zoom.window(one, query, key, (5, 90), (0, 80))[0], zoom.window(whole, query, key, (5, 90), (0, 80))[at]
        )


def test_heads_that_there_are_already_are_left_out_and_count_as_done():
    query, key, shares = normal(2, 4, 300, 8), normal(3, 2, 300, 8), []
    options = {"side": 32, "positions": "alibi"}
    every = list(each_head(query, key, causal, **options))
    rest = list(each_head(query, key, causal, begun=3, progress=shares.append, **options))
    assert [one.numbers for one in rest] == [range(3, 4)] and torch.equal(rest[0].pixels, every[3].pixels)
    assert min(shares) > 0.75 and shares[-1] == 1


@pytest.mark.usefixtures("small_blocks")
def test_an_executor_changes_nothing():
    query, key = normal(4, 2, 100, 4), normal(5, 2, 100, 4)
    with ThreadPoolExecutor(2) as pool:
        assert same(head_maps(query, key, executor=pool), head_maps(query, key))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("tile", [4, 3])
def test_what_another_process_has_computed_is_drawn_as_well(tile):
    """It can't draw where the caller's threads would. Tiles of 4 end where blocks of 8 rows do, those of 3 do not."""

    class Elsewhere(Executor):
        def submit(self, call: Callable, job: Any) -> Future:  # type: ignore[override]
            sent, found = pickle.dumps(job), Future()
            found.set_result(pickle.loads(pickle.dumps(call(pickle.loads(sent)))))
            return found

    query, key = normal(4, 2, 100, 4), normal(5, 2, 100, 4)
    with without_checks():
        assert same(head_maps(query, key, tile=tile, executor=Elsewhere()), head_maps(query, key, tile=tile))


@pytest.mark.usefixtures("small_blocks")
def test_whoever_waits_while_a_job_has_failed_does_not_look_all_the_time(monkeypatch):
    looks, begun, wait = [], itertools.count(), jobs.wait

    def failing(job: Any) -> None:
        if next(begun) == 0:
            sleep(3 * jobs.PATIENCE)
        raise OSError("lost")

    monkeypatch.setattr("attention.maps.exact.pool_rows", failing)
    monkeypatch.setattr(jobs, "wait", lambda *given: looks.append(given) or wait(*given))
    with ThreadPoolExecutor(2) as pool, pytest.raises(OSError, match="lost"):
        head_maps(normal(4, 1, 40, 4), normal(5, 1, 40, 4), executor=pool)
    assert len(looks) <= 5


@pytest.mark.parametrize("tile", [1, 2, 3])
def test_heads_may_be_asked_for_in_one_mode_and_in_another(tile):
    query, key = normal(4, 2, 300, 8), normal(5, 2, 300, 8)
    heads = each_head(query, key, tile=tile)
    with torch.inference_mode():
        first = next(heads)
    for found, at in ((first, 0), (next(heads), 1)):
        assert near(found.mean[0], head_maps(query[at : at + 1], key[at : at + 1], tile=tile).mean[0], 1e-12)


def same(one: HeadMaps, other: HeadMaps) -> bool:
    names = ("mean", "most", "lse", "entropy", "greatest", "distance")
    return all(torch.equal(getattr(one, name), getattr(other, name)) for name in names)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("workers", [0, 2])
def test_progress_ends_at_one_and_cancelling_stops_between_blocks(workers):
    query, told = normal(6, 2, 100, 4), []
    pool = ThreadPoolExecutor(workers) if workers else None
    head_maps(query, query, executor=pool, progress=told.append)
    assert told == sorted(told) and told[-1] == 1 and len(told) > 8
    begun = []
    with pytest.raises(Cancelled):
        head_maps(query, query, executor=pool, progress=begun.append, cancelled=lambda: len(begun) >= 3)
    assert len(begun) == 3


def test_whoever_has_an_executor_draw_waits_with_no_thread_of_torch_beside_it():
    """Also where it is cancelled; without one the caller's threads draw, all of them."""
    usual, seen = torch.get_num_threads(), []
    query = normal(7, 2, 9, 2)

    def told(_: float) -> bool:
        seen.append(torch.get_num_threads())
        return False

    torch.set_num_threads(2)
    try:
        with ThreadPoolExecutor(1) as pool:
            head_maps(query, query, executor=pool, progress=told)
            with pytest.raises(Cancelled):
                head_maps(query, query, executor=pool, cancelled=lambda: True)
        assert set(seen) == {1} and torch.get_num_threads() == 2
        head_maps(query, query, progress=told)
        assert seen[-1] == 2
    finally:
        torch.set_num_threads(usual)


def test_cancelling_drops_what_an_executor_has_not_begun():
    class Never:
        futures: list[Future] = []  # noqa: RUF012 (a class for one test)

        def submit(self, *_: object) -> Future:
            self.futures.append(Future())
            return self.futures[-1]

    with without_checks(), pytest.raises(Cancelled):
        head_maps(normal(7, 2, 9, 2), normal(7, 2, 9, 2), executor=Never(), cancelled=lambda: True)
    assert len(Never.futures) == 2 and all(future.cancelled() for future in Never.futures)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mask": "casual"}, "mask='casual' is not one of: full, causal, .*Did you mean 'causal'"),
        ({"pool": "median"}, "pool='median' is not one of: mean, max"),
        ({"softmax": "none"}, "softmax='none' is not one of: standard, plus one"),
        ({"positions": "learned"}, "positions='learned' is not one of: none, sinusoidal, rotary, alibi, alibi bloom"),
        ({"softmax": "sink", "sinks": (1.0,)}, r"sinks=\(1.0,\) are not 2 numbers: softmax='sink' has one per head"),
        ({"sinks": (1.0, 2.0)}, r"sinks=\(1.0, 2.0\) are not 0 numbers: softmax='standard'"),
        ({"side": 0}, "side=0 is not a whole number of at least 1"),
        ({"span": 0}, "span=0 is not a whole number of at least 1"),
        ({"tile": 0}, "tile=0 is not a whole number of at least 1"),
        ({"softcap": -1.0}, "softcap=-1.0 is not a positive number; None"),
        ({"rows": (3, 3)}, r"rows=\(3, 3\) is not a part of 8 tokens"),
        ({"cols": (0, 9)}, r"cols=\(0, 9\) is not a part of 8 tokens"),
    ],
)
def test_what_does_not_fit_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        head_maps(torch.zeros(2, 8, 4), torch.zeros(2, 8, 4), **options)


@pytest.mark.parametrize(
    ("query", "key", "message"),
    [
        (torch.zeros(2, 8, 4), torch.zeros(2, 9, 4), "are not .heads, tokens, channels. of the same tokens"),
        (torch.zeros(8, 4), torch.zeros(8, 4), "are not .heads, tokens, channels."),
        (torch.zeros(3, 8, 4), torch.zeros(2, 8, 4), "2 heads of key don't divide 3 heads of query"),
        (torch.zeros(2, 8, 4).int(), torch.zeros(2, 8, 4).int(), "both must be floating-point"),
    ],
)
def test_shapes_that_do_not_fit_are_named(query, key, message):
    with without_checks(), pytest.raises(ValueError, match=message):
        head_maps(query, key)


def test_a_window_too_large_for_memory_says_which_tile_fits():
    q = torch.zeros(4, 1, 1).expand(4, 40_000, 1)
    with pytest.raises(ValueError, match="over the limit of 268,435,456; tile=5 is within it"):
        head_maps(q, q, rows=(0, 40_000))


def test_previews_and_windows_say_what_they_cannot_do():
    q = normal(8, 1, 20, 4)
    with pytest.raises(ValueError, match="preview has no log-sum-exp"):
        zoom.window(zoom.preview(q, q), q, q, (0, 4), (0, 4))
    with pytest.raises(ValueError, match=r"are a window, rows \(2, 9\)"):
        zoom.diagonal(head_maps(q, q, rows=(2, 9)), q, q, 1)
    with pytest.raises(ValueError, match="are not a window of these maps"):
        zoom.window(head_maps(q, q, rows=(2, 9)), q, q, (0, 4), (0, 4))
    with pytest.raises(ValueError, match="are not a window of these maps"):
        zoom.pool_window(head_maps(q, q), q, q, (0, 21), (0, 4), 2)
    with pytest.raises(ValueError, match="pool='median' is not one of"):
        zoom.pool_window(head_maps(q, q), q, q, (0, 4), (0, 4), 2, "median")
    with pytest.raises(ValueError, match="tile=0 is not a whole number"):
        zoom.pool_window(head_maps(q, q), q, q, (0, 4), (0, 4), 0)
    with pytest.raises(ValueError, match="behind=20 leaves the square"):
        zoom.diagonal(head_maps(q, q), q, q, 20)
    with pytest.raises(ValueError, match="was not computed with these maps"):
        head_maps(q, q, stats=False).pooled_by("max")


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused_by_place(wrong):
    """Also those of tokens that a mask hides: a sum with them is no number."""
    q = normal(9, 2, 40, 4)
    q[1, 30:] = wrong
    for mask in ("padding", "full"):
        with pytest.raises(ValueError, match=rf"key\[1, 30, 0\]={wrong} is not finite; set what is padding to 0"):
            head_maps(normal(10, 2, 40, 4).abs(), q, mask, 16)


def test_gradients_and_half_precision_are_taken_as_they_come():
    q = normal(9, 1, 30, 4)
    wanted = head_maps(q, q)
    assert same(head_maps(q.clone().requires_grad_(), q), wanted)
    assert torch.equal(zoom.diagonal(wanted, q.clone().requires_grad_(), q, 1), zoom.diagonal(wanted, q, q, 1))
    assert near(head_maps(q.bfloat16(), q.bfloat16()).mean, wanted.mean, 1e-2)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("mask", MASKS)
def test_the_same_on_a_gpu(mask):
    query, key = normal(10, 2, 5000, 16), normal(11, 2, 5000, 16)
    here, there = head_maps(query, key, mask, 64), head_maps(query.cuda(), key.cuda(), mask, 64)
    assert near(there.mean.cpu(), here.mean, 1e-6) and near(there.lse.cpu(), here.lse, 1e-5)
