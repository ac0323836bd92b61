"""Interaction records by a language model: one call for each caption (Imprint section 3.1 and Appendix B)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Final

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import Chat, ChatError, ChatRequest, Message, UnreachableError
from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.engines.steps import ChatRunner, as_data, as_told, check_taken, gather, step_identity
from ray_tasks.extraction.records.rules import VERSION as RULES_VERSION
from ray_tasks.extraction.records.rules import RulesRecordExtractor
from ray_tasks.extraction.records.types import Interaction, Record, Records, make_records
from ray_tasks.extraction.records.validate import FAULTS, Judged, Source, ToldInteractions
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Caption, Line, wearer_name

PURPOSE: Final = "records"
VERSION: Final = "records-llm-1"
"""To be raised with every change of a rule, so that no records made by older ones are taken from a cache."""


@dataclass(frozen=True, slots=True)
class RecordParameters:
    """`reasks`: how often a reply with wrong records is followed by a question for better ones."""

    reasks: int = 2


class LlmRecordExtractor:
    """The RecordExtractor that asks a model. `chat` opens the client on first use; who only plans needs none."""

    def __init__(
        self, settings: ChatSettings, chat: Callable[[], ChatRunner], parameters: RecordParameters | None = None
    ) -> None:
        self._settings, self._chat, self._parameters = settings, chat, parameters or RecordParameters()
        prompts = [_prompt(name) for name in ("records", "records_lines", "records_again")]
        decides = {**asdict(self._parameters), **FAULTS, "rules": RULES_VERSION}
        self.engine: str = settings.identity
        self.version: str = step_identity(settings, VERSION, prompts, decides)

    def extract(self, captions: Sequence[Caption], halo: Sequence[Caption] = (), *, wearer: str) -> Records:
        """The records of captions; the ledger counts captions. See RecordExtractor and extract_records."""
        chat = self._chat()
        return chat.run(extract_records(captions, halo, chat, self._settings, wearer, self._parameters))


async def extract_records(
    captions: Sequence[Caption],
    halo: Sequence[Caption],
    chat: Chat,
    settings: ChatSettings,
    wearer: str,
    parameters: RecordParameters | None = None,
) -> Records:
    """The records of captions, each asked for with its own lines and the wearer's name, and with nothing else.

    Wrong records are asked for again and then left out. A caption whose call fails, or of whose records none can be
    kept, has the records of the rules, which may look into `halo`. Raises UnreachableError where no endpoint answers,
    RejectedError where every request is rejected.
    """
    extractor = _Extractor(captions, halo, chat, settings, parameters or RecordParameters(), wearer)
    found = await gather(extractor.records(caption) for caption in captions)
    check_taken(extractor.calls, f"{PURPOSE} of {wearer}")
    extractor.ledger.check(f"{PURPOSE} of {wearer}")
    return Records(tuple(record for records in found for record in records), extractor.ledger, extractor.calls)


class _Extractor:
    """Asks one chat for the records of a shard and keeps the books."""

    def __init__(
        self,
        captions: Sequence[Caption],
        halo: Sequence[Caption],
        chat: Chat,
        settings: ChatSettings,
        parameters: RecordParameters,
        wearer: str,
    ) -> None:
        self._captions, self._halo, self._wearer = captions, halo, wearer
        self._chat, self._settings, self._parameters = chat, settings, parameters
        self._me = wearer_name(wearer)
        self.calls = CallCounts()
        self.ledger = Ledger()

    async def records(self, caption: Caption) -> list[Record]:
        """The records of a caption, which is counted once."""
        self.ledger.taken += 1
        lines = [line for line in caption.lines if line.text.strip()]
        if not lines:
            self.ledger.filtered["empty"] += 1
            return []
        interactions, reason = await self._interactions(caption, lines)
        if reason:
            self.ledger.notes[f"fallback_{reason}"] += 1
            found = self._by_rules.get(caption.caption_id, [])
        else:
            found = make_records(caption, [(caption.start_ms, one) for one in interactions])
        if found:
            self.ledger.done += 1
        else:
            self.ledger.filtered["no_interaction"] += 1
        return found

    async def _interactions(self, caption: Caption, lines: Sequence[Line]) -> tuple[tuple[Interaction, ...], str]:
        """What the model says of a caption as far as it can be kept, or the reason why none of it can."""
        source = Source(caption, self._me)
        messages = [Message("system", _prompt("records").text), Message("user", self._told(lines))]
        best: Judged | None = None
        for again in range(self._parameters.reasks + 1):
            if again:
                self.ledger.notes["reasked"] += 1
            try:
                reply = await self._chat.ask(self._request(messages), self.calls)
            except UnreachableError:
                raise
            except ChatError as error:
                if best is None or not best.kept:
                    return (), error.kind
                break
            told = reply.parsed.interactions if isinstance(reply.parsed, ToldInteractions) else []
            judged = source.judge(told)
            if best is None or not judged.wrong or len(judged.kept) >= len(best.kept):
                best = judged
            if not judged.wrong:
                break
            remarks = _prompt("records_again").fill(wrong=_remarks(judged.wrong))
            messages += [Message("assistant", reply.text), Message("user", remarks)]
        if best is None or (best.wrong and not best.kept):
            return (), next(iter(best.wrong.values())) if best else "unasked"
        self.ledger.notes.update(best.dropped)
        self.ledger.notes.update(f"left_out_{fault}" for fault in best.wrong.values())
        return best.kept, ""

    def _request(self, messages: Sequence[Message]) -> ChatRequest:
        return ChatRequest(tuple(messages), PURPOSE, ToldInteractions, sampling=self._settings.sampling())

    def _told(self, lines: Sequence[Line]) -> str:
        """The wearer's name and the lines as data, one on each line."""
        told = "\n".join(as_data(as_told(line.modality, line.speaker, line.text)) for line in lines)
        return _prompt("records_lines").fill(wearer=as_data(self._me), lines=told)

    @cached_property
    def _by_rules(self) -> Mapping[str, list[Record]]:
        """The records of the rules, by caption; read only where a caption needs them."""
        found: dict[str, list[Record]] = {}
        for record in RulesRecordExtractor().extract(self._captions, self._halo, wearer=self._wearer).records:
            found.setdefault(record.caption_id, []).append(record)
        return found


def _remarks(wrong: Mapping[int, str]) -> str:
    return "\n".join(as_data({"record": number, "wrong": FAULTS[fault]}) for number, fault in wrong.items())


def _prompt(name: str) -> Prompt:
    return Prompt.load("ray_tasks.extraction.records", name)
