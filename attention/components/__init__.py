"""The parts that run in the browser: each a Python file, and its drawing below `browser/`.

A drawing is a module that exports `draw(element, bytes, ways)` and does not know Streamlit, with a style sheet of the same name.
`streamlit/` has one thin file per component, which Streamlit imports. Node is needed only to check their types.
"""
