"""Models that run here: what is shown of them is what they compute; hostile and missing ones are told in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor

from attention.models import catalogue, hub, inputs, loading, sizes, summaries
from attention.models.catalogue import Offer
from attention.models.loading import Model, load
from attention.models.packages import ModelError, library, missing
from attention.models.parts import Part, every, square
from attention.models.run import run
from attention.number_format import format_percent
from attention.tracing.parts import CROSS
from tests.tiny_models import KINDS, TEXT, transformers, write_model

GIGABYTE = 10**9
PAIR = "It was too tired!"


@pytest.fixture(scope="session")
def folders(tmp_path_factory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("models")
    return {kind: write_model(kind, base / kind) for kind in KINDS}


@pytest.fixture(scope="session")
def models(folders) -> dict[str, Model]:
    return {kind: load_model(folder) for kind, folder in folders.items()}


def load_model(folder: Path, most: int = GIGABYTE) -> Model:
    return load(Offer(folder.name, str(folder), catalogue.FOLDER), most, lambda size: True, lambda said, share: None)


def run_model(model: Model, text: str = TEXT, second: str = "") -> dict[str, Part]:
    return run(model, text, second, None, lambda share: None).parts


def own(folder: Path, model: Model, second: str = "") -> dict[str, tuple[Tensor, ...]]:
    """What the model itself says of its weights, loaded and asked without any of our code but for its input."""
    kind = transformers.AutoModelForSeq2SeqLM if model.reads == loading.BOTH else transformers.AutoModel
    net = kind.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.no_grad():
        said = net(**inputs.model_inputs(model, TEXT, second, None).tensors, output_attentions=True)
    if model.reads != loading.BOTH:
        return {"": said.attentions}
    return {"Encoder": said.encoder_attentions, "Decoder": said.decoder_attentions, CROSS: said.cross_attentions}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_those_of_the_model_itself(kind, folders, models):
    found, theirs = run_model(models[kind]), own(folders[kind], models[kind])
    assert sum(len(list(every(part.stack))) for part in found.values()) == sum(map(len, theirs.values()))
    for name, part in found.items():
        mine = list(every(part.stack))
        for number, ours in zip(part.stack.numbers or range(len(mine)), mine, strict=True):
            assert ours.std() > 0.02
            assert float((ours - theirs[name if part.whole else ""][number][0]).abs().max()) <= 1e-5, name


@pytest.mark.parametrize(("kind", "mask"), [("bert", "full"), ("gpt2", "causal"), ("llama", "causal"), ("vit", "full")])
def test_queries_and_keys_are_there_where_they_say_all(kind, mask, models):
    stack = run_model(models[kind])[""].stack
    assert stack.weights is None and stack.q is not None and stack.k is not None and stack.v is not None
    assert (stack.own["mask"], stack.own["scale"]) == (mask, "1/sqrt(d_head)")
    assert stack.k.shape[1] == (2 if kind == "llama" else 4)
    assert not models[kind].net.training


def test_layers_with_masks_of_their_own_are_one_part(models):
    """Gemma 2 has windows in every second layer, squeezes its scores, and has a scale that has no name."""
    found = run_model(models["gemma2"])
    assert list(found) == [""]
    stack = found[""].stack
    window, causal = ("window", 3), ("causal", 4)
    assert stack.rules == (window, causal, window) and stack.square is None
    assert stack.own["softcap"] == 2.0 and stack.own["scale"] == "none" and stack.numbers == ()
    assert [int(square(stack, at).sum(-1).max()) for at in range(3)] == [3, len(found[""].keys), 3]
    assert summaries.rollout(found[""]).stack.weights.shape[0] == 3


@pytest.mark.parametrize("kind", ["t5", "deberta"])
def test_weights_alone_are_there_where_queries_and_keys_say_not_all(kind, models):
    for name, part in run_model(models[kind], second=PAIR).items():
        assert (part.stack.q is None) == (name != CROSS), name  # T5 adds nothing between its two sides


def test_a_text_and_what_is_written_have_three_parts(folders, models):
    found = run_model(models["t5"], second=PAIR)
    assert list(found) == ["Encoder", "Decoder", CROSS]
    assert found[CROSS].queries == found["Decoder"].queries and found[CROSS].keys == found["Encoder"].keys
    theirs = own(folders["t5"], models["t5"], PAIR)
    assert float((next(iter(every(found[CROSS].stack))) - theirs[CROSS][0][0]).abs().max()) <= 1e-5
    assert "was" in found["Decoder"].queries.texts and "animal" not in " ".join(found["Decoder"].queries.texts)


def test_what_a_model_writes_by_itself_is_read_as_it_was_written(models):
    found = run(models["t5"], TEXT, "", None, lambda share: None)
    assert 2 <= len(found.parts["Decoder"].queries) <= inputs.WRITTEN + 1
    assert found.notes == ("The text of the decoder was generated: the most probable token at each step.",)


def test_tokens_are_named_as_they_stand_in_the_text(models):
    bert = run_model(models["bert"], second="tired!")[""].queries
    assert bert.texts[:6] == ("[CLS]", "the", "animal", "didn", "'", "t")
    assert bert.texts[-4:] == ("tire", "·d", "!", "[SEP]")
    assert [text for text, mark in zip(bert.texts, bert.special, strict=True) if mark] == ["[CLS]", "[SEP]", "[SEP]"]
    gpt2 = run_model(models["gpt2"])[""].queries
    whole = summaries.words(run_model(models["gpt2"])[""]).queries
    assert "".join(gpt2.texts).replace("·", "") == TEXT.replace(" ", "")
    assert whole.texts == (
        "The",
        "animal",
        "didn't",
        "cross",
        "the",
        "street",
        "because",
        "it",
        "was",
        "too",
        "tired",
        ".",
    )


def test_letters_of_several_bytes_and_of_scripts_without_spaces_keep_apart(models):
    labels = run_model(models["gpt2"], "né 中文字 don't")[""].queries
    assert len(labels) > 8 and not any("中·" in text for text in labels.texts)
    assert len(set(labels.words[-3:])) <= 3


@pytest.mark.parametrize("kind", ["bert", "llama", "vit", "gpt2"])
def test_norms_are_of_values_through_the_output_map(kind, models):
    """Against a product as wide as the model, per head, from the module's own matrices."""
    part, net = run_model(models[kind])[""], models[kind].net
    matrix = {
        "bert": lambda layer: net.encoder.layer[layer].attention.output.dense.weight.T,
        "llama": lambda layer: net.layers[layer].self_attn.o_proj.weight.T,
        "gpt2": lambda layer: net.h[layer].attn.c_proj.weight,
        "vit": lambda layer: dict(net.named_modules())[_output(net, layer)].weight.T,
    }[kind]
    assert part.norms is not None and part.stack.v is not None
    for layer in range(3):
        v = part.stack.v[layer].repeat_interleave(4 // part.stack.v.shape[1], 0)
        wide = torch.stack([v[head] @ matrix(layer)[8 * head : 8 * head + 8] for head in range(4)])
        torch.testing.assert_close(part.norms[layer], wide.norm(dim=-1), rtol=1e-4, atol=1e-5)
    weighed = summaries.norm_weighted(part)
    first = next(iter(every(part.stack)))[1] * wide_norms(part, 0, 1)
    torch.testing.assert_close(next(iter(every(weighed.stack)))[1], first / first.sum(-1, keepdim=True))


def _output(net, layer: int) -> str:
    """The module of a ViT that follows its attention, by what it is called in this version."""
    names = [name for name, each in net.named_modules() if isinstance(each, torch.nn.Linear)]
    return next(name for name in names if f".{layer}.attention" in name and ("output" in name or "o_proj" in name))


def wide_norms(part: Part, layer: int, head: int) -> Tensor:
    assert part.norms is not None
    return part.norms[layer, head][None, :]


def test_rollout_is_the_product_of_half_the_means_and_half_the_identity(models):
    part = run_model(models["bert"])[""]
    n, mean = len(part.queries), [each.mean(0).double() for each in every(part.stack)]
    reached = [[float(i == j) for j in range(n)] for i in range(n)]
    for layer in mean:
        mixed = [[0.5 * float(layer[i, j]) + 0.5 * (i == j) for j in range(n)] for i in range(n)]
        reached = [[sum(mixed[i][m] * reached[m][j] for m in range(n)) for j in range(n)] for i in range(n)]
    rolled = summaries.rollout(part).stack.weights
    assert rolled is not None and rolled.shape == (3, 1, n, n)
    torch.testing.assert_close(rolled[-1, 0], torch.tensor(reached))
    with pytest.raises(ModelError, match="same sequence"):
        summaries.rollout(run_model(models["t5"], second=PAIR)[CROSS])


def test_words_sum_over_keys_and_average_over_queries(models):
    part = run_model(models["bert"])[""]
    joined = summaries.words(part)
    weights, rows = next(iter(every(part.stack)))[2], part.queries.words
    for a, query in enumerate(joined.queries.texts):
        for b in range(len(joined.keys)):
            of, onto = ([i for i, word in enumerate(rows) if word == at] for at in (a, b))
            value = sum(float(weights[i, j]) for i in of for j in onto) / len(of)
            assert float(next(iter(every(joined.stack)))[2, a, b]) == pytest.approx(value, abs=1e-6), query
    assert "didn't" in joined.queries.texts and joined.queries.special[0]


@pytest.mark.parametrize("kind", ["bert", "deberta"])
def test_without_marks_rows_are_shares_of_what_is_left(kind, models):
    part = run_model(models[kind])[""]
    bare = summaries.without_marks(part)
    left = next(iter(every(part.stack)))[:, 1:-1, 1:-1]
    torch.testing.assert_close(next(iter(every(bare.stack))), left / left.sum(-1, keepdim=True), rtol=1e-4, atol=1e-6)
    rows = torch.stack(list(every(part.stack)))[..., 1:-1, :]
    marks = format_percent(float((rows[..., 0] + rows[..., -1]).mean()))
    assert "[CLS]" not in bare.stack.queries and f"they had {marks} of the weight" in bare.stack.what
    assert (bare.stack.q is None) == (part.stack.q is None)
    assert summaries.without_marks(bare) is bare


def test_means_are_means(models):
    part = run_model(models["gpt2"])[""]
    layers = torch.stack(list(every(part.stack)))
    torch.testing.assert_close(summaries.mean_of_heads(part).stack.weights, layers.mean(1, keepdim=True))
    torch.testing.assert_close(summaries.mean_of_layers(part).stack.weights, layers.mean(0, keepdim=True))
    assert summaries.heads(part) is part


def test_a_picture_is_patches_in_rows_and_columns(models):
    found = run(models["vit"], "", "", None, lambda share: None)
    assert found.patches == (4, 6) and found.picture is not None and found.picture.shape == (32, 48, 3)
    assert found.parts[""].queries.texts[:3] == ("[CLS]", "1, 1", "1, 2")
    sky, sand = found.picture[2, 10].astype(int), found.picture[30, 40].astype(int)
    assert sky[2] > sky[0] + 30 and sand[0] > sand[2] + 30  # as the eye sees it: nothing of the scaling is left


def test_a_long_text_is_cut_where_the_model_ends(models):
    found = run(models["bert"], "the street " * 60, "", None, lambda share: None)
    assert len(found.parts[""].queries) == 40
    assert found.notes == ("The text has 122 tokens; this model reads the first 40.",)
    for text in ("", "  \n"):
        with pytest.raises(ModelError, match="Type a text first"):
            run_model(models["bert"], text)


def test_nothing_of_a_model_is_changed_by_watching_it(models):
    """Bit by bit the same output, watched or not, and no hook is left."""
    net, given = models["llama"].net, inputs.model_inputs(models["llama"], TEXT, "", None).tensors
    with torch.no_grad():
        before = net(**given).last_hidden_state
        run_model(models["llama"])
        assert torch.equal(net(**given).last_hidden_state, before)
    assert not any(each._forward_pre_hooks for each in net.modules())


def test_a_pass_can_be_stopped(models):
    class EnoughError(Exception):
        pass

    def hear(share: float) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        run(models["bert"], TEXT, "", None, hear)
    assert list(run_model(models["bert"])) == [""]


def test_progress_goes_up_to_all_of_it(models):
    for kind in ("bert", "t5", "vit"):
        shares: list[float] = []
        run(models[kind], TEXT, PAIR, None, shares.append)
        assert shares == sorted(shares) and shares[-1] == pytest.approx(1.0), kind


def test_a_size_is_known_before_anything_is_loaded(folders, monkeypatch):
    kept = sum(each.numel() for each in load_model(folders["gpt2"]).net.parameters())
    assert sizes.in_memory(sizes.weight_files(folders["gpt2"])) == pytest.approx(4 * kept, rel=0.35)  # with its head
    monkeypatch.setattr(loading, "_load_offer", lambda *_: pytest.fail("it was loaded"))
    with pytest.raises(ModelError, match="takes 1 MB of memory; this server allows up to 1 MB"):
        load_model(folders["gpt2"], most=1000)
    with pytest.raises(ModelError, match="not free right now"):
        load(Offer("x", str(folders["gpt2"]), catalogue.FOLDER), GIGABYTE, lambda size: False, lambda *_: None)


@pytest.mark.parametrize("kind", ["bert", "gpt2", "llama", "t5", "vit"])
def test_the_room_for_what_comes_of_a_pass_is_asked_for_before_it(kind, models):
    """As many bytes as come of it or somewhat more; where there is no room, nothing is computed."""
    asked: list[int] = []
    found = run(models[kind], TEXT, PAIR, None, lambda share: None, lambda size: not asked.append(size))
    assert found.bytes <= asked[0] < 8 * found.bytes
    with pytest.raises(ModelError, match=r"no room for that now\. A shorter text fits\."):
        run(models[kind], TEXT, PAIR, None, lambda share: pytest.fail("it was run"), lambda size: False)


def test_pickles_are_not_opened(folders, tmp_path):
    (tmp_path / "config.json").write_text((folders["bert"] / "config.json").read_text())
    (tmp_path / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'touch /tmp/opened'\ntR.")
    with pytest.raises(ModelError, match=r"pytorch_model\.bin. Only \.safetensors and \.gguf are opened"):
        load_model(tmp_path)


def test_code_of_a_models_own_is_not_run(folders, tmp_path):
    config = {"model_type": "theirs", "auto_map": {"AutoConfig": "theirs.Theirs", "AutoModel": "theirs.Model"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "theirs.py").write_text("raise SystemExit('it ran')")
    (tmp_path / "model.safetensors").write_bytes((folders["bert"] / "model.safetensors").read_bytes())
    with pytest.raises(ModelError, match="its own code"):
        load_model(tmp_path)


HOSTILE = {
    "empty": b"",
    "short": b"\x01",
    "longer than the file": (2**40).to_bytes(8, "little") + b"{}",
    "no json": (4).to_bytes(8, "little") + b"{{{{",
    "a list": (2).to_bytes(8, "little") + b"[]",
    "beyond its end": (58).to_bytes(8, "little") + b'{"a":{"dtype":"F32","shape":[9],"data_offsets":[0,9999]}}  ',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_broken_file_is_told_in_a_sentence(name, folders, tmp_path):
    (tmp_path / "config.json").write_text((folders["bert"] / "config.json").read_text())
    (tmp_path / "model.safetensors").write_bytes(HOSTILE[name])
    with pytest.raises(ModelError, match=r"model\.safetensors is not a complete \.safetensors file"):
        load_model(tmp_path)


def test_a_visitor_never_names_a_path():
    listed = catalogue.offers([("Ours", "/srv/models/ours"), ("BERT", "google-bert/bert-base-uncased")])
    assert catalogue.choose_model("Ours", listed, free=False).kind == catalogue.FOLDER
    for name in ("/srv/models/ours", "../models", "a/b/c", ".", "~/x", "a b", "file:///etc", "a--b", "x" * 97):
        with pytest.raises(ModelError):
            catalogue.choose_model(name, listed, free=True)
    with pytest.raises(ModelError, match="not one of the models of this server"):
        catalogue.choose_model("gpt2", listed, free=False)
    assert catalogue.choose_model("openai-community/gpt2", listed, free=True).kind == catalogue.NET
    for former, name in catalogue.RENAMED.items():  # as links have it that were shared before
        assert (
            catalogue.choose_model(former, {name: catalogue.Offer(name, "x", catalogue.PACKAGE)}, free=True).name
            == name
        )
        assert name in catalogue.PACKAGES
    with pytest.raises(ModelError, match="Did you mean “BERT”"):
        catalogue.choose_model("BERTT", listed, free=False)
    assert "/srv" not in listed["Ours"].says


def test_a_hub_that_can_not_be_reached_is_told(monkeypatch, tmp_path):
    errors = library("huggingface_hub.errors")

    def nobody(*_, **__):
        raise errors.HTTPError("no route")

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", nobody)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match="hub can't be reached, and nobody/nothing was not downloaded before"):
        hub.download_model("nobody/nothing", GIGABYTE, lambda share: None)


def test_a_download_over_the_limit_is_not_begun(monkeypatch):
    files = [type("File", (), {"rfilename": name, "size": 3 * GIGABYTE}) for name in ("model.safetensors", "x.bin")]
    info = type("Info", (), {"siblings": files})
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", lambda *_, **__: info)
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: pytest.fail("it was begun"))
    with pytest.raises(ModelError, match=r"download of 3\.0 GB; this server allows up to 1\.0 GB"):
        hub.download_model("some/model", GIGABYTE, lambda share: None)


def test_what_is_missing_is_known_without_an_import(monkeypatch):
    monkeypatch.setattr("attention.models.packages.find_spec", lambda name: None if name == "transformers" else name)
    assert missing() == ("transformers",)
    with pytest.raises(ModelError, match=r"pip install -r requirements-models\.txt"):
        library("no_such_library")
