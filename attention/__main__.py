"""The command `attention-lab`, also `python -m attention`: starts the app and opens the named files, or gets two models."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from attention import __version__
from attention.models.get_models import get_models
from attention.serving import launch


def main(arguments: Sequence[str] | None = None) -> int:
    """Serves the app until it is stopped, or gets the models; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="attention-lab",
        description="Start Attention Lab in the browser, and open files with heads of a model.",
        epilog="attention-lab get-models installs the weights of MiniLM and SmolLM2 (177 MB), which then run in the app.",
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help=".safetensors, .npz, .npy or .pt to open")
    parser.add_argument(
        "--port", type=int, default=8501, help="port of this machine; 0 takes a free one (default: 8501)"
    )
    parser.add_argument("--no-browser", action="store_true", help="print the address, don't open a browser")
    parser.add_argument("--version", action="version", version=f"attention-lab {__version__}")
    given = parser.parse_args(arguments)
    if given.files == [Path("get-models")]:
        return get_models()
    for file in given.files:
        if not file.is_file():
            parser.error(f"{file} is not a file.")
    try:
        launch.run(given.files, given.port, open_browser=not given.no_browser, log=True)
    except RuntimeError as error:
        parser.exit(1, f"attention-lab: {error}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
