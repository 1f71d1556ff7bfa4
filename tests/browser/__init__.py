"""The app in a real Chromium, seen as a person sees it. Fixtures are in conftest.py."""
