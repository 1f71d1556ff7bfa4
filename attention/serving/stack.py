"""The classes that every request passes, in order."""

from __future__ import annotations

import sys

import streamlit as st
from starlette.middleware import Middleware

from attention.serving.files import Files
from attention.serving.headers import SaferHeaders
from attention.serving.health import Health
from attention.serving.leaving import away
from attention.serving.messages import Messages
from attention.serving.moved_links import MovedLinks
from attention.serving.previews import Previews
from attention.serving.reconnecting import ReopenPages
from attention.serving.settings import Settings, SettingsError, settings, there
from attention.serving.startup import Door, Warmth
from attention.serving.uploads import Uploads
from attention.serving.visitors import Visitors

WARMTH = Warmth()


def middleware() -> list[Middleware]:
    """The classes that a request passes; ends the program with a message if the owner's settings are invalid."""
    said = owners()
    return [
        Middleware(SaferHeaders, said),
        Middleware(Visitors, said),
        Middleware(Health, WARMTH.trouble),
        Middleware(MovedLinks),
        Middleware(Files),
        Middleware(Previews, said, WARMTH.trouble),
        Middleware(Uploads, said),
        Middleware(Door, WARMTH),
        Middleware(ReopenPages),
        Middleware(Messages, away),
    ]


def owners() -> Settings:
    """The owner's settings, including those from the secrets of hosted Streamlit, which count as environment."""
    st.secrets.load_if_toml_exists()
    try:
        return there(settings())
    except SettingsError as error:
        sys.exit(f"{error} docs/HOSTING.md has the table of settings.")
