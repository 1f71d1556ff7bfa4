"""Why a time did not settle, and how busy its machine was, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attention.timing.convergence import disturbance_sentences, reason, short_reason
from tests.timings import GPU, failed_timing, lowest, make_timing


@pytest.mark.parametrize(
    ("timing", "words", "short"),
    [
        (make_timing(), "", ""),
        (lowest(), "", ""),
        (
            lowest(repeated=None, visits=2, settled=False),
            "unstable: timed twice within the time budget, not 3 times",
            "unstable: timed twice",
        ),
        (
            lowest(repeated=None, visits=0, quiet=0, settled=False),
            "unstable: timed in a first try alone within the time budget, not 3 times",
            "unstable: timed in a first try alone",
        ),
        (
            lowest(repeated=None, visits=12, quiet=1, settled=False),
            "unstable: the machine was busy in 11 of 12 visits",
            "unstable: machine was busy in 11 of 12 visits",
        ),
        (
            lowest(64, 2e-3, 1.25, settled=False),
            "unstable: the three fastest visits are 25% apart",
            "unstable: three fastest visits are 25% apart",
        ),
        (
            make_timing(spread=0.1, settled=False),
            "unstable: the quartiles are 20% of the median apart",
            "unstable: quartiles are 20% of the median apart",
        ),
        (
            make_timing(settled=False, repeats=1),
            "unstable: timed 1 time, and quartiles need 3",
            "unstable: timed 1 time",
        ),
    ],
)
def test_a_time_that_did_not_settle_says_why_and_in_short_beside_its_mark(timing, words, short):
    assert reason(timing) == words and short_reason(words) == short


def test_a_machine_that_was_busy_is_named_with_what_that_means_and_a_way_out():
    here = [lowest(64, quiet=1), lowest(128, quiet=2), lowest(256, repeated=None, quiet=0, settled=False)]
    (said,) = disturbance_sentences([*here, lowest(64, visits=6, quiet=6, **GPU), make_timing(), failed_timing()])
    assert said.startswith("Other programs also ran on Test CPU, 2 cores, 2 threads during 83% of its measurements. ")
    assert "1 of its 3 cases at these settings are unstable: their times are upper bounds. Measure again at a" in said
    (recorded,) = disturbance_sentences([replace(each, source="x.json") for each in here])
    assert recorded.endswith("1 of its 3 cases at these settings are unstable: their times are upper bounds."), (
        "a recording cannot be measured again"
    )
    (fine,) = disturbance_sentences(here[:2])
    assert fine.endswith("All its times are stable nevertheless: each was measured at idle moments, too.")


def test_cases_that_were_never_visited_count_as_not_settled_and_say_nothing_of_the_machine():
    unseen = lowest(512, repeated=None, visits=0, quiet=0, settled=False)
    assert disturbance_sentences([unseen]) == []
    assert "1 of its 2 cases at these settings are unstable" in disturbance_sentences([lowest(64), unseen])[0]


def test_one_thread_is_a_way_out_where_there_were_more():
    loose = lowest(512, repeated=None, quiet=0, settled=False)
    assert "fewer cases, or with one CPU thread, which never waits" in disturbance_sentences([loose])[0]
    assert disturbance_sentences([replace(loose, threads=1)])[0].endswith("a larger time budget or fewer cases.")
    assert "thread" not in disturbance_sentences([replace(loose, **GPU)])[0].replace("Test CPU, 2 cores, 2 threads", "")


@pytest.mark.parametrize("quiet", [19, 20])
def test_a_visit_in_ten_that_was_disturbed_is_not_worth_a_word(quiet):
    assert disturbance_sentences([lowest(visits=20, quiet=quiet)]) == []
