"""What the selected head of a real model does over many texts, and how often its role holds on them."""

from __future__ import annotations

from html import escape as escape_html

import pyarrow as pa
import streamlit as st

from attention.analysis import head_survey
from attention.analysis.head_survey import FARTHEST, KINDS, Example, HeadSurvey
from attention.charts import shares, theme
from attention.models.catalogue import Offer
from attention.ui import results
from attention.ui.jobs.survey_jobs import SurveyJob
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import head_survey as text
from attention.ui.views import heads_parts as parts
from attention.ui.views import studies, token_rows

TOKEN = (
    '<span style="display:inline-block;margin:0 3px 3px 0;padding:0 3px;outline:{line};'
    'background:color-mix(in srgb, {color} {share}%, transparent)" title="{title}">{name}</span>'
)
SURVEY = "survey"  # the study of a visit
FRAME = f"2px solid {theme.QUERY}"


def draw() -> None:
    """Draws the section for the selected head of a model that reads one text; computes it first if the model is not surveyed."""
    task, here = page.visit_state().reading, page.visit_state().selected
    if (
        task is None
        or task.found is None
        or here is None
        or task.found.patches is not None
        or len(task.found.parts) > 1
    ):
        return
    survey, (layer, head) = results.head_surveys.of_offer(task.settings.offer), here
    texts = len(head_survey.short_texts()) if survey is None else len(survey.tokens)
    if survey is not None and layer >= len(survey.kinds):
        return
    title = text.TITLE.format(layer=layer, head=head, texts=texts)
    with st.expander(title, icon=":material/library_books:", key="survey", expanded=studies.is_open(SURVEY)):
        if survey is None:
            st.caption(text.UNKNOWN.format(texts=texts))
            live = studies.is_open(SURVEY)
            st.fragment(_live_survey, run_every=studies.LOOK if live else None)(task.settings.offer, live)
        else:
            _draw_survey(survey, layer, head)


def _live_survey(offer: Offer, live: bool) -> None:
    said, label = (
        each.format(model="{model}", texts=len(head_survey.short_texts())) for each in (text.RUNNING, text.RUN)
    )
    studies.offer_study(SURVEY, SurveyJob, results.head_surveys.survey_ask(offer), live, said, label, "survey texts")


def _draw_survey(survey: HeadSurvey, layer: int, head: int) -> None:
    st.caption(text.ABOUT.format(texts=len(survey.tokens)))
    st.markdown(_roles(survey, layer, head))
    left, right = parts.beside()
    with left:
        st.caption(text.DISTANCES)
        _draw_distances(survey, layer, head)
    with right:
        st.caption(text.KINDS)
        found = zip(KINDS, survey.kinds[layer, head].tolist(), strict=True)
        token_rows.draw_shares([(text.KIND_NAMES[name], share) for name, share in found])
    for name, examples in survey.examples(layer, head).items():
        st.markdown(text.GROUPS[name])
        st.html("".join(map(_row, examples)))
    st.caption(text.SHADED)


def _roles(survey: HeadSurvey, layer: int, head: int) -> str:
    found = survey.role_counts(layer, head)
    if not found:
        return text.NO_ROLES
    named = ", ".join(text.ROLE.format(name=escape(name), many=many) for name, many in found)
    return text.ROLES.format(roles=named, none=len(survey.tokens) - sum(many for _, many in found))


def _draw_distances(survey: HeadSurvey, layer: int, head: int) -> None:
    values = survey.distances[layer, head].tolist()
    backward = not any(survey.distances[:, :, :FARTHEST].any(-1).flat)
    first = 0 if backward else -FARTHEST
    table = {"distance": [*range(first, FARTHEST + 1)], "share": values[first + FARTHEST :]}
    st.vega_lite_chart(
        pa.table(table), shares.by_distance(text.DISTANCE, text.SHARE), key="survey distances", width="stretch"
    )


def _row(example: Example) -> str:
    """The tokens of a text, shaded by the weights of one query."""
    spans = [
        TOKEN.format(
            line=FRAME if at == example.query else "none",
            color=theme.MORE,
            share=round(75 * weight),
            title=f"{weight:.2f}",
            name=escape_html(token_rows.token_name(token)),
        )
        for at, (token, weight) in enumerate(zip(example.tokens, example.weights, strict=True))
    ]
    return f'<div style="font-size:14px;line-height:1.6;margin-bottom:6px">{"".join(spans)}</div>'
