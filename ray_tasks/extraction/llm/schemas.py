"""What replies look like: small and bounded, so that no model can write on for ever inside one."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

MOST_ENTRIES: Final = 48
MOST_BLOCKS: Final = 60
MOST_PARTS: Final = 4
LONGEST_TEXT: Final = 400

Kind = Literal["object", "movement", "gesture", "speech"]
"""What an entry tells: handling of an object, going to a named place, a telling gesture (actions), or an utterance."""

Text = Annotated[str, Field(max_length=LONGEST_TEXT)]


class Entry(BaseModel):
    """A statement about one line of a caption.

    `resolved` is false where nothing tells who or what is meant; then the line's own words are kept.
    """

    model_config = ConfigDict(extra="forbid")

    line: Annotated[int, Field(ge=0, le=999)]
    kind: Kind
    resolved: bool
    text: Text


class Entries(BaseModel):
    """The statements of a caption."""

    model_config = ConfigDict(extra="forbid")

    entries: Annotated[list[Entry], Field(max_length=MOST_ENTRIES)]


class Correction(BaseModel):
    """A statement written anew; an empty text withdraws it."""

    model_config = ConfigDict(extra="forbid")

    entry: Annotated[int, Field(ge=0, le=999)]
    text: Text


class Corrections(BaseModel):
    """The wrong statements of a reply, written anew."""

    model_config = ConfigDict(extra="forbid")

    corrections: Annotated[list[Correction], Field(max_length=MOST_ENTRIES)]


class Group(BaseModel):
    """Captions from `first` to `last`, both included: contiguous by its form."""

    model_config = ConfigDict(extra="forbid")

    first: Annotated[int, Field(ge=0, le=9999)]
    last: Annotated[int, Field(ge=0, le=9999)]


class Groups(BaseModel):
    """The blocks of a window."""

    model_config = ConfigDict(extra="forbid")

    groups: Annotated[list[Group], Field(max_length=MOST_BLOCKS)]


class Summary(BaseModel):
    """One sentence on a block, or on two that are joined."""

    model_config = ConfigDict(extra="forbid")

    summary: Text


class Parts(BaseModel):
    """A coupled sentence taken apart."""

    model_config = ConfigDict(extra="forbid")

    summaries: Annotated[list[Text], Field(min_length=1, max_length=MOST_PARTS)]
