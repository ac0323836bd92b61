"""Goes back to the memory before the current one."""

from __future__ import annotations

from jobs.console import run_app
from jobs.publish import rollback

__all__ = ["rollback"]

if __name__ == "__main__":
    run_app(rollback)
