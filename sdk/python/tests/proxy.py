"""A proxy between the SDK and the server that loses replies or refuses calls."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from world import Server

#: Is called with a method, a path and whether the server has replied. Returns the reply to send instead: `DROP` for
#: none, a status with a body, or `None` for the reply of the server.
Rule = Callable[[str, str, bool], Any]
DROP = "drop"


def no_such_route(*prefixes: str) -> Rule:
    """A server of an earlier version that does not have these routes."""
    body = {"code": "not_found", "status": 404, "detail": "no such route; see /openapi.json"}

    def rule(method: str, path: str, replied: bool) -> Any:
        return (404, body) if path.startswith(prefixes) else None

    return rule


@contextlib.contextmanager
def proxy(server: Server, rule: Rule) -> Iterator[str]:
    """Runs a proxy. Yields its URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments: Any) -> None: ...

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if not self.reply_with(rule(self.command, self.path, False)):
                with contextlib.suppress(OSError, http.client.HTTPException):
                    self.forward(body)
            self.close_connection = True

        def forward(self, body: bytes) -> None:
            upstream = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=120)
            with contextlib.closing(upstream):
                upstream.request(self.command, self.path, body, dict(self.headers))
                response = upstream.getresponse()
                if self.reply_with(rule(self.command, self.path, True)):
                    return
                self.send_response(response.status)
                self.send_header("Content-Type", response.headers.get("Content-Type", ""))
                self.send_header("Connection", "close")
                self.end_headers()
                while piece := response.read1():
                    self.wfile.write(piece)
                    self.wfile.flush()

        def reply_with(self, reply: Any) -> bool:
            if reply is None:
                return False
            if reply != DROP:
                status, value = reply
                content = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(content)
            return True

        do_GET = do_POST = do_DELETE = handle_any

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    thread = threading.Thread(target=listener.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.server_address[1]}"
    finally:
        listener.shutdown()
        listener.server_close()
