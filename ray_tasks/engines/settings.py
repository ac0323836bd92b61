"""The configuration of language models: which model, where it answers, how it is asked, and how it is started."""

from __future__ import annotations

import re
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ray_tasks.engines.messages import Sampling

_SECRET = re.compile(r"token|key|secret|password|credential", re.IGNORECASE)


class TokenPrices(BaseModel):
    """What a million tokens cost."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    input: float = Field(0.0, ge=0, description="price of a million tokens read")
    output: float = Field(0.0, ge=0, description="price of a million tokens written")
    currency: str = Field("USD", description="what the prices are in")

    def of(self, tokens_in: float, tokens_out: float) -> float:
        """What so many tokens cost."""
        return (tokens_in * self.input + tokens_out * self.output) / 1e6


class ServeSettings(BaseModel):
    """vLLM on Ray Serve, which the job starts for itself and takes down again."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, protected_namespaces=())

    source: str | None = Field(
        None, description="where the weights are: a folder, s3://bucket/prefix, or a hub's name; the model's by default"
    )
    replicas: int = Field(1, ge=1, description="copies of the model, each on machines of its own")
    accelerator: str | None = Field(None, description="type of GPU as Ray names it, for example H100; none for CPU")
    gpus: float = Field(1.0, ge=0, description="GPUs of one replica; 0 runs vLLM on the CPU")
    cpus: float = Field(1.0, ge=0, description="CPUs of one replica")
    engine: dict[str, Any] = Field(default_factory=dict, description="arguments of vLLM's engine, as vLLM names them")
    env: dict[str, str] = Field(default_factory=dict, description="environment of the replicas; saved with memories")
    env_from: tuple[str, ...] = Field(
        (), description="variables of the job's own environment that replicas get as well, such as HF_TOKEN"
    )
    ready_s: float = Field(1800.0, gt=0, description="seconds within which the model must be up")

    @field_validator("env")
    @classmethod
    def _no_secrets(cls, env: dict[str, str]) -> dict[str, str]:
        """Refuses what looks like a secret, since settings are saved in clear with every memory and run."""
        if secrets := [name for name in env if _SECRET.search(name)]:
            raise ValueError(f"{', '.join(secrets)} would be saved in clear: name it under env_from instead")
        return env


class ChatSettings(BaseModel):
    """One language model and how it is asked.

    What decides what comes out is part of cache keys: the model and its revision, how it draws (temperature, top_p,
    seed, max_tokens), `structured`, `thinking` and `reply_attempts`. All else is not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    model: str = Field("google/gemma-4-31b-it", min_length=1, description="the name under which the endpoint knows it")
    revision: str = Field("", description="the pinned version of the weights; part of every cache key")
    urls: tuple[str, ...] = Field((), description="OpenAI-compatible endpoints, for example http://host:8000/v1")
    serve: ServeSettings | None = Field(None, description="start vLLM on Ray Serve; used where no urls are given")
    api_key_env: str = Field(
        "DAYBOOK_LLM_KEY",
        pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$",
        description="the name of the environment variable that holds the key, if any; never the key itself",
    )
    concurrency: int = Field(64, ge=1, description="calls under way at once, for each endpoint")
    timeout_s: float = Field(120.0, gt=0, description="seconds that one request may take")
    attempts: int = Field(6, ge=1, description="requests for one call, as long as the fault may pass")
    reply_attempts: int = Field(3, ge=1, description="requests for one call, as long as only its reply is unusable")
    outage_s: float = Field(
        300.0, ge=0, description="seconds for which calls wait for endpoints to come back when none can be reached"
    )
    longest_wait_s: float = Field(60.0, gt=0, description="the longest pause between two requests")
    structured: Literal["json_schema", "prompt"] = Field(
        "json_schema", description="how JSON is asked for: by the endpoint's schema, or only in words"
    )
    thinking: bool | None = Field(
        None, description="whether the model may think before it answers; unset, its template decides"
    )
    temperature: float = Field(0.0, ge=0, le=2, description="0 gives the likeliest words")
    top_p: float = Field(1.0, gt=0, le=1, description="the share of likeliest words that are drawn from")
    seed: int | None = Field(0, description="makes draws repeatable")
    max_tokens: int = Field(2048, ge=1, description="the longest reply, where a step does not say")
    cache: bool = Field(True, description="keep replies in the store by the hash of their request")
    transcripts: bool = Field(False, description="keep every request and reply beside the run, for reading")
    prices: TokenPrices = Field(default_factory=TokenPrices, description="what tokens cost")

    @field_validator("urls")
    @classmethod
    def _plain_urls(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        """Refuses what is no web address, and secrets in one, since settings are saved with every memory."""
        for url in urls:
            parts = urlsplit(url)
            if "@" in parts.netloc or "@" in parts.path or parts.query or parts.fragment:
                # Not even named here: messages end in logs.
                raise ValueError(
                    "an address must hold neither a name or password nor anything after ? or #; put the key into the "
                    "variable of api_key_env"
                )
            if parts.scheme not in ("http", "https") or not parts.hostname or any(map(str.isspace, url)):
                raise ValueError(f"{url!r} is no address such as http://host:8000/v1")
            parts.port  # noqa: B018 (raises ValueError for a number that no port can have)
        return tuple(url.rstrip("/") for url in urls)

    @property
    def identity(self) -> str:
        """The model as cache keys and atoms name it."""
        revision = f"@{self.revision}" if self.revision else ""
        return f"llm:{self.model}{revision}"

    def sampling(self, max_tokens: int | None = None) -> Sampling:
        """How the model draws, with at most `max_tokens` for this step."""
        return Sampling(self.temperature, self.top_p, max_tokens or self.max_tokens, self.seed)
