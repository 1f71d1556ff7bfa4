"""The Streamlit side: how a page begins, its controls, cached calls into the core, and what each page shows."""
