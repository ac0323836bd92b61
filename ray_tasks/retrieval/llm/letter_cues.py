"""What stands around a letter and tells what it is: an answer, a guess, a conclusion, something rejected, an article.

Built from the tables of letter_words, compiled once. Patterns named BEFORE_* end where the letter begins, those named
AFTER_* start where it ends.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from ray_tasks.retrieval.llm import letter_words as words

_EVIDENCE_VERBS = (
    r"(?:support|match|point|indicat|suggest|favou?r|mention|show|prov|confirm|fit|correspond|describ|mean)\w*"
)


def _words(entries: Iterable[str]) -> str:
    """Alternatives for whole words of an alphabet with spaces, longest first."""
    plain = (unicodedata.normalize("NFKC", word).replace(" ", r"\s+") for word in entries)
    return "|".join(sorted(plain, key=len, reverse=True))


def _any(latin: Iterable[str], elsewhere: Iterable[str] = ()) -> str:
    """Alternatives; words of scripts without spaces may stand anywhere."""
    spaced = rf"(?<![^\W\d_])(?:{_words(latin)})(?![^\W\d_])"
    return rf"(?:{spaced}|{_words(elsewhere)})" if elsewhere else spaced


_FILLER = rf"(?:(?:{_any((*words.FILLERS, *words.SOFT_FILLERS))})[\s:,]*)*"
_GAP = (
    r"(?:,?\s+(?:to|for|of|in|from|that|which|based|given|here|according|after|among|between)\b"
    r"(?:[^.!?\n:;=\"]|\"[^\"\n]{0,90}\"){0,60}?)?"
)
_SIGN = r"(?:\s*(?:[:=]|->|=>|→|⇒|–|—|-)+\s*)"
_STRONG_SIGN = (
    rf"(?:\s*(?:\([^()\n]{{0,30}}\))?(?:{_SIGN}|[\s,]*{_any(words.COPULAS, words.COPULAS_ELSEWHERE)}\s*:?\s*))"
)
_ADJECTIVE = rf"(?:\s+{_any(words.ADJECTIVES)})?\s*['\"]?\s*"
_LABEL = (
    rf"(?:{_any(words.ANSWER_NOUNS, words.ANSWER_NOUNS_ELSEWHERE)}{_ADJECTIVE}(?:{_GAP}{_STRONG_SIGN}|[\s(]+)"
    rf"|{_any(words.CHOICE_NOUNS, words.CHOICE_NOUNS_ELSEWHERE)}{_ADJECTIVE}{_GAP}{_STRONG_SIGN})"
)
_FIRST_PERSON = (
    r"(?<![^\W\d_])(?:i|we|let's|let\s+us|let\s+me|i'd|i'll|i'm|i've|we'll|we'd)\s+"
    r"(?:(?:\w+ly|now|would|will|shall|must|am|have\s+to|had\s+to|have|rather|still|then|to)\s+)*"
    rf"(?:{_words(words.FIRST_PERSON_VERBS)})(?![^\W\d_])[\s:]*"
)
_I = re.IGNORECASE

BEFORE_ANSWER: Final = re.compile(
    rf"(?:{_LABEL}|{_FIRST_PERSON}|{_any(words.CHOICE_VERBS, words.CHOICE_VERBS_ELSEWHERE)}[\s:]*){_FILLER}$", _I
)
"""``Answer: ``, ``The correct option is ``, ``I choose ``, ``答案：`` and their kin."""

BEFORE_CORRECTION: Final = re.compile(rf"{_any(words.CORRECTIONS)}[\s,.:;!-]*{_FILLER}$", _I)
"""``Wait, ``, ``Correction: ``, ``No, it's ``."""

BEFORE_GUESS: Final = re.compile(rf"{_any(words.GUESSES)}[\s,:]*{_FILLER}$", _I)
"""``I would say ``, ``my best guess is ``, ``perhaps ``: the letter counts, marked weak."""

SOFT_TAIL: Final = re.compile(rf"{_any((*words.GUESSES, *words.SOFT_FILLERS))}", _I)
"""A guess inside the clause that names the answer, as in ``I guess the answer is ``."""

BEFORE_CONCLUSION: Final = re.compile(rf"{_any(words.CONCLUSIONS, words.CONCLUSIONS_ELSEWHERE)}[\s,:]*{_FILLER}$", _I)
"""``so ``, ``therefore ``, ``it must be ``, ``所以``."""

BEFORE_NEGATED: Final = re.compile(
    rf"(?:(?:{_any(words.NEGATIONS, words.NEGATIONS_ELSEWHERE)}|n't)\s*"
    rf"|(?:\b(?:not?|nothing|never|neither|none|nor)|n't)\b(?:\s+\w+){{0,4}}\s+{_EVIDENCE_VERBS}\s+(?:(?:to|that|for)\s+)*)"
    rf"(?:{_any(words.NEGATION_FILLERS)}\s*)*$",
    _I,
)
"""``not ``, ``rather than ``, ``ruled out ``, ``no caption supports ``, ``不是``."""

BEFORE_SUPPOSED: Final = re.compile(
    rf"(?:{_any(words.IFS)}\s*(?:{_any(words.SUPPOSED_WORDS)}\s*)*|(?:如果|假如|若)[^,.;:\n]{{0,12}})$", _I
)
"""``If the answer were ``: nothing is asserted."""

BEFORE_THING: Final = re.compile(rf"{_any(words.THING_NOUNS)}\s*$", _I)
"""``vitamin ``, ``room ``: the letter is the name of a thing."""

AFTER_REJECTED: Final = re.compile(
    r"[)\]}>\"']*\s*(?:"
    r"(?:(?:is|are|was|were|seems?|looks?|sounds?|can|could|has|had|have|does|did|do|would|will)\s*)(?:not\b|n't)"
    r"|(?:cannot\b|can't\b|isn't\b|aren't\b|wasn't\b)"
    r"|(?:(?:is|are|was|were|seems?|looks?|can|be|being|must|therefore|clearly|also|both|all|just|simply|thus)\s+)*"
    r"(?:wrong|incorrect|false|less\s+\w+|weaker|out\b|ruled\s+out|eliminated|excluded|unlikely|impossible|contradicted|unsupported|rejected)"
    r"|(?:only|merely|just|at\s+first)\s+(?:looks?|looked|seems?|seemed|appears?|appeared|sounds?)"
    r"|[❌✗✘]|(?:looked|seemed|appeared|sounded|(?:might|may|could)\s+(?:look|seem|appear))\b"
    r"|(?:lacks?|fails?|contradicts?|never)\b|would\s+(?:need|require|mean|imply|only|have)\b"
    r"|(?:ist|sind|est|es|é|è)\s+(?:falsch|faux|incorrect[oa]?|errad[oa]|sbagliat[oa])|passt\s+nicht|неверно"
    r"|(?:选项|項|项)?\s*(?:都|也)?(?:不对|不正确|不符|错误|错|不是|被排除|排除|は違|は間違|ではな|じゃな|은?\s*아니|는?\s*틀)"
    r")",
    _I,
)
"""``is wrong``, ``does not fit``, ``only looks right``, ``不对``."""

AFTER_CONFIRMED: Final = re.compile(
    r"[)\]}>\"']*\s*(?:"
    r"(?:(?:is|are|seems?|looks?|appears?|must\s+be|would\s+be|remains|ist|est|es|é|è)\s+)"
    r"(?:(?:the|my|our|clearly|definitely|most|more|much|likely|probably|best|only|single|overall|therefore|thus|die|la|a)\s+)*"
    r"(?:correct|right(?!\s+(?:next|behind|beside|there|by|under|on|at|in)\b)|true|best|answer|supported|closest|consistent"
    r"|the\s+one|choice|option\b(?=\s*[.!\n]|\s+that|$)|pick|plausible|likely|accurate|richtig|bonne|correct[ao]|corretta)"
    r"|(?:best\s+)?(?:fits?|matches|match|wins|follows|holds|stands\s+out|agrees|comes\s+closest|makes\s+(?:most|the\s+most)\s+sense)\b"
    r"|[✅✓✔]|it\s+is\b|it\s+must\s+be\b|passt\b"
    r"|(?:项|選項|项是)?\s*(?:是)?(?:正确|對的|对的|最符合|符合|が正し|が正解|が最も)"
    r")",
    _I,
)
"""``is correct``, ``fits best``, ``it is``, ``最符合``."""

AFTER_CLAUSE_END: Final = re.compile(
    r"[)\]}>\"']*[ \t]*(?:$|[.,;:!)\]}|\n–—(?/]|-\s|(?:because|since|as|given|for|based|due|per|rather|not|over|"
    r"instead|and\s+not|weil|da|denn|car|porque|perché)\b|[^\x00-\xff])",
    _I,
)
"""The letter ends its clause: punctuation, a reason, or a script without spaces follows."""

DECLINED_VALUE: Final = re.compile(rf"(?:{_LABEL}){_FILLER}['\"(\[]*(?:{_words(words.DECLINED_VALUES)})", _I)
"""``Answer: none of the above``, ``the answer cannot be determined``."""

DECLINED: Final = re.compile(
    r"(?:\b(?:no|not|nothing|none|nobody|never|neither|cannot|unable|insufficient|lacks?|lacking|without|isn't|aren't|"
    r"wasn't|can't|couldn't|won't|don't|doesn't|didn't|there's\s+no|impossible|refuse|decline|too\s+little)\b[^.!?\n]{0,80}?"
    r"\b(?:memor\w+|evidence|informations?|details?|captions?|records?|recorded|recording|enough|determin\w+|tell|say|says|"
    r"know|known|answer\w*|settles?|settled|supports?|supported|shows?|shown|mention\w*|sure|decide|find|found|data|clues?|"
    r"context|options?|choices?|clear|possible|help|assist|conclude|infer\w*|choose|pick|available|certain|idea|"
    r"sufficient|given|these|above|comply|guess|watch|see|access|view)\b"
    r"|\b(?:unknown|unclear|unsure|uncertain|undetermined|inconclusive|insufficient|ambiguous|hard\s+to\s+say|i\s+decline)\b"
    r"|\b(?:memor\w+|captions?|evidence|records?|notes?)\b[^.!?\n]{0,60}\b(?:nothing|silent)\b|^\W*(?:none|null|nothing)\W*$"
    r"|\bopen\b(?=[^.!?\n]{0,3}[;.,])"
    r"|无法|無法|不知道|不确定|不清楚|没有(?:足够|相关|提到|证据|信息)|信息不足|证据不足|不能确定|わかりません|分かりません|不明|"
    r"모르겠|알\s*수\s*없|\b(?:weiß|weiss)\s+(?:ich\s+)?(?:es\s+)?nicht|nicht\s+(?:genug|genügend|bestimm\w+|sicher)|"
    r"keine\s+der\s+option\w*|aucune\s+(?:des|option)\b|ninguna\s+(?:de|opci[óo]n)\b|nessuna\s+(?:delle|opzione)\b|"
    r"keine\s+(?:angabe|information\w*|hinweis\w*)|ne\s+(?:sais|peux|permet)\w*\s+pas|pas\s+assez|no\s+(?:lo\s+)?s[ée]\b|"
    r"no\s+(?:puedo|hay)\b|não\s+(?:sei|há|posso)|non\s+(?:so|posso)\b|не\s+(?:знаю|могу)|недостаточно)",
    _I,
)
"""The reply says that it cannot tell."""

ERROR_REPLY: Final = re.compile(
    r"\W*(?:(?:[\w.]*error|[\w.]*exception|错误|錯誤|エラー|오류|fehler|erreur|ошибка)(?:\s+code)?(?:\s*[:\-(\[\]>]|\s+\d{3}\b|\W*$)"
    r"|(?:api|llm|generation|http|https|server|network|internal\s+server|connection|gateway|request|timeout|engine|model)\s+"
    r"(?:call\s+|request\s+)?(?:error|failed|failure|unavailable|reset|refused|timed\s+out|timeout|overloaded|aborted)\b"
    r"|failed\s+to\s+(?:generate|connect|reach|parse|call|fetch|load|get\s+a)\b|!?doctype\s+html|html>"
    r"|traceback\s+\(most|http\s*/?[\d.]*\s*[45]\d\d\b|[45]\d\d\s+(?:too|bad|internal|service|server|gateway|not|unauth|forbid)"
    r"|rate\s*limit|too\s+many\s+requests|bad\s+gateway|service\s+(?:temporarily\s+)?unavailable|timed?\s*out\b|quota\s+exceeded"
    r"|(?:maximum\s+)?context\s+length\s+exceeded|请求失败|请求超时|超时|服务不可用)",
    _I,
)
"""The whole reply is an error message of the engine, not of the model."""

LABEL_AT_END: Final = re.compile(
    rf"{_any(words.ANSWER_NOUNS, words.ANSWER_NOUNS_ELSEWHERE)}\s*[\"']?\s*(?:[:=]|is)\s*['\"(\[]*$", _I
)
"""The reply stops right after ``Answer:``."""

OPTION_WORD: Final = (
    r"(?:(?<![^\W\d_])(?:options?|choices?|letter|alternative|answer\s+choice|opción|opção|opzione|optie|möglichkeit|"
    r"variante?|вариант|seçenek|lựa\s+chọn|pilihan)|选项|選項|選択肢|보기)"
)
"""A word that makes the letter after it a label, whatever follows."""

JOIN_WORDS: Final = (
    r"(?:(?<=\s)(?:and\s*/\s*or|and|or|nor|und|oder|et|ou|y|o|e|и|или|en|of|och|eller|plus|as\s+well\s+as)(?=[\s(\[\"'])"
    r"|\s*(?:和|或者|或|与|與|及|还是|と|か|または|와|과|또는)\s*)"
)
"""Words that join letters to a list."""

CLAUSE_WORDS: Final = re.compile(
    r"\s+(?:because|since|is|isn't|was|as|for|and|or|but|not|given|seems?|fits?|matches|due|based|per|if|so|then|would|could|"
    r"can|can't|may|might|only|looks?|does|doesn't|has|over|rather|instead|wins|it\s+is|must|best|ruled|lacks?|fails?)\b"
)
"""After ``A``, these words show that it is a label: no noun follows."""
