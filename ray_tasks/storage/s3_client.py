"""The S3 client of a process, set up by the usual AWS variables and files.

Credentials come from the usual chain (variables, profile, instance profile). An S3-compatible server is named by
AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL or `endpoint_url` in the AWS configuration file; buckets are then addressed by
path (`http://server/bucket/key`), as most such servers want. DAYBOOK_S3_PATH_STYLE=1 or =0 decides otherwise, and so
does `addressing_style` in the configuration file.
"""

from __future__ import annotations

import functools
import os
import threading
from typing import Any, Final
from urllib.parse import urlsplit

from ray_tasks.errors import UsageError
from ray_tasks.storage.retrying import RetryPolicy

PATH_STYLE_VARIABLE: Final = "DAYBOOK_S3_PATH_STYLE"
_turn = threading.Lock()
_STYLES: Final = {"1": "path", "true": "path", "0": "virtual", "false": "virtual"}


def s3_client(policy: RetryPolicy) -> Any:
    """botocore's client, which threads can share, made at the first use and kept for the process and its configuration.

    The process id is part of what it is kept under, so that a forked child never uses its parent's sockets.
    """
    names = [name for name in os.environ if name.startswith(("AWS_", "DAYBOOK_S3_"))]
    configuration = tuple((name, os.environ[name]) for name in sorted(names))
    with _turn:
        return _make_client(os.getpid(), configuration, policy.connect_timeout_s, policy.read_timeout_s)


@functools.lru_cache(maxsize=8)
def _make_client(_pid: int, _configuration: tuple[tuple[str, str], ...], connect_s: float, read_s: float) -> Any:
    from botocore.config import Config
    from botocore.session import Session

    config = Config(
        connect_timeout=connect_s,
        read_timeout=read_s,
        # Retries are ours alone (retrying.py): two loops, one inside the other, would multiply their bounds.
        retries={"total_max_attempts": 1},
        # Newer checksums travel in trailers that many S3-compatible servers refuse; writes carry Content-MD5 instead.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        max_pool_connections=32,
        tcp_keepalive=True,
    )
    try:
        session = Session()
        session.register_component("data_loader", _service_descriptions())
        client = session.create_client("s3", config=config)
    except ValueError as error:
        raise UsageError(f"the S3 configuration is not usable: {error}; see AWS_ENDPOINT_URL_S3") from error
    style = _addressing_style(session, client.meta.endpoint_url)
    if style is None:
        return client
    return session.create_client("s3", config=config.merge(Config(s3={"addressing_style": style})))


@functools.cache
def _service_descriptions() -> Any:
    """botocore's descriptions of the services; reading them is most of what a client costs, so they are kept."""
    from botocore.loaders import create_loader

    return create_loader()


def _addressing_style(session: Any, endpoint: str) -> str | None:
    """``path`` or ``virtual``; None leaves it to botocore and the configuration file."""
    wanted = os.environ.get(PATH_STYLE_VARIABLE, "").lower()
    if wanted:
        if wanted not in _STYLES:
            raise UsageError(f"{PATH_STYLE_VARIABLE}={wanted}: expected 1 (bucket in the path) or 0 (in the host name)")
        return _STYLES[wanted]
    files = session.get_scoped_config().get("s3", {})
    host = urlsplit(endpoint).hostname or ""
    if "addressing_style" in files or host.endswith((".amazonaws.com", ".amazonaws.com.cn")):
        return None
    return "path"
