"""A link as a QR code (ISO/IEC 18004), which a phone's camera opens."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO

import segno

LONGEST = 600  # bytes of a link: 85 modules a side, which a phone still reads from a page of paper
QUIET = 4  # modules of white around the code, as the standard demands


@lru_cache(maxsize=64)  # up to 0.2 s of processor time
def qr_svg(link: str) -> str:
    """The QR code of a link as an SVG, black on white; "" if the link has more than `LONGEST` bytes."""
    if not 0 < len(link.encode("utf-8", "replace")) <= LONGEST:
        return ""
    code = segno.make(link, error="l", boost_error=True, micro=False, encoding="utf-8" if not link.isascii() else None)
    written = BytesIO()
    code.save(written, kind="svg", border=QUIET, light="#fff", omitsize=True, xmldecl=False, nl=False)
    return written.getvalue().decode()
