"""The rules engine: EgoScheme as far as sentence and speech-act rules can carry it, with no weights and no network."""

from __future__ import annotations

from collections.abc import Sequence

from ray_tasks.extraction.coarse import extract_coarse
from ray_tasks.extraction.fine import ENGINE, RULES_VERSION, extract_fine
from ray_tasks.extraction.join import join_windows
from ray_tasks.extraction.types import Embed, Extraction
from ray_tasks.rows import Atom, Caption


class RulesExtractor:
    """The Extractor of the rules engine. It holds no state; equal input gives equal output, ids included."""

    engine: str = ENGINE
    version: str = RULES_VERSION

    def extract_fine(self, captions: Sequence[Caption], halo: Sequence[Caption], *, wearer: str) -> Extraction:
        """Action and utterance atoms of one shard; see Extractor."""
        return extract_fine(captions, halo, wearer=wearer)

    def extract_coarse(self, captions: Sequence[Caption], halo: Sequence[Caption], *, wearer: str) -> Extraction:
        """Activity and conversation atoms of one shard; see Extractor."""
        return extract_coarse(captions, halo, wearer=wearer)

    def join_windows(self, atoms: Sequence[Atom], *, embed: Embed | None = None) -> Extraction:
        """The coarse atoms of one wearer and day, joined across windows; see Extractor."""
        return join_windows(atoms, embed=embed)
