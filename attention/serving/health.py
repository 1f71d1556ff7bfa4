"""`/healthz`: whether this server does its work. Streamlit's own `/_stcore/health` says ok as long as its loop turns.

503 while what scripts need is being imported, where that has failed, and where work has waited for long while no thread that
could do it has moved (attention/runtime/stall_detector.py).
"""

from __future__ import annotations

from collections.abc import Callable

from attention.serving.asgi import App, Receive, Scope, Send, answer, path

PLACE = "/healthz"


class Health:
    """Answers an owner's probe: `trouble` is why this server is of no use to visitors, empty where it is."""

    def __init__(self, app: App, trouble: Callable[[], str]) -> None:
        self.app, self.trouble = app, trouble

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or path(scope) != PLACE:
            await self.app(scope, receive, send)
            return
        trouble = self.trouble()
        await answer(scope, send, 503 if trouble else 200, trouble or "ok")
