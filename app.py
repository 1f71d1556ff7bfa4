"""The menu: which pages, in which order; and what stands before it. Start it with `streamlit run app.py`.

Streamlit runs this file as a program for every visitor, which is the menu, and imports it once for the server's `app`.
No icons in the menu: Streamlit would make the browser ask another host for them.
"""

import streamlit as st

if __name__ == "__main__":
    from attention.ui.session import page

    # It is at the root only. Its name leads there; to Streamlit that is another page, so this one goes by another name.
    HEADS = st.Page("pages/heads.py", title="Heads", url_path="root", default=True)

    st.navigation(
        [
            HEADS,
            st.Page("pages/examples.py", title="Examples"),
            st.Page("pages/softmax.py", title="Softmax"),
            st.Page("pages/masks.py", title="Masks"),
            st.Page("pages/steps.py", title="Steps"),
            st.Page("pages/training.py", title="Training"),
            st.Page("pages/implementations.py", title="Implementations"),
            st.Page("pages/timing.py", title="Timing"),
            st.Page(page.leading_to(HEADS), title="Heads", url_path="heads", visibility="hidden"),
        ],
        position="top",
    ).run()
else:
    import asyncio
    from contextlib import asynccontextmanager
    from importlib import import_module

    from starlette.middleware import Middleware

    WARM = asyncio.Event()  # all that scripts need has been imported

    @asynccontextmanager
    async def warming(_):
        """The server is healthy at once; one thread imports meanwhile (attention/ui/warm.py says why)."""
        task = asyncio.create_task(asyncio.to_thread(lambda: import_module("attention.ui.warm").warm()))
        task.add_done_callback(lambda _: WARM.set())
        yield

    class Door:
        """Lets visitors in once everything is imported; each comes by a websocket, and no script runs before.

        Pages are told from then on what they draw with.
        """

        def __init__(self, app):
            self.app = app

        async def __call__(self, scope, receive, send):
            if scope["type"] == "websocket":
                await WARM.wait()
            elif scope["type"] == "http" and WARM.is_set():
                send = import_module("attention.components.ahead").named(scope["path"], send)
            await self.app(scope, receive, send)

    app = st.App(__file__, lifespan=warming, middleware=[Middleware(Door)])
