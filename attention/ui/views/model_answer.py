"""What each part of a decoder adds to its answer, its logit lens, and what returns if a corrupted text is patched."""

from __future__ import annotations

import pyarrow as pa
import streamlit as st

from attention.charts import theme
from attention.interventions.patching import PAIRS
from attention.models.prompt import OWN, Prompt
from attention.number_format import format_change, format_head, format_percent, format_weight
from attention.ui.controls import knobs
from attention.ui.jobs.study_jobs import Parts, PartsJob, PatchJob, Study
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import interventions as text
from attention.ui.views import model_switches as switches
from attention.ui.views import studies, token_rows

PARTS, PATCH = "parts", "patch"  # the studies of a visit


def draw(prompt: Prompt) -> None:
    """Draws both sections, for a model that has predicted next words."""
    task, words = page.visit_state().reading, switches.next_words()
    if task is None or words is None:
        return
    here = page.visit_state().selected
    wanted = switches.make_study(prompt, task, words, () if here is None else (here,))
    with st.expander(text.PARTS, icon=":material/add_circle:"):
        st.caption(text.PARTS_ABOUT)
        live = studies.is_open(PARTS)
        asked = wanted._replace(how="zero", other="")
        if PARTS in page.visit_state().studies and not live:  # another head or token is shown at once
            studies.request(PARTS, PartsJob, asked)
            live = studies.is_open(PARTS)
        st.fragment(_live_parts, run_every=studies.LOOK if live else None)(prompt, asked, live)
    with st.expander(text.PATCH, icon=":material/healing:"):
        st.caption(text.PATCH_ABOUT)
        _draw_patch(prompt, wanted)


def _live_parts(prompt: Prompt, wanted: Study, live: bool) -> None:
    job = studies.offer_study(PARTS, PartsJob, wanted, live, text.PARTS_RUNNING, text.PARTS_RUN, "parts")
    if job is not None and job.found is not None:
        _show_parts(prompt, job.found)


def _show_parts(prompt: Prompt, parts: Parts) -> None:
    found = parts.found
    answer, against = (escape(token_rows.token_name(name)) for name in parts.tokens.names)
    st.markdown(
        text.SUM.format(
            answer=answer,
            against=against,
            logit=format_change(found.logit, plus=False),
            heads=format_change(float(found.heads.sum()), plus=False),
            others=format_change(float(found.others.sum()), plus=False),
            embeddings=format_change(found.embeddings, plus=False),
            biases=format_change(found.biases, plus=False),
            error=format_weight(abs(found.error)),
        )
    )
    values = [[*row, other] for row, other in zip(found.heads.tolist(), found.others.tolist(), strict=True)]
    token_rows.draw_map(found.layers, values, page.visit_state().selected, "head", "parts map", answer, text.MLP)
    st.caption(text.PARTS_MAP.format(answer=answer, against=against))
    if parts.sources:
        st.caption(text.SOURCES.format(layer=parts.head[0], head=parts.head[1]))
        token_rows.draw_numbers(parts.tokens.labels, parts.sources, up=theme.MORE, down=theme.LESS)
    _show_lens(prompt, parts)


def _show_lens(prompt: Prompt, parts: Parts) -> None:
    lens, labels = parts.lens, parts.tokens.labels
    at = prompt.at if 0 <= prompt.at < len(labels) else len(labels) - 1
    st.markdown(text.LENS.format(token=escape(token_rows.token_name(labels[at]))))
    names = [text.START, *(text.LAYER.format(layer=layer) for layer in lens.layers)]
    columns = [
        names,
        [token_rows.token_name(each) for each in parts.lens_texts],
        [format_percent(each) for each in lens.probabilities[:, 0].tolist()],
        [format_percent(each) for each in lens.answer.tolist()],
        [format_change(each, plus=False) for each in lens.entropy.tolist()],
    ]
    st.dataframe(pa.table(dict(zip(text.LENS_COLUMNS, columns, strict=True))), hide_index=True, key="lens")


def _draw_patch(prompt: Prompt, wanted: Study) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        knobs.menu("pair", prompt, format_func=str.capitalize, on_change=page.change, width=200)
        knobs.menu("patched", prompt, format_func=str.capitalize, on_change=page.change, width=200)
    wanted = wanted._replace(heads=(), how=prompt.patched, at=-1)
    if prompt.pair == OWN:
        knobs.area("corrupted", prompt, on_change=page.change, height=88)
        wanted = wanted._replace(other=prompt.corrupted, second="")
        if not prompt.corrupted.strip():
            st.caption(text.NO_CORRUPTED)
            return
    else:
        clean, corrupted, answer, against = PAIRS[prompt.pair]
        st.caption(text.PAIR_TEXTS.format(clean=escape(f"“{clean}”"), corrupted=escape(f"“{corrupted}”")))
        wanted = wanted._replace(text=clean, second="", other=corrupted, answer=answer, against=against)
    live = studies.is_open(PATCH)
    st.fragment(_live_patch, run_every=studies.LOOK if live else None)(wanted, live)


def _live_patch(wanted: Study, live: bool) -> None:
    job = studies.offer_study(PATCH, PatchJob, wanted, live, text.PATCH_RUNNING, text.PATCH_RUN, "patches")
    if job is not None and job.found is not None and job.tokens is not None:
        _show_patches(job)


def _show_patches(job: PatchJob) -> None:
    found, tokens = job.found, job.tokens
    assert found is not None and tokens is not None
    answer, against = (escape(token_rows.token_name(name)) for name in tokens.names)
    row, at = divmod(int(found.returns.argmax()), found.returns.shape[1])
    layer = found.layers[row]
    where = (
        format_head(at, layer).lower()
        if found.what == "heads"
        else f"layer {layer}, {escape(token_rows.token_name(tokens.labels[at]))} ({at})"
    )
    st.markdown(
        text.PATCHED.format(
            where=where,
            value=format_change(float(found.returns[row, at]), plus=False),
            answer=answer,
            against=against,
            clean=format_change(found.clean, plus=False),
            corrupted=format_change(found.corrupted, plus=False),
        )
    )
    across = "head" if found.what == "heads" else "position"
    token_rows.draw_map(found.layers, found.returns.tolist(), (layer, at), across, "patch map", "share that returns")
    st.caption(text.PATCH_MAP.format(columns=text.COLUMNS[found.what]))
