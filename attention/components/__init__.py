"""The parts that run in the browser: each a Python file beside its HTML, CSS and JavaScript."""
