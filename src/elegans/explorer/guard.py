"""Who may ask, and what a browser may do with an answer.

The explorer answers on the loopback interface alone. A web page elsewhere can still make a browser
ask there, also under a name of its own that it points at 127.0.0.1 (DNS rebinding). So the `Host`
has to be the explorer's address exactly, only GET and HEAD are answered, no header lets another
origin read an answer, and every request needs the token of the start-up, as an HttpOnly cookie that
other sites' requests do not carry.

Pages run under a policy without inline scripts and without `eval`. Files of bundles, which somebody
else may have made, run under one that lets them do nothing at all.
"""

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

TOKEN = "token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
NEEDS_TOKEN = (
    "This explorer answers to whoever has its token. Open the whole address that "
    '"elegans explore" printed, the part after "?" included.'
)


class Guard:
    """An ASGI application around another one, which is asked only what may be asked."""

    def __init__(self, app: Any, *, hosts: frozenset[str], token: str, cookie: str) -> None:
        self._app, self._hosts, self._token, self._cookie = app, hosts, token, cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, or refuses it."""
        if scope["type"] != "http":
            return
        headers = [(name.lower(), value) for name, value in scope["headers"]]
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            await _answer(send, 421, "This address is not the explorer's.")
            return
        if scope["method"] not in ("GET", "HEAD"):
            await _answer(send, 405, "The explorer only reads: GET and HEAD.", allow="GET, HEAD")
            return
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        tokens = [value for name, value in query if name == TOKEN]
        if tokens and self._is_right(tokens[0]):
            rest = urlencode([pair for pair in query if pair[0] != TOKEN])
            path = "/" + scope["path"].lstrip("/\\")  # "//elsewhere" would be another host
            cookie = f"{self._cookie}={self._token}; HttpOnly; SameSite=Strict; Path=/"
            target = quote(path) + (f"?{rest}" if rest else "")
            await _answer(send, 303, "", **{"location": target, "set-cookie": cookie})
            return
        if not any(self._is_right(value) for value in self._cookies(headers)):
            await _answer(send, 403, NEEDS_TOKEN)
            return

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                names = {name for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.encode(), value.encode())
                        for name, value in HEADERS.items()
                        if name.encode() not in names
                    ),
                ]
            await send(message)

        await self._app(scope, receive, guarded)

    def _is_right(self, value: str) -> bool:
        return hmac.compare_digest(value.encode(), self._token.encode())

    def _cookies(self, headers: list[tuple[bytes, bytes]]) -> list[str]:
        texts = [value.decode("latin-1") for name, value in headers if name == b"cookie"]
        pairs = (part.strip().partition("=") for text in texts for part in text.split(";"))
        return [value for name, _, value in pairs if name == self._cookie]


async def _answer(send: Send, status: int, text: str, **headers: str) -> None:
    body = f"{text}\n".encode()
    everything = {"content-type": "text/plain; charset=utf-8", **HEADERS, **headers}
    pairs = [(name.encode(), value.encode("latin-1")) for name, value in everything.items()]
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*pairs, length]})
    await send({"type": "http.response.body", "body": body})
