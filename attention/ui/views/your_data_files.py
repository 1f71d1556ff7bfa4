"""Opens the files of the page Your data: each is read once per reading, and again under another one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from attention.array_files.limits import DataError
from attention.config import Config
from attention.imported import sample
from attention.imported.files import File
from attention.imported.reading_knobs import Reading
from attention.serving.settings import settings
from attention.ui import results
from attention.ui.session import page, question_in_link, uploads
from attention.ui.session.visit_state import Taken, session
from attention.ui.text import your_data as text


def current_file(file: Any, tokens: Any, how: Reading) -> Taken | None:
    """The result for the file in the field, or for the last one, because a field forgets its file when the page is left.

    A file replaces its own source under another reading.
    """
    last = page.visit_state().taken
    if file is None:
        return _again(last, tokens, how)
    asked = (file.file_id, tokens.file_id if tokens else "", how)
    if last is not None and last.asked == asked:
        return last
    before = last.source if last is not None and last.asked[0] == file.file_id else ""
    texts = (tokens.getvalue(), tokens.name) if tokens else None
    return _open_file(file.name, file.getvalue(), texts, Taken(asked, source=before))


def has_file() -> bool:
    """Whether a file was given in this visit, so that how it is read can be corrected."""
    visit = page.visit_state()
    return bool(visit.taken or visit.given or uploads.holdings())


def open_example() -> None:
    """Opens the example, as if its file had been uploaded."""
    _open_file(sample.NAME, sample.sample_file(), None, Taken((sample.NAME, "", Reading())))


def named_files() -> list[Taken]:
    """The results for the files that the owner of this machine has named, opened once per visit as if they were uploaded.

    If there is a single one, it is the last file until another one is opened, so that it can be read in another way.
    """
    visit = page.visit_state()
    if visit.given is None:
        found = [_open_named_file(Path(path)) for path in settings().open]
        alone = len(found) == 1 and visit.taken is None and not found[0].problem
        visit.taken, visit.given = (found[0], []) if alone else (visit.taken, found)
    return visit.given


def forget_file(source: str) -> None:
    """Forgets a file whose source was closed; only its field still says that it was."""
    visit = page.visit_state()
    visit.given = [each for each in visit.given or [] if each.source != source]
    if visit.taken is not None and visit.taken.source == source:
        visit.taken = Taken(visit.taken.asked, problem=text.CLOSED_FILE)


def _open_file(name: str, data: bytes, texts: tuple[bytes, str] | None, asked: Taken) -> Taken:
    """Opens an uploaded file, which becomes the last one; returns the result."""
    found = _read_upload(File(name, data, texts), data, asked)
    page.visit_state().taken = taken = replace(found, file=uploads.remember_file(name, data, texts))
    return taken


def _again(last: Taken | None, tokens: Any, how: Reading) -> Taken | None:
    """The last file, under another reading if its bytes are still there; None if there is no last file."""
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
        return replace(last, problem=text.FORGOTTEN)
    found = replace(_read_upload(file, data, Taken(asked, source=last.source)), file=file)
    page.visit_state().taken = found
    return found


def _open_named_file(path: Path) -> Taken:
    """Opens a file of this machine."""
    file, asked = File(path.name, place=path), Taken((str(path), "", Reading()))
    try:
        return replace(_read_upload(file, path.read_bytes(), asked), file=file)
    except OSError as error:
        return replace(asked, problem=str(error), file=file)


def _read_upload(file: File, data: bytes, asked: Taken) -> Taken:
    """The result of reading a file; `asked` has its reading, and the source that it replaces."""
    try:
        found = results.uploads.open_upload(data, file.name, file.tokens, asked.asked[2])
        source = uploads.hold(found.stack, "file", file.name, asked.source)
        question_in_link.remember_config(session(), Config.of(source))
        return replace(asked, found=found, source=source)
    except DataError as error:
        return replace(asked, problem=str(error))
