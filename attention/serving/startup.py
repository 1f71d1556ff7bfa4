"""Holds websocket connections until imports finish, then adds preload headers to pages.

The server is healthy to Streamlit at once, while one thread imports (attention/ui/startup.py says why). Visitors
connect by websocket, and wait.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module

from attention.serving.asgi import App, Receive, Scope, Send, path
from attention.serving.session_cleanup import forget_sessions

CONDITIONS = (
    b"if-none-match",
    b"if-modified-since",
)  # pages are always sent: even if the file is unchanged, its headers may differ
log = logging.getLogger(__name__)


def import_app() -> None:
    """Imports what scripts need, with garbage collection off, which took a fifth of the time and found 2 MB."""
    gc.disable()
    import_module("attention.ui.startup").preload()


class Warmth:
    """Whether everything has been imported; `failed` is the error message, if any."""

    def __init__(self) -> None:
        self.reached, self.failed = asyncio.Event(), ""

    @asynccontextmanager
    async def lifespan(self, _: object) -> AsyncIterator[None]:
        """The lifespan of a server, during which imports run and sessions of visitors who have left are forgotten."""
        forgetting = asyncio.create_task(forget_sessions())
        task = asyncio.create_task(asyncio.to_thread(import_app))
        task.add_done_callback(self._log_failure)
        yield
        forgetting.cancel()

    def trouble(self) -> str:
        """Why visitors can't be served; empty if they can."""
        if not self.reached.is_set():
            return "starting"
        return self.failed or import_module("attention.runtime.stall_detector").STALL_DETECTOR.stalled()

    def _log_failure(self, task: asyncio.Task) -> None:
        if not task.cancelled() and (error := task.exception()):
            self.failed = "what scripts need can't be imported; the log says why"
            log.error("What scripts need can't be imported.", exc_info=error)
        self.reached.set()


class Door:
    """Lets websockets connect once everything is imported."""

    def __init__(self, app: App, warmth: Warmth) -> None:
        self.app, self.warmth = app, warmth

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self.warmth.reached.wait()
        elif scope["type"] == "http":
            scope = {**scope, "headers": [given for given in scope["headers"] if given[0] not in CONDITIONS]}
            if self.warmth.reached.is_set():
                send = import_module("attention.components.preload").preload_components(path(scope), send)
        await self.app(scope, receive, send)
