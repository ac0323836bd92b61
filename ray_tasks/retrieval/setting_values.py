"""Values of settings, also from text as a command line gives it."""

from __future__ import annotations

from typing import get_args, get_type_hints

from ray_tasks.errors import UsageError


class SettingsError(UsageError):
    """A setting outside its range; the message names it."""


def check_literals(settings: object) -> None:
    """Raises SettingsError for a value of a dataclass of settings that is none of those that its type allows."""
    for name, kind in get_type_hints(type(settings)).items():
        choices, value = get_args(kind), getattr(settings, name)
        if choices and isinstance(value, str) and value not in choices:
            raise SettingsError(f"{name} must be one of {', '.join(choices)}, not {value}")


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
