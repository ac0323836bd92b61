"""A model's reply, brought to plain text before its letter is read.

Full-width and decorated letters become plain ones, thoughts are removed, and every formal way of giving an answer
(a JSON field, an ``<answer>`` tag, a LaTeX box) becomes a line ``Answer: ...``, so that one rule reads them all.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass

_EMOJI_LETTERS = {
    base + offset: chr(ord("A") + offset) for base in (0x1F150, 0x1F170) for offset in range(26)
}  # letters in black circles and squares, which NFKC leaves as they are
_CHARACTERS = _EMOJI_LETTERS | str.maketrans(
    {
        **dict.fromkeys("“”„‟«»", '"'),
        **dict.fromkeys("‘’‚‛´", "'"),
        **dict.fromkeys("「『【〔〈《", "("),
        **dict.fromkeys("」』】〕〉》", ")"),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f\u200e\u200f", ""),  # invisible
        "\xa0": " ",
        "。": ". ",
    }
)

_THOUGHT = r"(?:\w+:)?(?:think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad)"
_OPEN_THOUGHT = re.compile(rf"(?:<\|?{_THOUGHT}\b[^<>]{{0,40}}>|\[THINK\]|◁think▷)", re.IGNORECASE)
_CLOSE_THOUGHT = re.compile(rf"(?:</{_THOUGHT}\s*>|<\|/{_THOUGHT}\|>|\[/THINK\]|◁/think▷)", re.IGNORECASE)
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)\s*(?:<\|message\|>)?")

_ANSWER_KEYS = (
    *("finalanswer", "answer", "correctanswer", "predictedanswer", "selectedanswer", "youranswer", "answerletter"),
    *("finalchoice", "choice", "selectedoption", "correctoption", "option", "selected", "choiceletter", "letter"),
    *("prediction", "predicted", "pick", "label", "verdict", "response", "output", "result"),
    *(
        "最终答案",
        "正确答案",
        "答案",
        "选项",
        "答え",
        "回答",
        "정답",
        "答",
        "antwort",
        "réponse",
        "reponse",
        "respuesta",
    ),
    *("resposta", "risposta", "antwoord", "ответ"),
)
_MAX_JSON_DEPTH = 4

_ANSWER_TAG = re.compile(r"<(?:final[_ -]?)?(?:answer|ans|choice|option|letter|verdict|solution)\s*>", re.IGNORECASE)
_END_TAG = re.compile(r"</(?:final[_ -]?)?(?:answer|ans|choice|option|letter|verdict|solution)\s*>", re.IGNORECASE)
_STRUCK = re.compile(r"~~.*?~~|<(s|del|strike)>.*?</\1>", re.IGNORECASE | re.DOTALL)
_HTML_PAIR = re.compile(
    r"<(b|i|u|p|em|strong|span|code|mark|su[bp]|font|div|h\d)\b[^<>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL
)
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_SPECIAL_TOKEN = re.compile(r"<\|[^|<>]*\|>|</s>|<(?:eos|bos|end_of_turn|start_of_turn)>|\[/?INST\]", re.IGNORECASE)

_BOX = re.compile(r"\\f?boxed\s*\{")
_LATEX_COMMAND = re.compile(
    r"\\(?:text(?:bf|it|rm|tt|sf)?|math(?:rm|bf|sf|tt|it)|rm|bf|emph|underline|mbox)\s*\{([^{}]*)\}"
)
_LATEX_MARKS = re.compile(r"\\[()\[\],;!]|\\q?quad\b|\${1,2}")
_MARKDOWN_MARKS = re.compile(r"^[ \t]*(?:#{1,6}|>)[ \t]*|\*|(?<!\w)_+|_+(?!\w)", re.MULTILINE)
_NOT_APPLICABLE = re.compile(r"\bN/A\b|\bn/a\b")


@dataclass(frozen=True, slots=True)
class PlainReply:
    """The plain text of a reply, and whether it ends inside a thought or inside JSON."""

    text: str
    open_thought: bool = False
    cut_json: bool = False


def plain_reply(reply: str) -> PlainReply:
    """A reply without thoughts and markup, with formal answers as ``Answer:`` lines."""
    text, open_thought = remove_thoughts(unicodedata.normalize("NFKC", _without_ticks(reply)).translate(_CHARACTERS))
    if open_thought:
        return PlainReply(text.strip(), open_thought=True)
    text = _rewrite_json(text)
    cut_json = text.lstrip().startswith("{") and text.count("{") > text.count("}")
    text = _END_TAG.sub("\n", _ANSWER_TAG.sub("\nAnswer: ", text))
    text = _plain_latex(_rewrite_boxes(_plain_html(_STRUCK.sub("", text))))
    text = _NOT_APPLICABLE.sub("none", _MARKDOWN_MARKS.sub("", text))
    return PlainReply(text.strip(), cut_json=cut_json)


def remove_thoughts(text: str) -> tuple[str, bool]:
    """The text outside its thoughts, and whether a thought was still open at the end (EgoCITE's first-letter fault).

    A closing mark without an opening one ends a thought that began in the prompt.
    """
    channels = list(_CHANNEL.finditer(text))
    if channels:
        last = channels[-1]
        return text[last.end() :], last.group(1).lower() != "final"
    while opened := _OPEN_THOUGHT.search(text):
        closed = _CLOSE_THOUGHT.search(text, opened.end())
        if not closed:
            if _CLOSE_THOUGHT.search(text):
                break
            return text[: opened.start()], True
        text = text[: opened.start()] + "\n" + text[closed.end() :]
    closings = list(_CLOSE_THOUGHT.finditer(text))
    if not closings:
        return text, False
    return remove_thoughts(text[closings[-1].end() :])


def _without_ticks(text: str) -> str:
    """Drops the back ticks of code spans and fences, which would otherwise be read as quotes."""
    return re.sub(r"^```\w*", "", text, flags=re.MULTILINE).replace("`", "")


def _rewrite_json(text: str) -> str:
    """Replaces every JSON object that holds an answer or an error by a line that says so."""
    decoder = json.JSONDecoder(strict=False)
    parts: list[str] = []
    position = 0
    while (brace := text.find("{", position)) >= 0:
        try:
            value, end = decoder.raw_decode(text, brace)
        except (json.JSONDecodeError, RecursionError):
            parts.append(text[position : brace + 1])
            position = brace + 1
            continue
        statement = _json_statement(value)
        parts.append(text[position:brace] + (text[brace:end] if statement is None else f"\n{statement}\n"))
        position = end
    return "".join(parts) + text[position:]


def _json_statement(value: object) -> str | None:
    """``Answer: ...`` or ``Error: ...`` for a decoded object, None where it holds neither."""
    found, answer = _json_answer(value, _MAX_JSON_DEPTH)
    if found:
        return f"Answer: {_json_text(answer)}"
    if isinstance(value, dict) and value.get("error"):
        return f"Error: {_json_text(value['error'])}"
    return None


def _json_answer(value: object, depth: int) -> tuple[bool, object]:
    """Whether an answer field is somewhere inside, and what it holds; fields of the outer level come first."""
    if not isinstance(value, dict) or not depth:
        return False, None
    fields = {re.sub(r"[\W_]", "", str(key)).casefold(): inner for key, inner in value.items()}
    for key in _ANSWER_KEYS:
        if key in fields:
            inner = fields[key]
            nested, answer = _json_answer(inner, depth - 1)
            return (True, answer) if nested else (True, inner)
    for inner in value.values():
        nested, answer = _json_answer(inner, depth - 1)
        if nested:
            return True, answer
    return False, None


def _json_text(value: object) -> str:
    if value is None or value == "" or value == []:
        return "none"
    if isinstance(value, list):
        return ", ".join(_json_text(item) for item in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _plain_html(text: str) -> str:
    """Markup pairs without their tags; a lone ``<B>`` stays, since it is a bracketed letter."""
    text = _SPECIAL_TOKEN.sub("\n", _LINE_BREAK.sub("\n", text))
    while (plain := _HTML_PAIR.sub(r"\2", text)) != text:
        text = plain
    return text


def _rewrite_boxes(text: str) -> str:
    """``\\boxed{X}`` as a line ``Answer: X``; a box that is never closed runs to the end of its line."""
    while box := _BOX.search(text):
        depth, end = 1, box.end()
        while end < len(text) and depth and text[end] != "\n":
            depth += (text[end] == "{") - (text[end] == "}")
            end += 1
        content = text[box.end() : end - 1] if depth == 0 else text[box.end() : end]
        text = f"{text[: box.start()]}\nAnswer: {content}\n{text[end:]}"
    return text


def _plain_latex(text: str) -> str:
    while (plain := _LATEX_COMMAND.sub(r"\1", text)) != text:
        text = plain
    return _LATEX_MARKS.sub("", text)
