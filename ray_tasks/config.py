"""The configuration of a build: frozen, validated, hashed into cache keys and saved with each memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ray_tasks.errors import UsageError


class BuildConfig(BaseModel):
    """What a build does. A file holds the same names as YAML; unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    engine: Literal["rules"] = Field("rules", description="what turns captions into atoms")
    embedding_model: str = Field(
        "all-MiniLM-L6-v2", description="a sentence-transformers model, or the embedded default"
    )
    max_failed_shards: int = Field(0, ge=0, description="failed shards beyond which nothing is published")


def load_config(path: Path | None, **overrides: Any) -> BuildConfig:
    """Defaults, then the file, then overrides that are not None; raises UsageError naming the file and the field."""
    values: dict[str, Any] = {}
    where = "configuration"
    if path is not None:
        where = str(path)
        try:
            loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise UsageError(f"{path}: not a YAML file: {error}") from error
        if not isinstance(loaded or {}, dict):
            raise UsageError(f"{path}: expected names and values such as `engine: rules`")
        values.update(loaded or {})
    values.update({name: value for name, value in overrides.items() if value is not None})
    try:
        return BuildConfig(**values)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise UsageError(f"{where}: {faults}") from error
