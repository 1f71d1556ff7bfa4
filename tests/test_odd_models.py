"""Models that are built otherwise than most: what can be shown of them is, what can't be is named, and nothing is guessed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from attention.models import catalogue, config_fields, inputs, loading
from attention.models.catalogue import Offer
from attention.models.labels import of_patches
from attention.models.loading import Model
from attention.models.packages import ModelError
from attention.models.parts import every
from attention.models.run import Run, _arguments, expected_calls, run, size
from attention.ui.jobs.model_jobs import LOADED_MODELS, Ask, ModelJob
from tests.test_models import GIGABYTE, load_model
from tests.tiny_models import ODD, TEXT, letters, write_model


@pytest.fixture(scope="session")
def folders(tmp_path_factory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("odd")
    return {kind: write_model(kind, base / kind) for kind in ODD}


def run_model(model: Model, text: str = TEXT) -> Run:
    return run(model, text, "", None, lambda share: None)


def own(model: Model) -> tuple[torch.Tensor, ...]:
    """What the model itself says of its weights."""
    with torch.no_grad():
        return model.net(
            **_arguments(model, inputs.model_inputs(model, TEXT, "", None)), output_attentions=True
        ).attentions


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore:attention.watch can't see 2 layers")  # of XLNet, which are read from its output
@pytest.mark.parametrize("kind", ["xlnet", "t5_encoder", "beit", "siglip", "yolos", "roberta"])
def test_layers_of_the_tokens_are_shown_as_the_model_computes_them(kind, folders):
    model = load_model(folders[kind])
    found, theirs = run_model(model), own(model)
    (part,) = found.parts.values()
    mine = list(every(part.stack))
    assert len(mine) == model.config.num_hidden_layers and part.whole
    for ours, its in zip(mine, theirs, strict=False):
        assert ours.std() > 0.02 and float((ours - its[0]).abs().max()) <= 1e-5


def test_one_odd_layer_is_left_out_by_its_name(folders):
    found = run_model(load_model(folders["siglip"]))
    (note,) = found.notes
    assert note.startswith("Left out: ") and "head.attention" in note and "other pieces than its tokens" in note


@pytest.mark.filterwarnings("ignore:attention.watch can't see 2 layers")
def test_windows_are_not_taken_for_the_whole_picture(folders):
    with pytest.raises(
        ModelError, match=r"^Left out: layers 0, 1\. The model gives weights of \(16, 2, 16, 16\), \(4, 4, "
    ):
        run_model(load_model(folders["swin"]))


def test_marks_after_the_patches_are_named_there(folders):
    queries = run_model(load_model(folders["yolos"])).parts[""].queries
    assert queries.texts[:2] == ("[CLS]", "1, 1") and queries.texts[16:19] == ("4, 4", "[mark 2]", "[mark 3]")
    assert [at for at, mark in enumerate(queries.special) if mark] == [0, *range(17, 22)]
    assert of_patches(5, 2, 2).texts[0] == "[CLS]" and of_patches(4, 2, 2, after=3).texts == (
        "1, 1",
        "1, 2",
        "2, 1",
        "2, 2",
    )


def test_a_vocabulary_of_patches_asks_for_no_tokenizer(folders):
    assert catalogue.peek(Offer("x", str(folders["beit"]), catalogue.FOLDER)) == catalogue.PICTURE
    assert load_model(folders["beit"]).tokenizer is None


def test_positions_that_are_not_for_tokens_do_not_count(folders):
    found = run_model(load_model(folders["roberta"]), "the street " * 20)
    assert len(found.parts[""].queries) == 20 and "this model reads the first 20." in found.notes[0]


def test_weights_that_no_file_has_are_not_made_up(folders, tmp_path):
    """The library would begin them with random numbers, and say so in a log."""
    shutil.copytree(folders["roberta"], tmp_path / "x")
    file = tmp_path / "x" / "model.safetensors"
    weights = load_file(file)
    gone = next(name for name in weights if name.endswith("layer.1.attention.self.query.weight"))
    save_file(
        {name: each for name, each in weights.items() if name != gone},
        tmp_path / "x" / "model.safetensors",
        {"format": "pt"},
    )
    with pytest.raises(
        ModelError, match=rf"lack 1 of its weights, such as .*{gone[-20:]}: its attention would be random"
    ):
        load_model(tmp_path / "x")
    pooler = [name for name in weights if "pooler" in name]
    save_file(
        {name: each for name, each in weights.items() if name not in pooler},
        tmp_path / "x" / "model.safetensors",
        {"format": "pt"},
    )
    assert pooler and len(run_model(load_model(tmp_path / "x")).parts) == 1  # nothing that attention follows from


def test_half_of_a_model_in_two_halves_is_read_as_that(folders, tmp_path):
    """Also if its config is that of the whole."""
    shutil.copytree(folders["t5_encoder"], tmp_path / "x")
    config = json.loads((tmp_path / "x" / "config.json").read_text())
    (tmp_path / "x" / "config.json").write_text(json.dumps(config | {"is_encoder_decoder": True}))
    model = load_model(tmp_path / "x")
    assert model.reads == loading.TEXT and list(run_model(model).parts) == [""]


def test_a_tokenizer_of_another_model_is_told(folders, tmp_path):
    shutil.copytree(folders["roberta"], tmp_path / "x")
    cut = letters(tmp_path / "x", bos_token="<s>", eos_token="</s>", pad_token="<s>")
    cut.add_tokens(["street"])
    cut.save_pretrained(tmp_path / "x")
    with pytest.raises(ModelError, match=r"the model has tokens up to 3..: they do not belong together"):
        run_model(load_model(tmp_path / "x"))


NONSENSE = [None, -1, 0, True, "many", [], {}, 1e30, float("nan"), [None, "x"], 2.5]


@pytest.mark.parametrize("value", NONSENSE, ids=repr)
def test_no_field_of_a_config_is_trusted(value, folders):
    """Whatever fields say that are not needed to build the model: it is read, and its size is guessed at from its weights."""
    model = load_model(folders["roberta"])
    for name in ("max_position_embeddings", "num_hidden_layers", "num_attention_heads", "hidden_size", "n_positions"):
        model.config.__dict__[name] = value
    model.tokenizer.model_max_length = value
    assert inputs.limit(model) == 20 and expected_calls(model) == 1
    assert size(model, inputs.model_inputs(model, TEXT, "", None)) > 0
    assert len(list(every(run(model, TEXT, "", None, lambda share: None).parts[""].stack))) == 3


class Raises:
    """A config whose field can't be computed."""

    @property
    def depths(self) -> int:
        raise ValueError("it has several parts")


def test_fields_are_sizes_or_nothing():
    assert config_fields.sizes(SimpleNamespace(num_heads=[2, 4], n_head=8), "depth", "num_heads", "n_head") == [2, 4]
    assert config_fields.sizes(SimpleNamespace(num_heads="x", n_head=8.0), "num_heads", "n_head") == [8]
    assert config_fields.sizes(Raises(), "depths") == []
    assert [config_fields.pair(each) for each in (8, (4, 6), [8], (1, 2, 3), "8", None)] == [
        (8, 8), (4, 6), (8, 8), None, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "error", [RuntimeError("mat1 and mat2 shapes\n cannot be multiplied"), MemoryError(), KeyError("x")]
)
def test_whatever_fails_is_told_with_what_failed(error, folders, monkeypatch, caplog):
    def fails(*_: Any) -> Any:
        raise error

    offer = Offer("Ours", str(folders["roberta"]), catalogue.FOLDER)
    task = ModelJob(Ask(offer, TEXT, "", b"", GIGABYTE))
    task.look("somebody")
    assert task.begin()
    monkeypatch.setattr("attention.ui.jobs.model_jobs.run", fails)
    task.run()
    LOADED_MODELS.give_back(GIGABYTE)
    said = " ".join(str(error).split())
    assert task.state == "failed" and str(folders["roberta"]) not in task.said
    assert (
        task.said
        == f"“Ours” can't be shown. It failed while running the model: {type(error).__name__}{f': {said}' * bool(said)}"
    )
    assert "could not be run" in caplog.text
