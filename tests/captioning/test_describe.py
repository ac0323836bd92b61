"""Clips to observations, and the whole way from an mp4 to captions."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ray_tasks.captioning.decode import ClipEnd, Window
from ray_tasks.captioning.describe import Described, describe
from ray_tasks.captioning.identity import Identities, Identity
from ray_tasks.captioning.settings import VideoSettings
from ray_tasks.captioning.videos import VideoFile, discover_videos
from ray_tasks.corpus.fuse import Clip, fuse
from ray_tasks.corpus.week_time import day_of, hour_of, parse_week_time
from ray_tasks.engines.client import ChatClient
from ray_tasks.engines.messages import ChatRequest, RejectedError, TruncatedError, UnreachableError
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Observation
from tests.captioning.clips import ScriptedReader, WriteClip, time_of
from tests.chat_server import ChatServer, ScriptedChat

MARA = "P1_MARA"
SETTINGS = ChatSettings(model="test-model", concurrency=4)
Script = Callable[[ChatRequest], Any]
Rows = dict[VideoFile, Sequence[Window | ClipEnd | BaseException]]


def clip(start: str, name: str | None = None) -> VideoFile:
    ms = parse_week_time(start)
    path = Path("videos") / MARA / f"DAY{day_of(ms)}" / (name or f"{start.replace(' ', '_P1_MARA_')}.mp4")
    return VideoFile(path, MARA, day_of(ms), hour_of(ms), ms)


def window(number: int, pictures: int = 15, end_ms: int | None = None) -> Window:
    start = (number - 1) * 15_000
    return Window(number, start, end_ms or start + 15_000, tuple(f"{number}".encode() for _ in range(pictures)))


def look(request: ChatRequest) -> dict[str, list[str]]:
    return {"sentences": [f"I look at picture {request.messages[1].images[0].data.decode()}."]}


def run(
    clips: Rows,
    script: Script = look,
    identities: Identities | None = None,
    video: VideoSettings | None = None,
) -> tuple[Described, ScriptedChat]:
    chat = ScriptedChat(script)
    items = {file.path.name: rows for file, rows in clips.items()}
    made = asyncio.run(
        describe(
            list(clips), identities or Identities(), chat, SETTINGS, video, readers=lambda _: ScriptedReader(items)
        )
    )
    assert made.ledger.missing == 0
    assert made.calls.balanced
    return made, chat


def test_each_window_becomes_one_visual_observation_with_the_time_of_its_pictures() -> None:
    made, _ = run({clip("DAY1 11094208"): [window(1), window(2, 9, 23_950), ClipEnd()]})
    start = parse_week_time("DAY1 11094208")
    source = "P1_MARA/DAY1/DAY1_P1_MARA_11094208.mp4"
    assert made.observations == [
        Observation(MARA, 1, start, start + 15_000, "visual", None, "I look at picture 1.", "en", f"{source}#1"),
        Observation(
            MARA, 1, start + 15_000, start + 23_950, "visual", None, "I look at picture 2.", "en", f"{source}#2"
        ),
    ]
    assert made.ledger == Ledger(taken=2, done=2, notes=made.ledger.notes)
    assert made.ledger.notes == {"identity_unknown": 2}
    assert made.calls.images == 24
    assert made.problems == []


def test_clips_of_an_hour_come_out_in_order_whatever_answers_first() -> None:
    clips: Rows = {clip(f"DAY1 11{minute:02d}0000"): [window(1), window(2), ClipEnd()] for minute in (30, 10, 20)}
    made, _ = run(clips, video=VideoSettings(decoders=3))
    starts = [row.start_ms for row in made.observations]
    assert starts == sorted(starts)
    assert len(starts) == 6


def test_an_observation_that_starts_in_the_next_hour_or_day_is_kept() -> None:
    made, _ = run({clip("DAY1 23595000"): [window(1), window(2), ClipEnd()]})
    assert [(row.day, row.start_ms) for row in made.observations] == [
        (1, parse_week_time("DAY1 23595000")),
        (2, parse_week_time("DAY2 00000500")),
    ]


def test_the_video_of_a_captions_window_is_the_first_that_starts_in_it() -> None:
    made, _ = run(
        {
            clip("DAY1 11094208"): [window(1), ClipEnd()],
            clip("DAY1 11095500"): [window(1), window(2), window(3), window(4), ClipEnd()],
            clip("DAY1 11102500"): [window(1), ClipEnd()],
            clip("DAY1 12000000"): [window(1, 0), ClipEnd()],
        }
    )
    label = "P1_MARA/DAY1/DAY1_P1_MARA_"
    assert made.clips == {
        parse_week_time("DAY1 11093000"): Clip(parse_week_time("DAY1 11094208"), f"{label}11094208.mp4"),
        parse_week_time("DAY1 11100000"): Clip(parse_week_time("DAY1 11102500"), f"{label}11102500.mp4"),
        parse_week_time("DAY1 11103000"): Clip(parse_week_time("DAY1 11103000"), f"{label}11095500.mp4"),
    }


def test_windows_and_clips_that_give_nothing_are_booked_and_named() -> None:
    def script(request: ChatRequest) -> Any:
        number = request.messages[1].images[0].data.decode()
        return {"2": {"sentences": []}, "3": TruncatedError("cut"), "4": RejectedError("too many images")}.get(
            number, {"sentences": ["I sit."]}
        )

    made, chat = run(
        {
            clip("DAY1 11000000"): [
                window(1),
                window(2),
                window(3),
                window(4),
                window(5, 0),
                ClipEnd(filtered="short_tail"),
            ],
            clip("DAY1 11020000"): [
                ClipEnd(failed="unreadable_video", oddities=(("unreadable_video", "is no video"),))
            ],
            clip("DAY1 11030000"): [window(1), ClipEnd(oddities=(("damaged_frames", "3 frames"),))],
        },
        script,
    )
    assert (made.ledger.taken, made.ledger.done) == (8, 2)
    assert made.ledger.filtered == {"short_tail": 1}
    assert made.ledger.failed == {"empty": 1, "truncated": 1, "rejected": 1, "undecodable": 1, "unreadable_video": 1}
    assert made.ledger.notes["asked_again"] == 4
    assert len(chat.requests) == 1 + 3 + 3 + 1 + 1
    assert [(problem.kind, problem.line) for problem in made.problems] == [
        ("empty", 2),
        ("truncated", 3),
        ("rejected", 4),
        ("undecodable", 5),
        ("unreadable_video", None),
        ("damaged_frames", None),
    ]
    assert "DAY1 11:00:15, window 2" in made.problems[0].detail
    assert [row.text for row in made.observations] == ["I sit.", "I sit."]


def test_who_may_be_seen_is_told_by_the_time_of_the_window() -> None:
    scenes = Identities(
        (
            Identity(
                "a", MARA, parse_week_time("DAY1 11000000"), parse_week_time("DAY1 11001000"), "Tobi - green coat"
            ),
            Identity("b", MARA, parse_week_time("DAY1 12000000"), parse_week_time("DAY1 13000000"), "Ines - red scarf"),
        )
    )
    made, chat = run({clip("DAY1 11000000"): [window(1), window(2), ClipEnd()]}, identities=scenes)
    assert all("Tobi - green coat" in request.messages[0].text for request in chat.requests)
    assert made.ledger.notes == {"identity_nearest": 1}


def test_an_endpoint_that_cannot_be_reached_fails_the_whole_hour() -> None:
    clips: Rows = {clip("DAY1 11000000"): [*[window(number) for number in range(1, 100)], ClipEnd()]}
    with pytest.raises(UnreachableError, match="nobody answers"):
        run(clips, lambda _: UnreachableError("nobody answers"))


def test_an_hour_of_which_every_request_is_rejected_fails() -> None:
    with pytest.raises(RejectedError, match="took none of 2 requests"):
        run(
            {clip("DAY1 11000000"): [window(1), window(2), ClipEnd()]},
            lambda _: RejectedError("no such model", denied=True),
        )


def test_a_decoder_that_does_not_start_fails_the_hour() -> None:
    with pytest.raises(RuntimeError, match="did not start"):
        run({clip("DAY1 11000000"): [window(1), RuntimeError("did not start")]})


def test_no_clips_give_nothing() -> None:
    made, chat = run({})
    assert made == Described()
    assert chat.requests == []


def test_a_reply_in_another_language_is_marked_for_translation() -> None:
    made, _ = run({clip("DAY1 11000000"): [window(1), ClipEnd()]}, lambda _: {"sentences": ["我把水壶放在桌子上。"]})
    assert [row.lang for row in made.observations] == ["zh"]


def pictured(body: dict[str, Any]) -> list[float]:
    """The times of the pictures in a request, told by what they show."""
    parts = [
        part for message in body["messages"] if isinstance(message["content"], list) for part in message["content"]
    ]
    links = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [time_of(base64.b64decode(link.split(",", 1)[1])) for link in links]


def test_the_whole_way_from_mp4_files_to_captions_with_speech(write_clip: WriteClip, tmp_path: Path) -> None:
    write_clip("videos/P1_MARA/DAY1/DAY1_P1_MARA_11000000.mp4", 30)
    write_clip("videos/P1_MARA/DAY1/DAY1_P1_MARA_11003000.mp4", 20)
    (tmp_path / "videos/P1_MARA/DAY1/DAY1_P1_MARA_11010000.mp4").write_bytes(b"torn")
    layout = discover_videos(tmp_path / "videos")

    def reply(body: dict[str, Any]) -> dict[str, list[str]]:
        times = pictured(body)
        return {"sentences": [f"I see seconds {times[0]:g} to {times[-1]:g}.", "Tobi holds a green cup."]}

    with ChatServer(reply) as server:
        settings = ChatSettings(model="test-model", urls=(server.url,), concurrency=2)
        with ChatClient(settings) as client:
            made = client.run(describe(layout.clips, Identities(), client, settings))
    assert [row.text.split(".")[0] for row in made.observations] == [
        "I see seconds 0 to 14",
        "I see seconds 15 to 29",
        "I see seconds 0 to 14",
        "I see seconds 15 to 19",
    ]
    assert made.ledger.failed == {"unreadable_video": 1}
    assert (made.calls.calls, made.calls.images) == (4, 50)
    assert made.calls.tokens_in == server.served.tokens_in
    said = parse_week_time("DAY1 11003500")
    speech = Observation(MARA, 1, said, said + 2000, "speech", "Tobi", "Is that mine?", "en", "x.srt#1")
    first, second = fuse([*made.observations, speech], made.clips)
    assert first.text == (
        "I see seconds 0 to 14. Tobi holds a green cup.\nI see seconds 15 to 29. Tobi holds a green cup."
    )
    assert second.text == (
        "I see seconds 0 to 14. Tobi holds a green cup.\nTobi: Is that mine?\n"
        "I see seconds 15 to 19. Tobi holds a green cup."
    )
    assert (second.n_visual, second.n_speech) == (2, 1)
    assert second.video_uri == "P1_MARA/DAY1/DAY1_P1_MARA_11003000.mp4"
    assert (first.start_ms, first.end_ms) == (parse_week_time("DAY1 11000000"), parse_week_time("DAY1 11003000"))
