"""A small, exact attention core, and the parts of the app that shows it.

At the root stands what one uses and adds to; wings make it work, and say in their own first lines what lives there. From the
ground up, where each may import what stands before it:

    masks scores inputs    rules about a pair of tokens, about a score, about where x comes from
    number_format          how shares, weights and means are written
    machine                memory, threads, who may wait for whom, what is kept
    summary                short texts of tensors and of what holds them
    arguments blocks       what the core accepts; its rows in blocks
    attend layer           attention with the weights of every head: as a function, as a module
    settings recorded      what a knob is and how it goes into a link; attention that was recorded, and the files that ship
    brought                attention that visitors bring, held for as long as their visit
    heads training         what a head does, in numbers; a small model that is trained, and the trainings that ship
    watching               what attention a model computes, seen while it computes it
    models                 models of other people, run here: what they read, and stacks of what they attend to
    config codec           the knobs of a picture, and the link that carries them
    sources                where queries, keys and values come from
    trace                  every step of one pass
    maps                   pictures of the weights at any length, and what follows from them
    steps                  a pass matrix by matrix, and the program that computes it
    analysis               what one asks of attention, a question a file
    published              attention as others have published it, against this one
    timing                 how long it takes, here and elsewhere
    examples               pictures worth opening: a link, a sentence, a question
    tables wire            tensors to rows, and to bytes
    charts components      figures, and the parts that run in the browser
    serving                what every request passes, and the settings of a host's owner
    notebook               attention of one's own, outside the app: in a notebook, in a file
    ui                     how a page begins, and cached calls into the core

Axes have one letter each, in annotations, einops patterns and charts: `b` batch, `h` heads, `g` heads with keys and
values of their own, `q` queries, `k` keys, `d` channels of a head, `e` channels of a value, `c` channels of a token,
`p` pixels, `n` tokens.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attention.attend import Attention, scaled_dot_product_attention
    from attention.config import Config, ConfigError
    from attention.layer import MultiHeadAttention
    from attention.maps.exact import head_maps
    from attention.maps.jobs import Cancelled
    from attention.maps.picture import HeadMaps
    from attention.notebook.shown import html, show
    from attention.trace import Trace, trace
    from attention.watching.passing import report
    from attention.watching.watched import watch

__version__ = "1.0.0"
__all__ = [
    "Attention",
    "Cancelled",
    "Config",
    "ConfigError",
    "HeadMaps",
    "MultiHeadAttention",
    "Trace",
    "head_maps",
    "html",
    "report",
    "scaled_dot_product_attention",
    "show",
    "trace",
    "watch",
]

_HOMES = {  # the module of each public name, imported when the name is first used: a server starts before PyTorch is there
    "Attention": "attention.attend",
    "Cancelled": "attention.maps.jobs",
    "Config": "attention.config",
    "ConfigError": "attention.config",
    "HeadMaps": "attention.maps.picture",
    "MultiHeadAttention": "attention.layer",
    "Trace": "attention.trace",
    "head_maps": "attention.maps.exact",
    "html": "attention.notebook.shown",
    "report": "attention.watching.passing",
    "scaled_dot_product_attention": "attention.attend",
    "show": "attention.notebook.shown",
    "watch": "attention.watching.watched",
}


def __getattr__(name: str) -> Any:
    """A public name from its module (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'attention' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Keeps `attention.trace` the function: importing the module of this name would put the module in its place."""

    @property
    def trace(self) -> Any:
        return import_module("attention.trace").trace

    @trace.setter
    def trace(self, module: ModuleType) -> None:
        pass


sys.modules[__name__].__class__ = _Package
