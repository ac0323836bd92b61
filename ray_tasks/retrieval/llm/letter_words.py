"""Words, in many languages, that surround a letter in a reply. Entries are parts of regular expressions.

Tables named *_ELSEWHERE hold words of scripts that put no spaces between words; they may stand anywhere.
"""

from __future__ import annotations

from typing import Final


def _table(words: str) -> tuple[str, ...]:
    """The entries of a comma-separated table."""
    return tuple(word.strip() for word in words.split(","))


ANSWER_NOUNS: Final = _table(
    r"""
    answers?, ans, antwort, lösung, r[ée]ponse, respuesta, resposta, risposta, antwoord, svaret?, odpowiedź,
    odpověď, odpoveď, válasz, vastaus, răspuns(?:ul)?, cevap, cevabı, yanıt, jawaban(?:nya)?, jawapan, đáp án,
    câu trả lời, sagot
    """
)
ANSWER_NOUNS_ELSEWHERE: Final = _table(
    r"""
    最终答案, 正确答案, 答案, 正解, 答え, 回答, 解答, 答, 정답, 답변, 답, ответ, відповідь, отговор, одговор,
    απάντηση, उत्तर, जवाब, الإجابة, الجواب, إجابة, جواب, پاسخ, תשובה, คำตอบ
    """
)
CHOICE_NOUNS: Final = _table(
    r"""
    choice, option, letter, pick, selection, verdict, reply, assistant, match, fit, decision, prediction,
    conclusion, final, result, correct, response, output, vote, solution, bet, choix, elección, opción, escolha,
    opção, scelta, opzione, wahl, auswahl, keuze, optie, wybór, seçim, seçenek, pilihan, выбор
    """
)
CHOICE_NOUNS_ELSEWHERE: Final = _table(
    r"""
    选择, 選擇, 选项, 選項, 选, 選, 選択肢, 보기, 선택, 正确的, 最符合的
    """
)
COPULAS: Final = _table(
    r"""
    is, are, was, would be, should be, must be, has to be, will be, remains, ist, wäre, est, es, é, è, är, er,
    lautet, to, je, on, jest, adalah, ialah, là, это, είναι, is therefore
    """
)
COPULAS_ELSEWHERE: Final = _table(
    r"""
    应该是, 應該是, 应当是, 应是, 应为, 應為, 应选, 是, 为, 為, 选, 選, 는, 은, は, が, है, هي, هو, היא, הוא,
    คือ
    """
)
ADJECTIVES: Final = _table(
    r"""
    final[eo]?, correct[ao]?, correcte, corretta, correta, exact[ao], richtig, poprawna
    """
)
FILLERS: Final = _table(
    r"""
    that, it is, it's, it must be, it should be, clearly, definitely, most, more, very, likely, probably,
    certainly, therefore, thus, hence, still, indeed, surely, obviously, simply, just, now, then, the, be,
    to be, for, la, el, le, l', die, der, das, de, het, a letra, letra, lettre, lettera, buchstabe, klar,
    wahrscheinlich, probablemente, probablement
    """
)
SOFT_FILLERS: Final = _table(
    r"""
    maybe, perhaps, possibly, i guess, a guess, guess, i'd guess, i would guess, i'd say, i would say,
    vielleicht, peut-être, quizás?, tal vez, talvez, forse, 可能是, 可能, 也许, 大概
    """
)
FIRST_PERSON_VERBS: Final = _table(
    r"""
    choose, chose, choosing, pick, picked, picking, select, selected, selecting, answer, submit,
    (?:go|going|gone) (?:with|for), opt(?:ing)? for, settle (?:on|for), settling (?:on|for), vote(?: for)?,
    stick(?:ing)? with, decided? on, conclude(?: that)?(?: it is| it's)?
    """
)
CHOICE_VERBS: Final = _table(
    r"""
    ich wähle, ich nehme, je choisis, elijo, escojo, selecciono, escolho, scelgo, ik kies, jag väljer, wybieram,
    выбираю, seçiyorum, saya pilih, tôi chọn
    """
)
CHOICE_VERBS_ELSEWHERE: Final = _table(
    r"""
    我选择, 我選擇, 我选, 我選, 故选, 应选, 選びます, 选择, 选, 選
    """
)
CORRECTIONS: Final = _table(
    r"""
    correction, corrected(?: to)?, wait, actually, sorry, scratch that, on second thought, i mean, i meant, oops,
    changed? (?:it |that )?to, (?:edit|update)\s*:, make that, no[^\w\s], korrektur, moment, perd[óo]n,
    attends, 更正, 不对, 等等
    """
)
GUESSES: Final = _table(
    r"""
    i would say, i'd say, would say, i guess, guess(?:ing|ed)?, my (?:best )?(?:guess|hunch)(?: is)?, i suppose,
    best guess(?: is)?, i suspect, lean(?:ing)?(?: to| towards?)?, maybe, perhaps, possibly, might be, may be,
    could be, forced(?: to (?:choose|guess|pick|answer))?, pressed, had to (?:choose|guess|pick),
    ich würde sagen, ich tippe auf, vielleicht, je dirais, peut-être, diría, quizás?, tal vez, talvez, direi,
    forse, возможно, наверное, 可能是, 可能, 也许是?, 大概是?, 我猜是?, たぶん, 아마
    """
)
CONCLUSIONS: Final = _table(
    r"""
    so, yes, thus, hence, therefore, consequently, accordingly, then, which means, which makes it, which gives,
    which leaves, (?:that|this|which) is, that's, that leaves, leaves, leaving, giving, makes it, making it,
    points? to, pointing to, supports?, supporting, indicates?, indicating, suggests?, suggesting, favou?rs?,
    match(?:es)?, corresponds? to, it'?s, it is, it must be, must be, should be, has to be, will be,
    most likely, likely, probably, choose, choosing, chose, chosen, pick, select, selected, go with, stick with,
    i think, i believe, i say, but, rather, instead, prefer, daher, deshalb, darum, also, folglich, es ist,
    ich denke, ich glaube, sondern, donc, c'est, ainsi, je pense, mais, entonces, por (?:lo )?tanto, es,
    creo que, sino, portanto, logo, acho que, quindi, dunque, penso, dus, ik denk, zatem, więc, поэтому, значит,
    итак, думаю
    """
)
CONCLUSIONS_ELSEWHERE: Final = _table(
    r"""
    所以, 因此, 于是, 故, 应该是, 應該是, 应当是, 应是, 是, 而是, 我认为, 我觉得, 我想, なので, したがって,
    よって, 따라서, 그래서, →, =>, ⇒, ∴, ->, ✅, ✓, ✔
    """
)
NEGATIONS: Final = _table(
    r"""
    not, n't, never, neither, nor, cannot, rules? out, ruled out, ruling out, exclud(?:e|es|ed|ing),
    eliminat(?:e|es|ed|ing), reject(?:s|ed|ing)?, discard(?:s|ed|ing)?, dismiss(?:es|ed|ing)?, except, without,
    rather than, instead of, unlike, than, over, against, no evidence (?:for|of), nothing (?:for|supports),
    nicht, kein, weder, statt, pas, ni, non, no, não, niet, inte, не, ни
    """
)
NEGATIONS_ELSEWHERE: Final = _table(
    r"""
    不是, 不选, 不選, 并非, 而非, 排除, 除了, 不可能是, 不应选
    """
)
NEGATION_FILLERS: Final = _table(
    r"""
    option, choice, letter, answer, both, the, be, it's, it is, to be, es, is, necessarily, really, actually,
    just, only
    """
)
IFS: Final = _table(
    r"""
    if, whether, suppose that, supposing, unless, falls, wenn, ob, si, se, если
    """
)
SUPPOSED_WORDS: Final = _table(
    r"""
    the, my, correct, right, answer, option, choice, letter, it, this, that, were, was, is, be, had been,
    really, die, antwort, wäre, ist, la, réponse, était, est, respuesta, fuera, es, resposta, fosse, risposta,
    ответ
    """
)
THING_NOUNS: Final = _table(
    r"""
    vitamins?, plan, room, type, team, group, box, crate, shelf, gate, grade, size, side, block, building,
    studio, hall, door, bus, line, terminal, platform, section, part, figure, table, appendix, bin, locker,
    seat, row, lane, chapter, exit, channel, point, camera
    """
)
DECLINED_VALUES: Final = _table(
    r"""
    none, unknown, unclear, undetermined, undecided, uncertain, insufficient, inconclusive, null, cannot, can't,
    could not, not (?:enough|possible|sure|given|known|shown|determin\w+|in the|available),
    no (?:answer|evidence|information|option), impossible, unbekannt, inconnue?, desconocid[oa], unsicher, 无法,
    未知, 不确定, 不知道, 没有, 無, 不明, わかりません, 없음, неизвестно
    """
)
