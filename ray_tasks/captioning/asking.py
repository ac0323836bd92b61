"""One window of pictures to one description: the chat request, and what is done with unusable replies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ray_tasks.captioning.decode import VERSION, Window
from ray_tasks.captioning.replies import FAULTS, Description, judge, split_prose
from ray_tasks.captioning.settings import VideoSettings
from ray_tasks.engines.counts import CallCounts
from ray_tasks.engines.messages import Chat, ChatReply, ChatRequest, Image, Message, TruncatedError
from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.settings import ChatSettings
from ray_tasks.engines.steps import step_identity
from ray_tasks.rows import wearer_name

PURPOSE: Final = "describe"
RE_ASKS: Final = 2
_PROMPTS: Final = ("describe", "guidance", "identity_unknown", "ask", "again")
_WARMER: Final = 0.4
"""Added to the temperature with each further attempt: the same draw would give the same unusable reply."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The text of a window, or the fault of the last attempt; and how often it was asked again."""

    text: str
    fault: str | None
    asked_again: int


def describer_identity(settings: ChatSettings, video: VideoSettings) -> str:
    """All that decides what is described, beside the clips and identity files, for cache keys."""
    prompts = [_prompt(name) for name in _PROMPTS]
    parameters = {**video.deciding(), "schema": Description.model_json_schema(), "re_asks": RE_ASKS, "warmer": _WARMER}
    asked = settings.model_copy(update={"max_tokens": video.max_tokens})  # the model's own bound decides nothing here
    return step_identity(asked, f"describe-{_prompt('describe').version}.{VERSION}", prompts, parameters)


async def ask_about(
    window: Window,
    wearer: str,
    identity: str | None,
    chat: Chat,
    settings: ChatSettings,
    video: VideoSettings,
    counts: CallCounts,
) -> Answered:
    """Asks about a window, and up to RE_ASKS times again where the reply is empty, endless, a loop or a refusal.

    Raises ChatError for whatever asking again does not mend.
    """
    fault: str | None = None
    for attempt in range(1 + RE_ASKS):
        request = make_request(window, wearer, identity, settings, video, attempt, fault)
        try:
            reply = await chat.ask(request, counts)
        except TruncatedError:
            fault = "truncated"
            continue
        text, fault = judge(_sentences(reply), video.max_sentences, video.max_words)
        if fault is None:
            return Answered(text, None, attempt)
    return Answered("", fault, RE_ASKS)


def make_request(
    window: Window,
    wearer: str,
    identity: str | None,
    settings: ChatSettings,
    video: VideoSettings,
    attempt: int = 0,
    fault: str | None = None,
) -> ChatRequest:
    """The call for a window: rules, guidance and who may be seen; then the pictures with one sentence.

    What changes least comes first, so that an engine with a prefix cache reads it once. A further attempt says what
    was wrong with the one before and draws otherwise.
    """
    name = wearer_name(wearer)
    rules = _prompt("describe").fill(
        wearer=name,
        max_sentences=video.max_sentences,
        guidance=_prompt("guidance").text,
        identity=identity or _prompt("identity_unknown").fill(wearer=name),
    )
    seconds = max(1, round((window.end_ms - window.start_ms) / 1000))
    text = _prompt("ask").fill(count=len(window.pictures), seconds=seconds)
    sampling = settings.sampling(video.max_tokens)
    if fault:
        text += "\n" + _prompt("again").fill(fault=FAULTS[fault], max_sentences=video.max_sentences)
        warmer = min(2.0, sampling.temperature + _WARMER * attempt)
        seed = None if sampling.seed is None else sampling.seed + attempt
        sampling = replace(sampling, temperature=warmer, seed=seed)
    images = tuple(Image(picture) for picture in window.pictures)
    return ChatRequest(
        messages=(Message("system", rules), Message("user", text, images)),
        purpose=PURPOSE,
        schema=Description if video.reply == "json" else None,
        sampling=sampling,
    )


def _sentences(reply: ChatReply) -> Sequence[str]:
    return reply.parsed.sentences if isinstance(reply.parsed, Description) else split_prose(reply.text)


def _prompt(name: str) -> Prompt:
    return Prompt.load("ray_tasks.captioning", name)
