"""The configuration of a build: frozen, validated, hashed into cache keys and saved with each memory.

Values come from defaults, then a file, then the environment, then flags; the later ones win.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ray_tasks.captioning.settings import VideoSettings
from ray_tasks.compression.settings import CompressionSettings
from ray_tasks.engines.settings import ChatSettings, ServeSettings, TokenPrices
from ray_tasks.errors import UsageError
from ray_tasks.storage.shards import content_key

ENVIRONMENT: Final = "DAYBOOK_"
"""Before the name of a setting in the environment; names inside a setting follow after two underscores."""


class GateBounds(BaseModel):
    """The bounds of the gates that a memory must pass before it is published."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    max_error_rate: float = Field(
        1.0, ge=0, le=100, description="percent of the rows that a stage takes in of one wearer that may fail"
    )
    max_fallback_rate: float = Field(
        20.0, ge=0, description="percent of the rows of a stage that may keep their own words, a model's being unusable"
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

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    cpu_hour: float | None = Field(None, ge=0, description="price of one CPU for an hour")
    gpu_hour: float | None = Field(None, ge=0, description="price of one GPU for an hour")
    currency: str = Field("USD", description="what the prices are in")


class BuildConfig(BaseModel):
    """What a build does. A file holds the same names as YAML; unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    engine: Literal["rules", "llm"] = Field("rules", description="what turns captions into atoms")
    llm: ChatSettings = Field(default_factory=ChatSettings, description="the model of every step in words")
    vlm: ChatSettings | None = Field(None, description="the model that sees video; that of `llm` by default")
    agents: ChatSettings | None = Field(None, description="the model of agents that answer; that of `llm` by default")
    video: VideoSettings = Field(default_factory=VideoSettings, description="how video is cut and shown")
    translate: Literal["none", "llm"] = Field("none", description="what brings rows in Chinese into English")
    prose: Literal["none", "llm"] = Field("none", description="what rewrites the lines of a caption as one account")
    records: Literal["none", "rules", "llm"] = Field("none", description="what makes interaction records of captions")
    compression: CompressionSettings = Field(
        default_factory=CompressionSettings, description="how interaction records become a memory of their own"
    )
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

    @property
    def seeing(self) -> ChatSettings:
        """The model that sees video."""
        return self.vlm or self.llm

    @property
    def answering(self) -> ChatSettings:
        """The model of agents that answer questions."""
        return self.agents or self.llm

    @property
    def digest(self) -> str:
        """A short hash of every setting."""
        return content_key(self.model_dump(mode="json"))[:16]


_MODELS: Final = (
    *(BuildConfig, GateBounds, Prices),
    *(ChatSettings, CompressionSettings, ServeSettings, TokenPrices, VideoSettings),
)


def load_config(path: Path | None, *, environment: Mapping[str, str] | None = None, **overrides: Any) -> BuildConfig:
    """Defaults, the file, the environment, and overrides that are not None; raises UsageError naming file and field.

    A variable such as DAYBOOK_ENGINE or DAYBOOK_LLM__MODEL sets one value, read as YAML. An override that is a mapping
    changes those of its names that are not None and leaves the others.
    """
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
    if variables := _merge(values, _from_environment(os.environ if environment is None else environment)):
        where += f" and {', '.join(variables)}"
    _merge(values, {name: (name, value) for name, value in overrides.items() if value is not None})
    try:
        return BuildConfig(**values)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, fault['loc']))}: {_told(fault['type'], fault)}" for fault in error.errors()]
        raise UsageError(f"{where}: {'; '.join(faults)}") from error


def _told(kind: str, fault: Mapping[str, Any]) -> str:
    """What is wrong with a value; for an unknown name, the names there are in its place."""
    if kind != "extra_forbidden":
        return str(fault["msg"])
    *folders, name = map(str, fault["loc"])
    model: type[BaseModel] = BuildConfig
    for folder in folders:
        kind_of_field = model.model_fields[folder].annotation
        candidates = (kind_of_field, *get_args(kind_of_field))
        model = next(part for part in candidates if isinstance(part, type) and issubclass(part, BaseModel))
    near = get_close_matches(name, model.model_fields, 1)
    remedy = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(model.model_fields)}"
    return f"there is no such setting; {remedy}"


def _from_environment(environment: Mapping[str, str]) -> dict[str, tuple[str, Any]]:
    """Settings of the environment by dotted name, with the variable that sets each; raises UsageError."""
    found = {}
    for variable, text in sorted(environment.items()):
        names = [_as_field(name) for name in variable.removeprefix(ENVIRONMENT).split("__")]
        if not variable.startswith(ENVIRONMENT) or names[0] not in BuildConfig.model_fields:
            continue  # such as DAYBOOK_ROOT, which is no setting of a build
        try:
            found[".".join(names)] = (variable, yaml.safe_load(text))
        except RecursionError as error:
            raise UsageError(f"{variable}: nested too deeply for a value") from error
        except (yaml.YAMLError, ValueError, AttributeError) as error:
            raise UsageError(f"{variable}: not a value: {error}") from error
    return found


def _as_field(name: str) -> str:
    """A part of a variable's name: settings are in lower case, wearers and variables of replicas as written."""
    lower = name.lower()
    return lower if any(lower in model.model_fields for model in _MODELS) else name


def _merge(values: dict[str, Any], changes: Mapping[str, tuple[str, Any]]) -> list[str]:
    """Puts changes, by dotted name, into nested values; returns where they came from."""
    for dotted, (_, value) in changes.items():
        *folders, name = dotted.split(".")
        inside = values
        for folder in folders:
            deeper = inside.get(folder)
            inside[folder] = dict(deeper) if isinstance(deeper, Mapping) else {}
            inside = inside[folder]
        if isinstance(value, Mapping):
            kept = inside.get(name)
            given = {key: item for key, item in value.items() if item is not None}
            if given:
                inside[name] = {**(kept if isinstance(kept, Mapping) else {}), **given}
        else:
            inside[name] = value
    return [origin for origin, _ in changes.values()]


def _beside(config: Path, values: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Question files of a configuration file, their names taken from its folder; other types are left to validation."""
    return {
        name: {wearer: str(config.parent / str(file)) for wearer, file in values[name].items()}
        for name in ("canary", "questions")
        if isinstance(values.get(name), dict)
    }
