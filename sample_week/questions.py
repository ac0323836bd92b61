"""The forty questions in EgoLifeQA's schema, their targets taken from the beats that hold the answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ray_tasks.corpus.week_time import day_of, format_clock, parse_week_time, week_ms
from sample_week.story import Row, StoryError, Week, read_yaml

LATE_FRAMES: Final = 47
"""Real targets have frame numbers up to 92 on a clock of 20 frames a second."""

Evidence = Mapping[tuple[str, str], Row]
"""(wearer id, beat id) -> the row of it in this wearer's recording."""


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """A question as `ask` takes it; `evidence` is the beat that holds the answer, `answer` the right choice's text."""

    wearer: str
    at: str
    text: str
    choices: tuple[str, ...]
    answer: str
    evidence: str


@dataclass(frozen=True, slots=True)
class ScriptQuestion:
    """A question of questions.yaml; `at_ms` is week time, `evidence` are beat ids, one of whose texts holds `key`."""

    wearer: str
    number: int
    text: str
    at_ms: int
    kind: str
    audio: bool
    choices: tuple[str | int, ...]
    answer: str
    evidence: tuple[str, ...]
    key: str
    target: str


SAMPLE_QUESTIONS: Final = (
    SampleQuestion(
        "B1_MARA",
        "DAY3 15150000",
        "Where did I put the key to the seed cupboard the first time?",
        ("On the nail by the greenhouse door", "In the pocket of my apron", "In the blue tin on the kitchen shelf"),
        "In the blue tin on the kitchen shelf",
        "key-in-tin",
    ),
    SampleQuestion(
        "B2_TOBI",
        "DAY2 16200000",
        "Where is the brass key now?",
        (),
        "under the pot with the fern",
        "key-fern",
    ),
    SampleQuestion(
        "B1_MARA",
        "DAY3 16000000",
        "Who said that it would rain at the open afternoon?",
        (),
        "Ines",
        "rain-ines",
    ),
)
"""Three questions for a first look; the second and third are asked without choices."""


def load_questions(week: Week) -> tuple[ScriptQuestion, ...]:
    """The questions of questions.yaml, numbered for each wearer in order of time from 1."""
    questions: list[ScriptQuestion] = []
    for name, raw in read_yaml("questions.yaml").items():
        mine = [_read(week.wearers[name], item) for item in raw]
        mine.sort(key=lambda question: question.at_ms)
        questions.extend(replace(question, number=number) for number, question in enumerate(mine, start=1))
    return tuple(questions)


def question_files(week: Week, questions: tuple[ScriptQuestion, ...], evidence: Evidence) -> dict[str, bytes]:
    """``questions/{wearer}.json`` -> content."""
    files = {}
    for wearer in week.wearers.values():
        items = [released(question, evidence) for question in questions if question.wearer == wearer]
        files[f"questions/{wearer}.json"] = (json.dumps(items, ensure_ascii=False, indent=2) + "\n").encode()
    return files


def released(question: ScriptQuestion, evidence: Evidence) -> dict[str, Any]:
    """One question in EgoLifeQA's schema; raises StoryError where the wearer hasn't recorded its evidence by then."""
    rows = []
    for beat in question.evidence:
        row = evidence.get((question.wearer, beat))
        if row is None or week_ms(row.day, row.end_ms) > question.at_ms:
            raise StoryError(f"questions.yaml: {question.text!r}: {question.wearer} has not recorded {beat!r} by then")
        rows.append(row)
    return {
        "ID": question.number,
        "query_time": _point(question.at_ms),
        "type": question.kind,
        "need_audio": question.audio,
        "question": question.text,
        **{f"choice_{letter}": choice for letter, choice in zip("abcd", question.choices, strict=True)},
        "answer": question.answer,
        "target_time": _target(question.target, [week_ms(row.day, row.start_ms) for row in rows]),
    }


def _read(wearer: str, item: Mapping[str, Any]) -> ScriptQuestion:
    if len(item["choices"]) != 4 or item["answer"] not in tuple("ABCD"):
        raise StoryError(f"questions.yaml: {wearer}: {item['ask']!r} needs four choices and an answer A-D")
    return ScriptQuestion(
        wearer=wearer,
        number=0,
        text=item["ask"],
        at_ms=parse_week_time(item["at"].replace(":", "")),
        kind=item["type"],
        audio=item.get("audio", False),
        choices=tuple(item["choices"]),
        answer=item["answer"],
        evidence=tuple(item["evidence"]),
        key=item["key"],
        target=item.get("target", "single"),
    )


def _target(form: str, points: list[int]) -> dict[str, Any] | None:
    first = _point(points[0])
    if form == "missing":
        return None
    if form == "time_list":
        return {"date": first["date"], "time_list": [format_clock(ms) for ms in points]}
    if form == "glued":
        glued = "".join("{date}_{time}".format(**_point(ms)) for ms in points[1:])
        return {"date": first["date"], "time": first["time"] + glued}
    if form == "late_frame":
        return {"date": first["date"], "time": f"{first['time'][:6]}{LATE_FRAMES}"}
    return first


def _point(ms: int) -> dict[str, str]:
    return {"date": f"DAY{day_of(ms)}", "time": format_clock(ms)}
