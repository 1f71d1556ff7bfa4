"""Masks: every rule side by side, and what the one in use does."""

from __future__ import annotations

import streamlit as st

from attention.components.mask_gallery import mask_gallery
from attention.config import KNOBS, Config
from attention.gallery import BLOCK, flops
from attention.tables import share
from attention.ui import compute, page, predict, proof
from attention.ui.views import mask_audit, mask_effect, mask_take_away
from attention.ui.views.mask_question import question

DETAILS = {"effect": mask_effect.section, "empty rows": mask_audit.section, "code": mask_take_away.section}


def view(config: Config) -> None:
    """The page of a config."""
    if predict.asked(config, "mask") and not predict.opened(config, question(config)):
        return
    _title(config)
    _gallery(config)
    knob = KNOBS["mask_detail"]
    st.segmented_control(knob.label, knob.choices, key="mask_detail", help=knob.help, required=True)
    DETAILS[config.mask_detail](config)


def _title(config: Config) -> None:
    title, layers, ask = st.columns([6, 2, 1.3], vertical_alignment="bottom")
    with title:
        st.markdown(
            f"**Masks.** A row is a query, a column a key; where it is hatched, the query does not see the key. "
            f"In use, **{config.rule_name}**: {config.rule.help}"
        )
        proof.badge(config)
    with layers:
        knob = KNOBS["layers"]
        st.slider(knob.label, int(knob.low), int(knob.high), key="layers", help=knob.help)
    with ask:
        predict.offer({"mask": "Ask"})


def _gallery(config: Config) -> None:
    joined = config.combine != "none"
    own = [compute.exhibit(config.tensors, config.layers)] if joined else []
    mask_gallery(config, [*own, *compute.gallery(config.tokens, config.span, config.layers)], on_choice=page.chosen)
    used = compute.exhibit(config.tensors, config.layers)
    saved = share(1 - used.share)
    st.caption(
        f"{config.tokens:,} tokens, span {config.span}. **{config.rule_name}** keeps {used.pairs:,} of "
        f"{config.tokens**2:,} pairs: $q k^\\top$ and $w v$ need {_count(flops(config.tokens, config.d_model, used.share))} "
        f"of $4 n^2 d_{{model}}$ = {_count(flops(config.tokens, config.d_model))} operations a layer, {saved} less. "
        f"In blocks: a kernel skips only blocks of {BLOCK} x {BLOCK} pairs that are hidden whole. Reach: how far, "
        f"in tokens, an output can depend on its input after {config.layers} layers, exact, residual connections counted."
    )


def _count(number: float) -> str:
    """A number of operations with three digits and its unit."""
    for unit in ("", "k", "M", "G", "T"):
        if number < 1000:
            break
        number /= 1000
    return f"{number:.3g} {unit}".strip()
