"""Rows in Chinese to rows in English by a language model (EgoCITE Appendix C.1: all captions and transcripts).

Rows go in batches, and a model that sees a batch may let any row of it colour any other. So a batch holds only rows of
one window of the clock that end inside it: nothing that is made of them is seen before the end of that window, when all
of them are known. A row that runs on past its window goes alone. Within these bounds a batch depends on the words of
its rows and not on times, days, files or wearers, so equal rows make equal requests, and the response cache answers
what has been said before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from ray_tasks.captioning.english import FAULTS, SOFT, fault_of
from ray_tasks.corpus.fuse import CLIP_MS, order_in_time, window_start
from ray_tasks.corpus.language import has_han
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import Chat, ChatError, ChatRequest, Message, UnreachableError
from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.engines.steps import as_data, as_told, check_taken, gather, step_identity
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Observation

PURPOSE: Final = "translate"
VERSION: Final = "translate-1"
"""To be raised with every change of a rule, so that no rows translated by older ones are taken from a cache."""

_SEED_STEP: Final = 1000


class RowTranslation(BaseModel):
    """The English of the row with this number."""

    model_config = ConfigDict(extra="forbid")

    row: int
    english: str


class Translations(BaseModel):
    """The English of all rows of a request."""

    model_config = ConfigDict(extra="forbid")

    rows: list[RowTranslation]


@dataclass(frozen=True, slots=True)
class TranslateParameters:
    """How rows are asked for. `rows` and `characters` bound what one call translates, `reasks` how often what came back
    unusable is asked for again.
    """

    rows: int = 20
    characters: int = 400
    reasks: int = 2


@dataclass(frozen=True, slots=True)
class Translated:
    """The rows in the order in which they came. The ledger counts them all: none is lost, and notes tell which were
    translated and which stayed as they were, by reason.
    """

    observations: tuple[Observation, ...]
    ledger: Ledger
    calls: CallCounts = field(default_factory=CallCounts)


@dataclass(frozen=True, slots=True)
class _Item:
    """What a model is told of a row; rows that are equal in this are asked for once."""

    modality: str
    speaker: str | None
    text: str

    def told(self, number: int, **more: str) -> str:
        """The item as a line of data."""
        return as_data({"row": number, **as_told(self.modality, self.speaker, self.text), **more})


@dataclass(frozen=True, slots=True)
class _Outcome:
    """English, or what is wrong with it. `final`: asking again is useless."""

    english: str
    fault: str = ""
    final: bool = False

    @property
    def usable(self) -> bool:
        return not self.fault or self.fault in SOFT


def translator_identity(settings: ChatSettings, parameters: TranslateParameters | None = None) -> str:
    """All that decides how rows are translated, for cache keys."""
    prompts = [_prompt(name) for name in ("translate", "translate_rows", "translate_again")]
    return step_identity(settings, VERSION, prompts, asdict(parameters or TranslateParameters()) | FAULTS)


async def translate(
    observations: Sequence[Observation],
    chat: Chat,
    settings: ChatSettings,
    parameters: TranslateParameters | None = None,
) -> Translated:
    """The same rows, those in Chinese with English text and lang `en`; wearers, speakers, times and sources stay.

    English rows are neither asked for nor changed. What comes back missing, empty, Chinese or otherwise unusable is
    asked for again, and then the row stays as it is. A call that fails for good is made again in halves, down to single
    rows. Raises UnreachableError where no endpoint answers, RejectedError where every request is rejected.
    """
    translator = _Translator(chat, settings, parameters or TranslateParameters())
    plans = list(_batches(observations, translator.parameters))
    outcomes = await gather(translator.outcomes([_item(observations[at]) for at in plan]) for plan in plans)
    check_taken(translator.calls, PURPOSE)
    rows = list(observations)
    ledger = Ledger(taken=len(rows), done=len(rows), notes=translator.notes)
    for plan, found in zip(plans, outcomes, strict=True):
        for at in plan:
            outcome = found[_item(rows[at])]
            ledger.notes.update(["translated"] if outcome.usable else [f"fallback_{outcome.fault}"])
            ledger.notes.update([f"translated_{outcome.fault}"] if outcome.usable and outcome.fault else [])
            if outcome.usable:
                rows[at] = replace(rows[at], text=outcome.english, lang="en")
    ledger.check(PURPOSE)
    return Translated(tuple(rows), ledger, translator.calls)


def wants_translation(row: Observation) -> bool:
    """Whether a row is Chinese, or in no language that its letters tell but with Chinese characters."""
    return row.lang == "zh" or (row.lang == "und" and has_han(row.text))


def _batches(rows: Sequence[Observation], parameters: TranslateParameters) -> Iterator[list[int]]:
    """Positions of the rows of each call; see the head of this module."""
    wanted = [at for at, row in enumerate(rows) if row.text.strip() and wants_translation(row)]
    wanted.sort(key=lambda at: (rows[at].wearer, *order_in_time(rows[at])))
    for _, window in groupby(wanted, key=lambda at: (rows[at].wearer, window_start(rows[at].start_ms))):
        batch: list[int] = []
        for at in window:
            if rows[at].end_ms > window_start(rows[at].start_ms) + CLIP_MS:
                yield [at]
                continue
            characters = sum(len(rows[other].text) for other in [*batch, at])
            if batch and (len(batch) >= parameters.rows or characters > parameters.characters):
                yield batch
                batch = []
            batch.append(at)
        if batch:
            yield batch


def _item(row: Observation) -> _Item:
    return _Item(row.modality, row.speaker, " ".join(row.text.split()))


class _Translator:
    """Asks one chat for translations and keeps the books."""

    def __init__(self, chat: Chat, settings: ChatSettings, parameters: TranslateParameters) -> None:
        self._chat, self._settings, self.parameters = chat, settings, parameters
        self.calls = CallCounts()
        self.notes: Counter[str] = Counter()

    async def outcomes(self, items: Sequence[_Item]) -> dict[_Item, _Outcome]:
        """The outcome of every item of a batch, wrong ones asked for again."""
        found = await self._ask(list(dict.fromkeys(items)), {}, 0)
        for again in range(1, self.parameters.reasks + 1):
            wrong = {item: outcome for item, outcome in found.items() if outcome.fault and not outcome.final}
            if not wrong:
                break
            self.notes["reasked"] += len(wrong)
            for item, outcome in (await self._ask(list(wrong), wrong, again)).items():
                if outcome.usable or not found[item].usable:
                    found[item] = outcome
        return found

    async def _ask(self, items: list[_Item], wrong: dict[_Item, _Outcome], again: int) -> dict[_Item, _Outcome]:
        """One call, or where it fails for good, one for each half."""
        try:
            reply = await self._chat.ask(self._request(items, wrong, again), self.calls)
        except UnreachableError:
            raise
        except ChatError as error:
            if len(items) == 1:
                return {items[0]: _Outcome("", error.kind, final=True)}
            self.notes["halved"] += 1
            middle = len(items) // 2
            halves = await gather(self._ask(half, wrong, again) for half in (items[:middle], items[middle:]))
            return {**halves[0], **halves[1]}
        return self._read(items, reply.parsed)

    def _request(self, items: list[_Item], wrong: dict[_Item, _Outcome], again: int) -> ChatRequest:
        """The request for some items; one that asks again says what was wrong, and draws anew."""
        sampling = self._settings.sampling()
        if again and sampling.seed is not None:
            sampling = replace(sampling, seed=sampling.seed + again * _SEED_STEP)
        told = []
        for number, item in enumerate(items):
            before = wrong.get(item)
            more = {"given": before.english, "wrong": FAULTS[before.fault]} if before else {}
            told.append(item.told(number, **more))
        text = _prompt("translate_again" if again else "translate_rows").fill(rows="\n".join(told))
        messages = (Message("system", _prompt("translate").text), Message("user", text))
        return ChatRequest(messages, PURPOSE, Translations, sampling=sampling)

    def _read(self, items: list[_Item], parsed: Any) -> dict[_Item, _Outcome]:
        """What a reply says of each item, by number and never by position."""
        given: dict[int, set[str]] = {}
        for one in parsed.rows if isinstance(parsed, Translations) else ():
            if 0 <= one.row < len(items):
                given.setdefault(one.row, set()).add(" ".join(one.english.replace("\x00", "").split()))
            else:
                self.notes["odd_number"] += 1
        return {item: _outcome(item, given.get(number, set())) for number, item in enumerate(items)}


def _outcome(item: _Item, given: set[str]) -> _Outcome:
    if len(given) != 1:
        return _Outcome("", "ambiguous" if given else "missing")
    english = given.pop()
    return _Outcome(english, fault_of(item.text, english))


def _prompt(name: str) -> Prompt:
    return Prompt.load("ray_tasks.captioning", name)
