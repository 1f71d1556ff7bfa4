"""What the absence of each head of a language model costs: all heads in turn, in three measures and three ways."""

from __future__ import annotations

from math import isnan

import pyarrow as pa
import streamlit as st

from attention.interventions.ablation import WAYS, HeadCosts
from attention.interventions.disagreement import measures_disagree, ways_disagree
from attention.interventions.predictions import Predictions
from attention.models.prompt import COSTS, Prompt
from attention.number_format import format_change, format_head, format_percent
from attention.ui.controls import knobs
from attention.ui.jobs.job_queue import JOBS
from attention.ui.jobs.study_jobs import EveryHeadJob, Study, WaysJob
from attention.ui.markdown import escape
from attention.ui.session import page
from attention.ui.text import interventions as text
from attention.ui.views import studies, token_rows

ONE = "ways"  # the study of the selected head
LISTED = 5  # heads in the table of those that cost most


def every(how: str) -> str:
    """The name of the study of all heads, switched off in this way."""
    return f"every {how}"


def draw_ways(prompt: Prompt, wanted: Study, before: Predictions) -> None:
    """Draws what the selected head costs in the three ways; computed for every head that is selected once it was asked for."""
    wanted = wanted._replace(how="resample", other=prompt.other)
    if (prompt.off or ONE in page.visit_state().studies) and not studies.is_open(ONE):
        studies.request(ONE, WaysJob, wanted, lambda: WaysJob(wanted, clock=JOBS.clock, before=before))
    live = studies.is_open(ONE)
    st.fragment(_live_ways, run_every=studies.LOOK if live else None)(wanted, live)


def _live_ways(wanted: Study, live: bool) -> None:
    (layer, head) = wanted.heads[0]
    label = text.WAYS_RUN.format(layer=layer, head=head)
    job = studies.offer_study(ONE, WaysJob, wanted, live, text.WAYS_RUNNING, label, "three ways")
    if job is None or job.tokens is None:
        return
    answer, against = (escape(token_rows.token_name(name)) for name in job.tokens.names)
    st.markdown(text.WAYS_TABLE.format(head=format_head(head, layer).lower(), answer=answer, against=against))
    rows = [
        [_change_text(name, value) for name, value in zip(COSTS, found, strict=True)] for found in job.found.values()
    ]
    columns = [[text.WAYS[way] for way in job.found], *(list(each) for each in zip(*rows, strict=True))]
    names = (text.WAY, *text.METRICS.values())
    st.dataframe(pa.table(dict(zip(names, columns, strict=True))), hide_index=True, key="ways table")
    if "resample" not in job.found:
        st.caption(text.NO_RESAMPLE)


def draw(prompt: Prompt, wanted: Study) -> None:
    """Draws a button that switches each head off in turn, then the map of what each one's absence costs."""
    live = _any_open()
    st.fragment(_live_costs, run_every=studies.LOOK if live else None)(prompt, wanted, live)


def _any_open() -> bool:
    return any(studies.is_open(every(how)) for how in WAYS)


def _live_costs(prompt: Prompt, wanted: Study, live: bool) -> None:
    if live != _any_open():
        st.rerun()
    name = every(wanted.how)
    label, help = text.EVERY, text.EVERY_HELP
    running = studies.is_open(name)
    job = studies.offer_study(name, EveryHeadJob, wanted, running, text.RUNNING_EVERY, label, "every head", help)
    if job is not None and job.found is not None and job.tokens is not None:
        _show_costs(prompt, job.found, job.tokens.names)
        _compare_ways(prompt, wanted)


def _show_costs(prompt: Prompt, costs: HeadCosts, names: tuple[str, str]) -> None:
    """Draws what the absence of each head costs in the chosen measure, as a sentence, a map and a table."""
    knobs.segments("cost", prompt, format_func=text.METRICS.__getitem__, on_change=page.change)
    named = dict(zip(("answer", "against"), (escape(token_rows.token_name(name)) for name in names), strict=True))
    values = costs.by_measure()
    chosen = values[prompt.cost]
    if chosen.isnan().any():
        st.caption(text.NO_LOSS)
        return
    order = chosen.abs().flatten().argsort(descending=True).tolist()
    cells = [divmod(each, chosen.shape[1]) for each in order]
    head = format_head(cells[0][1], costs.layers[cells[0][0]])
    st.markdown(
        text.COST[prompt.cost].format(head=head, value=_change_text(prompt.cost, float(chosen[cells[0]])), **named)
    )
    shown = 100 * chosen if prompt.cost == "probability" else chosen
    token_rows.draw_map(
        costs.layers,
        shown.tolist(),
        page.visit_state().selected,
        "head",
        "costs",
        text.METRICS[prompt.cost],
        unit=text.UNITS[prompt.cost],
        rises=prompt.cost == "loss",
        digits=1 if prompt.cost == "probability" else 2,
    )
    st.caption(text.COST_MAP[prompt.cost].format(**named))
    listed = {text.HEAD: [format_head(at, costs.layers[row]) for row, at in cells[:LISTED]]}
    listed |= {
        text.METRICS[name]: [_change_text(name, float(each[cell])) for cell in cells[:LISTED]]
        for name, each in values.items()
    }
    st.dataframe(pa.table(listed), hide_index=True, key="costs table")
    most = measures_disagree(values)
    if most is not None:
        said = [
            text.MEASURES[name].format(
                value=_change_text(name, float(values[name][most])), share=format_percent(float(share))
            )
            for name, share in ((name, abs(each[most]) / each.abs().max()) for name, each in values.items())
        ]
        st.markdown(
            text.MEASURES_DISAGREE.format(
                head=format_head(most[1], costs.layers[most[0]]).lower(), said=", ".join(said)
            )
        )


def _compare_ways(prompt: Prompt, wanted: Study) -> None:
    """Names the head on which the three ways disagree most; draws the progress of those that are not done, or a button."""
    asked = {how: wanted._replace(how=how, other=prompt.other if how == "resample" else "") for how in WAYS}
    found: dict[str, HeadCosts] = {}
    for how, study in asked.items():
        job = page.visit_state().studies.get(every(how))
        if how != wanted.how:
            job = studies.wait(every(how), study, studies.is_open(every(how)), text.RUNNING_EVERY)
        if isinstance(job, EveryHeadJob) and job.found is not None and job.settings == study:
            found[how] = job.found
    missing = {how: study for how, study in asked.items() if how not in found}
    if missing:
        _offer_ways(missing, asked["resample"])
        return
    values = {how: each.by_measure()[prompt.cost] for how, each in found.items()}
    most = ways_disagree(values)
    said = ", ".join(
        f"{_change_text(prompt.cost, float(each[most]))} ({text.WAYS[how].lower()})" for how, each in values.items()
    )
    head = format_head(most[1], next(iter(found.values())).layers[most[0]]).lower()
    st.markdown(text.WAYS_DISAGREE.format(head=head, measure=text.METRICS[prompt.cost].lower(), said=said))


def _offer_ways(missing: dict[str, Study], asked: Study) -> None:
    """Draws a button for the other ways unless they run. A visitor has one such study at a time: the second follows the first."""
    how, study = next(iter(missing.items()))
    last = page.visit_state().studies.get(every(how))
    if _any_open():
        return
    if page.visit_state().every_way == asked and (last is None or last.settings != study):
        studies.begin(every(how), EveryHeadJob, study)
        st.rerun()
    args = (every(how), study, asked)
    st.button(text.OTHER_WAYS, key="other ways", icon=":material/play_arrow:", on_click=_begin, args=args)


def _begin(name: str, study: Study, asked: Study) -> None:
    page.visit_state().every_way = asked
    studies.begin(name, EveryHeadJob, study)


def _change_text(measure: str, value: float) -> str:
    """A change with its unit."""
    if isnan(value):
        return "–"
    return f"{format_change(100 * value if measure == 'probability' else value)} {text.UNITS[measure]}".rstrip()
