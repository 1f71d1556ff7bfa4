"""The mask in use as code: for flex_attention, and as a dense tensor."""

from __future__ import annotations

import streamlit as st

from attention.config import Config
from attention.sources.providers import has_own_mask, square
from attention.steps import mask_table, program
from attention.ui.text import masks as text


def section(config: Config) -> None:
    """Draws two programs that compute the mask shown above."""
    if table := has_own_mask(config.source):
        mask = square(config, config.tokens, config.n_keys)
        found = mask_table.mask_mod(mask), mask_table.dense(mask)
    else:
        found = program.mask_mod(config), program.dense(config)
    flex, tensor = st.columns(2, gap="medium")
    with flex:
        st.markdown(text.FLEX)
        st.code(found[0], language="python", wrap_lines=True)
    with tensor:
        st.markdown(text.DENSE)
        st.code(found[1], language="python", wrap_lines=True)
    if table:
        st.caption(text.OWN_CODE)
        return
    source = "; ".join(dict.fromkeys(config.rule.source.split("; ")))
    st.caption(text.RULE_SOURCE.format(source=source))
