"""The language model's engine: EgoScheme as the paper means it, with every reply checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cached_property
from importlib import resources

from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.engines.steps import ChatRunner, step_digest
from ray_tasks.extraction.atoms import sort_in
from ray_tasks.extraction.fine import RULES_VERSION
from ray_tasks.extraction.llm.asking import PACKAGE, Asker
from ray_tasks.extraction.llm.coarse import extract_coarse
from ray_tasks.extraction.llm.fine import extract_fine
from ray_tasks.extraction.llm.join import alike, candidates, joined, merge
from ray_tasks.extraction.llm.parameters import LLM_VERSION, Parameters
from ray_tasks.extraction.llm.sources import Shard
from ray_tasks.extraction.types import Embed, Extraction
from ray_tasks.rows import Atom, Caption


class LlmExtractor:
    """The Extractor of a language model.

    `chat` opens the client; it is called when the first question is asked, so that whoever only plans needs none.
    `engine` names model and revision; `version` changes with all else that decides what comes out: prompts, parameters,
    sampling, the way JSON is asked for, and the rules of this code and of the fallback.
    """

    def __init__(
        self, settings: ChatSettings, chat: Callable[[], ChatRunner], parameters: Parameters | None = None
    ) -> None:
        self._settings = settings
        self._open = chat
        self._parameters = parameters or Parameters()
        self.engine: str = settings.identity
        self.version: str = f"{LLM_VERSION}+{_digest(settings, self._parameters)}"

    @cached_property
    def _chat(self) -> ChatRunner:
        return self._open()

    def extract_fine(self, captions: Sequence[Caption], halo: Sequence[Caption], *, wearer: str) -> Extraction:
        """Action and utterance atoms of one shard; see Extractor.

        Raises UnreachableError where no endpoint answers, so that the shard fails instead of being filled by rules.
        """
        shard, asker = Shard(captions, halo, wearer), self._asker()
        return self._chat.run(extract_fine(shard, asker, engine=self.engine, version=self.version))

    def extract_coarse(self, captions: Sequence[Caption], halo: Sequence[Caption], *, wearer: str) -> Extraction:
        """Activity and conversation atoms of one shard; see Extractor. Raises as extract_fine does."""
        shard, asker = Shard(captions, halo, wearer), self._asker()
        return self._chat.run(extract_coarse(shard, asker, engine=self.engine, version=self.version))

    def join_windows(self, atoms: Sequence[Atom], *, embed: Embed | None = None) -> Extraction:
        """The coarse atoms of one wearer and day, joined across windows; see Extractor. Raises as extract_fine does.

        Without `embed` nothing is joined, and the pairs that might have been are counted under `not_compared`.
        """
        coarse, ledger = sort_in(atoms)
        pairs = candidates(list(coarse.values()))
        if embed is None:
            ledger.notes["not_compared"] += len(pairs)
            return joined(coarse, [], ledger)
        pairs = alike(pairs, embed)
        if not pairs:
            return joined(coarse, [], ledger)
        asker = self._asker()
        merged = self._chat.run(merge(pairs, asker))
        ledger.notes.update(asker.notes)
        result = joined(coarse, merged, ledger)
        return Extraction(result.atoms, result.ledger, asker.calls)

    def _asker(self) -> Asker:
        return Asker(self._chat, self._settings, self._parameters)


def _digest(settings: ChatSettings, parameters: Parameters) -> str:
    """A hash of what decides replies and what is made of them."""
    folder = resources.files(PACKAGE) / "prompts"
    names = sorted(file.name.removesuffix(".txt") for file in folder.iterdir() if file.name.endswith(".txt"))
    prompts = [Prompt.load(PACKAGE, name) for name in names]
    return step_digest(settings, prompts, {**asdict(parameters), "rules": RULES_VERSION})
