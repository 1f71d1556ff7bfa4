"""The menu of pages. Start the app with `streamlit run app.py`.

Streamlit runs this file as a program for every visitor, which builds the menu, and imports it once for the server's `app`.
The menu has no icons, because Streamlit makes the browser load them from another host.
"""

import streamlit as st

if __name__ == "__main__":
    from attention.ui.session import address_bar

    # Heads is shown at the root only; its name redirects there. Streamlit needs another page for that, so `url_path` differs.
    HEADS = st.Page("pages/heads.py", title="Heads", url_path="root", default=True)

    st.navigation(
        [
            HEADS,
            st.Page("pages/examples.py", title="Examples"),
            st.Page("pages/layers.py", title="Layers"),
            st.Page("pages/softmax.py", title="Softmax"),
            st.Page("pages/masks.py", title="Masks"),
            st.Page("pages/steps.py", title="Steps"),
            st.Page("pages/training.py", title="Training"),
            st.Page("pages/model.py", title="Model"),
            st.Page("pages/your_data.py", title="Your data"),
            st.Page("pages/implementations.py", title="Implementations"),
            st.Page("pages/timing.py", title="Timing"),
            st.Page(address_bar.leading_to(HEADS), title="Heads", url_path="heads", visibility="hidden"),
        ],
        position="top",
    ).run()
else:
    from attention.serving import error_page, stack

    app = st.App(
        __file__, lifespan=stack.WARMTH.lifespan, middleware=stack.middleware(), on_script_error=error_page.show_error
    )
