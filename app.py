"""The menu of pages. Start the app with `streamlit run app.py`.

Streamlit runs this file as a program for every visitor, which builds the menu, and imports it once for the server's `app`.
The menu has no icons, because Streamlit makes the browser load them from another host.
"""

import streamlit as st

if __name__ == "__main__":
    from attention.ui.session import address_bar

    heads = st.Page("pages/heads.py", title="Heads")
    start = st.Page("pages/start.py", title="Start", default=True)

    page = st.navigation(
        {
            "": [start],
            "Learn": [
                heads,
                st.Page("pages/steps.py", title="Steps"),
                st.Page("pages/softmax.py", title="Softmax"),
                st.Page("pages/masks.py", title="Masks"),
                st.Page("pages/training.py", title="Training"),
            ],
            "Explore": [
                st.Page("pages/examples.py", title="Examples"),
                st.Page("pages/layers.py", title="Layers"),
                st.Page("pages/model.py", title="Model"),
                st.Page("pages/your_data.py", title="Your data"),
            ],
            "Measure": [
                st.Page("pages/timing.py", title="Timing"),
                st.Page("pages/implementations.py", title="Implementations"),
            ],
        },
        position="top",
    )
    if page.url_path == start.url_path:
        address_bar.send_on(heads)
    page.run()
else:
    from attention.serving import error_page, stack

    app = st.App(
        __file__, lifespan=stack.WARMTH.lifespan, middleware=stack.middleware(), on_script_error=error_page.show_error
    )
