"""Errors that a person can act on. Commands print their message without a traceback and leave with their exit code."""

from __future__ import annotations


class DaybookError(Exception):
    """The work could not be done or is incomplete (exit code 1). The message names the thing and the remedy."""

    exit_code = 1


class UsageError(DaybookError):
    """The command or its input is at fault, and running it again unchanged will not help (exit code 2)."""

    exit_code = 2
