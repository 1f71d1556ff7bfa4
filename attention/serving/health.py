"""`/healthz`: whether this server works. Streamlit's `/_stcore/health` says ok as long as its event loop runs.

It answers 503 while imports that scripts need are running, if these have failed, and if work has waited for long
while no thread that could do it has made progress (attention/runtime/stall_detector.py).
"""

from __future__ import annotations

from collections.abc import Callable

from attention.serving.asgi import App, Receive, Scope, Send, answer, path

PLACE = "/healthz"


class Health:
    """Answers an owner's probe: `trouble` returns why this server can't serve visitors, empty if it can."""

    def __init__(self, app: App, trouble: Callable[[], str]) -> None:
        self.app, self.trouble = app, trouble

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or path(scope) != PLACE:
            await self.app(scope, receive, send)
            return
        trouble = self.trouble()
        await answer(scope, send, 503 if trouble else 200, trouble or "ok")
