"""The conversation with the drafting agent: what it is sent in each round, within a bound of tokens.

Earlier rounds stay as they were, but the pool stands only at the end of the last message, whole and with what is new
marked (EgoCITE Appendix B.3): so a request does not grow with the pools of all rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from ray_tasks.corpus.week_time import format_for_people
from ray_tasks.engines.messages import ChatReply, Message
from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.steps import as_data
from ray_tasks.index.memory import WearerMemory
from ray_tasks.retrieval.llm.actions import describe_tools, names_of
from ray_tasks.retrieval.llm.asking import PACKAGE, tokens_of
from ray_tasks.retrieval.llm.showing import question_json
from ray_tasks.retrieval.llm.turns import NO_CALL, Outcome, Turns
from ray_tasks.retrieval.settings import RetrievalSettings
from ray_tasks.retrieval.types import Question

_LONGEST_SAID: Final = 2000
_HISTORY_SHARE: Final = 3
"""At most one token of so many goes to earlier rounds; the oldest rounds are left out first."""


@dataclass
class Talk:
    """The messages of one drafting. with_tools: tool calls, else one JSON action in each round."""

    question: Question
    settings: RetrievalSettings
    asked: str
    with_tools: bool
    history: list[tuple[Message, ...]] = field(default_factory=list)
    _remark: str = ""
    _state: str = ""

    @classmethod
    def begin(cls, question: Question, memory: WearerMemory, settings: RetrievalSettings, *, with_tools: bool) -> Talk:
        """The talk before its first round."""
        captions = memory.captions
        seen = captions.start_ms[: captions.visible(question.at_ms)]
        first = format_for_people(int(seen.min())) if len(seen) else "an unknown time"
        data = question_json(question, choices=question.choices if settings.use_choices else ())
        now = format_for_people(question.at_ms)
        asked = Prompt.load(PACKAGE, "draft_question").fill(
            question=data, first=first, now=now, name=as_data(memory.name)
        )
        return cls(question, settings, asked, with_tools)

    def without_tools(self) -> Talk:
        """The same, in JSON."""
        return replace(self, with_tools=False)

    def remark(self, text: str) -> None:
        """What the model is told before its next round."""
        self._remark = f"{text}\n"

    def state(self, number: int, turns: Turns) -> None:
        """Puts the pool and the round at the end of the next request."""
        room = self.settings.context_tokens - sum(tokens_of(message.text) for message in self._before())
        lines, left_out = turns.pool.shown(turns.new, room)
        rounds = self.settings.draft_rounds
        allowed = "You may search." if turns.searching(number) else "You cannot search any more."
        self._state = Prompt.load(PACKAGE, "draft_state").fill(
            remark=self._remark,
            round=number,
            rounds=rounds,
            allowed=allowed,
            count=len(turns.pool),
            left_out=f" ({left_out} of them have no room here)" if left_out else "",
            pool="\n".join(lines),
        )
        self._remark = ""

    def messages(self) -> list[Message]:
        """The next request."""
        *before, last = self._before()
        return [*before, replace(last, text=f"{last.text}\n\n{self._state}")]

    def answered(self, reply: ChatReply, outcome: Outcome) -> None:
        """Takes a turn of the model and what it is told about it into the history."""
        said = reply.text[:_LONGEST_SAID]
        if not self.with_tools or not outcome.told:
            told = "\n".join(text for _, text in outcome.told) or NO_CALL
            self.history.append((Message("assistant", said), Message("user", told)))
            return
        calls = tuple(call for call, _ in outcome.told)
        answers = (Message("tool", text, call_id=call.call_id) for call, text in outcome.told)
        self.history.append((Message("assistant", said, tool_calls=calls), *answers))

    def _before(self) -> list[Message]:
        """The system's message, the question, and the latest rounds that fit."""
        first = [Message("system", self._system()), Message("user", self.asked)]
        room = self.settings.context_tokens // _HISTORY_SHARE
        kept: list[tuple[Message, ...]] = []
        for turn in reversed(self.history):
            room -= sum(tokens_of(message.text) + 40 * len(message.tool_calls) for message in turn)
            if room < 0 and kept:
                break
            kept.append(turn)
        return [*first, *(message for turn in reversed(kept) for message in turn)]

    def _system(self) -> str:
        rounds = self.settings.draft_rounds
        if self.with_tools:
            how = Prompt.load(PACKAGE, "draft_calls").fill(rounds=rounds, names=", ".join(names_of(self.settings)))
        else:
            how = Prompt.load(PACKAGE, "draft_json").fill(rounds=rounds, tools=describe_tools(self.settings))
        return Prompt.load(PACKAGE, "draft").fill(how=how, percent=f"{(1 - self.settings.decay) * 100:.2g}")
