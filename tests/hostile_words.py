"""The app with a source whose words attack: its tokens, its title and its provenance are markup, scripts, links and formulas.

`folder` makes one that a server is started in; there, and nowhere else, a recording that ships has these words. Whatever takes
one of them for more than text leaves an element that says nothing but MARK, runs what sets `window.hacked`, or asks another host.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import cycle, islice
from pathlib import Path

from attention.recorded import shipped
from attention.recorded.file import Recording
from attention.sources import providers, recorded
from tests.server import ROOT

MARK = "ow"  # so short that the cut names along the axes have all of it, with its markup
SOURCE = "recorded:minilm-street"
RUN = "hacked=1"
WORDS = (  # each with several things in it, as not every word comes to every place
    f"<b>{MARK}</b> **{MARK}** ${MARK}$ :red[{MARK}] `{MARK}` [{MARK}](javascript:{RUN})",
    f"$${MARK}$$ <i>{MARK}</i> <img src=x onerror={RUN}><script>{RUN}</script>",
    f"![{MARK}](http://evil.example/p.png) <a href='javascript:{RUN}'>{MARK}</a> %{{x}}",
    f"</text><svg onload={RUN}> '+datum.value+' {{{{{MARK}}}}} https://evil.example",
    f"&lt;b&gt;{MARK}&lt;/b&gt; ~~{MARK}~~ %{{customdata}} \\u003cb>{MARK}</b>",
)
APP = """import runpy, sys
sys.path.insert(0, {root!r})
from tests import hostile_words
hostile_words.use_hostile_words()
runpy.run_path({app!r}, run_name="__main__")
"""


def folder(place: Path) -> Path:
    """A script in a folder that shows the app with such words, and its pages."""
    (place / "pages").symlink_to(ROOT / "pages")
    script = place / "app.py"
    script.write_text(APP.format(root=str(ROOT), app=str(ROOT / "app.py")))
    return script


@cache
def use_hostile_words() -> None:
    """From now on, in this process, what is recorded has such words."""
    usual = shipped.recording

    @cache
    def recording(name: str) -> Recording:
        found = usual(name)
        words = tuple(islice(cycle(WORDS), len(found.tokens)))
        return replace(found, tokens=words, what=" ".join(WORDS), weights=WORDS[0], license=WORDS[1], made=WORDS[2])

    shipped.recording = recorded.recording = recording
    providers.TITLES[SOURCE] = " ".join(WORDS[:3])
