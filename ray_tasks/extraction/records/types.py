"""Interaction records and what every extractor of them takes and gives (Imprint Eq. 1 and Appendix B)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import pyarrow as pa

from ray_tasks.engines.counts import CallCounts
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Caption

RECORD_SCHEMA: Final = pa.schema(
    [
        ("record_id", pa.string()),
        ("wearer", pa.string()),
        ("person", pa.string()),  # who acts: a name, or what is known of somebody unnamed
        ("action", pa.string()),  # a verb phrase in its base form, in lower case
        ("object", pa.string()),  # what is acted on; "" where an act has none
        ("start_ms", pa.int64()),
        ("end_ms", pa.int64()),
        ("tool", pa.string()),
        ("app", pa.string()),
        ("location", pa.string()),
        ("speech", pa.string()),  # word for word
        ("attributes", pa.list_(pa.string())),  # whatever else is told; "with X" names who takes part
        ("caption_id", pa.string()),
    ]
)
"""Imprint's f = (person, action, object, start, end) with its context; null is what a caption does not tell."""


@dataclass(frozen=True, slots=True)
class Record:
    """A row of RECORD_SCHEMA: one interaction of one person.

    It ends with its caption, as an atom does, since what it says may rest on any line of the caption. It starts with
    its line where that is known, else with its caption. Times are week time in ms.
    """

    record_id: str
    wearer: str
    person: str
    action: str
    object: str
    start_ms: int
    end_ms: int
    tool: str | None
    app: str | None
    location: str | None
    speech: str | None
    attributes: tuple[str, ...]
    caption_id: str


@dataclass(frozen=True, slots=True)
class Interaction:
    """An interaction as it was read, before it has times and an id; several people may take part in it."""

    people: tuple[str, ...]
    action: str
    object: str
    tool: str | None = None
    app: str | None = None
    location: str | None = None
    speech: str | None = None
    attributes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Records:
    """Records in order of (start, position), what became of what came in, and what a language model cost."""

    records: tuple[Record, ...]
    ledger: Ledger
    calls: CallCounts = field(default_factory=CallCounts)


class RecordExtractor(Protocol):
    """An extractor of interaction records. `engine` and `version` decide its output and are part of cache keys."""

    engine: str
    version: str

    def extract(self, captions: Sequence[Caption], halo: Sequence[Caption] = (), *, wearer: str) -> Records:
        """The records of one wearer's captions, which are in order of time.

        `halo` are the captions of the five minutes before, by which expressions may be understood. No record rests on
        a line that ends after the record itself.
        """
        ...


def make_records(caption: Caption, interactions: Sequence[tuple[int, Interaction]]) -> list[Record]:
    """The records of a caption: one for each person of each distinct interaction, with its start in ms.

    Imprint's record has one person; the others who take part are kept as attributes ("with Tobi"). What is told twice
    in a caption is one record, from its first mention.
    """
    found: dict[str, Record] = {}
    for start_ms, one in sorted(interactions, key=lambda pair: pair[0]):
        for person in one.people:
            others = (f"with {other}" for other in one.people if other != person)
            attributes = tuple(dict.fromkeys((*others, *one.attributes)))
            content = (person, one.action, one.object, one.tool, one.app, one.location, one.speech, *attributes)
            record_id = make_record_id(caption, content)
            if record_id not in found:
                found[record_id] = Record(
                    record_id=record_id,
                    wearer=caption.wearer,
                    person=person,
                    action=one.action,
                    object=one.object,
                    start_ms=start_ms,
                    end_ms=max(caption.end_ms, start_ms),
                    tool=one.tool,
                    app=one.app,
                    location=one.location,
                    speech=one.speech,
                    attributes=attributes,
                    caption_id=caption.caption_id,
                )
    return list(found.values())


def make_record_id(caption: Caption, content: Sequence[str | None]) -> str:
    """A deterministic id from the caption and all that a record says of it."""
    text = json.dumps([caption.caption_id, *content], ensure_ascii=False)
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    return f"{caption.wearer}:record:{caption.start_ms}:{digest[:16]}"


def records_from_table(table: pa.Table) -> list[Record]:
    """The records of a table of RECORD_SCHEMA; the inverse of rows.to_table."""
    rows = table.select(RECORD_SCHEMA.names).to_pylist()
    return [Record(**{**row, "attributes": tuple(row["attributes"])}) for row in rows]
