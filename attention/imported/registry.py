"""Stacks that visitors have brought, each there for as long as its visitor's session holds on to it.

`hold` gives a `Holding`, whose `source` names it in a config: `file:`, `model:` or `training:`, a key that nobody can
guess, and the name that a reader of a link sees. Whoever keeps the holding keeps the stack, and with the session that keeps it
both are gone. To bring attention from elsewhere: a kind in `KINDS`, its words in sources/uploaded.py, and the page where one gets
it in ui/session/uploads.py.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from attention.imported.stack import Stack
from attention.imported.validate import TEXT, check, shape_of
from attention.recorded.file import Shape
from attention.settings import ConfigError, legible

KINDS = {
    "file": "a file that somebody has opened",
    "model": "a model that somebody has run",
    "training": "a training that somebody has watched",
}
KEY = 9  # random bytes of a key: as many guesses as 72 bits have
LONGEST = 60  # characters of a name
FORM = re.compile(rf"(?:{'|'.join(KINDS)}):[\w-]{{12}}:[^\n\t]{{1,{LONGEST}}}", re.ASCII)


class GoneError(ConfigError):
    """A stack was let go of; the message names it, and says what its reader can do."""


@dataclass(frozen=True, eq=False)
class Upload:
    """A stack that is there as long as this is, its sizes, and the name of the source that it is."""

    source: str
    stack: Stack
    shape: Shape


class UploadRegistry:
    """All stacks that are there, as a claim on memory: they are their visitors', so nothing of it is given back."""

    def __init__(self) -> None:
        self.known: WeakValueDictionary[str, Upload] = WeakValueDictionary()

    @property
    def used_bytes(self) -> int:
        """Bytes of all stacks."""
        return sum(each.stack.bytes for each in list(self.known.values()))

    @property
    def unevictable_bytes(self) -> int:
        """All of it."""
        return self.used_bytes

    def give_back(self, size: int) -> None:
        """They go with the sessions that hold them."""

    def expire(self, before: float) -> None:
        """The same."""


UPLOADS = UploadRegistry()


def register(stack: Stack, kind: str = "file", name: str = "") -> Upload:
    """Takes a stack in as a source of a kind, called by a name, else by its title; raises BroughtError where it does not fit.

    Weights that come with queries and keys are left: they are computed anew.
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
    """The holding that a source names after its kind; raises GoneError where nobody holds it."""
    there = UPLOADS.known.get(key.partition(":")[0])
    if there is None:
        raise GoneError(
            f"“{key.partition(':')[2]}” is no longer open here: it went with the visit in which it was opened."
        )
    return there


def shape(key: str) -> Shape:
    """The sizes of what a source names; raises GoneError."""
    return find_entry(key).shape


def is_uploaded(source: object) -> bool:
    """Does a source name something that was brought, be it there or not?"""
    return isinstance(source, str) and FORM.fullmatch(source) is not None and legible(source) == source


def entry_name(source: str) -> str:
    """The name of what was brought, as its source has it."""
    return source.split(":", 2)[2]


def missing_upload(source: object) -> str | None:
    """Why a config can't have a source, "" where it can; None of what was not brought."""
    if not isinstance(source, str) or not is_uploaded(source):
        return None
    there = UPLOADS.known.get(source.split(":")[1])
    if there is not None and there.source == source:
        return ""
    return f"“{entry_name(source)}” is {KINDS[source.partition(':')[0]]}. It is not open here."


def _strip_control_characters(token: str) -> str:
    """The text of a token without what steers the text around it; of nothing else, its code points."""
    return legible(token) or " ".join(f"U+{ord(sign):04X}" for sign in token)


def _display_name(name: str) -> str:
    """A name as a source may have it: legible, on one line, cut."""
    text = " ".join(legible(name).split())
    return (text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…") or "unnamed"
