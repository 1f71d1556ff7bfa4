"""Cached calls into the core, bounded, with a fair share of the processor for every visitor. Sole owner of st.cache_*.

What is cached is keyed by the knobs that change the tensors, so moving the focus or the colour scale computes nothing
anew. Only a few results are kept: computing most of them again takes milliseconds, keeping them all would be a leak.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import ParamSpec, TypeVar

import streamlit as st
import torch

import attention
from attention import devices as timed
from attention import recordings, tables
from attention.cells import Cells
from attention.cells import cells as drawn
from attention.charts import theme
from attention.config import Config
from attention.parity import Parity
from attention.parity import parity as against_torch
from attention.recordings import Timing
from attention.trace import Trace

KEPT = 4  # traces, of at most 64 MB of weights each
AT_ONCE = 2  # passes that run at the same time, however many visitors there are
P, T = ParamSpec("P"), TypeVar("T")


@st.cache_resource(show_spinner=False)
def settle() -> None:
    """Once a process, when all is imported: one thread a pass, and what the imports left is no garbage any more.

    Streamlit collects garbage after every rerun; walking the modules' objects each time costs more than a pass. With
    several visitors one thread each is steadier than all threads for everyone.
    """
    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()


@st.cache_resource(show_spinner=False)
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(AT_ONCE, thread_name_prefix="pass")


def shared(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The call's result, computed by one of the few threads that all visitors share.

    Streamlit runs every rerun in a thread of its own, and in a new thread a pass takes up to three times as long: its
    memory is all fresh. These threads stay.
    """
    return _workers().submit(call, *args, **kwargs).result()


def trace(config: Config) -> Trace:
    """The trace of a config, with its own focus."""
    return replace(_trace(config.tensors), config=config)


@st.cache_resource(show_spinner=False, max_entries=KEPT)
def _trace(config: Config) -> Trace:
    return shared(attention.trace, config)


@st.cache_resource(show_spinner=False, max_entries=64)
def parity(config: Config) -> Parity:
    """The pass of a config against PyTorch's own; give `config.tensors`."""
    return shared(against_torch, _trace(config))


@st.cache_resource(show_spinner=False, max_entries=16)
def cells(config: Config) -> Cells:
    """What the squares of all heads show; give `config.tensors`."""
    found = _trace(config)
    return shared(drawn, found.weights, found.mask, theme.side(config.heads))


@st.cache_data(show_spinner=False, max_entries=64)
def numbers(config: Config) -> dict[str, list[float]]:
    """The profile of every head as columns; give `config.tensors`."""
    return shared(tables.numbers, _trace(config).weights)


@st.cache_resource(show_spinner=False)
def devices() -> dict[str, str]:
    """The devices of this machine, name by key."""
    return {found.key: found.name for found in timed.devices()}


@st.cache_resource(show_spinner=False)
def shipped() -> list[Timing]:
    """The recordings that ship with the app."""
    return recordings.shipped()


@st.cache_resource(show_spinner=False, max_entries=8)
def recording(data: bytes, name: str) -> list[Timing]:
    """The timings of a visitor's file; raises RecordingError."""
    return recordings.read(data, name)
