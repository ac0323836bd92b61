"""The lines of one cue to its utterances: speakers, languages, and one copy of what is said in two languages.

A cue may hold several speakers and, in no fixed order, an original and its English translation (EgoCITE §1 keeps only
the last line; this keeps every line that says something new):

1. A line without a label continues the speaker above it. Neighbouring lines of one speaker and one language are one
   block; a line that mixes both scripts has the language that weighs more in it.
2. A Chinese block whose speaker has an English block is translated, and left out. What then remains is paired in order,
   where one of the two labels is missing or Chinese, since such names cannot be compared; the label kept is that of the
   English line. A Chinese block without a partner stays, marked ``zh``.
3. Of a cue of two lines that differ in case and punctuation only (an English original and its translation) the last is
   kept. Neighbouring blocks of one speaker become one utterance.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ray_tasks.corpus.language import Language, has_han, language_of
from ray_tasks.corpus.speakers import split_label

_MARKUP = re.compile(r"</?(?:i|b|u|s|c|v|font|ruby|rt)(?:[ .][^<>\n]*)?>|\{\\[^{}\n]*\}", re.IGNORECASE)
_NOT_WORD = re.compile(r"[\W_]+")


class Utterance(NamedTuple):
    """What one speaker says in one cue; `speaker` is None where nobody is named."""

    speaker: str | None
    text: str
    lang: Language


class Dialogue(NamedTuple):
    """The utterances of a cue in order, and words for what was done (``bilingual``, ``repeated_line``, ...)."""

    utterances: tuple[Utterance, ...]
    notes: tuple[str, ...] = ()


def read_dialogue(content: str, *, labelled: bool = True) -> Dialogue:
    """The utterances of a cue's text; without `labelled` a colon names nobody (captions of what is seen).

    Notes: ``bilingual`` (a translated original was left out), ``untranslated`` (Chinese is kept), ``no_speaker``,
    ``several_speakers``, ``repeated_line``, ``markup`` (subtitle tags were removed).
    """
    plain = _MARKUP.sub("", content) if "<" in content or "{\\" in content else content
    lines = _spoken_lines(plain) if labelled else [Utterance(None, line, language_of(line)) for line in _lines(plain)]
    if len(lines) == 2 and plain is content and _is_one(lines[0].speaker, lines[1].speaker):
        # nineteen of twenty real cues: what the rules come to for one speaker's line and its translation
        if (lines[0].lang, lines[1].lang) == ("zh", "en"):
            return Dialogue((lines[1],), ("bilingual",))
        if (lines[0].lang, lines[1].lang) == ("en", "zh"):
            return Dialogue((lines[0],), ("bilingual",))
    distinct = _without_repetition(lines)
    blocks = _blocks(distinct)
    kept = _without_translated(blocks)
    utterances = tuple(_joined(kept))
    notes: list[str] = []
    if len(kept) < len(blocks):
        notes.append("bilingual")
    if len(distinct) < len(lines):
        notes.append("repeated_line")
    if any(utterance.lang == "zh" for utterance in utterances):
        notes.append("untranslated")
    if labelled and any(utterance.speaker is None for utterance in utterances):
        notes.append("no_speaker")
    if len(utterances) > 1 and len({utterance.speaker for utterance in utterances}) > 1:
        notes.append("several_speakers")
    if plain is not content and plain != content:
        notes.append("markup")
    return Dialogue(utterances, tuple(notes))


def _lines(content: str) -> list[str]:
    return [line for line in (" ".join(raw.split()) for raw in content.split("\n")) if line]


def _spoken_lines(content: str) -> list[Utterance]:
    """Each line that says something; a line without a label has the speaker of the line above (rule 1)."""
    lines: list[Utterance] = []
    speaker: str | None = None
    for line in _lines(content):
        label, text = split_label(line)
        speaker = label or speaker
        if text:
            lines.append(Utterance(speaker, text, language_of(text)))
    return lines


def _without_repetition(lines: list[Utterance]) -> list[Utterance]:
    """The lines but for the first of two that say the same (rule 3)."""
    if len(lines) != 2 or lines[0].lang != lines[1].lang or not _may_be_one(lines[0].speaker, lines[1].speaker):
        return lines
    return lines[1:] if _folded(lines[0].text) == _folded(lines[1].text) else lines


def _blocks(lines: list[Utterance]) -> list[Utterance]:
    """One block for neighbouring lines of one speaker and one language (rule 1)."""
    blocks: list[Utterance] = []
    for line in lines:
        last = blocks[-1] if blocks else None
        if last and last.lang == line.lang and last.speaker == line.speaker:
            blocks[-1] = Utterance(line.speaker, f"{last.text} {line.text}", line.lang)
        else:
            blocks.append(line)
    return blocks


def _without_translated(blocks: list[Utterance]) -> list[Utterance]:
    """The blocks but for the Chinese ones that an English block translates (rule 2)."""
    originals = [index for index, block in enumerate(blocks) if block.lang == "zh"]
    free = [index for index, block in enumerate(blocks) if block.lang == "en"]
    if not originals or not free:
        return blocks
    translated: set[int] = set()
    for match in (_is_one, _may_be_one):
        for index in originals:
            if index in translated:
                continue
            for other in free:
                if match(blocks[index].speaker, blocks[other].speaker):
                    free.remove(other)
                    translated.add(index)
                    break
    return [block for index, block in enumerate(blocks) if index not in translated]


def _is_one(left: str | None, right: str | None) -> bool:
    return left is not None and right is not None and left.casefold() == right.casefold()


def _may_be_one(left: str | None, right: str | None) -> bool:
    """Whether two labels can be the same person's: equal, missing, or in two scripts."""
    return left is None or right is None or left.casefold() == right.casefold() or has_han(left) != has_han(right)


def _joined(blocks: list[Utterance]) -> list[Utterance]:
    """Neighbouring blocks of one speaker as one utterance; its language is English where any of it is."""
    joined: list[Utterance] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if last and last.speaker == block.speaker:
            languages = {last.lang, block.lang}
            lang: Language = "en" if "en" in languages else "zh" if "zh" in languages else "und"
            joined[-1] = Utterance(block.speaker, f"{last.text} {block.text}", lang)
        else:
            joined.append(block)
    return joined


def _folded(text: str) -> str:
    return _NOT_WORD.sub("", text).casefold() or text
