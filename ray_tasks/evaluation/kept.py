"""Answers of an evaluation in the store: in parts while it runs, in one table when it is done.

A part holds what was answered within a moment. Whoever goes on with an evaluation that was killed reads the parts, and
the table that an earlier run has left; an answer with an error is not taken from there, so it is asked for again. Parts
have names of their own, so two that evaluate the same at once lose nothing.
"""

from __future__ import annotations

import io
import uuid
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq

from ray_tasks.evaluation.answers import ANSWER_SCHEMA, ScoredAnswer, from_table, to_table
from ray_tasks.storage.cache import table_bytes
from ray_tasks.storage.store import MissingObjectError, ObjectStore


class KeptAnswers:
    """The answers below one prefix of a store, such as ``evaluations/{id}``."""

    def __init__(self, store: ObjectStore, prefix: str) -> None:
        self._store, self._prefix = store, prefix

    @property
    def _table(self) -> str:
        return f"{self._prefix}/answers.parquet"

    def add(self, answers: Sequence[ScoredAnswer]) -> None:
        """Stores answers as they come; they outlast the death of any process."""
        data = table_bytes(to_table(answers))
        self._store.write(f"{self._prefix}/parts/{uuid.uuid4().hex}.parquet", data, durable=False)

    def load(self) -> dict[str, ScoredAnswer]:
        """Answers by question id, those that ended in an error left out; what is damaged counts as not there."""
        with ThreadPoolExecutor(self._store.parallel) as threads:
            tables = threads.map(self._read, [self._table, *self._parts()])
        return {answer.question_id: answer for table in tables for answer in table if answer.error is None}

    def finish(self, answers: Iterable[ScoredAnswer]) -> None:
        """Stores all answers in one table, in their order, and takes the parts away."""
        parts = list(self._parts())
        self._store.write(self._table, table_bytes(to_table(answers)))
        with ThreadPoolExecutor(self._store.parallel) as threads:
            for _ in threads.map(self._store.delete, parts):
                pass

    def forget(self) -> None:
        """Takes all answers away."""
        for key in (self._table, *list(self._parts())):
            self._store.delete(key)

    def _parts(self) -> Iterable[str]:
        return self._store.list_keys(f"{self._prefix}/parts")

    def _read(self, key: str) -> list[ScoredAnswer]:
        try:
            table = pq.read_table(io.BytesIO(self._store.read(key)))
            return from_table(table) if table.schema.equals(ANSWER_SCHEMA) else []
        except (
            MissingObjectError,
            pa.ArrowException,
            OSError,
            ValueError,
        ):  # none yet, or one that a power cut emptied
            return []
