"""The parts that run in the browser: each a Python file, and what it draws with below `browser/`.

There, a drawing is a module that exports `draw(element, bytes, ways)` and knows no Streamlit, with a style sheet of its name;
`streamlit/` has a thin file a component, the one that Streamlit imports. Node is needed to check their types alone.
"""
