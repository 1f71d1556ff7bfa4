"""Checks which hosts, origins and paths a visitor may request.

A browser states the origin of the page that opens a websocket: a page of another site could read what its visitor
sees here. Anyone may own a name that resolves to this machine, so an owner can list the allowed ones.
"""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from streamlit import config

from attention.serving.asgi import App, Receive, Scope, Send, answer, header, path
from attention.serving.settings import Settings

HEALTH = ("/healthz", "/_stcore/health")  # requested by IP address, not by name
METRICS = "/_stcore/metrics"
AGENT = "/_stcore/agent"  # below it, Streamlit lets programs control an app without a browser
OTHERS = ("static", "media", "component", "app")  # below these are files, as below names with these first characters:
MARKS = ("_", "~", ".")
READS = ("GET", "HEAD", "OPTIONS")
METHODS = (*READS, "POST", "PUT", "DELETE")  # h11 can't write an answer to CONNECT
PORTS = {"http": ":80", "https": ":443"}


class Visitors:
    """Refuses requests that the owner's settings do not allow."""

    def __init__(self, app: App, settings: Settings) -> None:
        self.app, self.settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        where = path(scope)
        if scope["type"] == "http" and scope["method"] not in METHODS:
            why = f"This server has no method {scope['method'][:20]}."
            await answer(scope, send, 405, why, [(b"allow", ", ".join(METHODS).encode())])
        elif where not in HEALTH and (why := self.refusal(scope)):
            await answer(scope, send, 403, why)
        elif where == METRICS and not self.settings.metrics:
            await answer(scope, send, 404, "This server has no metrics.")
        elif where == AGENT or where.startswith(f"{AGENT}/"):
            await answer(scope, send, 404, "This server is for browsers.")
        elif page := above(scope):
            await answer(scope, send, 302, "There is nothing below a page.", [(b"location", page.encode("latin-1"))])
        else:
            await self.app(scope, receive, send)

    def refusal(self, scope: Scope) -> str:
        """Why a request is refused; empty if it is not."""
        host = (header(scope, b"host") or "").lower()
        if self.settings.hosts and not matches_host(host, self.settings.hosts):
            return "This server does not answer to this host name. Its owner lists the names in ATTENTION_HOSTS."
        if scope["type"] == "http" and scope["method"] in READS:
            return ""
        origin = header(scope, b"origin")
        if origin is None:
            needed = scope["type"] == "websocket" and not self.settings.originless
            return "This server lets in pages alone, which name their origin." if needed else ""
        return "" if same(origin, host) or self.is_allowed(origin) else "This page belongs to another site."

    def is_allowed(self, origin: str) -> bool:
        """Whether the owner has allowed this origin, here or in Streamlit's options."""
        said = config.get_option("browser.serverAddress") if config.is_manually_set("browser.serverAddress") else None
        listed = {*self.settings.origins, *map(str.lower, config.get_option("server.corsAllowedOrigins"))}
        return origin.lower() in listed or (said is not None and urlsplit(origin).hostname == said.lower())


def above(scope: Scope) -> str:
    """The address of the page above the requested one, for which Streamlit's page would stay blank; empty otherwise."""
    if scope["type"] != "http" or scope["method"] not in READS or "text/html" not in (header(scope, b"accept") or ""):
        return ""
    where = path(scope)
    parts = [part for part in where.split("/") if part]
    if len(parts) < 2 or parts[0] in OTHERS or parts[0].startswith(MARKS):
        return ""
    base, query = scope["path"].removesuffix(where).rstrip("/"), scope.get("query_string", b"").decode("latin-1")
    return f"{base}/{quote(parts[0])}{'?' if query else ''}{query}"


def matches_host(host: str, names: tuple[str, ...]) -> bool:
    """Whether a host, with or without port, is one of these; `*.school.example` matches all its subdomains."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    name = name.rstrip(".")
    return any(name == known or (known.startswith("*.") and name.endswith(known[1:])) for known in names)


def same(origin: str, host: str) -> bool:
    """Whether an origin is that of the page sent by this host; the default port of a scheme may be left out."""
    try:
        parts = urlsplit(origin.lower())
    except ValueError:
        return False
    usual = PORTS.get(parts.scheme)
    return usual is not None and parts.netloc.removesuffix(usual) == host.removesuffix(usual) != ""
