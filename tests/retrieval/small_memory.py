"""Small invented memories, and an embedder without weights, for the tests of this folder."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from ray_tasks.compression.interactions import InteractionMemory
from ray_tasks.compression.online import Compressor
from ray_tasks.compression.settings import CompressionSettings
from ray_tasks.corpus.recorded_time import RecordedTimeline
from ray_tasks.corpus.week_time import parse_week_time
from ray_tasks.embedding.whole_vectors import whole_vectors
from ray_tasks.extraction.records.phrases import read_act
from ray_tasks.extraction.records.types import Record
from ray_tasks.index.lexical import LexicalIndex, tokenize
from ray_tasks.index.memory import CAPTION_VIEW, ViewIndex, WearerMemory, row_order
from ray_tasks.retrieval.types import FloatMatrix, Question
from ray_tasks.rows import VIEWS

DIMENSION = 48
CLIP_MS = 30_000
MODEL = "words"
PEOPLE = ("Mara", "Tobi", "Nuri")


@lru_cache(maxsize=4096)
def _direction(token: str) -> tuple[float, ...]:
    values = np.random.default_rng(zlib.crc32(token.encode())).normal(size=DIMENSION)
    return tuple(values / np.linalg.norm(values))


def embed(texts: list[str]) -> FloatMatrix:
    """Unit vectors of texts: the sum of a fixed direction for each stemmed word, so equal words are near."""
    vectors = np.zeros((len(texts), DIMENSION))
    for row, text in enumerate(texts):
        for token in tokenize(text) or ["nothing"]:
            vectors[row] += _direction(token)
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9), np.float32)


@dataclass(frozen=True)
class Clip:
    """Half a minute: what was seen and what was said ("Mara: Hello")."""

    at: str
    seen: tuple[str, ...] = ()
    said: tuple[str, ...] = ()

    @property
    def start_ms(self) -> int:
        """Week time of its start."""
        return parse_week_time(self.at)


@dataclass(frozen=True)
class Coarse:
    """An activity or a conversation with its own interval."""

    view: str
    start_ms: int
    end_ms: int
    text: str


def make_memory(clips: Iterable[Clip], coarse: Iterable[Coarse] = (), *, until: int | None = None) -> WearerMemory:
    """The memory of Ines; `until` leaves out whatever ends after it, as if nothing later had been recorded."""
    kept = sorted(
        (clip for clip in clips if until is None or clip.start_ms + CLIP_MS <= until), key=lambda c: c.start_ms
    )
    wide = [row for row in coarse if until is None or row.end_ms <= until]
    starts = np.array([clip.start_ms for clip in kept], np.int64)
    timeline = RecordedTimeline.from_intervals(starts, starts + CLIP_MS)
    texts = ["\n".join((*clip.seen, *clip.said)) for clip in kept]
    captions = _view(
        CAPTION_VIEW,
        [(c.start_ms, c.start_ms + CLIP_MS, t, i) for i, (c, t) in enumerate(zip(kept, texts, strict=True))],
        timeline,
    )
    rows: dict[str, list[tuple[int, int, str, int]]] = {view: [] for view in VIEWS}
    for number, clip in enumerate(kept):
        rows["action"].extend((clip.start_ms, clip.start_ms + CLIP_MS, text, number) for text in clip.seen)
        rows["utterance"].extend((clip.start_ms, clip.start_ms + CLIP_MS, text, number) for text in clip.said)
    for row in wide:
        first = int(np.searchsorted(starts, row.start_ms))
        rows[row.view].append((row.start_ms, row.end_ms, row.text, min(first, max(len(kept) - 1, 0))))
    views: dict[str, ViewIndex] = {view: _view(view, rows[view], timeline) for view in VIEWS}
    records = [record for number, clip in enumerate(kept) for record in _records(clip, captions.row_id(number))]
    return WearerMemory("P1_INES", "Ines", views, captions, timeline, "small", make_interactions(records))


def _records(clip: Clip, caption_id: str) -> list[Record]:
    """The records of a clip: one for each line that tells an act or an utterance."""
    told: list[tuple[str, str, str, str | None, str | None, str | None]] = []
    for line in clip.seen:
        act = read_act(line, PEOPLE, "Ines")
        if act is not None:
            person = "Ines" if line.startswith("I ") else line.split()[0]
            told.append((person, act.action, act.object, act.tool, act.location, None))
    for line in clip.said:
        person, _, words = line.partition(": ")
        told.append((person, "say", " ".join(words.split()[-3:]).strip("."), None, None, words))
    return [
        record(clip.start_ms, person, action, thing, caption_id, tool=tool, location=location, speech=speech)
        for person, action, thing, tool, location, speech in told
    ]


def record(
    start_ms: int, person: str, action: str, thing: str = "", caption_id: str = "", **more: str | None
) -> Record:
    """A record of half a minute; its id follows from all that it says."""
    attributes = tuple((more.pop("attributes", None) or "").split("; ")) if more.get("attributes") else ()
    told = {name: more.get(name) for name in ("tool", "app", "location", "speech")}
    digest = zlib.crc32(repr((person, action, thing, attributes, sorted(told.items(), key=str))).encode())
    return Record(
        record_id=f"record:{start_ms}:{digest:08x}",
        wearer="P1_INES",
        person=person,
        action=action,
        object=thing,
        start_ms=start_ms,
        end_ms=start_ms + CLIP_MS,
        attributes=attributes,
        caption_id=caption_id or f"caption:{start_ms}",
        **told,
    )


def make_interactions(records: Iterable[Record], settings: CompressionSettings | None = None) -> InteractionMemory:
    """The interactions of some records, compressed with the settings of the paper unless told otherwise."""
    chosen = settings or CompressionSettings()
    ordered = sorted(records, key=lambda one: (one.end_ms, one.start_ms, one.record_id))
    starts = np.array([one.start_ms for one in ordered], np.int64)
    ends = np.array([one.end_ms for one in ordered], np.int64)
    phrases = tuple(dict.fromkeys(text for one in ordered for text in (one.action, one.object) if text))
    numbers = {text: number for number, text in enumerate(phrases)}
    acts = embed([f"{one.action} {one.object}".strip() for one in ordered])
    return InteractionMemory(
        records=tuple(ordered),
        start_ms=starts,
        end_ms=ends,
        compressed=Compressor(DIMENSION, chosen).feed(acts, starts, ends),
        actions=np.array([numbers[one.action] for one in ordered], np.int64),
        objects=np.array([numbers.get(one.object, -1) for one in ordered], np.int64),
        phrases=phrases,
        vectors=whole_vectors(embed(list(phrases))),
        settings=chosen,
    )


def _view(name: str, rows: Sequence[tuple[int, int, str, int]], timeline: RecordedTimeline) -> ViewIndex:
    ids = [
        f"{name}:{start}:{zlib.crc32(text.encode()):08x}:{number}" for number, (start, _, text, _) in enumerate(rows)
    ]
    starts = np.array([row[0] for row in rows], np.int64)
    ends = np.array([row[1] for row in rows], np.int64)
    order = row_order(starts, ends, ids)
    texts = [rows[i][2] for i in order]
    return ViewIndex(
        view=name,
        ids=tuple(ids[i] for i in order),
        start_ms=starts[order],
        end_ms=ends[order],
        texts=pa.chunked_array([pa.array(texts, pa.string())]),
        caption_rows=np.array([rows[i][3] for i in order], np.int64),
        vectors=embed(texts),
        lexical=LexicalIndex.build(texts),
        timeline=timeline,
        model=MODEL,
    )


def ask(text: str, at: str, *choices: str, name: str = "q") -> Question:
    """A question of Ines with choices lettered from A."""
    return Question(name, "P1_INES", parse_week_time(at), text, tuple(zip("ABCDEFGH", choices, strict=False)))


def clock(day: int, hour: int, minute: int, second: int = 0) -> str:
    """A written week time."""
    return f"DAY{day} {hour:02d}{minute:02d}{second:02d}00"


def a_week() -> list[Clip]:
    """Three days of filler with a few events worth asking for."""
    filler = (
        "I look at the window",
        "I walk along the corridor",
        "I sit on the bench",
        "Tobi reads a magazine",
        "Mara waters the fern",
        "I fold a towel",
        "I write in my notebook",
        "Nuri sweeps the terrace",
    )
    clips = []
    for day in (1, 2, 3):
        for hour in (10, 11, 15, 19):
            for minute in range(0, 40):
                for second in (0, 30):
                    seen = filler[(minute * 2 + second // 30 + day * 3 + hour) % len(filler)]
                    clips.append(Clip(clock(day, hour, minute, second), (seen,), ()))
    events = {
        clock(1, 10, 20): (("Mara repairs the lantern with a screwdriver",), ()),
        clock(1, 19, 5): (("I slice the pineapple in the kitchen",), ()),
        clock(2, 11, 30): (("Tobi hands me the green kite",), ("Tobi: The kite needs a longer string.",)),
        clock(2, 15, 10): (("I slice the pineapple in the kitchen",), ()),
        clock(2, 15, 12): (("I wash the knife at the sink",), ()),
        clock(3, 10, 30): ((), ("Mara: We will plant tomatoes on the roof.",)),
        clock(3, 15, 20): (("I put the passport into the blue drawer",), ()),
        clock(3, 19, 10): (("Nuri opens the jar of honey for Mara",), ()),
    }
    return [Clip(clip.at, *events[clip.at]) if clip.at in events else clip for clip in clips]
