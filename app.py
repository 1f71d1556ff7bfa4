"""The menu of pages. Start the app with `streamlit run app.py`.

Streamlit runs this file as a program for every visitor, which builds the menu, and imports it once for the server's `app`.
The menu has no icons, because Streamlit makes the browser load them from another host.
"""

import streamlit as st

if __name__ == "__main__":
    from attention.ui.menu import FIRST, GROUPS, page_title
    from attention.ui.session import address_bar
    from attention.ui.text import rooms as text
    from attention.ui.views import room, room_answers

    pages = {
        name: st.Page(f"pages/{name}.py", title=page_title(name), default=name == FIRST)
        for names in GROUPS.values()
        for name in names
    }
    groups = {group: [pages[name] for name in names] for group, names in GROUPS.items()}
    if room.is_allowed():
        groups[""].append(st.Page(room_answers.show, title=text.TITLE, url_path="room", visibility="hidden"))
    page = st.navigation(groups, position="top", expanded=True)  # on a phone, it would hide all but the first ten pages
    address_bar.send_on(page, pages)
    page.run()
else:
    from attention.serving import error_page, stack

    app = st.App(
        __file__, lifespan=stack.WARMTH.lifespan, middleware=stack.middleware(), on_script_error=error_page.show_error
    )
