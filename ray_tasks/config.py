"""The configuration of a build: frozen, validated, hashed into cache keys and saved with each memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ray_tasks.errors import UsageError


class GateBounds(BaseModel):
    """The bounds of the gates that a memory must pass before it is published."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_error_rate: float = Field(
        1.0, ge=0, le=100, description="percent of the rows that a stage takes in of one wearer that may fail"
    )
    atoms_per_hour: tuple[float, float] = Field(
        (0.5, 2.0), description="least and greatest ratio of a wearer's atoms per recorded hour to the memory before"
    )
    min_found: float = Field(
        95.0, ge=0, le=100, description="percent of sampled rows of a view that a search for their own text must find"
    )
    min_recall: float = Field(
        97.0, ge=0, le=100, description="percent of an exact search's results that a view with inverted lists must find"
    )
    max_hit_drop: float = Field(
        5.0,
        ge=0,
        le=100,
        description="points by which the hit rate of known questions may fall below the memory before",
    )


class Prices(BaseModel):
    """What an hour costs, for `plan`; without them a plan says nothing about money."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cpu_hour: float | None = Field(None, ge=0, description="price of one CPU for an hour")
    gpu_hour: float | None = Field(None, ge=0, description="price of one GPU for an hour")
    currency: str = Field("USD", description="what the prices are in")


class BuildConfig(BaseModel):
    """What a build does. A file holds the same names as YAML; unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    engine: Literal["rules"] = Field("rules", description="what turns captions into atoms")
    embedding_model: str = Field(
        "all-MiniLM-L6-v2", description="a sentence-transformers model, or the embedded default"
    )
    encoder_gpus: float | None = Field(
        None, ge=0, description="GPUs of one encoder; by default one where the cluster has any when the build begins"
    )
    ivf_from_rows: int = Field(
        2_000_000, ge=2, description="rows of a view from which it is searched by inverted lists beside the exact index"
    )
    prices: Prices = Field(default_factory=Prices, description="from which `plan` reckons what a build costs")
    max_failed_shards: int = Field(0, ge=0, description="failed shards beyond which nothing is published")
    gates: GateBounds = Field(default_factory=GateBounds, description="what a memory must hold to be published")
    canary: dict[str, str] = Field(
        default_factory=dict, description="files of known questions by wearer, asked before a memory is published"
    )
    questions: dict[str, str] = Field(
        default_factory=dict, description="question files by wearer on which `nightly` evaluates what it published"
    )


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
        except RecursionError as error:
            raise UsageError(f"{path}: nested too deeply for a configuration") from error
        except (yaml.YAMLError, ValueError, AttributeError) as error:  # the latter two: dates and numbers that are none
            raise UsageError(f"{path}: not a YAML file: {error}") from error
        if not isinstance(loaded or {}, dict) or not all(isinstance(name, str) for name in loaded or {}):
            raise UsageError(f"{path}: expected names and values such as `engine: rules`")
        values.update(loaded or {})
        values.update(_beside(path, values))
    values.update({name: value for name, value in overrides.items() if value is not None})
    try:
        return BuildConfig(**values)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise UsageError(f"{where}: {faults}") from error


def _beside(config: Path, values: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Question files of a configuration file, their names taken from its folder; other types are left to validation."""
    return {
        name: {wearer: str(config.parent / str(file)) for wearer, file in values[name].items()}
        for name in ("canary", "questions")
        if isinstance(values.get(name), dict)
    }
