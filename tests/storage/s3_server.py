"""An S3 server on localhost for tests: moto over HTTP."""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Iterable
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.s3 import models
from moto.s3.models import s3_backends
from werkzeug.serving import WSGIRequestHandler, make_server

from ray_tasks.storage.retrying import RetryPolicy

BUCKET = "daybook-tests"
FAST = RetryPolicy(10, 20.0, 0.001, 0.01, 2.0, 5.0)
"""The usual number of attempts, without the waiting."""

ACCOUNT = "123456789012"
SMALL_PART = 64 << 10
"""The smallest part that this server takes, in bytes; Amazon's takes 5 MiB and more, which would make tests slow."""


class _QuietHandler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 (the base class calls it so)
        """Says nothing."""


class S3Server:
    """moto behind werkzeug, one request at a time: S3 checks and writes in one step, moto in two."""

    def __init__(self) -> None:
        app = DomainDispatcherApplication(create_backend_app)
        models.S3_UPLOAD_PART_MIN_SIZE = SMALL_PART  # type: ignore[attr-defined]
        turn = threading.Lock()

        def one_at_a_time(environ: Any, start_response: Any) -> Any:
            with turn:
                return app(environ, start_response)

        self._server = make_server("127.0.0.1", 0, one_at_a_time, threaded=True, request_handler=_QuietHandler)
        self.url = f"http://127.0.0.1:{self._server.port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def make_bucket(self, bucket: str) -> None:
        """Creates a bucket."""
        s3_backends[ACCOUNT]["aws"].create_bucket(bucket, "us-east-1")

    def put_empty(self, bucket: str, names: Iterable[str]) -> None:
        """Adds empty objects, much faster than over HTTP."""
        for name in names:
            s3_backends[ACCOUNT]["aws"].put_object(bucket, name, b"")

    def check_signatures(self, wanted: bool) -> None:
        """Whether requests with unknown keys or without permission are refused from now on."""
        unchecked = b"0" if wanted else b"inf"
        request = urllib.request.Request(f"{self.url}/moto-api/reset-auth", unchecked, {"Content-Type": "text/plain"})
        urllib.request.urlopen(request, timeout=10).close()

    def close(self) -> None:
        """Ends the server."""
        self._server.shutdown()
        self._server.server_close()
