"""The menu: which pages, in which order. Start it with `streamlit run app.py`."""

import streamlit as st

st.navigation(
    [
        st.Page("pages/heads.py", title="Heads", icon=":material/grid_view:", default=True),
    ]
).run()
