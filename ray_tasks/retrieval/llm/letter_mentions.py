"""Single letters in a plain reply: where they stand, and whether they can be labels at all."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ray_tasks.retrieval.llm import letter_cues as cues

_CONTEXT = 160  # characters before a letter at which its cues are looked for
WORD_LETTERS = frozenset("AEIOUY")  # letters that are words of their own in one language or another
_EDGE = r"A-Za-z0-9À-ɏЀ-ӿ_"
_JOINED_LETTER = rf"(?<![{_EDGE}#@])([A-Za-z])(?![{_EDGE}#]|\+\+)(?!'(?!d[ıiuü]r)[A-Za-z])(?![\-.&][A-Za-z])"
_LETTER = rf"(?<![{_EDGE}]['\-.&/]){_JOINED_LETTER}"
_MENTION = re.compile(rf"((?i:{cues.OPTION_WORD})\s*[:\-]?\s*)?(?:([(\[{{<\"']{{1,4}})[ \t]?)?{_LETTER}")
_JOIN = re.compile(
    rf"[)\]}}>\"']*(?:\s*(?:,|、|/|&|\+|;)\s*(?:{cues.JOIN_WORDS}\s*)?|\s*{cues.JOIN_WORDS}\s*)"
    rf"(?:(?:also|maybe|perhaps|possibly|then|even)\s+)?(?:{cues.OPTION_WORD}\s*)?[(\[{{<\"']{{0,4}}{_JOINED_LETTER}",
    re.IGNORECASE,
)
_COMPACT = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2,4}(?![A-Za-z0-9'\-])")


@dataclass(frozen=True, slots=True)
class Mention:
    """A letter, or a list of letters, in the plain reply; `marked` where brackets or a word like "option" name it."""

    text: str
    start: int
    end: int
    letters: tuple[str, ...]
    marked: bool
    lower: bool
    article: bool

    @property
    def before(self) -> str:
        """The text just before, up to _CONTEXT characters."""
        return self.text[max(0, self.start - _CONTEXT) : self.start]

    @property
    def after(self) -> str:
        """The text from the end on."""
        return self.text[self.end : self.end + _CONTEXT]

    @property
    def ends_clause(self) -> bool:
        """Whether nothing follows that would make the letter part of a longer phrase."""
        return bool(cues.AFTER_CLAUSE_END.match(self.after))

    @property
    def asked(self) -> bool:
        """Whether a question mark follows."""
        return bool(re.match(r"[)\]}>\"']*\s*\?", self.after))

    @property
    def asserted(self) -> bool:
        """Whether the reply neither negates, rejects nor supposes it, and it is no article."""
        return not (
            self.article
            or cues.BEFORE_NEGATED.search(self.before)
            or cues.BEFORE_SUPPOSED.search(self.before)
            or cues.AFTER_REJECTED.match(self.after)
        )


def find_mentions(text: str, offered: frozenset[str]) -> list[Mention]:
    """Every letter or list of letters in a plain reply, in order; articles are kept and say so."""
    mentions: list[Mention] = []
    position = 0
    while match := _MENTION.search(text, position):
        letters, end = [match.group(3)], match.end()
        negated = bool(cues.BEFORE_NEGATED.search(text[max(0, match.start() - _CONTEXT) : match.start()]))
        while join := _JOIN.match(text, end):
            if not _continues_list(text, letters, join, offered, negated):
                break
            letters.append(join.group(1))
            end = join.end()
        lower = letters[0].islower()
        marked = bool(match.group(1)) or (bool(match.group(2)) and bool(re.match(r"[)\]}>\"']", text[end:])))
        article = not marked and len(letters) == 1 and _is_word(text, letters[0], end)
        upper = tuple(dict.fromkeys(letter.upper() for letter in letters))
        mentions.append(Mention(text, match.start(), end, upper, marked, lower, article))
        position = end
    return sorted([*mentions, *_compact_lists(text, offered)], key=lambda mention: mention.start)


def _compact_lists(text: str, offered: frozenset[str]) -> list[Mention]:
    """Lists without separators, as in ``Answer: AC``; in running text such a run of capitals is an abbreviation."""
    runs = [
        Mention(text, run.start(), run.end(), tuple(run.group()), False, False, False)
        for run in _COMPACT.finditer(text)
        if set(run.group()) <= offered and len(set(run.group())) == len(run.group())
    ]
    return [run for run in runs if run.end - run.start == len(text) or cues.BEFORE_ANSWER.search(run.before)]


def _continues_list(text: str, letters: list[str], join: re.Match[str], offered: frozenset[str], negated: bool) -> bool:
    """Whether the letter after a comma, slash or "and" belongs to the list rather than to the next clause."""
    letter = join.group(1)
    if letters[0].isupper() != letter.isupper() or _is_word(text, letter, join.end()):
        return False
    if re.search(cues.JOIN_WORDS, join.group(), re.IGNORECASE) or re.search("[/&+]", join.group()):
        return True
    more = _JOIN.match(text, join.end())
    if negated:  # "not A, B or C" denies three, "not A, C" leaves C open
        return more is not None
    ends = cues.AFTER_CLAUSE_END.match(text, join.end()) is not None or more is not None
    return ends and letter.upper() in offered


def _is_word(text: str, letter: str, end: int) -> bool:
    """Whether a lone letter is an article or another one-letter word, judged by what follows it."""
    if letter.upper() not in WORD_LETTERS:
        return False
    after = text[end : end + 40]
    if not re.match(r"[ \t]+[a-zà-ÿ0-9]", after):
        return False
    return not (cues.CLAUSE_WORDS.match(after) or re.match(rf"\s*{cues.JOIN_WORDS}", after))
