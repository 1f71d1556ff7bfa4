"""Finds what `torch.compile` has compiled in a model, and runs it eagerly while the model is watched.

The compiler's stance is shared by all threads of a process. The first watcher sets it, and the last one restores it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

EAGER = (
    "A part of this model is compiled (torch.compile). While it is watched it runs eagerly, so that its output is that of the "
    "model without torch.compile; compiled code in other threads runs eagerly meanwhile, too."
)
MADE = "_torchdynamo_orig_callable"  # attribute of functions compiled by torch.compile
FLEX = "torch.nn.attention.flex_attention"


@dataclass
class Stance:
    """The number of watchers at the moment, and the stance to restore after the last of them."""

    lock: Lock = field(default_factory=Lock)
    watching: int = 0
    forced: Any = None

    def force(self) -> None:
        """Adds a watcher; the first one forces eager execution."""
        with self.lock:
            self.watching += 1
            if self.watching == 1:
                self.forced = torch.compiler.set_stance("force_eager")

    def release(self) -> None:
        """Removes a watcher; the last one restores the stance."""
        with self.lock:
            self.watching -= 1
            if not self.watching:
                self.forced.__exit__(None, None, None)


STANCE = Stance()


@contextmanager
def eager() -> Iterator[None]:
    """Runs compiled code eagerly within the context."""
    if "torch._dynamo" not in sys.modules:  # nothing has been compiled, and importing it takes a second
        yield
        return
    STANCE.force()
    try:
        yield
    finally:
        STANCE.release()


def is_compiled(model: nn.Module) -> bool:
    """Whether a module of a model is compiled, or a function in the Python module that defines its class."""
    modules = list(model.modules())
    if any(type(each).__name__ == "OptimizedModule" or each._compiled_call_impl is not None for each in modules):
        return True
    homes = [sys.modules.get(name) for name in {type(each).__module__ for each in modules}]
    functions = [value for home in homes if home is not None for value in list(vars(home).values()) if callable(value)]
    return any(hasattr(each, MADE) for each in [*functions, *(each.forward for each in modules)])


def aliases(model: nn.Module) -> Iterator[tuple[Any, str]]:
    """Names under which modules of the model's own packages have imported torch's attention functions."""
    flex = getattr(sys.modules.get(FLEX), "flex_attention", None)
    known = [F.scaled_dot_product_attention, *([flex] if flex else [])]
    yield from ((owner, name) for owner, name, value in _globals(model) if any(value is one for one in known))


def _globals(model: nn.Module) -> Iterator[tuple[Any, str, Any]]:
    """Global names of the Python modules in the packages that define the classes of a model."""
    packages = {type(module).__module__.partition(".")[0] for module in model.modules()} - {"torch"}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in packages and module is not None:
            yield from ((module, known, value) for known, value in list(vars(module).items()))
