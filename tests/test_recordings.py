"""Recordings: back to the last digit, refused by name, and never without the word recorded."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention.timing import recordings
from attention.timing.published import LENGTHS, TOKENS, WIDTH
from attention.timing.recordings import (
    RecordingError,
    Timing,
    files,
    labels,
    lines,
    place,
    read_recording,
    schema,
    write_recording,
)
from attention.timing.sweep import Sweep
from tests.peak_memory import peak_memory
from tests.timings import GPU, failed_timing, make_timing

SECONDS = st.floats(1e-9, 1e6)


def rows(*timings: Timing, **changed) -> str:
    """A file of these timings, the first one's fields changed."""
    found = json.loads(write_recording(timings))
    found["timings"][0].update(changed)
    return json.dumps(found)


@settings(deadline=None)
@given(st.lists(st.tuples(SECONDS, SECONDS, SECONDS, st.floats(0, 1e30), st.integers(0, 2**53)), max_size=5))
def test_a_file_comes_back_to_the_last_digit(numbers):
    timings = [
        make_timing(i + 2, lower=low, median=middle, upper=high, operations=count, peak_bytes=peak, settled=False)
        for i, ((low, middle, high), count, peak) in enumerate(
            (sorted(times), count, peak) for *times, count, peak in numbers
        )
    ]
    timings = [*(replace(timing, settled=timing.spread.is_stable) for timing in timings), failed_timing()]
    back = read_recording(write_recording(timings).encode(), "mine.json")
    assert [replace(timing, source="") for timing in back] == timings
    assert {timing.source for timing in back} == {"mine.json"}


@pytest.mark.parametrize("name", [entry.name for entry in recordings.TRAVELS])
def test_every_field_is_missed_and_refused_by_name(name):
    found = json.loads(write_recording([make_timing()]))
    del found["timings"][0][name]
    if name not in schema.LATER:
        with pytest.raises(RecordingError, match=rf"^timings\[0\]\.{name} is missing\.$"):
            read_recording(json.dumps(found), "x")
    with pytest.raises(RecordingError, match=rf"^timings\[0\]\.{name}=\{{'a': 1\}} is not "):
        read_recording(rows(make_timing(), **{name: {"a": 1}}), "x")


def test_a_recording_of_before_opens_and_is_what_it_was():
    found = json.loads(write_recording([make_timing(), failed_timing(128)]))
    for row in found["timings"]:
        for name in schema.LATER:
            del row[name]
    first, second = read_recording(json.dumps(found), "old.json")
    assert (replace(first, source=""), replace(second, source="")) == (make_timing(), failed_timing(128))
    assert first.settled
    assert first.seconds == first.median


def test_a_line_whose_batch_follows_its_length_is_one():
    along = [make_timing(n, batch=64 // n, tokens=64) for n in (8, 16, 32)]
    assert {label: len(line) for label, line in lines([*along, make_timing(8, batch=2)]).items()} == {
        "SDPA · 64 tokens in all": 3,
        "SDPA · batch 2": 1,
    }


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"quickest": 1.5, "repeated": 2.0}, "timings[0].quickest=1.5 is above lower=1.0 or repeated=2.0; nothing is"),
        ({"quickest": 0.9, "repeated": 0.8}, "timings[0].quickest=0.9 is above lower=1.0 or repeated=0.8; nothing is"),
        ({"repeated": 1.0}, "timings[0].repeated=1.0 has no quickest that it repeats."),
        ({"quickest": 0.0}, "timings[0].quickest=0.0 is not between 1e-12 and 1e+09."),
        ({"quiet": 3, "visits": 2}, "timings[0].quiet=3 is more than its 2 visits."),
        ({"visits": -1}, "timings[0].visits=-1 is not between 0 and "),
        ({"median": -1.0}, "timings[0].median=-1.0 is not between 1e-12 and 1e+09."),
        ({"median": "fast"}, "timings[0].median='fast' is not a number or null."),
        ({"median": True}, "timings[0].median=True is not a number or null."),
        ({"length": 64.5}, "timings[0].length=64.5 is not a whole number."),
        ({"length": 0}, "timings[0].length=0 is not between 1 and 1,048,576."),
        ({"length": 10**30}, f"timings[0].length={10**30} is not between 1 and 1,048,576."),
        ({"settled": 1}, "timings[0].settled=1 is not true or false."),
        ({"repeats": 0}, "timings[0].repeats=0; a time was measured at least once."),
        ({"lower": 2.0}, "timings[0] has lower=2.0, median=1.0, upper=1.0; they are above 0 and rise."),
        ({"upper": None}, "timings[0] has neither an error nor all of lower, median and upper."),
        ({"error": "out of memory"}, "timings[0] has an error and times. Where there is an error, the times are null."),
        ({"error": ""}, "timings[0].error is empty; it needs a reason."),
        ({"threads": 2**60}, f"timings[0].threads={2**60} is not between 1 and 9,007,199,254,740,992."),
        ({"when": "yesterday"}, "timings[0].when='yesterday' is not a date and time like 2026-01-31T12:00:00+00:00."),
        (
            {"device_name": "![x](http://host/p.png)"},
            "timings[0].device_name='![x](http://host/p.png)' is not a name: letters, digits, spaces and . , : ;",
        ),
        ({"device_name": ""}, "timings[0].device_name is empty; it needs a name."),
        ({"median": 0}, "timings[0].median=0 is not between 1e-12 and 1e+09."),
        ({"to_device": -1}, "timings[0].to_device=-1 is not between 0 and 1e+30."),
        ({"dtype": "float8"}, "timings[0].dtype='float8' is not one of: float32, bfloat16, float16."),
        ({"mask": "casual"}, "timings[0].mask='casual' is not one of: full, causal."),
        ({"passes": ""}, "timings[0].passes='' is not one of: forward, forward + backward."),
        (
            {"error": "a\x00b", "median": None},
            "timings[0].error='a\\x00b' is not printable text of at most 300 characters.",
        ),
        ({"speed": 1}, "timings[0].'speed' is not a field of a timing. These are: implementation, device, dtype,"),
    ],
)
def test_a_wrong_field_is_refused_by_name(changed, message):
    with pytest.raises(RecordingError) as refused:
        read_recording(rows(make_timing(), **changed), "x")
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            rows(make_timing(), median=math.nan),
            "timings[0].median=nan is not between 1e-12 and 1e+09.",
        ),
        (rows(make_timing(), upper=-math.inf), "timings[0].upper=-inf is not between 1e-12 and 1e+09."),
        (
            rows(make_timing(), median=1).replace('"median": 1', '"median": 1e999'),
            "timings[0].median=inf is not between 1e-12 and 1e+09.",
        ),
        ("[" * 100_000 + "]" * 100_000, "The file has too many brackets within each other; a recording must not."),
        ('{"a": ' + "1" * 5000 + "}", "The file is not JSON: "),
        ("{", "The file is not JSON: "),
        (b"\xff\xfe", "The file is not JSON: it is not UTF-8 text."),
        (b"\xef\xbb\xbf[]", 'This is not a recording: "format" is not '),
        ("[]", 'This is not a recording: "format" is not '),
        (json.dumps({"format": recordings.FORMAT}), "timings=None is not a list."),
        (
            json.dumps({"format": recordings.FORMAT, "timings": [7]}),
            "timings[0]=7 is not an object with the fields of a timing.",
        ),
        (
            json.dumps({"format": recordings.FORMAT, "timings": [0] * 5_001}),
            "timings has 5,001 entries; 5,000 are allowed.",
        ),
        (" " * 4_500_001, "The file has 4,500,001 bytes; 4,500,000 are allowed."),
        ('{"format": 1, "format": 2}', "The file has 'format' twice in one object; a recording must not."),
    ],
)
def test_what_is_no_recording_is_refused(data, message):
    with pytest.raises(RecordingError) as refused:
        read_recording(data, "x")
    assert str(refused.value).startswith(message)


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200))
def test_any_other_text_is_refused_and_nothing_else_happens(data):
    with pytest.raises(RecordingError):
        read_recording(data, "x")


@pytest.mark.parametrize("source", ["gpu.json", "", "\x00", "<b>", "../../etc/passwd", "a" * 5000, "здесь.json"])
def test_what_was_read_is_recorded_whatever_its_file_is_called(source):
    (timing,) = read_recording(write_recording([make_timing(**GPU)]), source)
    assert "recorded 2026-01-31 (" in timing.origin
    assert timing.origin.startswith("Test GPU")
    assert len(timing.source) <= 100
    assert not set("<>[]!`*\x00") & set(timing.source)


def test_what_is_written_keeps_where_it_was_read_from():
    far = read_recording(write_recording([make_timing(**GPU)]), "gpu.json")
    here, again = read_recording(write_recording([make_timing(), *far]), "both.json")
    assert (here.source, again.source) == ("both.json", "both.json, from gpu.json")
    assert again.origin == "Test GPU, recorded 2026-01-31 (both.json, from gpu.json)"
    (long,) = read_recording(rows(make_timing(), source="x" * 300), "y.json")
    assert long.source.startswith("y.json, from xxx")
    assert len(long.source) == 300


@pytest.mark.parametrize(
    ("changed", "settled"),
    [
        ({}, True),
        ({"lower": 0.5, "upper": 1.5}, False),
        ({"repeats": 1}, False),
        ({"lower": 0.5, "upper": 1.5, "quickest": 0.5, "repeated": 0.54}, True),
        ({"quickest": 0.5, "repeated": 0.56}, False),
        ({"quickest": 0.5}, False),
        ({"median": None, "lower": None, "upper": None, "error": "out of memory"}, False),
    ],
)
def test_that_a_spread_settled_is_not_believed(changed, settled):
    assert read_recording(rows(make_timing(), settled=True, **changed), "x")[0].settled is settled
    old = "quickest" not in changed  # of which quartiles tell, whatever was made of them then
    assert read_recording(rows(make_timing(), settled=False, **changed), "x")[0].settled is (settled and old)


@pytest.mark.parametrize(
    "other", [make_timing(128, 2.0), make_timing(128, device="cuda:1", device_name="Test CPU, 2 cores")]
)
def test_two_that_would_be_one_point_are_refused(other):
    with pytest.raises(
        RecordingError, match=r"^timings\[1\] is the same case as timings\[0\], on a device of the same name"
    ):
        read_recording(write_recording([make_timing(128, device=other.device), other]), "x")
    assert (
        len(
            read_recording(write_recording([make_timing(128), make_timing(128, when="2026-02-01T12:00:00+00:00")]), "x")
        )
        == 2
    )


def test_a_label_says_what_differs_and_where_unless_that_is_said_once_for_all():
    one, other, gpu = make_timing(), make_timing(implementation="SDPA math"), make_timing(**GPU)
    assert labels([one, other])[one] == "SDPA"
    assert place([one, other]) == "Test CPU, 2 cores, 2 threads"
    assert labels([one, make_timing(dtype="bfloat16", heads=4)])[one] == "SDPA · float32 · heads 8"
    assert labels([one, gpu]) == {one: "SDPA · Test CPU, 2 cores, 2 threads", gpu: "SDPA · Test GPU"}
    assert place([one, gpu]) == ""
    (far,) = read_recording(write_recording([make_timing(**GPU)]), "gpu.json")
    assert labels([far])[far] == "SDPA · Test GPU, recorded 2026-01-31 (gpu.json)"
    assert place([far]) == ""


def test_here_and_recorded_are_never_one_line():
    here = make_timing(64)
    (far,) = read_recording(write_recording([make_timing(128)]), "x.json")
    assert {label: [timing.length for timing in line] for label, line in lines([here, far]).items()} == {
        "SDPA · Test CPU, 2 cores, 2 threads": [64],
        "SDPA · Test CPU, 2 cores, 2 threads, recorded 2026-01-31 (x.json)": [128],
    }


def test_a_spreadsheet_gets_no_formulas_and_every_label():
    timings = [
        *read_recording(write_recording([make_timing(implementation="=cmd()", **GPU)]), "x.json"),
        failed_timing(error="-1+1"),
    ]
    first, second = csv.DictReader(io.StringIO(recordings.table(timings)))
    assert first["implementation"] == "'=cmd()"
    assert first["label"] == "'=cmd() · Test GPU, recorded 2026-01-31 (x.json)"
    assert second["error"] == "'-1+1"
    assert float(first["median"]) == 1.0


def test_the_bytes_of_a_file_have_room_for_its_rows():
    third = 1 / 3  # as many digits as a number has
    long = {"operations": third, "traffic": third, "peak_operations": third, "peak_traffic": third, "first": third}
    one = make_timing(
        median=third, spread=0.1, to_device=third, from_device=third, source="a file of another machine.json", **long
    )
    assert 0.8 * files.BYTES < files.ROWS * len(json.dumps(recordings.row(one))) < files.BYTES


def test_what_ships_has_the_sizes_dtypes_masks_and_passes_that_are_claimed_of_it():
    every = recordings.shipped_recordings()
    assert {timing.source for timing in every} == {"epyc-2-cores-2026-11.json", "h100-2026-11.json"}
    shipped = [timing for timing in every if timing.source == "epyc-2-cores-2026-11.json"]
    assert all(timing.device == "cpu" and timing.error is None for timing in shipped)
    papers = [each for each in shipped if (each.batch * each.length, each.heads * each.d_head) == (TOKENS, WIDTH)]
    found: dict[tuple[str, ...], set[tuple[int, int]]] = {}
    for each in papers:
        assert each.implementation == "SDPA"
        found.setdefault((each.passes, each.dtype, each.mask), set()).add((each.length, each.d_head))
    every, some = ({(n, d) for n in lengths for d in (64, 128)} for lengths in (LENGTHS, LENGTHS[:4]))
    masks = "full", "causal"
    assert found == {
        **{("forward", "float32", mask): every for mask in masks},
        **{("forward + backward", dtype, mask): some for dtype in ("float32", "bfloat16") for mask in masks},
        ("forward", "bfloat16", "causal"): some,
        ("forward", "bfloat16", "full"): some - {(4096, 128)},
    }
    rest = [each for each in shipped if each not in papers]
    default = Sweep()
    kinds = {(each.batch, each.heads, each.d_head, each.dtype, each.mask, each.passes) for each in rest}
    assert kinds == {(1, 8, 64, "float32", "full", "forward")}
    assert {each.length for each in rest} == set(default.lengths) and (default.heads, default.d_heads) == ((8,), (64,))
    few = [each for each in shipped if each.repeats < 3]
    assert (len(shipped), len(few), len(rest)) == (131, 21, 60) and not any(each.settled for each in few)


H100 = ("SDPA", "SDPA flash", "SDPA memory-efficient", "SDPA cuDNN", "SDPA math")


def test_the_recording_of_a_gpu_has_what_its_page_claims():
    shipped = [timing for timing in recordings.shipped_recordings() if timing.source == "h100-2026-11.json"]
    assert {timing.device_name for timing in shipped if timing.device != "cpu"} == {"NVIDIA H100 80GB HBM3"}
    assert all((timing.error or "out of memory").startswith("out of memory") for timing in shipped)
    found: dict[tuple, set[int]] = {}
    for each in shipped:
        if each.device != "cpu" and each.error is None and not (each.kv_heads or each.window):
            key = (
                each.tokens,
                each.heads,
                each.d_head,
                each.dtype,
                each.mask,
                each.passes,
                each.queries,
                each.implementation,
            )
            found.setdefault(key, set()).add(each.length)
    to_16k = {2**i for i in range(6, 15)}
    for heads, d, mask, dtype in itertools.product([16], [64, 128], ["full", "causal"], ["float16", "bfloat16"]):
        for name in H100:
            assert to_16k <= found[0, heads, d, dtype, mask, "forward", 0, name], (d, mask, dtype, name)
    for (heads, d), mask, name in itertools.product(
        [(32, 64), (16, 128)], ["full", "causal"], ["SDPA flash", "SDPA cuDNN"]
    ):
        assert found[TOKENS, heads, d, "float16", mask, "forward", 0, name] == set(LENGTHS), (d, mask, name)
        assert {512, 1024, 2048, 4096} <= found[TOKENS, heads, d, "float16", mask, "forward + backward", 0, name]
    assert all(
        {2**i for i in range(6, 14)} <= found[0, 16, 128, "bfloat16", "full", "forward", 1, name] for name in H100
    )


def test_a_string_that_never_ends_is_refused_and_read_once():
    with pytest.raises(RecordingError, match="not JSON"):
        read_recording(('"' + '\\"' * 300_000).encode(), "endless.json")


SAME = '"a":0,'


def test_names_that_come_twice_are_found_in_one_pass():
    with pytest.raises(RecordingError, match="'a' twice in one object"):
        read_recording(f"{{{SAME * 190_000}{SAME[:-1]}}}", "twice.json")


@pytest.mark.parametrize("name", ["%x", r"\"%x\"", r"\\%x", r"\"%x\\\\\""])
def test_different_names_are_counted_before_anything_is_made_of_them(name):
    pairs = [f'"{name % at}" :0' for at in range(190_000)]
    text = f"{{{','.join(pairs)}}}"
    assert len(json.loads(f"{{{','.join(pairs[:9])}}}")) == 9
    with peak_memory() as peak, pytest.raises(RecordingError, match="has more than 100 different names"):
        read_recording(text, "names.json")
    assert peak[0] < len(text)


def test_texts_are_no_names_whatever_is_in_them():
    lost = [failed_timing(64 + at, error=f'no "{at}": "{{0}}": 0, \\"{at}\\": [') for at in range(300)]
    assert [timing.error for timing in read_recording(write_recording(lost).encode(), "x")] == [
        timing.error for timing in lost
    ]


def test_a_long_file_is_ascii():
    text = json.dumps({"format": recordings.FORMAT, "timings": [], "é": " " * 1_000_000}, ensure_ascii=False)
    with pytest.raises(RecordingError, match="bytes, not all of them ASCII; 1,000,000 are allowed then"):
        read_recording(text.encode(), "wide.json")
    assert read_recording(text.replace("é", r"\u00e9").encode(), "narrow.json") == []


def test_what_a_file_has_is_counted_before_anything_is_made_of_it():
    for text in ("[" + "[],".join("" for _ in range(300_000)) + "0]", "[" + "0," * 600_000 + "0]"):
        with (
            peak_memory() as peak,
            pytest.raises(RecordingError, match="more than 200,000 commas and opening brackets"),
        ):
            read_recording(text, "wide.json")
        assert peak[0] < len(text)
