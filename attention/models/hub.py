"""Downloads a model from the hub, or finds an earlier download. Its size is checked first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from attention.models.packages import ModelError, library
from attention.models.sizes import ONLY, megabytes

Hear = Callable[[float], object]  # called with the share that is done, from 0 to 1
WANTED = ["config.json", "model.safetensors", "model-*.safetensors", "model.safetensors.index.json", "*token*.json",
          "*.model", "vocab.*", "merges.txt", "preprocessor_config.json", "generation_config.json"]  # fmt: skip
PATIENCE = 10.0  # seconds to wait for an answer


def download_model(name: str, most: int, hear: Hear) -> Path:
    """Returns the folder of a model, downloaded if necessary; raises ModelError if that fails, or if it has more than
    `most` bytes.
    """
    hub = library("huggingface_hub")
    with _hub_errors(name):
        errors = library("huggingface_hub.errors")
        try:
            size = _size(hub, name)
        except errors.HfHubHTTPError:  # the hub answers with an error
            raise
        except _unreachable(errors):
            return _from_before(hub, name)
        if size > most:
            raise ModelError(f"{name} is a download of {megabytes(size)}; this server allows up to {megabytes(most)}.")
        progress = _progress(hub, size, hear)
        return Path(hub.snapshot_download(name, allow_patterns=WANTED, tqdm_class=progress, etag_timeout=PATIENCE))


def _size(hub: Any, name: str) -> int:
    """Returns the bytes of the files that would be downloaded; raises ModelError if no .safetensors is among them."""
    files = hub.HfApi().model_info(name, files_metadata=True, timeout=PATIENCE).siblings or []
    wanted = [file for file in files if any(fnmatch(file.rfilename, pattern) for pattern in WANTED)]
    if not any(file.rfilename.endswith(".safetensors") for file in wanted):
        raise ModelError(f"{name} has no .safetensors on the hub. {ONLY}")
    return sum(file.size or 0 for file in wanted)


def find_download(name: str) -> Path:
    """Returns the folder of an earlier download without using the network; raises ModelError if there is none."""
    try:
        return _from_before(library("huggingface_hub"), name)
    except ModelError as error:
        raise ModelError(f"{name} was not downloaded to this server before. The page Model downloads it.") from error


def _from_before(hub: Any, name: str) -> Path:
    """Returns the folder of an earlier download; raises ModelError if there is none."""
    try:
        return Path(hub.snapshot_download(name, allow_patterns=WANTED, local_files_only=True))
    except (OSError, ValueError) as error:
        raise ModelError(
            f"The model hub can't be reached, and {name} was not downloaded before. A model from a folder of this server, "
            "or from an installed package, needs no hub."
        ) from error


def _unreachable(errors: Any) -> tuple[type[BaseException], ...]:
    """Returns the errors that are raised if the hub can't be reached: no network, no answer, or offline mode."""
    return errors.HTTPError, ConnectionError, TimeoutError


@contextmanager
def _hub_errors(name: str) -> Iterator[None]:
    """Raises errors of the hub as ModelError, with a sentence."""
    errors = library("huggingface_hub.errors")
    try:
        yield
    except errors.GatedRepoError as error:
        raise ModelError(
            f"{name} is gated: its publisher has to grant access. The server's owner can request it and set HF_TOKEN."
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise ModelError(f"There is no model {name} on the hub, or it is private.") from error
    except errors.HFValidationError as error:
        raise ModelError(f"“{name}” is not the name of a model on the hub.") from error
    except _unreachable(errors) as error:
        raise ModelError(f"The model hub stopped answering while {name} was fetched. Try again.") from error
    except OSError as error:
        raise ModelError(f"{name} can't be fetched from the hub: {type(error).__name__}.") from error


def _progress(hub: Any, size: int, hear: Hear) -> type:
    """Returns a class of progress bars that draw nothing and call `hear` with the share of the bytes of all files."""

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
