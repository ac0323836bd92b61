"""Who holds a run: user, machine and process, the Ray cluster and job it runs under, and the commit of the code."""

from __future__ import annotations

import getpass
import json
import os
import socket
import subprocess
from pathlib import Path

from ray_tasks.storage.processes import process_started, this_machine
from ray_tasks.storage.run_records import Holder


def this_holder() -> Holder:
    """Who this process is, and under which job of which cluster it runs."""
    job = _ray_job()
    return Holder(
        user=_user(),
        host=socket.gethostname(),
        pid=os.getpid(),
        machine=this_machine(),
        pid_started=process_started(os.getpid()),
        ray_address=os.environ.get("RAY_ADDRESS") or None,
        submission_id=job.get("job_submission_id"),
        commit=job.get("commit") or _commit(),
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return str(os.getuid())


def _ray_job() -> dict[str, str]:
    """The metadata of the job that `ray job submit` started this process for; empty outside of one.

    Ray's job supervisor hands them over in this variable (read in 2.60); it has no public call that tells them.
    """
    try:
        metadata = json.loads(os.environ.get("RAY_JOB_CONFIG_JSON_ENV_VAR", "{}")).get("metadata") or {}
        return {str(name): str(value) for name, value in metadata.items()}
    except (ValueError, AttributeError):
        return {}


def _commit() -> str | None:
    """The commit of the code: DAYBOOK_COMMIT, or what git says where the code runs from a checkout."""
    named = os.environ.get("DAYBOOK_COMMIT")
    if named:
        return named
    home = Path(__file__).resolve().parents[2]
    if not (home / ".git").exists():
        return None
    try:
        command = ["git", "-C", str(home), "rev-parse", "HEAD"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
