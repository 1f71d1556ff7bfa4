"""The public functions of this package: `attention.show(…)` and `attention.html(…)`."""

from __future__ import annotations

import atexit
import html as markup
import sys
import tempfile
import webbrowser
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attention.imported.stack import Stack
from attention.notebook.compared import compare
from attention.notebook.inputs import SPAN, Told, stacks_of
from attention.notebook.page import page
from attention.notebook.picture import picture
from attention.notebook.still import still
from attention.serving import launch
from attention.summary import summarize
from attention.tracing.saved import save

HIGH = 1000  # height of a frame in CSS pixels: a grid, and below it a row of some tokens


@dataclass(frozen=True, eq=False)
class Shown:
    """What is shown. `parts` are its stacks; `place` is the file opened in a browser, None in a notebook.

    `address` is that of the running app, "" if it does not run; `close` stops it.
    """

    parts: Mapping[str, Stack]
    title: str
    widget: Any = None
    place: Path | None = None
    address: str = ""
    _running: ExitStack = field(default_factory=ExitStack)

    def __repr__(self) -> str:
        first = next(iter(self.parts.values()))
        sizes = {
            name or "heads": stack.q if stack.weights is None else stack.weights for name, stack in self.parts.items()
        }
        where = {"address": self.address, "place": self.place}
        return summarize(self, title=self.title, **where, tokens=first.queries, **sizes)

    @property
    def pinned(self) -> dict[str, Any]:
        """The last selection in a widget: part, layer, head, query and key; empty before the first one."""
        return {} if self.widget is None else dict(self.widget.pinned)

    def html(self, path: str | Path) -> Path:
        """Writes the same as one HTML file."""
        return write_html(self.parts, path, self.title)

    def close(self) -> None:
        """Stops the app if it runs; a second call does nothing."""
        self._running.close()

    def _ipython_display_(self) -> None:
        """Displays nothing, since it has already been displayed."""


def show(
    weights_or_query: Any,
    key: Any = None,
    value: Any = None,
    *,
    tokens: Sequence[str] | str = (),
    keys: Sequence[str] | str = (),
    mask: Any = None,
    span: int = SPAN,
    scale: float | None = None,
    softcap: float = 0.0,
    batch: int = 0,
    axes: str = "",
    title: str = "",
    layers: Sequence[int] | None = None,
    port: int = 0,
    open_browser: bool = True,
    block: bool | None = None,
) -> Shown:
    """Shows every head of every layer interactively: as a widget in a notebook, elsewhere in the app.

        attention.show(model(**inputs, output_attentions=True), tokens=tokens)
        attention.show(seen, tokens=tokens)                                     # attention.watch(model)
        attention.show(q, k, mask="causal", tokens=tokens)

    Weights are one tensor, `(q k)`, `(h q k)`, `(l h q k)` or `(l b h q k)`, or one tensor `(b h q k)` per layer, as
    transformers returns them, including those of `generate`. Queries and keys, which may have fewer heads, are `(h n
    d)` or `(l h n d)`, as they enter the scores. All may be tensors of torch, NumPy arrays, or anything that NumPy
    reads; `axes` names other orders, as "b n h d". One sequence of a batch is shown. The output of a model is shown
    as it is: Granite with sinks returns weights that it does not use (docs/MODELS.md).

    `tokens`: the texts of the queries; `keys`: those of the keys if these are others, as of an encoder. `mask`: the
    name of a rule of `masks.MASKS` (`span` is its reach), or a boolean `(q k)`, True where a query attends to a key.
    `scale` (default 1/sqrt(d)) and `softcap` apply to queries and keys. `layers`: the numbers of the layers in their
    model, which an output does not contain; by default they are counted from 0. For a watched model only `tokens`, `keys` and
    `title` apply, since the rest was recorded.

    Outside of a notebook, a server of the app starts at `port` (0 takes a free one) and prints its address;
    `open_browser` opens it. If `block` is True, the call waits until Ctrl+C stops the server; if False, the server
    runs until Python ends or `close()` of the returned object is called. By default (None), a program waits, and an
    interactive session does not. A notebook ignores these three. Without Streamlit, a browser opens the page that
    `html` writes.

    Raises ValueError, which names what can't be shown, and where, and RuntimeError if the server does not start.

    >>> weights = torch.rand(12, 8, 5, 5).softmax(-1)
    >>> shown = attention.show(weights, tokens="the cat sat down .".split(), open_browser=False, block=False)
    >>> shown.close()
    """
    told = Told(tokens, keys, mask, span, scale, softcap, batch, axes, title, layers)
    parts = stacks_of(weights_or_query, key, value, told)
    if not _notebook():
        return _outside(parts, title, port, open_browser, block)
    drawn = picture(parts, title)
    from IPython.display import HTML, display

    try:
        from attention.notebook.widget import display_widget, widget

        view = widget(drawn)
    except ImportError:
        display(HTML(in_frame(page(drawn))))
        return Shown(parts, title)
    shown = Shown(parts, title, view)
    display_widget(view, {"text/html": still(drawn), "text/plain": repr(shown)})
    return shown


def _outside(parts: Mapping[str, Stack], title: str, port: int, open_browser: bool, block: bool | None) -> Shown:
    """Shows it in the app, or as a page of its own if the app can't run."""
    if not launch.is_available():
        place = write_html(parts, Path(tempfile.mkdtemp(prefix="attention-")) / "heads.html", title)
        if open_browser:
            webbrowser.open(place.as_uri())
        return Shown(parts, title, place=place)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="attention-"))
        files = save(parts, Path(folder) / "attention.safetensors")
        if not _is_interactive() if block is None else block:
            launch.run(files, port, open_browser)
            return Shown(parts, title)
        stack.enter_context(launch.exit_on_signals())
        _, address = stack.enter_context(launch.running(files, port, open_browser, background=True))
        running = stack.pop_all()
    atexit.register(running.close)
    return Shown(parts, title, address=address, _running=running)


def _is_interactive() -> bool:
    """Whether this Python is an interactive session."""
    return hasattr(sys, "ps1") or bool(sys.flags.interactive)


def html(
    weights_or_query: Any,
    key: Any = None,
    value: Any = None,
    *,
    path: str | Path,
    tokens: Sequence[str] | str = (),
    keys: Sequence[str] | str = (),
    mask: Any = None,
    span: int = SPAN,
    scale: float | None = None,
    softcap: float = 0.0,
    batch: int = 0,
    axes: str = "",
    title: str = "",
    layers: Sequence[int] | None = None,
    against: Any = None,
) -> Path:
    """Writes the same as one HTML file, which opens without any server or network: for a blog, a paper, an issue.

        attention.html(weights, path="heads.html", tokens=tokens)

    The other arguments are those of `show`. `against`: side A of a comparison, weights or a watched model; the file then
    shows how the first argument differs from it, as that of `compare`. Raises ValueError for what is too large for one
    file, as all cells may take 16 MB before compression.

    >>> weights = torch.rand(12, 8, 5, 5).softmax(-1)
    >>> attention.html(weights, path="heads.html", tokens="the cat sat down .".split()).name
    'heads.html'
    """
    if against is not None:
        named = {"key": key, "value": value, "scale": scale, "layers": layers, "softcap": softcap or None}
        if odd := [name for name, given in named.items() if given is not None]:
            raise ValueError(
                f"{', '.join(odd)}: not with against=, which compares weights, watched models, files and configs."
            )
        about = {"tokens": tokens, "keys": keys, "mask": mask, "span": span, "batch": batch, "axes": axes}
        return compare(against, weights_or_query, title=title, **about).html(path)
    told = Told(tokens, keys, mask, span, scale, softcap, batch, axes, title, layers)
    return write_html(stacks_of(weights_or_query, key, value, told), path, title)


def write_html(parts: Mapping[str, Stack], path: str | Path, title: str = "") -> Path:
    """Writes stacks as one HTML file."""
    path = Path(path)
    path.write_text(page(picture(parts, title)), encoding="utf-8")
    return path


def in_frame(text: str) -> str:
    """Embeds a page in a sandboxed frame, which isolates it from the page around it."""
    source = markup.escape(text, quote=True)
    frame = f'width="100%" height="{HIGH}" style="border: 0" title="Attention heads"'
    return f'<iframe sandbox="allow-scripts allow-downloads" {frame} srcdoc="{source}"></iframe>'


def _notebook() -> bool:
    """Whether this code runs in a notebook's kernel."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
