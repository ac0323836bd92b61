"""The server as a process of its own: prints its URL on one line and serves until its input ends.

python -m tests.chat_server --latency 0.2
"""

from __future__ import annotations

import argparse
import sys

from tests.chat_server.server import ChatServer


def main() -> None:
    """Serves the least that fits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.2, help="seconds before each answer (default 0.2)")
    options = parser.parse_args()
    with ChatServer(latency_s=options.latency, keep_requests=False) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
