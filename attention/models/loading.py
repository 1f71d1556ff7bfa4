"""Loads a model. Its size is checked first, none of its own code is run, and no pickle is opened."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from attention.models import hub
from attention.models.catalogue import NET, PACKAGE, Offer, place
from attention.models.config_fields import field, pair, positives
from attention.models.own_models import load_own
from attention.models.packages import ModelError, library
from attention.models.sizes import in_memory, megabytes, weight_files

TEXT, BOTH, PICTURE = "text", "text to text", "picture"  # what a model reads; “text to text” also writes
Hear = Callable[[float], object]  # called with the share that is done
Told = Callable[[str, float], object]  # called with the current step, and the share of the whole work
LOADS = "Loading its weights"
FETCHED = 0.5  # share of the work if a model is downloaded
UNPACKING = 2  # peak memory while a model is unpacked, relative to its size
PLAIN = "eager"  # the attention implementation that computes all weights, step by step
WRITES, FILLS = ("ForCausalLM", "LMHeadModel"), "ForMaskedLM"  # ends of the names of classes with an output layer
PREPARES = "preprocessor_config.json"
ATTENDS = re.compile(r"\.\d+\.|embed")  # in the names of weights that attention depends on: layers are numbered
SAFE = {"local_files_only": True, "trust_remote_code": False}


@dataclass(frozen=True, eq=False)
class Model:
    """A model that can be run: the network, a `tokenizer` for texts or a `processor` for pictures, and its `bytes`.

    `language_model`: `net` with its output layer over the vocabulary, `language_model(input_ids) -> .logits`; None if it has
    none. `fills`: whether that predicts masked tokens, and not the next one.
    """

    offer: Offer
    net: Any
    reads: str
    bytes: int
    tokenizer: Any = None
    processor: Any = None
    language_model: Any = None
    fills: bool = False

    @property
    def config(self) -> Any:
        """The config of the network."""
        return self.net.config

    @property
    def about(self) -> str:
        """A sentence that says what it is."""
        return f"{self.offer.name}, {self.offer.says}, run here in float32."


def load(offer: Offer, most: int, room: Callable[[int], bool], hear: Told, download: bool = True) -> Model:
    """Returns the model of an offer, of at most `most` bytes; raises ModelError.

    `room`: whether there is memory for a number of bytes. It is called before any memory is allocated. `download`: whether a
    model of the hub may be downloaded.
    """
    if offer.kind == PACKAGE:
        hear(LOADS, 0.0)
        net, tokenizer, size = load_own(offer, most, room, hear)
        return Model(offer, net, TEXT, size, tokenizer, language_model=net if hasattr(net, "lm_head") else None)
    hear("Loading the libraries", 0.0)
    library("transformers.modeling_utils")
    where, begun = _where(offer, most, hear) if download else (local_files(offer), 0.0)
    hear("Reading its files", begun)
    files = weight_files(where)
    with _once(files[0]):
        return _fitting(offer, where, files, most, room, lambda share: hear(LOADS, begun + (1 - begun) * share))


def _fitting(offer: Offer, where: Path, files: list[Path], most: int, room: Callable[[int], bool], hear: Hear) -> Model:
    """Returns the model of these files; raises ModelError if it does not fit."""
    size = in_memory(files)
    if size > most:
        raise ModelError(
            f"“{offer.name}” takes {megabytes(size)} of memory; this server allows up to {megabytes(most)}."
        )
    if not room(UNPACKING * size if files[0].suffix == ".gguf" else size):
        raise ModelError(
            f"“{offer.name}” takes {megabytes(size)} of memory, which is not free right now. Try a smaller model, "
            "or try again later."
        )
    with _loading_errors(offer, where), _forward_progress(hear):
        return _load_offer(offer, where, files, size)


def local_files(offer: Offer) -> Path:
    """Returns the folder or file of a model that is on this machine; raises ModelError if it is not."""
    return hub.find_download(offer.where) if offer.kind == NET else place(offer)


def _where(offer: Offer, most: int, hear: Told) -> tuple[Path, float]:
    """Returns the folder or file of a model, and the share of the work that is done."""
    if offer.kind != NET:
        return place(offer), 0.0
    hear("Contacting the model hub", 0.0)
    return hub.download_model(
        offer.where, most, lambda share: hear("Downloading it from the hub", FETCHED * share)
    ), FETCHED


def _load_offer(offer: Offer, where: Path, files: list[Path], size: int) -> Model:
    auto = library("transformers")
    folder, packed = (where, {}) if where.is_dir() else (where.parent, {})
    if files[0].suffix == ".gguf":
        packed = {"gguf_file": files[0].name}
    config = auto.AutoConfig.from_pretrained(folder, **packed, **SAFE)
    reads = _reads(config)
    whole = _load_gguf(auto, config, reads, files[0]) if packed else _load_network(auto, config, reads, folder)
    whole = whole.eval().requires_grad_(False)
    speaks = reads == TEXT and whole.get_output_embeddings() is not None
    net = whole.base_model if speaks else whole
    if reads == PICTURE:
        if not (folder / PREPARES).is_file():
            raise ModelError(f"“{offer.name}” has no {PREPARES}, which says how pictures have to be prepared.")
        more = {"processor": auto.AutoImageProcessor.from_pretrained(folder, backend="pil", **SAFE)}
    else:
        more = {"tokenizer": auto.AutoTokenizer.from_pretrained(folder, **packed, **SAFE)}
    fills = type(whole).__name__.endswith(FILLS)
    return Model(offer, net, reads, size, language_model=whole if speaks else None, fills=fills, **more)


def _load_network(auto: Any, config: Any, reads: str, folder: Path) -> Any:
    """Returns the network of a folder of safetensors, with its output layer over the vocabulary if the files have one."""
    kind = auto.AutoModelForSeq2SeqLM if reads == BOTH else auto.AutoModel
    if reads == TEXT and type(config) in _mapping("MODEL_FOR_TEXT_ENCODING_MAPPING"):
        kind = auto.AutoModelForTextEncoding  # the encoder of an encoder-decoder model
    elif reads == TEXT:
        kind = _language_class(auto, config) or kind
    named = {"dtype": torch.float32, "use_safetensors": True, "attn_implementation": PLAIN, "output_loading_info": True}
    net, found = kind.from_pretrained(folder, config=config, **named, **SAFE)
    _check_complete(net, found["missing_keys"])
    return (
        net.base_model if found["missing_keys"] and net.get_output_embeddings() is not None and reads == TEXT else net
    )


def _language_class(auto: Any, config: Any) -> Any:
    """Returns the class that has an output layer over the vocabulary, if the model was saved with one; else None."""
    named = str(next(iter(field(config, "architectures") or ()), ""))
    if named.endswith(WRITES) and type(config) in _mapping("MODEL_FOR_CAUSAL_LM_MAPPING"):
        return auto.AutoModelForCausalLM
    if named.endswith((FILLS, "BertForPreTraining")) and type(config) in _mapping("MODEL_FOR_MASKED_LM_MAPPING"):
        return auto.AutoModelForMaskedLM
    return None


def _check_complete(net: Any, lacks: Collection[str]) -> None:
    """Raises ModelError if attention would depend on randomly initialized weights, which no file contains."""
    random = {name for name, _ in net.named_parameters() if name in lacks and ATTENDS.search(name)}
    if random:
        raise ModelError(
            f"The model's files lack {len(random)} of its weights, such as {min(random)}: its attention would be random."
        )


def _load_gguf(auto: Any, config: Any, reads: str, file: Path) -> Any:
    """Returns the network of a GGUF. The library's own loader requires one more library, which is not needed here."""
    gguf, bare = library("transformers.modeling_gguf_pytorch_utils"), library("transformers.initialization")
    kind = auto.AutoModelForSeq2SeqLM if reads == BOTH else auto.AutoModelForCausalLM
    with bare.no_init_weights():
        net = kind.from_config(config, attn_implementation=PLAIN, dtype=torch.float32)
    found = gguf.load_gguf_checkpoint(file, return_tensors=True, model_to_load=net)["tensors"]
    lacks = net.load_state_dict(found, strict=False, assign=True).missing_keys
    net.tie_weights()
    tied = {name for name in lacks if name.startswith("lm_head")}
    if set(lacks) - tied:
        raise ModelError(
            f"{file.name} lacks {len(set(lacks) - tied)} of the model's weights, as {min(set(lacks) - tied)}."
        )
    return net


def _reads(config: Any) -> str:
    """Returns what a model reads, by the main input of its class; raises ModelError if this app has no field for that."""
    takes, words = _main_input(config), positives(field(config, "vocab_size"))
    if takes == "pixel_values" and pair(field(config, "patch_size")):
        return PICTURE
    if takes == "input_ids" and words:
        return BOTH if field(config, "is_encoder_decoder") and not _half(config) else TEXT
    raise ModelError(
        f"A model of the kind “{config.model_type}” reads something else than a text or one picture, or several at once; here "
        "one can give it either of the two."
    )


def _mapping(name: str) -> Any:
    """Returns one of the library's tables from configs to models."""
    return getattr(library("transformers.models.auto.modeling_auto"), name)


def _main_input(config: Any) -> str:
    """Returns the name of the main input of a model."""
    mapping = _mapping("MODEL_MAPPING")
    found = mapping.get(type(config), None)
    return field(found[0] if isinstance(found, tuple) else found, "main_input_name") or "input_ids"


def _half(config: Any) -> bool:
    """Whether it is only the encoder of an encoder-decoder model, as the class in its config says."""
    named = field(config, "architectures") or ()
    return any(str(each).endswith("EncoderModel") for each in named) and type(config) in _mapping(
        "MODEL_FOR_TEXT_ENCODING_MAPPING"
    )


@contextmanager
def _loading_errors(offer: Offer, where: Path) -> Iterator[None]:
    """Raises errors of the library as ModelError, with a sentence that does not contain the model's path on this host."""
    try:
        yield
    except ModelError:
        raise
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        RuntimeError,
        ImportError,
        AttributeError,
        AssertionError,
    ) as error:
        said = " ".join(str(error).split()).replace(str(where), "it") or type(error).__name__
        why = "It needs to run its own code, which is not allowed here." if "trust_remote_code" in said else said[:200]
        raise ModelError(f"“{offer.name}” can't be loaded: {why}") from error


@contextmanager
def _once(file: Path) -> Iterator[None]:
    """Reads a GGUF only once within the context, and not again for each part of the library that needs it."""
    if file.suffix != ".gguf":
        yield
        return
    gguf: Any = library("gguf")
    names = ("GGUFReader", "get_tensor_name_map")
    before = {name: getattr(gguf, name) for name in names}
    try:
        for name, call in before.items():
            setattr(gguf, name, _first(call))
        yield
    finally:
        for name, call in before.items():
            setattr(gguf, name, call)


def _first(call: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that is called once per text of its arguments, so that a path as `str` or as `Path` is the same."""
    found: dict[str, Any] = {}

    def first(*given: Any) -> Any:
        key = " ".join(map(str, given))
        if key not in found:
            found[key] = call(*given)
        return found[key]

    return first


@contextmanager
def _forward_progress(hear: Callable[[float], object]) -> Iterator[None]:
    """Calls `hear` with the progress of the library within the context, instead of drawing its progress bars."""
    log: Any = library("transformers.utils.logging")
    packed: Any = library("transformers.modeling_gguf_pytorch_utils")

    class Bar:
        def __init__(self, over: Any = None, *_: Any, **named: Any) -> None:
            self.over, self.done = over, 0
            self.total = named.get("total") or (len(over) if hasattr(over, "__len__") else 0)

        def __iter__(self) -> Iterator[Any]:
            for each in self.over:
                yield each
                self.update()

        def update(self, n: int = 1) -> None:
            self.done += n
            hear(min(1.0, self.done / self.total) if self.total else 0.0)

        def __getattr__(self, name: str) -> Any:
            return lambda *_, **__: self

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            return None

    before, drawn = log.set_tqdm_hook(lambda _, args, named: Bar(*args, **named)), packed.tqdm
    packed.tqdm = Bar
    try:
        yield
    finally:
        log.set_tqdm_hook(before)
        packed.tqdm = drawn
