"""What is sent of words with lines and of a row's output: the numbers of the head in focus, and nobody else's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attention import Config, trace
from attention.components import row_output, word_lines
from attention.tables.rows import labels
from attention.ui import results
from attention.wire.cells import weights
from tests.drawings import header

CONFIG = Config(tokens=30, heads=4, d_model=16, head=2, query=20, mask="window", span=6)
PART = Config(**vars(CONFIG) | {"rows": "15-24", "cols": "5-29"})


def rest(message: bytes, kind: type) -> torch.Tensor:
    """What stands behind the header, as so many numbers."""
    length = int.from_bytes(message[:4], "little")
    return torch.from_numpy(np.frombuffer(message, kind, offset=4 + length + -length % 4).copy())


def sent_message(config: Config, **more: bool) -> bytes:
    return word_lines.message(config, results.heads.lines(config, config.head, config.window), **more)


@pytest.mark.parametrize("config", [CONFIG, PART], ids=["whole", "part"])
def test_the_lines_are_the_weights_of_the_head_in_focus_and_a_masked_pair_is_none(config):
    found, (rows, cols) = trace(config), (slice(*ends) for ends in config.window)
    high, wide = rows.stop - rows.start, cols.stop - cols.start
    codes = rest(sent_message(config), np.uint16)[: high * wide].view(
        high, wide
    )  # what is behind them is keys in sight
    want = found.weights[config.head].masked_fill(~found.mask, torch.nan)[rows, cols]
    torch.testing.assert_close(weights(codes), want, rtol=1 / 1024, atol=1e-7, equal_nan=True)
    told = header(sent_message(config))
    assert (told["heads"], told["queries"], told["keys"], told["tile"]) == (1, *codes.shape, 1)


def test_each_side_has_the_names_of_its_part_and_knows_where_it_begins():
    told, names = header(sent_message(PART)), labels(PART)
    assert (told["first"], told["names"]) == ([15, 5], [names[15:25], names[5:]])
    assert (told["head"], told["query"]) == (2, 20)
    assert not told["all"] and header(sent_message(PART, all_rows=True))["all"]


def test_words_without_text_are_told_by_their_place_alone():
    config = Config(tokens=9, heads=2, d_model=8, input="noise")
    assert header(sent_message(config))["names"] == [[], []]
    found = results.heads.weighted_values(config, 0, 8)
    told = header(row_output.message(config, found))
    assert told["query"] == "query 8" and sorted(told["names"], key=int) == [f"{at}" for at in range(9)]


def test_the_output_travels_as_it_is_with_weights_and_values():
    found = results.heads.weighted_values(CONFIG, 2, 20)
    message = row_output.message(CONFIG, found)
    numbers, told = rest(message, np.float32), header(message)
    count, channels = len(told["names"]), told["channels"]
    assert numbers.tolist() == torch.cat([found.weights, found.values.flatten(), found.output]).tolist()
    assert (channels, len(numbers)) == (4, count + count * channels + channels)
    assert told["names"][0] == f"“{labels(CONFIG)[found.keys[0]]}” ({found.keys[0]})"


def test_keys_that_are_together_are_counted():
    config = Config(tokens=1200, heads=1, d_model=4, mask="full")
    found = results.heads.weighted_values(config.truncated, 0, 3)
    assert header(row_output.message(config.truncated, found))["names"][-1] == "other 1,016"
