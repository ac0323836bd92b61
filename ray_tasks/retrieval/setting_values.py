"""Values of settings, also from text as a command line gives it."""

from __future__ import annotations

from ray_tasks.errors import UsageError


class SettingsError(UsageError):
    """A setting outside its range; the message names it."""


def as_kind(name: str, value: object, example: object) -> object:
    """A value of the kind that the setting has ("0.98", "yes", "action,activity"); raises SettingsError."""
    text = str(value).strip()
    try:
        if isinstance(example, bool):
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]
        if isinstance(example, tuple):
            parts = value if isinstance(value, list | tuple) else text.split(",")
            return tuple(str(part).strip() for part in parts if str(part).strip())
        return type(example)(text)  # type: ignore[call-arg]
    except (ValueError, KeyError) as error:
        raise SettingsError(f"{name} cannot be {text!r}; it is now {example!r}") from error
