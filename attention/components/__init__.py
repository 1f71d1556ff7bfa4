"""Components that run in the browser: each has a Python module here and JavaScript modules in `browser/`.

A component is drawn by a module that exports `draw(element, bytes, ways)`, does not depend on Streamlit, and has a style
sheet of the same name. `streamlit/` contains one thin script per component, which Streamlit imports. Node is needed only to
check types.
"""
