"""Actions and utterances by a language model (EgoCITE section 4.1, appendix B.2, Table 8): one call for each caption.

A call sees its caption and the captions of the five minutes before, without lines that end after the caption. Every
statement names the line that it tells about, so that a line for which the model finds no usable words is kept in its
own words, and every line is accounted for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from ray_tasks.engines.messages import ChatError, Message, TruncatedError, UnreachableError
from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.steps import as_data, check_taken, gather
from ray_tasks.extraction.atoms import atom_of
from ray_tasks.extraction.llm.asking import PACKAGE, Asker, Draft
from ray_tasks.extraction.llm.fallback import Fallback
from ray_tasks.extraction.llm.faults import DISCARDED, Fault, hard
from ray_tasks.extraction.llm.material import line_json
from ray_tasks.extraction.llm.schemas import MOST_ENTRIES, Entries, Entry
from ray_tasks.extraction.llm.sources import Shard, stems_of
from ray_tasks.extraction.llm.validate import check_fine, view_of
from ray_tasks.extraction.llm.wording import normalise
from ray_tasks.extraction.reader import Fact
from ray_tasks.extraction.types import Extraction
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Atom, Caption, View

PURPOSE: Final = "extract-fine"
_MOST_HALVINGS: Final = 2


@dataclass(frozen=True, slots=True)
class _Told:
    """What became of one line: facts, or the reason why there are none."""

    facts: tuple[Fact, ...] = ()
    reason: str = "left_out"


async def extract_fine(shard: Shard, asker: Asker, *, engine: str, version: str) -> Extraction:
    """Action and utterance atoms of one shard; see Extractor.extract_fine for the contract.

    The ledger's notes count, beside corrections:
    `fallback_<kind>`: lines whose call failed so, kept as the rules read them;
    `fallback_no_entries`: lines of which the model tells nothing though the rules do, as when a caption asked for it;
    `fallback_rule_<rule>`: statements that broke this rule to the last and gave way to their line's own words;
    `fallback_unresolved`: statements that the model itself could not resolve.
    Raises UnreachableError where no endpoint answers, and RejectedError where it takes no request at all: both would
    quietly give a memory of fallbacks.
    """
    fallback = Fallback(shard)
    readers = [_CaptionReader(shard, position, asker, fallback) for position in range(len(shard.captions))]
    told = await gather(reader.read() for reader in readers)
    check_taken(asker.calls, f"extract {shard.wearer}")
    ledger = Ledger(notes=asker.notes)
    atoms: list[Atom] = []
    for caption, lines in zip(shard.captions, told, strict=True):
        atoms.extend(_atoms_of(caption, lines, ledger, engine, version))
    ledger.notes = +ledger.notes
    ledger.check(f"extract {shard.wearer}")
    return Extraction(tuple(atoms), ledger, asker.calls)


class _CaptionReader:
    """One caption and all that is asked about it."""

    def __init__(self, shard: Shard, position: int, asker: Asker, fallback: Fallback) -> None:
        self._shard = shard
        self._position = position
        self._caption = shard.captions[position]
        self._asker = asker
        self._fallback = fallback
        self._context = shard.context(position, self._caption.end_ms)
        self._source = shard.source((*self._context, *self._caption.lines))

    async def read(self) -> list[_Told]:
        """What each line gives."""
        lines = self._caption.lines
        told = [_Told(reason="left_out" if line.text.strip() else "empty") for line in lines]
        wanted = [number for number, line in enumerate(lines) if line.text.strip()]
        for part in await gather(self._ask(some, _MOST_HALVINGS) for some in self._parts(wanted)):
            for number, facts in part.items():
                told[number] = facts
        return told

    def _parts(self, wanted: Sequence[int]) -> list[Sequence[int]]:
        """Lines in as few even parts as have replies that fit the longest one."""
        fitting = self._asker.settings.max_tokens // self._asker.parameters.tokens_per_line
        room = max(1, min(fitting, MOST_ENTRIES // 2))  # a line may have several entries
        parts = ceil(len(wanted) / room)
        return [wanted[len(wanted) * part // parts : len(wanted) * (part + 1) // parts] for part in range(parts)]

    async def _ask(self, wanted: Sequence[int], halvings: int) -> dict[int, _Told]:
        """What some lines give. A reply too long for its bound is asked for in two halves, then the lines stand."""
        messages = self._question(wanted)
        try:
            entries, reply = await self._asker.ask(messages, Entries, PURPOSE)
        except UnreachableError:
            raise
        except TruncatedError as error:
            if halvings and len(wanted) > 1:
                self._asker.notes["halved"] += 1
                middle = len(wanted) // 2
                halves = await gather(self._ask(half, halvings - 1) for half in (wanted[:middle], wanted[middle:]))
                return {number: told for half in halves for number, told in half.items()}
            return self._as_they_are(wanted, error.kind)
        except ChatError as error:
            return self._as_they_are(wanted, error.kind)
        if not entries.entries and any(self._original(number).facts for number in wanted):
            return self._as_they_are(wanted, "no_entries")
        return await self._statements(messages, reply.text, entries, wanted)

    def _question(self, wanted: Sequence[int]) -> list[Message]:
        lines = [line_json(line, number) for number, line in enumerate(self._caption.lines) if line.text.strip()]
        filled = Prompt.load(PACKAGE, "fine_data").fill(
            wearer=as_data(self._shard.me),
            context=self._asker.context(self._context),
            caption="\n".join(lines),
            wanted=", ".join(str(number) for number in wanted),
        )
        return [Message("system", Prompt.load(PACKAGE, "fine").text), Message("user", filled)]

    def _as_they_are(self, wanted: Sequence[int], reason: str) -> dict[int, _Told]:
        self._asker.notes[f"fallback_{reason}"] += len(wanted)
        return {number: self._original(number) for number in wanted}

    async def _statements(
        self, messages: Sequence[Message], said: str, reply: Entries, wanted: Sequence[int]
    ) -> dict[int, _Told]:
        """The facts of each line: statements that keep the rules, and its own words for those that do not."""
        entries = {number: self._placed(entry, wanted) for number, entry in enumerate(reply.entries)}
        texts = {number: normalise(entry.text, self._shard.me) for number, entry in entries.items() if entry.resolved}
        self._asker.notes["fallback_unresolved"] += len(entries) - len(texts)

        def check(number: int, text: str) -> tuple[Fault, ...]:
            return check_fine(text, entries[number].kind, self._source)

        drafts = await self._asker.correct(messages, said, texts, check, lambda text: normalise(text, self._shard.me))
        found: defaultdict[int, list[Fact]] = defaultdict(list)
        reasons: dict[int, str] = {}
        for number, entry in entries.items():
            draft = drafts.get(number)
            outcome = self._original(entry.line) if draft is None else self._outcome(entry, draft)
            found[entry.line].extend(outcome.facts)
            reasons.setdefault(entry.line, outcome.reason)
        return {number: _Told(tuple(facts), reasons[number]) for number, facts in found.items()}

    def _placed(self, entry: Entry, wanted: Sequence[int]) -> Entry:
        """An entry with a line that was asked for: the one that shares most words where its number is none of them."""
        if entry.line in wanted:
            return entry
        self._asker.notes["line_guessed"] += 1
        told = stems_of(entry.text)
        best = max(wanted, key=lambda number: len(told & stems_of(self._caption.lines[number].text)))
        return entry.model_copy(update={"line": best})

    def _outcome(self, entry: Entry, draft: Draft) -> _Told:
        wrong = hard(draft.faults)
        if not wrong:
            self._asker.notes.update(f"kept_{fault.rule}" for fault in draft.faults)
            people = self._shard.people(draft.text, self._source, self._caption.end_ms)
            return _Told((Fact(view_of(draft.text, entry.kind), draft.text, people),))
        discarded = [fault.rule for fault in wrong if fault.rule in DISCARDED]
        if draft.withdrawn and discarded:
            return _Told(reason=discarded[0])
        self._asker.notes[f"fallback_rule_{wrong[0].rule}"] += 1
        return self._original(entry.line)

    def _original(self, number: int) -> _Told:
        """A line in its own words."""
        reading = self._fallback.original(self._position, number)
        return _Told(reading.facts, reading.reason or "left_out")


def _atoms_of(caption: Caption, lines: Sequence[_Told], ledger: Ledger, engine: str, version: str) -> list[Atom]:
    """The atoms of a caption without repeats; every line is counted once."""
    facts: dict[tuple[View, str], Fact] = {}
    for told in lines:
        ledger.taken += 1
        fresh = {(fact.view, fact.text): fact for fact in told.facts if (fact.view, fact.text) not in facts}
        if fresh:
            ledger.done += 1
            ledger.notes["duplicate_statement"] += len(told.facts) - len(fresh)
        else:
            ledger.filtered["duplicate_in_caption" if told.facts else told.reason] += 1
        facts.update(fresh)
    return [
        atom_of([caption], fact.view, fact.text, fact.people, engine=engine, version=version) for fact in facts.values()
    ]
