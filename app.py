"""The menu: which pages, in which order. Start it with `streamlit run app.py`.

No icons: Streamlit would make the browser ask another host for them.
"""

import streamlit as st

st.navigation(
    [
        st.Page("pages/heads.py", title="Heads", default=True),
        st.Page("pages/softmax.py", title="Softmax"),
        st.Page("pages/masks.py", title="Masks"),
        st.Page("pages/steps.py", title="Steps"),
        st.Page("pages/implementations.py", title="Implementations"),
        st.Page("pages/timing.py", title="Timing"),
    ],
    position="top",
).run()
