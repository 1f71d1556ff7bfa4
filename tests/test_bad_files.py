"""Bad files, each refused with a sentence of its own; mutants of good ones; and no more memory than is stated."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

from attention.array_files.deadline import limited
from attention.array_files.limits import DataError
from attention.imported import detect, pickle_tensors, token_file, torch_file
from attention.imported.reading import Reading, read_stack
from attention.imported.registry import register
from attention.masks import MASKS
from tests.bad_files import BAD, TAKEN, TOKENS, good, laughs, mutants, npz, pt, try_file
from tests.peak_memory import peak_memory

MUTANTS = 1000
MB = 2**20
GROWTH = 20 * MB  # beside twice what a file has


@pytest.fixture(scope="module", autouse=True)
def _all_imported():
    """What is imported and made with the first file is none of another one's memory."""
    assert all(try_file(name, data) for name, data in good())
    try_file("x.npz", npz(weights=np.full((1, 2, 2), np.nan)))


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_with_its_sentence(name):
    file, made, words = BAD[name]
    assert_refused(file, made(), words)
    assert not Path("/tmp/attention-lab-was-here").exists(), "code in a file was run"


def assert_refused(file: str, data: bytes, words: str) -> None:
    with peak_memory() as peak, pytest.raises(DataError) as refusal:
        register(read_stack(detect.arrays(data, file), {}, Reading()).stack)
    assert words in str(refusal.value)
    assert len(str(refusal.value)) < 600 and "weights_only=False" not in str(refusal.value)
    assert peak[0] <= 2 * len(data) + GROWTH


@pytest.mark.parametrize("name", TOKENS)
def test_bad_tokens_are_refused_with_their_sentence(name):
    file, data, words = TOKENS[name]
    with pytest.raises(DataError) as refusal:
        token_file.read_json(data) if file.endswith(".json") else token_file.read_text(data)
    assert words in str(refusal.value)


def test_there_are_as_many_as_were_promised():
    assert len(BAD) + len(TOKENS) >= 40
    assert all(try_file(name, data) for name, data in good())


def test_an_owner_can_switch_files_of_torch_off():
    with pytest.raises(DataError, match="PyTorch files are switched off on this server"):
        detect.arrays(BAD["pt model"][1](), "x.pt", torch_files=False)


def test_mutants_are_read_or_refused_and_nothing_else():
    read_whole = 0
    for name, data in islice(mutants(0), MUTANTS):
        with peak_memory() as peak:
            read_whole += try_file(name, data)
        assert peak[0] <= len(data) + TAKEN, name
    assert 0 < read_whole < MUTANTS


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (list(range(1100)), "Its list of tensors has more than 1,000 steps."),
        (laughs(), "It has lists and dictionaries of more than 1,000 places."),
    ],
)
def test_a_list_of_tensors_is_read_so_far_and_no_farther(more, words, monkeypatch):
    monkeypatch.setattr(pickle_tensors, "OPERATIONS", 1000)
    monkeypatch.setattr(torch_file, "PLACES", 1000)
    assert_refused("x.pt", pt({"weights": torch.eye(3)[None], "more": more}), words)


def test_a_long_mask_that_is_no_rule_is_compared_in_blocks():
    """A rule over all pairs would take eight bytes for each, several times."""
    mask = np.tril(np.ones((3000, 3000), bool))
    mask[1, 2] = True
    q = np.ones((1, 1, 3000, 1), np.float16)
    data = npz(q=q, k=q, mask=mask)
    for _ in range(2):  # the first call also pays for what libraries set up once
        with (
            peak_memory() as peak,
            pytest.raises(DataError, match="1 heads of 3,000 × 3,000 weights are more than this app can show"),
        ):
            register(read_stack(detect.arrays(data, "x.npz"), {}, Reading()).stack)
    assert peak[0] <= 2 * mask.nbytes + GROWTH


@pytest.mark.parametrize("rule", ["causal", "window"])
def test_a_long_mask_that_is_a_rule_is_recognised_in_blocks(rule):
    mask = MASKS[rule].square(3000, 3000, 5).numpy()
    q = np.ones((1, 1, 3000, 1), np.float16)
    data = npz(q=q, k=q, mask=mask)
    peaks = []
    for _ in range(6):  # the first call sets libraries up; pages that the system took back meanwhile count as growth
        with peak_memory() as peak:
            found = register(read_stack(detect.arrays(data, "x.npz"), {}, Reading()).stack)
        peaks.append(peak[0])
    assert found.stack.own["mask"] == rule and found.stack.square is None
    assert min(peaks) <= 2 * mask.nbytes + GROWTH


@pytest.mark.parametrize("number", range(4))
def test_reading_ends_at_its_deadline(number):
    name, data = good()[number]
    with limited(0), pytest.raises(DataError, match="takes longer than files may here"):
        read_stack(detect.arrays(data, name), {}, Reading())


@pytest.mark.parametrize("layers", [1, 24])
def test_a_packed_file_takes_twice_what_it_unpacks_to(layers):
    weights = np.zeros((1, 24, 512, 1024), np.float16)
    weights[..., 0] = 1
    data = npz(**{f"layers.{at}.weights": part for at, part in enumerate(np.split(weights, layers, 1))})
    assert 100 * len(data) < weights.nbytes
    with peak_memory() as peak:
        assert register(read_stack(detect.arrays(data, "x.npz"), {}, Reading()).stack)
    assert peak[0] <= 2 * weights.nbytes + GROWTH
