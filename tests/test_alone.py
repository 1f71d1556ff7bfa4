"""The HTML file: whole, strict, and nothing but data where people's words stand."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess

import pytest
import torch

import attention
from attention.notebook import bundle, display
from attention.notebook.bundle import BROWSER, script

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "<!--",
    "{{7*7}}",
    "$x^2$",
    "\u202egnp.exe",
    "😀" * 40,
    "",
]


def weights(layers: int = 2, heads: int = 3, n: int = len(HOSTILE)) -> torch.Tensor:
    return torch.rand(layers, heads, n, n, generator=torch.Generator().manual_seed(4)).softmax(-1)


@pytest.fixture
def page(tmp_path) -> str:
    title = "</title><script>alert(2)</script>"
    return attention.html(weights(), path=tmp_path / "heads.html", tokens=HOSTILE, title=title).read_text()


def test_no_address_stands_in_it(page):
    named = page.replace("http://www.w3.org/2000/svg", "")  # the name of what SVG is, which nobody asks for
    assert not re.findall(r"https?:|//[a-z]+\.|@import|url\(|<iframe|<link (?!rel=\"icon\" href=\"data:,\")", named)
    assert "fetch(" not in page and "XMLHttpRequest" not in page and "import(" not in page


def test_peoples_words_are_data(page):
    for text in HOSTILE:
        assert not text or text not in page.replace("<script", "", 1) or text == "<!--"
    assert len(re.findall(r"<script\b", page)) == 1 + 1 + 2  # what is said, a block a layer, and the one that runs
    assert "<title>&lt;/title&gt;&lt;script&gt;alert(2)&lt;/script&gt;</title>" in page
    assert "<!--" not in page


def test_the_policy_knows_what_runs_and_nothing_else(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy and "http" not in policy
    code = re.search(r'<script type="module">(.*?)</script>', page, re.DOTALL)[1]
    look = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    for name, text in (("script-src", code), ("style-src", look)):
        found = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{found}'" in policy


def test_the_same_picture_is_the_same_file(tmp_path):
    first, second = (attention.html(weights(), path=tmp_path / f"{i}.html").read_bytes() for i in "ab")
    assert first == second


def test_a_frame_holds_all_of_a_page():
    framed = display.in_frame('<p title="a">&amp;</p>')
    assert 'srcdoc="&lt;p title=&quot;a&quot;&gt;&amp;amp;&lt;/p&gt;"' in framed and 'sandbox="allow-scripts' in framed


@pytest.mark.parametrize("name", ["notebook/page.js", "notebook/widget.js"])
def test_one_script_is_made_of_many(name, tmp_path):
    """Each module once, behind what it imports, and what it exports is what others take."""
    text = script(name)
    assert not re.search(r"^import ", text, re.MULTILINE) and "</script" not in text
    assert len(re.findall(r"^export ", text, re.MULTILINE)) == (1 if name.endswith("widget.js") else 0)
    made = re.findall(r"^const (of_\w+) = \(\(\) => {", text, re.MULTILINE)
    assert len(made) == len(set(made)) and made.index("of_message") < made.index("of_cells") < made.index(
        "of_heads_grid"
    )
    for taken in re.findall(r"^const \{[^}]*\} = (of_\w+);", text, re.MULTILINE):
        assert taken in made
    if node := shutil.which("node"):
        (tmp_path / "all.mjs").write_text(text)
        subprocess.run([node, "--check", str(tmp_path / "all.mjs")], check=True)


def test_a_circle_of_imports_is_named(monkeypatch, tmp_path):
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\n')
    (tmp_path / "b.js").write_text('import { a } from "./a.js";\n')
    monkeypatch.setattr(bundle, "BROWSER", tmp_path)
    with pytest.raises(ValueError, match=r"a\.js imports itself by way of b\.js"):
        script.__wrapped__("a.js")
    assert BROWSER.is_dir()


def test_where_there_is_no_app_a_browser_opens_the_page(monkeypatch):
    asked = []
    monkeypatch.setattr(display.launch, "is_available", lambda: False)
    monkeypatch.setattr(display.webbrowser, "open", asked.append)
    found = attention.show(weights())
    assert asked == [found.place.as_uri()] and found.place.read_text().startswith("<!doctype html>")
    assert found.pinned == {}
    shutil.rmtree(found.place.parent)
