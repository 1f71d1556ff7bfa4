"""Speed-up, crossover, growth and roofline, against answers that are known."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention.timing import comparison, result_table
from attention.timing.comparison import CPU, Crossover, SpeedUp, bases, crossover, pairs, slowdowns, speed_ups
from attention.timing.recordings import lines
from tests.timings import GPU, failed_timing, line, lowest, make_timing

LENGTHS = [64, 128, 256, 512, 1024]


def test_a_speed_up_has_the_quartiles_of_both():
    cpu = [make_timing(64, 8.0, lower=6.0, upper=10.0)]
    gpu = [make_timing(64, 2.0, lower=1.0, upper=3.0, to_device=1.0, from_device=1.0, **GPU)]
    assert speed_ups(cpu, gpu) == [SpeedUp(64, ratio=4.0, low=2.0, high=10.0)]
    assert speed_ups(cpu, gpu, transfer=True) == [SpeedUp(64, ratio=2.0, low=6 / 5, high=10 / 3)]


def test_a_speed_up_needs_both_times():
    assert speed_ups(line([64, 128], [1, 1]), [failed_timing(64, **GPU), make_timing(256, **GPU)]) == []


@settings(deadline=None)
@given(st.floats(0.5, 3), st.floats(0.0, 0.4), st.floats(70, 1000))
def test_the_crossover_of_two_power_laws_is_where_they_cross(power, spread, where):
    cpu = line(LENGTHS, [(n / where) ** power for n in LENGTHS], spread)
    gpu = line(LENGTHS, [1.0 for _ in LENGTHS], spread, **GPU)
    found = crossover(speed_ups(cpu, gpu))
    assert found.length == pytest.approx(where)
    off = ((1 + spread) / (1 - spread)) ** (1 / power)
    assert found.low == pytest.approx(max(64, where / off))
    assert found.high == (pytest.approx(where * off) if where * off <= 1024 else None)


def test_transfer_moves_the_crossover():
    cpu = line(LENGTHS, [n / 64 for n in LENGTHS])
    gpu = line(LENGTHS, [1.0] * 5, to_device=1.0, from_device=2.0, **GPU)
    assert crossover(speed_ups(cpu, gpu)).length == pytest.approx(64)
    assert crossover(speed_ups(cpu, gpu, transfer=True)).length == pytest.approx(256)


def test_a_crossover_that_is_none_says_so():
    slower = crossover(speed_ups(line(LENGTHS, [1.0] * 5), line(LENGTHS, [2.0] * 5, **GPU)))
    assert slower.length is None
    assert slower.sentence == "slower at all lengths up to 1,024 tokens"
    faster = crossover(speed_ups(line(LENGTHS, [2.0] * 5), line(LENGTHS, [1.0] * 5, **GPU)))
    assert faster.sentence == "faster from the shortest length on (64 tokens)"
    assert crossover([]) is None


def test_a_crossover_counts_the_last_time_that_it_pays():
    points = [SpeedUp(n, ratio, ratio, ratio) for n, ratio in zip(LENGTHS, [2.0, 0.5, 2.0, 0.5, 2.0], strict=True)]
    assert crossover(points).length == pytest.approx(math.sqrt(512 * 1024))


def test_the_sentence_names_the_range_that_the_uncertainty_leaves():
    assert Crossover(300.4, 200.0, 410.0, 64, 1024).sentence == "faster from about 300 tokens on (200 to 410)"
    assert (
        Crossover(300.0, 64.0, None, 64, 1024).sentence
        == "faster from a length between 64 and 1,024 tokens that these times leave open"
    )


def test_a_crossover_where_both_begin_alike_says_so():
    points = [SpeedUp(n, ratio, ratio, ratio) for n, ratio in zip(LENGTHS, [1.02, 2.0, 3.0, 4.0, 5.0], strict=True)]
    assert crossover(points).sentence == f"about as fast at {LENGTHS[0]:,} tokens and faster beyond"


def test_slowdown_is_against_the_best_of_the_same_case_and_device():
    best, other = make_timing(64, 1.0), make_timing(64, 3.0, implementation="SDPA math")
    longer, gpu = make_timing(128, 5.0), make_timing(64, 0.5, **GPU)
    layer = make_timing(64, 9.0, implementation="nn.MultiheadAttention")
    assert slowdowns([best, other, longer, gpu, layer, failed_timing()]) == {
        best: 1,
        other: 3,
        longer: 1,
        gpu: 1,
        layer: 1,
    }


def test_the_roofline_is_the_lower_of_both_roofs():
    thin = make_timing(median=1e-3, operations=1e6, traffic=1e6, peak_operations=1e12, peak_traffic=1e11)
    thick = make_timing(median=1e-3, operations=1e9, traffic=1e6, peak_operations=1e12, peak_traffic=1e11)
    assert comparison.intensity(thin) == 1
    assert comparison.roofline_bound(thin) == 1e11
    assert comparison.roofline_bound(thick) == 1e12
    assert comparison.rate(thick) == pytest.approx(1e12)
    assert comparison.share(thick) == pytest.approx(1)
    assert comparison.traffic_share(thick) == pytest.approx(0.01)
    assert comparison.share(make_timing(peak_operations=None)) is None
    with pytest.raises(ValueError, match="SDPA at 64 tokens has no time: out of memory: 9 GiB"):
        comparison.rate(failed_timing())
    assert comparison.roofline_bound(make_timing(peak_traffic=None)) is None


def test_devices_are_compared_on_the_same_work():
    lines = {
        "a": [make_timing()],
        "b": [make_timing(**GPU)],
        "c": [make_timing(**GPU, dtype="float16")],
        "d": [make_timing(implementation="SDPA math")],
    }
    assert comparison.across_devices(lines, lambda timing: timing.device == "cpu") == [("a", "b")]


def test_what_did_not_settle_is_left_out_of_an_answer_and_that_is_said():
    slow = [make_timing(64, 9.0, settled=False), make_timing(128, 1.0), make_timing(256, 4.0)]
    fast = line([64, 128, 256], [2.0, 2.0, 2.0], **GPU)
    found = crossover(speed_ups(slow, fast))
    assert found.sentence == "faster from about 181 tokens on; 1 length with unstable times left out"
    assert "unstable" not in crossover(speed_ups(slow[1:], fast)).sentence
    assert crossover(speed_ups(slow[:1], fast)) is None
    (said,) = comparison.crossovers([*slow[:1], *fast])
    assert said.endswith("roughly, as times are unstable at 1 of 1 lengths")
    loose = [make_timing(n, seconds, settled=False) for n, seconds in ((64, 1.0), (128, 4.0))]
    (said,) = comparison.crossovers([*loose, slow[2], *fast])
    assert said.endswith("as times are unstable at 2 of 3 lengths"), "a rough answer says so"


def test_what_was_timed_once_has_no_band():
    once = make_timing(64, 8.0, repeats=1, settled=False)
    assert speed_ups([once], [make_timing(64, 2.0, **GPU)]) == [SpeedUp(64, 4.0, None, None, settled=False)]
    columns = result_table.columns([once])
    assert columns["median, ms"] == [8e3]
    assert columns["quickest, ms"] == columns["lower quartile, ms"] == columns["upper quartile, ms"] == [None]


def test_the_quickest_is_compared_and_lies_between_itself_and_what_it_was_repeated_to():
    cpu, gpu = lowest(64, 8.0, 1.05, load=3.0), lowest(64, 2.0, 1.08, load=5.0, **GPU)
    (found,) = speed_ups([cpu], [gpu])
    assert (found.ratio, found.settled) == (4.0, True)
    assert (found.low, found.high) == (pytest.approx(4 / 1.08), pytest.approx(4 * 1.05))
    assert slowdowns([cpu, lowest(64, 2.0, load=9.0, implementation="SDPA math")])[cpu] == 4.0
    assert comparison.rate(cpu) == cpu.operations / 8.0
    columns = result_table.columns([cpu])
    assert (columns["quickest, ms"], columns["median, ms"]) == ([8e3], [24e3])
    assert (columns["visits"], columns["left alone"]) == ([6], [2])


MIX = {
    "SDPA": {},
    "loop over heads": {},
    "nn.MultiheadAttention": {},
    "MultiHeadAttention of the core": {},
    "core with weights": {"mask": "causal"},
}


def test_implementations_are_compared_where_they_do_the_same_work():
    found = [make_timing(implementation=name, **more) for name, more in MIX.items()]
    assert bases(found) == ["loop over heads", "SDPA", "nn.MultiheadAttention", "MultiHeadAttention of the core"]
    assert pairs(lines(found), "SDPA") == [("SDPA · full", "loop over heads · full")]
    assert pairs(lines(found), "nn.MultiheadAttention") == [
        ("nn.MultiheadAttention · full", "MultiHeadAttention of the core · full")
    ]
    assert pairs(lines(found), "core with weights") == []


def test_nothing_is_offered_to_compare_with_where_nothing_can_be_compared():
    assert (
        bases([])
        == bases(
            [make_timing(), failed_timing(implementation="SDPA math"), make_timing(128, implementation="SDPA math")]
        )
        == []
    )
    assert bases([make_timing(), make_timing(**GPU)]) == [CPU]
    assert bases([make_timing(), make_timing(128, **GPU)]) == []
    for base in bases([make_timing(), make_timing(**GPU), make_timing(implementation="SDPA math")]):
        assert pairs(lines([make_timing(), make_timing(**GPU), make_timing(implementation="SDPA math")]), base)


def test_a_peak_that_a_case_is_above_is_said_to_be_too_low():
    fast = make_timing(median=1e-3, operations=2e9, peak_operations=1e12)
    assert (
        comparison.busy(
            [make_timing(median=1.0), failed_timing(), make_timing(median=1e-9, peak_operations=None, **GPU)]
        )
        == []
    )
    (said,) = comparison.busy([fast, fast, make_timing(**GPU)])
    assert said.startswith("Test CPU, 2 cores, 2 threads: some shares exceed 100%")


def test_why_a_case_has_no_time_stands_early_where_any_has_none():
    columns = result_table.columns([make_timing(64), failed_timing(128)])
    assert list(columns)[:4] == ["line", "tokens", "error", "quickest, ms"]
    assert columns["error"] == ["", "out of memory: 9 GiB"]
    assert "error" not in result_table.columns([make_timing(64)])
