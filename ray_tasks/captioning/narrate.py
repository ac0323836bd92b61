"""The lines of a caption as first-person prose (EgoCITE section 4.1 and Appendix B.1: fusion into multimodal captions).

A passage is made of nothing but the lines of its own caption, so it knows no more than the caption and may be seen when
the caption may. The lines themselves stay as they are: atoms and records are made of those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from pydantic import BaseModel, ConfigDict

from ray_tasks.captioning.prose import FAULTS, faults_of, word_count
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import Chat, ChatError, ChatRequest, Message, UnreachableError
from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.engines.steps import as_data, as_told, check_taken, gather, step_identity
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Caption, Line, wearer_name

PURPOSE: Final = "narrate"
VERSION: Final = "narrate-1"
"""To be raised with every change of a rule, so that no prose by older ones is taken from a cache."""


class Passage(BaseModel):
    """A caption as prose."""

    model_config = ConfigDict(extra="forbid")

    prose: str


@dataclass(frozen=True, slots=True)
class NarrateParameters:
    """Captions of one line with at most `alone_words` words stay as they are. A passage has from `shortest` to
    `longest` times the words of its lines. `reasks` bounds the questions after one that breaks a rule.
    """

    alone_words: int = 12
    shortest: float = 0.3
    longest: float = 2.0
    reasks: int = 2


@dataclass(frozen=True, slots=True)
class Narrated:
    """The captions in the order in which they came, none of them lost. The ledger counts captions; notes tell which
    were written anew, left alone, or kept in their own words for which reason.
    """

    captions: tuple[Caption, ...]
    ledger: Ledger
    calls: CallCounts = field(default_factory=CallCounts)


def narrator_identity(settings: ChatSettings, parameters: NarrateParameters | None = None) -> str:
    """All that decides how captions are written anew, for cache keys."""
    prompts = [_prompt(name) for name in ("narrate", "narrate_lines", "narrate_again")]
    return step_identity(settings, VERSION, prompts, asdict(parameters or NarrateParameters()) | FAULTS)


async def narrate(
    captions: Sequence[Caption],
    chat: Chat,
    settings: ChatSettings,
    wearer: str,
    parameters: NarrateParameters | None = None,
) -> Narrated:
    """The same captions with prose for their text; nothing but the text changes.

    A caption whose prose breaks a rule is asked for again, and then keeps its own text. Raises UnreachableError where
    no endpoint answers, RejectedError where every request is rejected.
    """
    narrator = _Narrator(chat, settings, parameters or NarrateParameters(), wearer_name(wearer))
    texts = await gather(narrator.text(caption) for caption in captions)
    check_taken(narrator.calls, PURPOSE)
    ledger = Ledger(taken=len(captions), done=len(captions), notes=narrator.notes)
    written = tuple(
        caption if text is None else replace(caption, text=text) for caption, text in zip(captions, texts, strict=True)
    )
    return Narrated(written, ledger, narrator.calls)


class _Narrator:
    """Asks one chat for prose and keeps the books."""

    def __init__(self, chat: Chat, settings: ChatSettings, parameters: NarrateParameters, me: str) -> None:
        self._chat, self._settings, self._parameters, self._me = chat, settings, parameters, me
        self.calls = CallCounts()
        self.notes: Counter[str] = Counter()

    async def text(self, caption: Caption) -> str | None:
        """The prose of a caption, or None where it keeps its own text."""
        lines = [line for line in caption.lines if line.text.strip()]
        if not lines or (len(lines) == 1 and word_count(lines[0].text) <= self._parameters.alone_words):
            self.notes["left_alone"] += 1
            return None
        messages = [Message("system", _prompt("narrate").text), Message("user", self._told(lines))]
        reason = ""
        for again in range(self._parameters.reasks + 1):
            if again:
                self.notes["reasked"] += 1
            try:
                reply = await self._chat.ask(self._request(messages), self.calls)
            except UnreachableError:
                raise
            except ChatError as error:
                reason = error.kind
                break
            prose = (
                " ".join(reply.parsed.prose.replace("\x00", "").split()) if isinstance(reply.parsed, Passage) else ""
            )
            wrong = self._faults(prose, lines)
            if not wrong:
                self.notes["narrated"] += 1
                return prose
            reason = next(iter(wrong))
            remarks = "\n".join(
                f"- {FAULTS[fault]}" + (f": {words}" if words else "") for fault, words in wrong.items()
            )
            messages += [
                Message("assistant", reply.text),
                Message("user", _prompt("narrate_again").fill(wrong=remarks)),
            ]
        self.notes[f"fallback_{reason}"] += 1
        return None

    def _request(self, messages: Sequence[Message]) -> ChatRequest:
        return ChatRequest(tuple(messages), PURPOSE, Passage, sampling=self._settings.sampling())

    def _faults(self, prose: str, lines: Sequence[Line]) -> dict[str, str]:
        bounds = self._parameters
        return faults_of(
            prose,
            lines,
            self._me,
            instructions=_prompt("narrate").text,
            shortest=bounds.shortest,
            longest=bounds.longest,
        )

    def _told(self, lines: Sequence[Line]) -> str:
        """The lines as data, one on each line."""
        told = "\n".join(as_data(as_told(line.modality, line.speaker, line.text)) for line in lines)
        return _prompt("narrate_lines").fill(wearer=as_data(self._me), lines=told)


def _prompt(name: str) -> Prompt:
    return Prompt.load("ray_tasks.captioning", name)
