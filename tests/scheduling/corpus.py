"""Writes small corpora in the released layout."""

from __future__ import annotations

from pathlib import Path

Cue = tuple[str, str, str]
"""(start, end, text) with start and end as MM:SS inside the hour; a start of 60:00 or later runs past it."""


def write_hour(corpus: Path, wearer: str, day: int, hour: int, cues: list[Cue], kind: str = "Transcript") -> Path:
    """An SRT file of one hour."""
    folder = corpus / "EgoLifeCap" / kind / wearer / f"DAY{day}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{wearer}_DAY{day}_{hour:02d}000000.srt"
    blocks = [
        f"{number}\n{_stamp(start)} --> {_stamp(end)}\n{text}\n" for number, (start, end, text) in enumerate(cues, 1)
    ]
    path.write_text("\n".join(blocks), encoding="utf-8")
    return path


def _stamp(text: str) -> str:
    minute, second = map(int, text.split(":"))
    return f"{minute // 60:02d}:{minute % 60:02d}:{second:02d},000"


def small_corpus(folder: Path) -> Path:
    """Two wearers, two days, a cue past its hour, and speech just before an hour ends."""
    for wearer, friend in (("B1_MARA", "Tobi"), ("B2_TOBI", "Mara")):
        for day in (1, 2):
            for hour in (9, 10, 11):
                cues = [
                    (f"{minute:02d}:{5 + minute % 20:02d}", f"{minute:02d}:{9 + minute % 20:02d}", text)
                    for minute in range(0, 60, 4)
                    for text in [f"{friend}: the kettle {minute} of hour {hour} is on the shelf."]
                ]
                cues.append(("59:50", "60:02", f"{friend}: we meet at gate {hour}."))
                write_hour(folder, wearer, day, hour, cues)
                seen = [(f"{m:02d}:10", f"{m:02d}:14", f"I carry box {m} to the shed.") for m in range(2, 60, 6)]
                write_hour(folder, wearer, day, hour, seen, "DenseCaption")
    write_hour(folder, "B1_MARA", 1, 11, [("00:05", "00:08", "Tobi: hello."), ("61:00", "61:05", "Tobi: still here.")])
    return folder
