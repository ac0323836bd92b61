"""The flaws planted in the sample week, of the kinds that real releases have, so that `doctor` has something to show.

Planted cues are extra: no question rests on them. ODDITIES gives the exact counts, for tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class HourFile:
    """A wearer's file for one hour of one day."""

    wearer: str
    day: int
    hour: int


@dataclass(frozen=True, slots=True)
class PlantedCue:
    """A transcript cue written as it stands; start and end are ms from the hour of its file."""

    file: HourFile
    start_ms: int
    end_ms: int
    lines: tuple[str, ...]


BOM_FILES: Final = frozenset({HourFile("B1_MARA", 1, 15)})
"""Transcript files that begin with a byte-order mark."""

CRLF_FILES: Final = frozenset({HourFile("B2_TOBI", 1, 14)})
"""Transcript files with Windows line ends."""

FULL_WIDTH_COLONS: Final = frozenset({HourFile("B1_MARA", 1, 10), HourFile("B2_TOBI", 2, 15)})
"""Transcript files in which Ines's name is followed by a full-width colon."""

ODD_NAMES: Final = {HourFile("B2_TOBI", 2, 15): "DAY2_B2_TOBI_15000000.mp4.srt"}
"""Transcript files with another name than {wearer}_DAYn_HH000000.srt."""

PLANTED_CUES: Final = (
    # runs past the end of its hour
    PlantedCue(
        HourFile("B1_MARA", 1, 11), 3_597_200, 3_602_900, ("Mara: 那是邮递员吗？", "Mara: Is that the postman?")
    ),
    # begins after the end of its hour, which no other file of that wearer covers
    PlantedCue(HourFile("B2_TOBI", 2, 11), 3_604_000, 3_605_500, ("Pavel: 休息吧。", "Pavel: Lunch.")),
    # holds nothing but a space
    PlantedCue(HourFile("B1_MARA", 2, 10), 1_530_000, 1_530_900, (" ",)),
    # ends before it begins
    PlantedCue(HourFile("B2_TOBI", 3, 9), 1_812_900, 1_812_100, ("Tobi: 哎呀。", "Tobi: Oops.")),
    # has its two languages the other way round
    PlantedCue(HourFile("B1_MARA", 3, 10), 2_411_000, 2_412_300, ("Mara: Better than new.", "Mara: 比新的还好。")),
)

SYNC_DOUBLES_EVERY: Final = 10
"""Sync loses cues that cross :00 or :30; each tenth of them is written on both sides instead."""

ODDITIES: Final = {
    # transcript files
    "bom_files": 1,
    "crlf_files": 1,
    "odd_file_names": 1,
    # transcript cues
    "cues_running_past_their_hour": 1,
    "cues_starting_past_their_hour": 1,
    "empty_cues": 1,
    "reversed_cues": 1,
    "english_first_cues": 1,
    "full_width_colon_cues": 44,
    "chinese_only_cues": 83,
    "english_only_cues": 148,
    "cues_without_speaker": 9,
    "overlapping_cues": 336,
    # Sync files against the transcripts of the same wearer
    "hours_without_sync_file": 1,
    "cues_lost_in_sync": 105,
    "cues_doubled_in_sync": 11,
    # questions
    "target_frames_beyond_19": 1,
    "glued_targets": 1,
    "time_list_targets": 1,
    "missing_targets": 1,
    "numeric_choice_questions": 1,
}
"""How often each oddity occurs in the whole sample week.

`overlapping_cues` begin before an earlier cue of the same file has ended; `cues_without_speaker` leaves the empty cue
out, and `chinese_only_cues` the planted ones. `cues_lost_in_sync` and `cues_doubled_in_sync` count cues of hours that
have a Sync file, without the planted ones, of which Sync knows nothing.
"""
