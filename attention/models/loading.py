"""Loads a model onto this machine: its size is known first, no code of its own is run, and no pickle is opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from attention.models import hub
from attention.models.catalogue import NET, Offer, place
from attention.models.packages import ModelError, library
from attention.models.seen import prepare
from attention.models.sizes import in_memory, megabytes, weight_files

TEXT, BOTH, PICTURE = "text", "text to text", "picture"  # what a model reads: a text, one and writes another, a picture
Hear = Callable[[str, float], object]  # told what is being done, and how much of all is
FETCHED = 0.5  # share of the work, where a model comes from the hub
SAFE = {"local_files_only": True, "trust_remote_code": False}


@dataclass(frozen=True, eq=False)
class Model:
    """A model that can be run: the network, what cuts text (`tokenizer`) or pictures (`processor`), and its `bytes`.

    `tells`: its attention tells what it computes (`seen`); else it has weights alone.
    """

    offer: Offer
    net: Any
    reads: str
    bytes: int
    tells: bool
    tokenizer: Any = None
    processor: Any = None

    @property
    def config(self) -> Any:
        """What its makers say of its sizes."""
        return self.net.config

    @property
    def about(self) -> str:
        """What it is, for the reader."""
        return f"{self.offer.name}, {self.offer.says}, run here in float32."


def load(offer: Offer, most: int, room: Callable[[int], bool], hear: Hear) -> Model:
    """The model of an offer, of at most so many bytes; raises ModelError.

    `room`: is there place for so many bytes? It is asked before any of them is taken.
    """
    library("transformers")
    where, begun = _where(offer, most, hear)
    hear("Looking at its files", begun)
    files = weight_files(where)
    size = in_memory(files)
    if size > most:
        raise ModelError(
            f"“{offer.name}” takes {megabytes(size)} of memory; the owner of this host allows models of {megabytes(most)}."
        )
    if not room(size):
        raise ModelError(
            f"“{offer.name}” takes {megabytes(size)} of memory, and this host has no room for that now. A smaller one may fit, "
            "or this one later, when others have gone."
        )
    with _told(offer, where), _heard(lambda share: hear("Loading its weights", begun + (1 - begun) * share)):
        return _loaded(offer, where, files, size)


def _where(offer: Offer, most: int, hear: Hear) -> tuple[Path, float]:
    """Its folder or file here, and how much of the work that was."""
    if offer.kind != NET:
        return place(offer), 0.0
    hear("Asking the model hub", 0.0)
    return hub.brought(offer.where, most, lambda share: hear("Fetching it from the hub", FETCHED * share)), FETCHED


def _loaded(offer: Offer, where: Path, files: list[Path], size: int) -> Model:
    auto = library("transformers")
    folder, packed = (where, {}) if where.is_dir() else (where.parent, {})
    if files[0].suffix == ".gguf":
        packed = {"gguf_file": files[0].name}
    config = auto.AutoConfig.from_pretrained(folder, **packed, **SAFE)
    reads = _reads(config)
    kind = auto.AutoModelForSeq2SeqLM if reads == BOTH else auto.AutoModel
    named = {"dtype": torch.float32, "use_safetensors": True, "attn_implementation": "eager"}
    net = kind.from_pretrained(folder, config=config, **named, **packed, **SAFE).eval().requires_grad_(False)
    if reads == PICTURE:
        more = {"processor": auto.AutoImageProcessor.from_pretrained(folder, backend="pil", **SAFE)}
    else:
        more = {"tokenizer": auto.AutoTokenizer.from_pretrained(folder, **packed, **SAFE)}
    return Model(offer, net, reads, size, prepare(net), **more)


def _reads(config: Any) -> str:
    """What a model is given, by its sizes; raises ModelError where this app has no field for that."""
    if getattr(config, "is_encoder_decoder", False) and hasattr(config, "vocab_size"):
        return BOTH
    if hasattr(config, "vocab_size"):
        return TEXT
    if hasattr(config, "image_size") and hasattr(config, "patch_size"):
        return PICTURE
    raise ModelError(
        f"A model of the kind “{config.model_type}” reads something else than a text or one picture, or several at once; here "
        "one can give it either of the two."
    )


@contextmanager
def _told(offer: Offer, where: Path) -> Iterator[None]:
    """What a library complains of while it loads, as a sentence that does not say where on this host the model lies."""
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
        why = "It wants to run code of its own, which isn't done here." if "trust_remote_code" in said else said[:200]
        raise ModelError(f"“{offer.name}” can't be loaded: {why}") from error


@contextmanager
def _heard(hear: Callable[[float], object]) -> Iterator[None]:
    """While this lasts, the library's own bars of progress are not drawn but heard."""
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
