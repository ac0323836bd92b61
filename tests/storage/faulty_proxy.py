"""An HTTP proxy on localhost that does to requests what networks and overloaded stores do to them."""

from __future__ import annotations

import http.client
import random
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self
from urllib.parse import urlsplit

Fault = Literal["503", "412", "cut request", "lose answer", "cut body", "hang", "ignore conditions", "error in 200"]
Decide = Callable[["Request"], Fault | None]


@dataclass(frozen=True)
class Request:
    """What a decision can rest on."""

    method: str
    path: str
    headers: Message


def random_faults(share_503: float, share_cut: float, seed: int = 0) -> Decide:
    """503 for one share of the requests; another share is cut before, after or within the answer."""
    generator = random.Random(seed)
    turn = threading.Lock()
    cuts: tuple[Fault, ...] = ("cut request", "lose answer", "cut body")

    def decide(request: Request) -> Fault | None:
        with turn:
            drawn, cut = generator.random(), generator.choice(cuts)
        if drawn < share_503:
            return "503"
        return cut if drawn < share_503 + share_cut else None

    return decide


def once(fault: Fault, when: Callable[[Request], bool]) -> Decide:
    """The fault for the first request for which `when` holds."""
    left = [fault]
    return lambda request: left.pop() if left and when(request) else None


@dataclass
class FaultyProxy:
    """``with FaultyProxy(server_url, decide) as proxy`` forwards what is sent to `proxy.url`, with faults."""

    upstream: str
    decide: Decide
    seen: list[tuple[str, str, Fault | None]] = field(default_factory=list)

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"proxy": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.closed = threading.Event()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closed.set()
        self._server.shutdown()
        self._server.server_close()

    def count(self, fault: Fault | None) -> int:
        """How many requests met this fault (None: no fault)."""
        return sum(found == fault for _, _, found in self.seen)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy: FaultyProxy

    def _serve(self) -> None:
        request = Request(self.command, self.path, self.headers)
        fault = self.proxy.decide(request)
        self.proxy.seen.append((request.method, request.path, fault))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if fault == "hang":
            self.proxy.closed.wait(30)
        if fault in {"hang", "cut request"}:
            self._reset()
        elif fault == "503":
            self._answer(503, [], b"<Error><Code>SlowDown</Code><Message>Please reduce your rate.</Message></Error>")
        elif fault == "412":
            self._answer(412, [], b"<Error><Code>PreconditionFailed</Code><Message>No.</Message></Error>")
        elif fault == "error in 200":
            self._answer(200, [], b"<Error><Code>InternalError</Code><Message>Please try again.</Message></Error>")
        else:
            self._forward(body, fault)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _serve  # noqa: N815 (http.server's names)

    def _forward(self, body: bytes, fault: Fault | None) -> None:
        headers = dict(self.headers.items())
        if fault == "ignore conditions":
            headers = {name: value for name, value in headers.items() if name.lower() not in _CONDITIONS}
        upstream = http.client.HTTPConnection(urlsplit(self.proxy.upstream).netloc, timeout=30)
        try:
            upstream.request(self.command, self.path, body or None, headers)
            response = upstream.getresponse()
            data = response.read()
        finally:
            upstream.close()
        if fault == "lose answer":
            self.close_connection = True
            return
        kept = [(name, value) for name, value in response.getheaders() if name.lower() not in _HOP_BY_HOP]
        if self.command == "HEAD":
            kept.append(("Content-Length", response.getheader("Content-Length") or "0"))
        self._answer(response.status, kept, data, cut=fault == "cut body")

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes, *, cut: bool = False) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        if self.command != "HEAD":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[: len(body) // 2] if cut else body)
        self.close_connection = self.close_connection or cut

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class calls it so)
        """Says nothing."""


_CONDITIONS = {"if-match", "if-none-match"}
_HOP_BY_HOP = {"connection", "content-length", "transfer-encoding", "keep-alive", "date", "server"}
