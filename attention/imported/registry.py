"""The registry of uploaded stacks, each kept for as long as the session of its visitor holds it.

`register` returns an `Upload`, whose `source` names it in a config: `file:`, `model:` or `training:`, a random key, and
the name that readers of a link see. The registry holds weak references only: a stack is freed with the last `Upload` of
it, and so with the session. To add another kind of upload: a line in `KINDS`, its words in sources/uploaded.py, and the
page that creates it in ui/session/uploads.py.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

from attention.array_files.limits import TEXT
from attention.imported.nearest_mask import nearest
from attention.imported.stack import Stack
from attention.imported.validate import check, shape_of
from attention.recorded.file import Shape
from attention.settings import ConfigError
from attention.summary import legible

KINDS = {
    "file": "a file that was opened in another visit",
    "model": "a model that was run in another visit",
    "training": "a training of another visit",
}
KEY = 9  # random bytes of a key: 72 bits
LONGEST = 60  # characters of a name
FORM = re.compile(rf"(?:{'|'.join(KINDS)}):[\w-]{{12}}:[^\n\t]{{1,{LONGEST}}}", re.ASCII)


class GoneError(ConfigError):
    """The stack of a source is no longer in memory; the message names it, and says what the user can do."""


@dataclass(frozen=True, eq=False)
class Upload:
    """A registered stack, its sizes, and the name of its source. The stack is kept for as long as this object."""

    source: str
    stack: Stack
    shape: Shape
    _labels: dict[int, str] = field(default_factory=dict)  # of the masks of layers, by their index

    def mask_label(self, at: int) -> str:
        """Returns its own mask of a layer in a few words, with the nearest rule; "" if it has none."""
        square = self.stack.square_of(at)
        if square is None:
            return ""
        at = at if self.stack.square is not square else 0
        if at not in self._labels:
            found = nearest(square)
            near = f"close to {found.name}" if found.differing else found.name
            self._labels[at] = f"its own mask ({near})"
        return self._labels[at]


class UploadRegistry:
    """All uploaded stacks, as a memory holder of the budget. They belong to visits, so none is evicted."""

    def __init__(self) -> None:
        self.known: WeakValueDictionary[str, Upload] = WeakValueDictionary()

    @property
    def used_bytes(self) -> int:
        """Bytes of all stacks."""
        return sum(each.stack.bytes for each in list(self.known.values()))

    @property
    def unevictable_bytes(self) -> int:
        """Equal to `used_bytes`."""
        return self.used_bytes

    def give_back(self, size: int) -> None:
        """Does nothing: stacks are freed with the sessions that hold them."""

    def expire(self, before: float) -> None:
        """Does nothing, as `give_back`."""


UPLOADS = UploadRegistry()


def register(stack: Stack, kind: str = "file", name: str = "") -> Upload:
    """Registers a stack as a source of a kind, under `name` or else its title; raises DataError if it can't be shown.

    Weights are dropped if the stack has queries and keys, as they are computed from these.
    """
    check(stack)
    queries = tuple(map(_strip_control_characters, stack.queries))
    keys = queries if stack.keys == stack.queries else tuple(map(_strip_control_characters, stack.keys))
    words = {"title": legible(stack.title)[:TEXT], "what": legible(stack.what)[:TEXT], "queries": queries, "keys": keys}
    stack = replace(stack, weights=None if stack.q is not None else stack.weights, **words)
    key = secrets.token_urlsafe(KEY)
    found = Upload(f"{kind}:{key}:{_display_name(name or stack.title)}", stack, shape_of(stack))
    UPLOADS.known[key] = found
    return found


def find_entry(key: str) -> Upload:
    """Returns the upload of a source, given without its kind (`key:name`); raises GoneError if it no longer exists."""
    there = UPLOADS.known.get(key.partition(":")[0])
    if there is None:
        raise GoneError(f"“{key.partition(':')[2]}” is no longer open: it was deleted at the end of its visit.")
    return there


def shape(key: str) -> Shape:
    """Returns the sizes of a source, given as in `find_entry`; raises GoneError."""
    return find_entry(key).shape


def is_uploaded(source: object) -> bool:
    """Whether a source names an upload; it need not exist any more."""
    return isinstance(source, str) and FORM.fullmatch(source) is not None and legible(source) == source


def entry_name(source: str) -> str:
    """Returns the name of an upload, as its source has it."""
    return source.split(":", 2)[2]


def missing_upload(source: object) -> str | None:
    """Returns why a config can't have this source, "" if it can, and None if it names no upload."""
    if not isinstance(source, str) or not is_uploaded(source):
        return None
    there = UPLOADS.known.get(source.split(":")[1])
    if there is not None and there.source == source:
        return ""
    return f"“{entry_name(source)}” is {KINDS[source.partition(':')[0]]}. It is not open here."


def _strip_control_characters(token: str) -> str:
    """Returns the text of a token without control characters; if nothing is left, its code points."""
    return legible(token) or " ".join(f"U+{ord(sign):04X}" for sign in token)


def _display_name(name: str) -> str:
    """Returns a name as sources have it: printable, on one line, at most LONGEST characters."""
    text = " ".join(legible(name).split())
    return (text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…") or "unnamed"
