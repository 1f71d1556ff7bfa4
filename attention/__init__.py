"""A small, exact attention core, and the app that shows it.

The modules at the root are what people use and extend; the packages make them work, and the first lines of each package say
what it contains. Each may import what is listed before it:

    streamlit_internals    everything that is not public API of Streamlit
    summary number_format  short reprs; how numbers are written
    masks inputs           masks, and where x comes from
    operations             the pass from x to the output as a table
    runtime                buffers, worker threads, order of waiting, the result cache
    arguments blocks       what the core accepts; its rows in blocks
    attend layer           attention with the weights of every head: as a function, as a module
    array_files settings   files of arrays; what a knob is and how it becomes a link
    recorded               recorded attention, and the files that ship
    imported               files with attention of other models, kept for the visit of the user who uploaded them
    heads training         statistics of a head; a small model that is trained, and the trainings that ship
    tracing                the attention that a model computes, recorded while it runs
    interventions          what a model does if a token or a head of it is changed
    models                 models of other people, run here: what they read, and stacks of their attention
    knobs fitting          the knobs of a picture, one line each, and how their values fit together
    packed_text            a text as a link carries it
    config codec pinned    the config that has them, the link that holds them, and the link that is compared with
    sources                where queries, keys and values come from
    trace                  every matrix of one pass
    story                  the head that the Start page tells about
    maps                   pictures of the weights at any length, and what is computed from them
    steps                  a pass matrix by matrix, and the program that computes it
    analysis               questions about attention, one per file
    comparison             two sets of weights compared
    published              published implementations, compared with this one
    timing                 how long attention takes, here and elsewhere
    examples lessons       pictures worth opening: a link, a sentence, a question; in an order, as a path
    tables wire            tensors to rows, and to bytes
    charts components      figures, and the parts that run in the browser
    serving                what every request passes, and an owner's settings
    notebook               attention outside the app: in a notebook, in a file
    ui                     how a page begins, and cached calls into the core

Axes have one letter each, in annotations, einops patterns and charts: `b` batch, `h` heads, `g` heads with keys and
values of their own, `q` queries, `k` keys, `d` channels of a head, `e` channels of a value, `u` gates of a head, `s`
softmaxes of a head, `c` channels of a token, `p` pixels, `n` tokens.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attention.attend import Attention, scaled_dot_product_attention
    from attention.config import Config
    from attention.interventions.ablation import ablate_heads, measure_every_head, switch_heads_off
    from attention.interventions.attribution import attribute_logit, logit_lens
    from attention.interventions.leaks import Leaks, leaks
    from attention.interventions.patching import patch_heads, patch_residual
    from attention.interventions.predictions import compare_sentences, continue_text, fill_tokens, predict_tokens
    from attention.layer import MultiHeadAttention
    from attention.maps.exact import head_maps
    from attention.maps.jobs import Cancelled
    from attention.maps.picture import HeadMaps
    from attention.notebook.compared import compare
    from attention.notebook.display import html, show
    from attention.settings import ConfigError
    from attention.trace import Trace, trace
    from attention.tracing.hooks import report
    from attention.tracing.watched import watch

__version__ = "1.0.0"
__all__ = [
    "Attention",
    "Cancelled",
    "Config",
    "ConfigError",
    "HeadMaps",
    "Leaks",
    "MultiHeadAttention",
    "Trace",
    "ablate_heads",
    "attribute_logit",
    "compare",
    "compare_sentences",
    "continue_text",
    "fill_tokens",
    "head_maps",
    "html",
    "leaks",
    "logit_lens",
    "measure_every_head",
    "patch_heads",
    "patch_residual",
    "predict_tokens",
    "report",
    "scaled_dot_product_attention",
    "show",
    "switch_heads_off",
    "trace",
    "watch",
]

_HOMES = {  # module of each public name, imported on first use: a server starts before PyTorch is imported
    "Attention": "attention.attend",
    "Cancelled": "attention.maps.jobs",
    "Config": "attention.config",
    "ConfigError": "attention.config",
    "HeadMaps": "attention.maps.picture",
    "Leaks": "attention.interventions.leaks",
    "MultiHeadAttention": "attention.layer",
    "Trace": "attention.trace",
    "ablate_heads": "attention.interventions.ablation",
    "attribute_logit": "attention.interventions.attribution",
    "compare": "attention.notebook.compared",
    "compare_sentences": "attention.interventions.predictions",
    "continue_text": "attention.interventions.predictions",
    "fill_tokens": "attention.interventions.predictions",
    "head_maps": "attention.maps.exact",
    "html": "attention.notebook.display",
    "leaks": "attention.interventions.leaks",
    "logit_lens": "attention.interventions.attribution",
    "measure_every_head": "attention.interventions.ablation",
    "patch_heads": "attention.interventions.patching",
    "patch_residual": "attention.interventions.patching",
    "predict_tokens": "attention.interventions.predictions",
    "report": "attention.tracing.hooks",
    "scaled_dot_product_attention": "attention.attend",
    "show": "attention.notebook.display",
    "switch_heads_off": "attention.interventions.ablation",
    "watch": "attention.tracing.watched",
}


def __getattr__(name: str) -> Any:
    """Returns a public name from its module (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'attention' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Keeps `attention.trace` the function: importing the module of that name would replace it."""

    @property
    def trace(self) -> Any:
        return import_module("attention.trace").trace

    @trace.setter
    def trace(self, module: ModuleType) -> None:
        pass


sys.modules[__name__].__class__ = _Package
