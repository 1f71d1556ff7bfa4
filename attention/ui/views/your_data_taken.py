"""What became of the files that a visitor opens on Your data: each is read once under a reading, and anew under another one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from attention.brought import sample
from attention.brought.files import File
from attention.brought.fitting import BroughtError
from attention.brought.reading import Reading
from attention.config import Config
from attention.serving.settings import settings
from attention.ui import compute
from attention.ui.session import brought, carried, page
from attention.ui.session.state import Taken, session

FORGOTTEN = (
    "It is shown as it was read before. Open the file again to read it otherwise: it was not kept, as memory is short."
)


def taken(file: Any, tokens: Any, how: Reading) -> Taken | None:
    """What became of the file in the field, else of the last one, which a field forgets once its page is left.

    A file takes the place of what it was before under another reading.
    """
    last = page.kept().taken
    if file is None:
        return _again(last, tokens, how)
    asked = (file.file_id, tokens.file_id if tokens else "", how)
    if last is not None and last.asked == asked:
        return last
    before = last.source if last is not None and last.asked[0] == file.file_id else ""
    texts = (tokens.getvalue(), tokens.name) if tokens else None
    return _opened(file.name, file.getvalue(), texts, Taken(asked, source=before))


def tried() -> None:
    """Opens the example, as if its file had been chosen."""
    _opened(sample.NAME, sample.written(), None, Taken((sample.NAME, "", Reading())))


def given() -> list[Taken]:
    """What became of the files that the owner of this machine has named: opened once in a visit, as if somebody chose them.

    One that is alone is the last file until another one is opened, so that it can be read otherwise.
    """
    kept = page.kept()
    if kept.given is None:
        found = [_placed(Path(path)) for path in settings().open]
        alone = len(found) == 1 and kept.taken is None and not found[0].problem
        kept.taken, kept.given = (found[0], []) if alone else (kept.taken, found)
    return kept.given


def gone(source: str) -> None:
    """Somebody has closed what a file was: nothing more is said of it, but where it stands in its field."""
    kept = page.kept()
    kept.given = [each for each in kept.given or [] if each.source != source]
    if kept.taken is not None and kept.taken.source == source:
        kept.taken = Taken(kept.taken.asked, problem="It was closed. Open it anew to see it.")


def _opened(name: str, data: bytes, texts: tuple[bytes, str] | None, asked: Taken) -> Taken:
    """What comes of a file that somebody has chosen, from now on the last one."""
    found = _read(File(name, data, texts), data, asked)
    page.kept().taken = kept = replace(found, file=brought.remembered(name, data, texts))
    return kept


def _again(last: Taken | None, tokens: Any, how: Reading) -> Taken | None:
    """The last file, under another reading where its bytes are still there; None where there is nothing to say of one."""
    if last is None or last.file is None or not last.source:
        return None
    asked = (last.asked[0], tokens.file_id if tokens else last.asked[1], how)
    if last.asked == asked:
        return last
    file = replace(last.file, tokens=(tokens.getvalue(), tokens.name)) if tokens else last.file
    try:
        data = file.content()
    except OSError:
        data = None
    if data is None:
        return replace(last, problem=FORGOTTEN)
    found = replace(_read(file, data, Taken(asked, source=last.source)), file=file)
    page.kept().taken = found
    return found


def _placed(path: Path) -> Taken:
    """A file of this machine."""
    file, asked = File(path.name, place=path), Taken((str(path), "", Reading()))
    try:
        return replace(_read(file, path.read_bytes(), asked), file=file)
    except OSError as error:
        return replace(asked, problem=str(error), file=file)


def _read(file: File, data: bytes, asked: Taken) -> Taken:
    """What comes of a file; `asked` has its reading, and the source whose place it takes."""
    try:
        found = compute.brought.opened(data, file.name, file.tokens, asked.asked[2])
        source = brought.hold(found.stack, "file", file.name, asked.source)
        carried.shown(session(), Config.of(source))
        return replace(asked, found=found, source=source)
    except BroughtError as error:
        return replace(asked, problem=str(error))
