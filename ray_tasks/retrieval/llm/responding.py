"""The response agent by a language model (EgoCITE Appendix B.5): reads the captions of the evidence and answers."""

from __future__ import annotations

from string import ascii_uppercase
from typing import Final

from pydantic import BaseModel

from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import (
    ChatError,
    EngineFaultError,
    InvalidJsonError,
    Message,
    RefusedError,
    RejectedError,
)
from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.steps import as_data
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.agents import Reply
from ray_tasks.retrieval.llm.asking import PACKAGE, Asker, Books, ends_all, tokens_of
from ray_tasks.retrieval.llm.captions import shown_captions
from ray_tasks.retrieval.llm.replies import Stated, cited_captions, reply_model, stated_in, stated_in_prose
from ray_tasks.retrieval.llm.showing import caption_json, question_json
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Evidence, Question, Status

PURPOSE: Final = "respond"
_FAILED: Final[dict[str, Status]] = {
    RefusedError.kind: "declined",
    RejectedError.kind: "error",
    EngineFaultError.kind: "error",
}
_TOLD: Final[dict[Status, str]] = {
    "declined": "The model declined to answer.",
    "error": "The endpoint could not deal with the request.",
}
ASKED: Final = 2
"""How often a question is put before its answer counts as unreadable."""


class LlmResponder:
    """Answers by one call, asked once more where the reply cannot be read."""

    def __init__(self, asker: Asker, settings: RetrievalSettings) -> None:
        self._asker, self._settings = asker, settings

    async def respond(
        self, question: Question, evidence: tuple[Evidence, ...], memory: WearerMemory, counts: CallCounts
    ) -> Reply:
        """See AsyncResponseAgent. Choices are shown under letters from A, whatever their own labels are."""
        if len(question.choices) > len(ascii_uppercase):
            told = f"{len(question.choices)} choices are more than there are letters"
            return Reply(None, "error", text=told, error=told)
        letters = tuple(ascii_uppercase[: len(question.choices)])
        how = self._how(letters)
        asked = question_json(question, choices=zip(letters, (text for _, text in question.choices), strict=True))
        system = Prompt.load(PACKAGE, "respond").fill(how=how)
        room = self._settings.context_tokens - tokens_of(system) - tokens_of(asked) - 200
        shown, left_out = shown_captions(memory, evidence, question.at_ms, room)
        if not shown:
            return Reply(None, "declined", text="Nothing is remembered from before this question.")
        books = Books(counts)
        books.noted["captions_left_out"] += left_out
        captions = "\n".join(caption_json(caption) for caption in shown)
        data = Prompt.load(PACKAGE, "respond_data").fill(name=as_data(memory.name), captions=captions, question=asked)
        stated = await self._ask([Message("system", system), Message("user", data)], letters, how, books)
        cited, lost = cited_captions(stated.cited, shown, question.at_ms)
        books.noted["cited_not_shown"] += lost
        labels = dict(zip(letters, (label for label, _ in question.choices), strict=True))
        return Reply(
            choice=labels[stated.letter] if stated.letter is not None else None,
            status=stated.status,
            text=stated.text,
            tokens_in=books.tokens_in,
            tokens_out=books.tokens_out,
            notes=books.notes,
            calls=books.calls,
            error=stated.error if stated.status == "error" else "",
            cited=cited,
            shown=shown,
        )

    async def _ask(self, messages: list[Message], letters: tuple[str, ...], how: str, books: Books) -> Stated:
        """What the model states, of two replies at most; the first one that can be read counts."""
        schema = reply_model(letters) if self._settings.answer_form == "json" else None
        stated = Stated("unparsed", "")
        for turn in range(ASKED):
            stated, said = await self._once(messages, letters, schema, books)
            if stated.note:
                books.noted[stated.note] += 1
            if stated.status != "unparsed":
                return stated
            books.noted["respond_unparsed" if turn + 1 == ASKED else "respond_again"] += 1
            again = Prompt.load(PACKAGE, "respond_again").fill(wrong=_wrong(stated), how=how)
            messages = [*messages[:2], Message("assistant", said or "(no reply)"), Message("user", again)]
        return stated

    async def _once(
        self, messages: list[Message], letters: tuple[str, ...], schema: type[BaseModel] | None, books: Books
    ) -> tuple[Stated, str]:
        """One reply: what it states, and its words."""
        try:
            reply = await self._asker.ask(messages, PURPOSE, books, schema=schema)
        except InvalidJsonError as error:
            books.noted["respond_invalid_json"] += 1
            return stated_in_prose(error.text, letters) if letters else Stated("unparsed", error.text), error.text
        except ChatError as error:
            if ends_all(error):
                raise
            books.noted[f"respond_{error.kind}"] += 1
            status = _FAILED.get(error.kind, "unparsed")
            return Stated(status, _TOLD.get(status, ""), error=str(error)), ""
        return stated_in(reply, letters), reply.text[:2000]

    def _how(self, letters: tuple[str, ...]) -> str:
        kind = "choice" if letters else "free"
        return Prompt.load(PACKAGE, f"respond_{kind}_{self._settings.answer_form}").text


def _wrong(stated: Stated) -> str:
    """What the model is told about a reply that states nothing."""
    return {
        "letter_unparsed_two": "it names two letters as the answer",
        "letter_not_offered": "it names a letter that no choice has",
        "letter_truncated": "it ends before its answer",
    }.get(stated.note, "it names no answer in the form that was asked for")
