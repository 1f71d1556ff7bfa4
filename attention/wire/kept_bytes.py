"""Bytes at the end of a message that a browser keeps by name, so that later messages name them instead of containing them.

`completeMessage` in components/browser/kept_bytes.js is the other end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from attention.wire.message import frame_message


@dataclass(frozen=True)
class Kept:
    """What is known of a browser: `has` returns whether it keeps the bytes of a name, `on_lost` is called if it does not."""

    has: Callable[[str], bool]
    on_lost: Callable[[], None]


def frame_kept(
    header: dict[str, Any], parts: Sequence[memoryview], last: Sequence[memoryview], kept: Kept | None
) -> bytes:
    """Returns the message of a header, `parts` and the `last` parts, without these if the browser keeps them.

    The header then names them by their content, with their size if the message contains them, otherwise 0. `kept` is None
    if no later message will name them.
    """
    if kept is None:
        return frame_message(header, [*parts, *last])
    digest = blake2b(digest_size=12)
    for part in last:
        digest.update(part)
    name = digest.hexdigest()
    sent = () if kept.has(name) else last
    return frame_message(header | {"kept": {"name": name, "bytes": sum(part.nbytes for part in sent)}}, [*parts, *sent])
