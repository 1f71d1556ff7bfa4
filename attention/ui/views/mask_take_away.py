"""The mask in use as code: for flex_attention, and as a dense tensor."""

from __future__ import annotations

import streamlit as st

from attention.config import Config
from attention.steps import program


def section(config: Config) -> None:
    """Two programs that give the square above."""
    flex, tensor = st.columns(2, gap="medium")
    with flex:
        st.markdown("**`mask_mod` for `flex_attention`**: skips blocks that are hidden whole; fast once compiled.")
        st.code(program.mask_mod(config), language="python", wrap_lines=True)
    with tensor:
        st.markdown("**Dense boolean tensor**: True takes part; for short sequences, and for any backend.")
        st.code(program.dense(config), language="python", wrap_lines=True)
    source = "; ".join(dict.fromkeys(config.rule.source.split("; ")))
    st.caption(f"Source of the rule: {source}.")
