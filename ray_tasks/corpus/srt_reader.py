"""Subtitle files to observations: every cue is done, filtered for a reason or failed for a reason.

The unit of the ledger is the cue. A cue is done if it gave at least one observation; several speakers in one cue give
one observation each, all with the interval of the cue. Times keep their milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ray_tasks.corpus.cues import BrokenCue, Cue, CueFile, read_cues
from ray_tasks.corpus.decoding import Decoded, decode, is_bad
from ray_tasks.corpus.dialogue import Dialogue, read_dialogue
from ray_tasks.corpus.layout import SourceFile
from ray_tasks.corpus.problems import Problem, ProblemLog
from ray_tasks.corpus.spans import TOLD, Span, settle_span
from ray_tasks.corpus.week_time import day_of, format_for_people
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Modality, Observation

LOOP_CUES = 8
"""As many identical cues in a row are a recogniser's loop; the longest genuine run in 300,957 real cues has seven."""

LOOP_GAP_MS = 30_000
"""A longer silence between two identical cues ends the run."""

_BROKEN = {"bad_stamp": "unreadable times", "no_stamp": "a cue without its line of times"}


@dataclass(frozen=True, slots=True)
class ReadFile:
    """What one source file gave."""

    observations: tuple[Observation, ...]
    ledger: Ledger
    problems: tuple[Problem, ...]


class SettledCue(NamedTuple):
    """A readable cue, its interval in week time and its utterances.

    `loop` identical cues after it are folded into it, the last of them being number `last_number` of the file.
    """

    cue: Cue
    span: Span
    dialogue: Dialogue
    bad_bytes: bool
    loop: int = 0
    last_number: int = 0


@dataclass(frozen=True, slots=True)
class ParsedSrt:
    """A subtitle file, read but not yet judged. `blank` files hold nothing but white space."""

    decoded: Decoded
    found: CueFile
    settled: tuple[SettledCue, ...]

    @property
    def blank(self) -> bool:
        """Whether there is nothing to read in the file, as against something that could not be read."""
        return not self.found.found and not self.found.stray_lines


def parse_srt(data: bytes, file: SourceFile, limit_ms: int | None = None) -> ParsedSrt:
    """The cues of a file's bytes; `limit_ms` is the length of a clip of known length, counted like the offsets."""
    decoded = decode(data)
    found = read_cues(decoded.text)
    limit = None if limit_ms is None else file.base_ms + limit_ms
    settled = [
        SettledCue(
            cue,
            settle_span(file.base_ms + cue.start_ms, file.base_ms + cue.end_ms, file.hour_end_ms, limit),
            read_dialogue(cue.text, labelled=file.kind == "transcript"),
            bool(decoded.bad_lines) and is_bad(cue.text),
        )
        for cue in found.cues
    ]
    return ParsedSrt(decoded, found, tuple(settled))


def read_srt(data: bytes, file: SourceFile, limit_ms: int | None = None) -> ReadFile:
    """Observations, ledger and problems of a subtitle file's bytes (spoken lines, or captions for the kind `dense`)."""
    return judge_srt(parse_srt(data, file, limit_ms), file)


def judge_srt(parsed: ParsedSrt, file: SourceFile) -> ReadFile:
    """What a parsed subtitle file gives."""
    ledger, log = Ledger(taken=parsed.found.found), ProblemLog(file.label)
    _judge_file(parsed, ledger, log)
    for broken in parsed.found.broken:
        _judge_broken(broken, ledger, log)
    observations: list[Observation] = []
    for settled in fold_loops(parsed.settled) if file.kind == "transcript" else parsed.settled:
        observations += _judge_cue(settled, parsed.decoded, file, ledger, log)
    return ReadFile(tuple(observations), ledger, tuple(log.listed()))


def fold_loops(settled: Sequence[SettledCue]) -> list[SettledCue]:
    """Cues in order, with each run of LOOP_CUES or more identical ones as one cue that spans the run."""
    folded: list[SettledCue] = []
    run: list[SettledCue] = []
    for following in [*settled, None]:
        if run and following and _continues(run[-1], following):
            run.append(following)
            continue
        folded += [_as_one(run)] if len(run) >= LOOP_CUES else run
        run = [following] if following else []
    return folded


def _continues(last: SettledCue, following: SettledCue) -> bool:
    same = last.dialogue.utterances == following.dialogue.utterances
    return same and bool(last.dialogue.utterances) and following.span.start_ms - last.span.end_ms <= LOOP_GAP_MS


def _as_one(run: list[SettledCue]) -> SettledCue:
    start = min(settled.span.start_ms for settled in run)
    end = max(settled.span.end_ms for settled in run)
    notes = sorted({note for settled in run for note in settled.span.notes})
    first = run[0]
    return SettledCue(
        first.cue, Span(start, end, tuple(notes)), first.dialogue, first.bad_bytes, len(run) - 1, run[-1].cue.number
    )


def _judge_file(parsed: ParsedSrt, ledger: Ledger, log: ProblemLog) -> None:
    if parsed.decoded.encoding != "utf-8":
        log.add("encoding", f"read as {parsed.decoded.encoding}")
        ledger.notes["file_encoding"] += 1
    if parsed.blank:
        log.add("empty_file", "the file is empty")
        ledger.notes["empty_file"] += 1
    elif not parsed.found.found:
        place = _bad_place(parsed.decoded, 1, len(parsed.decoded.text))
        log.add("no_cue", f"no cue in the file: is it a subtitle file?{place}", parsed.found.stray_lines[0])
        ledger.taken += 1
        ledger.failed["no_cue"] += 1
    else:
        for line in parsed.found.stray_lines:
            log.add("stray_text", "text that belongs to no cue; not read", line)
            ledger.notes["stray_text"] += 1


def _judge_broken(broken: BrokenCue, ledger: Ledger, log: ProblemLog) -> None:
    ledger.failed[broken.reason] += 1
    shown = broken.excerpt.encode("utf-8", "backslashreplace").decode()
    log.add(broken.reason, f"{_BROKEN[broken.reason]}: {shown!r}; this cue is left out", broken.line)


def _judge_cue(
    settled: SettledCue, decoded: Decoded, file: SourceFile, ledger: Ledger, log: ProblemLog
) -> list[Observation]:
    """The observations of one cue, which is booked as done, filtered or failed."""
    cue, span, dialogue = settled.cue, settled.span, settled.dialogue
    if settled.bad_bytes:
        place = _bad_place(decoded, cue.line, cue.last_line)
        ledger.failed["bad_bytes"] += 1 + settled.loop
        log.add("bad_bytes", f"bytes that are no {decoded.encoding}{place}; this cue is left out", cue.line)
        return []
    if not dialogue.utterances:
        ledger.filtered["empty"] += 1
        log.add("empty_cue", "a cue without text", cue.line)
        return []
    ledger.done += 1
    for note in (*span.notes, *dialogue.notes):
        ledger.notes[note] += 1
        if note in TOLD:
            log.add(note, f"{TOLD[note]} ({format_for_people(span.start_ms)})", cue.line)
    source = f"{file.path.name}#{cue.number}"
    if settled.loop:
        ledger.filtered["recogniser_loop"] += settled.loop
        ledger.notes["recogniser_loop"] += 1
        log.add("recogniser_loop", f"{settled.loop + 1} identical cues in a row; kept as one", cue.line)
        source += f"-{settled.last_number}"
    modality: Modality = "visual" if file.kind == "dense" else "speech"
    day = day_of(span.start_ms)
    return [
        Observation(file.wearer, day, span.start_ms, span.end_ms, modality, said.speaker, said.text, said.lang, source)
        for said in dialogue.utterances
    ]


def _bad_place(decoded: Decoded, first_line: int, last_line: int) -> str:
    """Where the first bad byte of some lines is, in words."""
    offsets = [offset for line, offset in decoded.bad_lines.items() if first_line <= line <= last_line]
    return f" (first at byte {min(offsets)} of the file)" if offsets else ""
