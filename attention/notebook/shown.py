"""What one types: `attention.show(…)` and `attention.html(…)`."""

from __future__ import annotations

import html as markup
import sys
import tempfile
import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attention.brought.stack import Stack
from attention.notebook.page import page
from attention.notebook.picture import picture
from attention.notebook.taken import SPAN, Told, taken
from attention.serving import launch
from attention.summary import summarize
from attention.watching.saved import save

HIGH = 1000  # CSS pixels of a frame: a grid, and a row of some words below it


@dataclass(frozen=True, eq=False)
class Shown:
    """What is shown. `parts` are its stacks; `place` is the file that a browser was asked to open, None in a notebook."""

    parts: Mapping[str, Stack]
    title: str
    widget: Any = None
    place: Path | None = None

    def __repr__(self) -> str:
        first = next(iter(self.parts.values()))
        sizes = {
            name or "heads": stack.q if stack.weights is None else stack.weights for name, stack in self.parts.items()
        }
        return summarize(self, title=self.title, place=self.place, tokens=first.queries, **sizes)

    @property
    def pinned(self) -> dict[str, Any]:
        """What was clicked last in a widget: part, layer, head, query and key; nothing before."""
        return {} if self.widget is None else dict(self.widget.pinned)

    def html(self, path: str | Path) -> Path:
        """Writes the same as one file."""
        return written(self.parts, path, self.title)

    def _ipython_display_(self) -> None:
        """It is on the screen already."""


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
) -> Shown:
    """Every head of every layer, to point at: as a widget in a notebook, elsewhere in the app, until it is stopped.

        attention.show(model(**inputs, output_attentions=True), tokens=tokens)
        attention.show(seen, tokens=tokens)                                     # attention.watch(model)
        attention.show(q, k, mask="causal", tokens=tokens)

    Weights are one tensor, `(q k)`, `(h q k)`, `(l h q k)` or `(l b h q k)`, or one a layer, `(b h q k)`, as transformers has
    them, those of `generate` too; queries and keys, which may have fewer heads, `(h n d)` or `(l h n d)`, as they meet in a
    score. Of torch, NumPy, or whatever NumPy reads; `axes` names other orders, as "b n h d". One sequence of a batch is shown.

    `tokens`: the texts of the queries, `keys`: those of the keys where these are others, as of an encoder. `mask`: the name of
    a rule of `masks.MASKS` (`span` is its reach), or `(q k)` of truths, True where a query looks. Of queries and keys: `scale`,
    else 1/sqrt(d), and `softcap`. Of a model that was watched: `tokens`, `keys` and `title` alone, as the rest was seen. Raises
    ValueError, which names what can't be shown, and where.
    """
    told = Told(tokens, keys, mask, span, scale, softcap, batch, axes, title)
    parts = taken(weights_or_query, key, value, told)
    if not _notebook():
        return _outside(parts, title)
    drawn = picture(parts, title)
    from IPython.display import HTML, display

    try:
        from attention.notebook.widget import widget

        view = widget(drawn)
    except ImportError:
        display(HTML(framed(page(drawn))))
        return Shown(parts, title)
    display(view)
    return Shown(parts, title, view)


def _outside(parts: Mapping[str, Stack], title: str) -> Shown:
    """In the app, as long as nobody stops it; where that is not there, as a page of its own."""
    if launch.is_available():
        with tempfile.TemporaryDirectory(prefix="attention-") as folder:
            launch.run(save(parts, Path(folder) / "attention.safetensors"))
        return Shown(parts, title)
    place = written(parts, Path(tempfile.mkdtemp(prefix="attention-")) / "heads.html", title)
    webbrowser.open(place.as_uri())
    return Shown(parts, title, place=place)


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
) -> Path:
    """Writes the same as one HTML file, which opens without any server or network: for a blog, a paper, an issue.

        attention.html(weights, path="heads.html", tokens=tokens)

    All else is as in `show`. Raises ValueError for what is too much for one file: all cells have 16 MB before they are packed.
    """
    told = Told(tokens, keys, mask, span, scale, softcap, batch, axes, title)
    return written(taken(weights_or_query, key, value, told), path, title)


def written(parts: Mapping[str, Stack], path: str | Path, title: str = "") -> Path:
    """Stacks as one HTML file."""
    path = Path(path)
    path.write_text(page(picture(parts, title)), encoding="utf-8")
    return path


def framed(text: str) -> str:
    """A page within another: nothing in it reaches out of its frame."""
    source = markup.escape(text, quote=True)
    frame = f'width="100%" height="{HIGH}" style="border: 0" title="Attention heads"'
    return f'<iframe sandbox="allow-scripts allow-downloads" {frame} srcdoc="{source}"></iframe>'


def _notebook() -> bool:
    """Does this run in a notebook's kernel?"""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
