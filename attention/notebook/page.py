"""Writes a picture as one HTML file, which opens from a disk, without a server and without a network.

The file contains all that it needs; a policy in its head forbids the browser any request, and any script but this
one. Labels are sent as bytes and shown as text.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json

from attention.notebook.bundle import script, style
from attention.notebook.picture import Picture

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1></header>
<noscript><p>A script draws this picture, and scripts are switched off here.</p></noscript>
<main></main>
{data}
<script type="module">{script}</script>
</body>
</html>
"""
STYLE = """
:root { color-scheme: light dark; --page-background: #ffffff; --page-text: #1f2430; }
@media (prefers-color-scheme: dark) { :root { --page-background: #14171c; --page-text: #eceef2; } }
body {
  max-width: 1320px; margin: 0 auto; padding: 12px; background: var(--page-background); color: var(--page-text);
  font: 14px/1.4 system-ui, sans-serif;
}
h1 { margin: 4px 12px 0; font-size: 20px; font-weight: 600; overflow-wrap: anywhere; }
"""


def page(picture: Picture) -> str:
    """The text of the file."""
    code, look = script("notebook/page.js"), STYLE + style()
    policy = f"default-src 'none'; script-src {_hash(code)}; style-src {_hash(look)}; img-src data: blob:"
    about = json.dumps(picture.about, ensure_ascii=False).encode()
    blocks = [_block("about", about)]
    for part, (first, said) in enumerate(zip(picture.places, picture.about["parts"], strict=True)):
        for at in range(len(said["layers"])):
            blocks.append(_block(f"layer-{part}-{at}", picture.layers[first + at]))
    title = html.escape(picture.about["title"])
    policy += "; base-uri 'none'; form-action 'none'"
    return PAGE.format(title=title, policy=policy, style=look, data="\n".join(blocks), script=code)


def _block(name: str, data: bytes) -> str:
    """Data that a script finds by its name."""
    return f'<script type="text/plain" id="{name}">{base64.b64encode(data).decode()}</script>'


def _hash(text: str) -> str:
    """The hash by which a policy allows a script or a style sheet."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
