"""Stands in for an optional package of JupyterLab, as if it were not installed.

`jsonschema`, which Altair imports, would spend three seconds on its grammars in each process. An installation of
requirements.txt doesn't have it.
"""

raise ImportError(__doc__)
