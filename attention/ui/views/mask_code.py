"""The mask in use as code: for flex_attention, and as a dense tensor."""

from __future__ import annotations

import streamlit as st

from attention.config import Config
from attention.sources.providers import has_own_mask, square
from attention.steps import mask_table, program


def section(config: Config) -> None:
    """Draws two programs that compute the mask shown above."""
    if table := has_own_mask(config.source):
        mask = square(config, config.tokens, config.n_keys)
        found = mask_table.mask_mod(mask), mask_table.dense(mask)
    else:
        found = program.mask_mod(config), program.dense(config)
    flex, tensor = st.columns(2, gap="medium")
    with flex:
        st.markdown("**`mask_mod` for `flex_attention`**: skips fully masked blocks; fast once compiled.")
        st.code(found[0], language="python", wrap_lines=True)
    with tensor:
        st.markdown("**Dense boolean tensor**: True means visible; for short sequences and any backend.")
        st.code(found[1], language="python", wrap_lines=True)
    if table:
        st.caption("The source's own mask: ranges of queries, each with its visible keys.")
        return
    source = "; ".join(dict.fromkeys(config.rule.source.split("; ")))
    st.caption(f"Source of the rule: {source}.")
