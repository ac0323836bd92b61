"""The HTTP front of Ray Serve: the one that is there, or one of our own on the head of the cluster."""

from __future__ import annotations

import logging
import socket
from typing import Any, Final

import ray

from ray_tasks.errors import UsageError

JOINED_PORT: Final = 8000
"""Where the head of a shared cluster listens, unless Ray Serve runs there already; security rules name a port."""

HEAD: Final = "node:__internal_head__"
"""The resource that Ray gives to the head of a cluster, and to no other machine."""

ANYWHERE: Final = ("0.0.0.0", "::")


def front_url(joined: bool) -> str:
    """Where Ray Serve listens (``http://host:port``), started if it does not run yet.

    On a Ray of this machine alone it listens on the machine itself, at any free port, since other builds may run beside
    it; on a `joined` cluster at the head's own address. Raises UsageError where a Ray Serve that others started cannot
    be reached by the cluster's machines.
    """
    from ray import serve
    from ray.serve._private.constants import SERVE_LOGGER_NAME
    from ray.serve.context import _get_global_client  # the only way to learn where a running Serve listens

    # Set up when ray.serve is imported. What matters of its lines is said by our own, in plainer words.
    logging.getLogger(SERVE_LOGGER_NAME).setLevel(logging.ERROR)
    client: Any = _get_global_client(raise_if_no_controller_running=False)
    if client is None:
        own = {"host": _head_address(), "port": JOINED_PORT} if joined else {"host": "127.0.0.1", "port": free_port()}
        serve.start(proxy_location="HeadOnly", http_options=own)
        client = _get_global_client()
    host, port = client.http_config.host, client.http_config.port
    if host is None or (joined and host in ("127.0.0.1", "localhost", "::1") and _machines() > 1):
        raise UsageError(
            f"Ray Serve already runs on this cluster and listens {'on ' + host if host else 'nowhere'}, where other "
            "machines cannot reach it; start it with `serve start --http-host 0.0.0.0`, or end it with `serve shutdown`"
        )
    return f"http://{_head_address() if host in ANYWHERE else host}:{port}"


def forget_front() -> None:
    """Lets the next block look for Ray Serve anew.

    Ray Serve keeps its handle by the number of the job, and on a Ray that a process starts for itself every job has the
    same: in the next session it would call a controller that is gone.
    """
    from ray.serve.context import _set_global_client

    _set_global_client(None)  # type: ignore[no-untyped-call]


def _machines() -> int:
    return len([node for node in ray.nodes() if node["Alive"]])  # type: ignore[no-untyped-call]


def _head_address() -> str:
    for node in ray.nodes():  # type: ignore[no-untyped-call]
        if node["Alive"] and HEAD in node["Resources"]:
            return str(node["NodeManagerAddress"])
    return str(ray.util.get_node_ip_address())  # type: ignore[no-untyped-call]


def free_port() -> int:
    """A port of this machine that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
