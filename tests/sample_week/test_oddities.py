"""The planted flaws, counted in the files by plain rules and compared with what ODDITIES promises."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from ray_tasks.corpus.week_time import HOUR_MS
from sample_week import ODDITIES, SampleWeek


def has_chinese(text: str) -> bool:
    return any("\u4e00" <= character <= "\u9fff" for character in text)


def label_of(line: str) -> str:
    head = line.replace("：", ": ", 1).partition(": ")
    return head[0] if head[1] and head[0].isalpha() and head[0].isascii() else ""


def test_file_oddities(sample: SampleWeek) -> None:
    files = sorted((sample.corpus / "EgoLifeCap").rglob("*.srt"))
    assert sum(path.read_bytes().startswith(b"\xef\xbb\xbf") for path in files) == ODDITIES["bom_files"]
    assert sum(b"\r\n" in path.read_bytes() for path in files) == ODDITIES["crlf_files"]
    assert not any(b"\n" in path.read_bytes().replace(b"\r\n", b"") for path in files if b"\r\n" in path.read_bytes())
    odd = [path for path in files if not path.name.startswith(f"{path.parts[-3]}_{path.parts[-2]}_")]
    assert len(odd) == ODDITIES["odd_file_names"]


def test_cue_oddities(spoken: list[Any]) -> None:
    found: Counter[str] = Counter()
    latest: dict[Any, int] = defaultdict(lambda: -1)
    for cue in spoken:
        text = [line.replace("：", ": ", 1).split(": ", 1)[-1] for line in cue.lines]
        chinese = [has_chinese(line) for line in text]
        empty = not "".join(text).strip()
        found["cues_starting_past_their_hour"] += cue.start_ms >= HOUR_MS
        found["cues_running_past_their_hour"] += cue.start_ms < HOUR_MS <= cue.end_ms
        found["empty_cues"] += empty
        found["reversed_cues"] += cue.end_ms < cue.start_ms
        found["english_first_cues"] += chinese == [False, True]
        found["chinese_only_cues"] += chinese == [True] and cue.end_ms >= cue.start_ms
        found["english_only_cues"] += chinese == [False] and not empty
        found["full_width_colon_cues"] += any("：" in line[:8] for line in cue.lines)
        found["cues_without_speaker"] += not empty and not label_of(cue.lines[0])
        found["overlapping_cues"] += cue.start_ms < latest[cue.path]
        latest[cue.path] = max(latest[cue.path], cue.end_ms)
    expected = {name: ODDITIES[name] for name in ODDITIES if name.endswith(("_cues", "_hour", "_speaker"))}
    assert dict(found) == expected


def test_sync_loses_and_doubles_cues_at_window_borders(spoken: list[Any], sync: list[Any]) -> None:
    synced_hours = {(row.wearer, row.start_ms // HOUR_MS) for row in sync}
    in_sync = Counter(
        (row.wearer, row.start_ms, row.text.replace("：", ": ", 1)) for row in sync if row.kind == "transcript"
    )
    cues = Counter(
        (cue.wearer, cue.week_ms() // 1000 * 1000, cue.lines[-1].replace("：", ": ", 1))
        for cue in spoken
        if (cue.wearer, cue.week_ms() // HOUR_MS) in synced_hours
    )
    lost = cues - in_sync
    assert sum((in_sync - cues).values()) == ODDITIES["cues_doubled_in_sync"]
    planted = [key for key in lost if "postman" in key[2] or not key[2].strip() or "比新的还好" in key[2]]
    assert len(planted) == 3
    assert sum(lost.values()) - len(planted) == ODDITIES["cues_lost_in_sync"]
    mara_hours = {(cue.wearer, cue.week_ms() // HOUR_MS) for cue in spoken if cue.wearer == "B1_MARA"}
    assert len(mara_hours - synced_hours) == ODDITIES["hours_without_sync_file"]


def test_question_oddities(questions: dict[str, list[dict[str, Any]]]) -> None:
    items = [item for wearer in questions.values() for item in wearer]
    targets = [item["target_time"] for item in items]
    times = [target["time"] for target in targets if target and "time" in target]
    assert targets.count(None) == ODDITIES["missing_targets"]
    assert sum("DAY" in time for time in times) == ODDITIES["glued_targets"]
    assert sum("time_list" in (target or {}) for target in targets) == ODDITIES["time_list_targets"]
    assert sum(int(time[6:8]) > 19 for time in times) == ODDITIES["target_frames_beyond_19"]
    numeric = [item for item in items if all(isinstance(item[f"choice_{letter}"], int) for letter in "abcd")]
    assert len(numeric) == ODDITIES["numeric_choice_questions"]


def test_no_question_rests_on_a_planted_flaw(sample: SampleWeek, spoken: list[Any]) -> None:
    planted = {cue.lines for cue in spoken if cue.end_ms < cue.start_ms or cue.end_ms >= HOUR_MS}
    assert planted
    told = {row.words.english for row in sample.evidence.values()}
    assert not [lines for lines in planted if any(line.split(": ", 1)[-1] in told for line in lines)]
