"""Bad files, each refused with a sentence of its own; mutants of good ones; and no more memory than is stated."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from attention.brought import opening, token_file
from attention.brought.fitting import BroughtError
from attention.brought.held import hold
from attention.brought.reading import Reading, read
from tests.bad_files import BAD, SLOW, TOKENS, good, mutants, tried

MUTANTS = 1000
GROWTH = 100  # MB over all bad files, of which one unpacks to 300 and two say that they have 10,000
GROWN = """
import resource
from tests.bad_files import BAD, good, tried
made = {name: (file, make()) for name, (file, make, _) in BAD.items()}
for name, data in good():
    tried(name, data)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for file, data in made.values():
    assert not tried(file, data)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_with_its_sentence(name):
    file, made, words = BAD[name]
    refused(file, made(), words)


@pytest.mark.parametrize("name", SLOW)
def test_a_bad_file_of_torch_is_refused_by_its_own_process(name):
    file, made, words = SLOW[name]
    refused(file, made(), words)
    assert not Path("/tmp/attention-lab-was-here").exists(), "code in a file was run"


def refused(file: str, data: bytes, words: str) -> None:
    with pytest.raises(BroughtError) as refusal:
        hold(read(opening.arrays(data, file), {}, Reading()).stack)
    assert words in str(refusal.value)
    assert len(str(refusal.value)) < 600 and "weights_only=False" not in str(refusal.value)


@pytest.mark.parametrize("name", TOKENS)
def test_bad_tokens_are_refused_with_their_sentence(name):
    file, data, words = TOKENS[name]
    with pytest.raises(BroughtError) as refusal:
        token_file.read_json(data) if file.endswith(".json") else token_file.read_text(data)
    assert words in str(refusal.value)


def test_there_are_as_many_as_were_promised():
    assert len(BAD) + len(SLOW) + len(TOKENS) >= 40
    assert all(tried(name, data) for name, data in good())


def test_an_owner_can_switch_files_of_torch_off():
    with pytest.raises(BroughtError, match="The owner of this host has switched files of PyTorch off"):
        opening.arrays(SLOW["pt model"][1](), "x.pt", torch_files=False)


def test_mutants_are_read_or_refused_and_nothing_else():
    read_whole = sum(tried(name, data) for name, data in islice(mutants(0), MUTANTS))
    assert 0 < read_whole < MUTANTS


def test_bad_files_take_no_more_memory_than_is_stated():
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", GROWN], cwd=root, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < GROWTH
