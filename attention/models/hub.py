"""Brings a model from the hub to this machine, or finds it where it was brought before. Its size is known first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from attention.models.packages import ModelError, library
from attention.models.sizes import ONLY, megabytes

Hear = Callable[[float], object]  # told how much of it is done, from 0 to 1
WANTED = ["config.json", "model.safetensors", "model-*.safetensors", "model.safetensors.index.json", "*token*.json",
          "*.model", "vocab.*", "merges.txt", "preprocessor_config.json", "generation_config.json"]  # fmt: skip
PATIENCE = 10.0  # seconds for an answer


def download_model(name: str, most: int, hear: Hear) -> Path:
    """The folder of a model of the hub, fetched if need be; raises ModelError where that can't be, or is over so many bytes."""
    hub = library("huggingface_hub")
    with _hub_errors(name):
        errors = library("huggingface_hub.errors")
        try:
            size = _size(hub, name)
        except errors.HfHubHTTPError:  # it answers, and says no
            raise
        except _unreachable(errors):
            return _from_before(hub, name)
        if size > most:
            raise ModelError(
                f"{name} is a download of {megabytes(size)}; the owner of this host allows models of {megabytes(most)}."
            )
        progress = _progress(hub, size, hear)
        return Path(hub.snapshot_download(name, allow_patterns=WANTED, tqdm_class=progress, etag_timeout=PATIENCE))


def _size(hub: Any, name: str) -> int:
    """Bytes of the files that would be fetched."""
    files = hub.HfApi().model_info(name, files_metadata=True, timeout=PATIENCE).siblings or []
    wanted = [file for file in files if any(fnmatch(file.rfilename, pattern) for pattern in WANTED)]
    if not any(file.rfilename.endswith(".safetensors") for file in wanted):
        raise ModelError(f"{name} has no .safetensors on the hub. {ONLY}")
    return sum(file.size or 0 for file in wanted)


def _from_before(hub: Any, name: str) -> Path:
    """Where it was brought before, if it was."""
    try:
        return Path(hub.snapshot_download(name, allow_patterns=WANTED, local_files_only=True))
    except (OSError, ValueError) as error:
        raise ModelError(
            f"The model hub can't be reached from here, and {name} was not fetched before. A model from a folder of this "
            "host, or from an installed package, needs no hub."
        ) from error


def _unreachable(errors: Any) -> tuple[type[BaseException], ...]:
    """What is raised where there is no way to the hub: no network, no answer, or told to stay offline."""
    return errors.HTTPError, ConnectionError, TimeoutError


@contextmanager
def _hub_errors(name: str) -> Iterator[None]:
    """What the hub says no with, as a sentence."""
    errors = library("huggingface_hub.errors")
    try:
        yield
    except errors.GatedRepoError as error:
        raise ModelError(
            f"{name} is gated: its makers want to be asked first. The owner of this host can do so and set HF_TOKEN."
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise ModelError(f"There is no model {name} on the hub, or it is private.") from error
    except errors.HFValidationError as error:
        raise ModelError(f"“{name}” is no name of a model on the hub.") from error
    except _unreachable(errors) as error:
        raise ModelError(f"The model hub stopped answering while {name} was fetched. Try again.") from error
    except OSError as error:
        raise ModelError(f"{name} can't be fetched from the hub: {type(error).__name__}.") from error


def _progress(hub: Any, size: int, hear: Hear) -> type:
    """A bar that is not drawn but heard: bytes that came, of all files together."""

    class Heard(hub.utils.tqdm):  # type: ignore[misc]  known when it runs
        came = 0

        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **{**named, "disable": True})
            self.bytes = named.get("unit") == "B"

        def update(self, n: float | None = 1) -> None:
            if self.bytes and n:
                Heard.came += int(n)
                hear(min(1.0, Heard.came / max(size, 1)))

    return Heard
