"""The program of what was recorded or brought is run beside its file, and computes what the picture shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from attention import Config, head_maps, trace
from attention.imported.registry import register
from attention.knobs import SOURCES
from attention.steps import file_program
from attention.tables import rows as tables
from tests import example_uploads


def ran(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict:
    names: dict = {}
    monkeypatch.chdir(folder)
    exec(text, names)
    return names


def computes(config: Config, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    want = trace(config)
    (folder / file_program.FILE).write_bytes(tables.npz(want))
    found = ran(file_program.source(config), folder, monkeypatch)
    assert torch.allclose(found["weights"], want.weights, atol=2e-6)
    assert "v" not in want.has or torch.allclose(found["context"], want.context, atol=1e-4)


@pytest.mark.parametrize("source", [source for source in SOURCES if source != "generated"])
def test_the_program_of_a_recording_computes_its_weights(source, tmp_path, monkeypatch):
    computes(Config.of(source), tmp_path, monkeypatch)


@pytest.mark.parametrize("name", example_uploads.STACKS)
def test_the_program_of_what_was_brought_computes_its_weights(name, tmp_path, monkeypatch):
    found = example_uploads.holding(name)
    config = Config.of(found.source)
    computes(config, tmp_path, monkeypatch)
    changed = {"temperature": 0.5, "softcap": 9.0, "softmax": "plus one"}
    if found.stack.rules:  # each layer has its own, and no other
        computes(replace(config.of_layer(1), **changed), tmp_path, monkeypatch)
        return
    computes(replace(config, mask="window", span=2, **changed), tmp_path, monkeypatch)
    computes(replace(config, mask="padding", span=3), tmp_path, monkeypatch)


def test_the_call_of_a_long_one_draws_it(tmp_path, monkeypatch):
    found = register(example_uploads.long())
    config = Config.of(found.source, layer=1, mask="window", span=70, temperature=2.0)
    (tmp_path / file_program.FILE).write_bytes(tables.vectors_npz(config))
    maps = ran(file_program.long_source(config, 64), tmp_path, monkeypatch)["maps"]
    assert found.stack.q is not None and found.stack.k is not None
    wanted = head_maps(found.stack.q[1], found.stack.k[1], config.rule, 70, config.logit_scale, side=64, pool="max")
    assert torch.equal(maps.pixels, wanted.pixels)
