"""What every extraction engine takes and gives (EgoCITE section 4.1, EgoScheme).

Engines are pure: captions in, atoms and a ledger out. An atom's text rests on nothing but lines that end no later than
the atom itself, so a question asked at any time sees no future.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from ray_tasks.corpus.fuse import CLIP_MS, window_start
from ray_tasks.corpus.week_time import MINUTE_MS
from ray_tasks.engines.counts import CallCounts
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Atom, Caption

CONTEXT_MS: Final = 5 * MINUTE_MS
"""EgoCITE's T: the context of a caption is the captions of the preceding five minutes and itself."""

WINDOW_MS: Final = 30 * MINUTE_MS
"""EgoCITE's T': activities and conversations are cut inside disjoint windows of thirty minutes of the clock."""

LONGEST_MS: Final = 10 * MINUTE_MS
"""The longest activity or conversation."""

SHORTEST_MS: Final = MINUTE_MS
"""The shortest activity, where the recording allows it."""

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts to unit vectors, one row each."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """Atoms in order of (start, position), what became of every row that came in, and what a language model cost."""

    atoms: tuple[Atom, ...]
    ledger: Ledger
    calls: CallCounts = field(default_factory=CallCounts)


class Extractor(Protocol):
    """An extraction engine. `engine` and `version` are written into every atom it makes."""

    engine: str
    version: str

    def extract_fine(self, captions: Sequence[Caption], halo: Sequence[Caption], *, wearer: str) -> Extraction:
        """Action and utterance atoms of one shard.

        `captions` are those of one wearer and hour in order of time, `halo` those of the five minutes before. Each atom
        has the interval of its caption. The ledger counts the lines of `captions`.
        """
        ...

    def extract_coarse(self, captions: Sequence[Caption], halo: Sequence[Caption], *, wearer: str) -> Extraction:
        """Activity and conversation atoms inside the clock's thirty-minute windows. The ledger counts captions."""
        ...

    def join_windows(self, atoms: Sequence[Atom], *, embed: Embed | None = None) -> Extraction:
        """The activities and conversations of one wearer and day, joined where they run on across a window's border.

        The ledger counts the atoms that came in.
        """
        ...


def window_end(caption: Caption) -> int:
    """The :00 or :30 of the clock at which a caption's window ends, in ms of week time.

    A caption's own end may lie later, where its last line runs on.
    """
    return window_start(caption.start_ms) + CLIP_MS
