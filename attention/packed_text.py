"""Packs a text for a link: deflated, in base64url, so that it consists of letters, digits, - and _."""

from __future__ import annotations

import base64
import zlib


def pack_text(text: str) -> str:
    """Returns the packed text."""
    deflate = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    data = deflate.compress(text.encode()) + deflate.flush()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def unpack_text(code: str, largest: int) -> str:
    """Returns the text; raises ValueError for any other code, and for a text of more than `largest` bytes."""
    try:
        data = base64.b64decode(code + "=" * (-len(code) % 4), altchars=b"-_", validate=True)
        inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        found = inflate.decompress(data, largest).decode()
    except zlib.error as error:
        raise ValueError(f"not a deflated text: {error}") from error
    if not inflate.eof or inflate.unused_data:
        raise ValueError("the text is incomplete, too long, or followed by other data")
    return found
