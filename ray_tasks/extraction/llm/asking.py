"""Questions to the model: a first one, and corrective ones that name what is wrong with which statement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from pydantic import BaseModel

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import Chat, ChatError, ChatReply, ChatRequest, Message, UnreachableError
from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.engines.steps import as_data
from ray_tasks.extraction.llm.faults import Fault, hard
from ray_tasks.extraction.llm.material import lines_json, numbered_json
from ray_tasks.extraction.llm.parameters import Parameters
from ray_tasks.extraction.llm.schemas import Corrections
from ray_tasks.rows import Caption, Line

PACKAGE: Final = "ray_tasks.extraction.llm"
PURPOSE_AGAIN: Final = "extract-correct"

Schema = TypeVar("Schema", bound=BaseModel)
Check = Callable[[int, str], tuple[Fault, ...]]
"""The faults of the statement with this number, if it reads so."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A statement and what is still wrong with it. `withdrawn`: the model took it back."""

    text: str
    faults: tuple[Fault, ...] = ()
    withdrawn: bool = False


@dataclass
class Asker:
    """Asks one chat and keeps the books of a shard: calls, and notes on fallbacks and corrections."""

    chat: Chat
    settings: ChatSettings
    parameters: Parameters
    calls: CallCounts = field(default_factory=CallCounts)
    notes: Counter[str] = field(default_factory=Counter)

    def context(self, lines: Sequence[Line]) -> str:
        """Lines before a caption as data; those that do not fit are counted under `context_lines_left_out`."""
        text, left_out = lines_json(lines, self.parameters.context_chars)
        self.notes["context_lines_left_out"] += left_out
        return text

    def numbered(self, captions: Sequence[Caption]) -> str:
        """The captions of a window or block as data; lines that do not fit count under `window_lines_left_out`."""
        text, left_out = numbered_json(captions, self.parameters.window_chars)
        self.notes["window_lines_left_out"] += left_out
        return text

    async def ask(
        self, messages: Sequence[Message], schema: type[Schema], purpose: str, tokens: int | None = None
    ) -> tuple[Schema, ChatReply]:
        """The parsed reply; raises ChatError. `tokens` bounds the reply below the settings' own bound."""
        most = min(tokens or self.settings.max_tokens, self.settings.max_tokens)
        request = ChatRequest(tuple(messages), purpose, schema, sampling=self.settings.sampling(most))
        reply = await self.chat.ask(request, self.calls)
        if not isinstance(reply.parsed, schema):
            raise TypeError(f"the chat client gave no {schema.__name__} for a request that asks for one")
        return reply.parsed, reply

    async def correct(
        self,
        messages: Sequence[Message],
        said: str,
        texts: Mapping[int, str],
        check: Check,
        clean: Callable[[str], str],
    ) -> dict[int, Draft]:
        """Statements by number, those with faults asked again until they are right or there are no questions left.

        `messages` and `said` are the question and the reply that gave the texts. Only wrong statements are asked again,
        and one that could stand is never given up for one that cannot. A correction that fails ends the corrections.
        """
        drafts = {number: Draft(text, check(number, text)) for number, text in texts.items()}
        self.notes.update(f"wrong_{fault.rule}" for draft in drafts.values() for fault in draft.faults)
        talk = [*messages]
        for again in range(self.parameters.reasks):
            wrong = {
                number: draft
                for number, draft in drafts.items()
                if not draft.withdrawn
                and (draft.faults if again < self.parameters.short_reasks else hard(draft.faults))
            }
            if not wrong:
                break
            talk += [Message("assistant", said), Message("user", _correction(wrong))]
            self.notes["reasked"] += 1
            try:
                corrections, reply = await self.ask(talk, Corrections, PURPOSE_AGAIN)
            except UnreachableError:
                raise
            except ChatError as error:
                self.notes[f"reask_{error.kind}"] += 1
                break
            said = reply.text
            for one in corrections.corrections:
                if one.entry in wrong:
                    text = clean(one.text)
                    drafts[one.entry] = _better(wrong[one.entry], Draft(text, check(one.entry, text)))
        return drafts


def _better(old: Draft, new: Draft) -> Draft:
    """What stands after a correction; an empty one withdraws a statement that could not be kept."""
    if not hard(old.faults) and hard(new.faults):
        return old
    return new if new.text else Draft(old.text, old.faults, withdrawn=True)


def _correction(wrong: Mapping[int, Draft]) -> str:
    """The corrective question: each wrong statement with its number and what is wrong with it."""
    lines = "\n".join(
        as_data({"entry": number, "text": draft.text, "wrong": [fault.remark for fault in draft.faults]})
        for number, draft in wrong.items()
    )
    return Prompt.load(PACKAGE, "again").fill(wrong=lines)
