"""Laws, oracles, pages driven, and a real browser in `browser/`.

Tests import the package under test inside a hook that checks every shape annotation (pyproject.toml).
"""
