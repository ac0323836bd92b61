"""What a passable language model says to the steps of a build: a pure function of the request's body."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tests.chat_server.replies import images_of, text_of


def passable(body: dict[str, Any]) -> str | dict[str, Any]:
    """A reply that mostly keeps the rules, made of the request's own lines."""
    return _REPLIES[body["response_format"]["json_schema"]["name"]](body)


def _section(body: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The records of a data section in the last message of a user that holds one."""
    found = re.findall(rf"<{name}>\n(.*?)\n?</{name}>", text_of(body), re.DOTALL)
    return [json.loads(line) for line in found[-1].splitlines() if line.strip()] if found else []


def _entries(body: dict[str, Any]) -> dict[str, Any]:
    entries = []
    for line in _section(body, "caption"):
        if "said" in line:
            text = f"{line['speaker']} tells me that {line['said'].rstrip('.')}."
            entries.append({"line": line["line"], "kind": "speech", "resolved": True, "text": text})
        else:
            # Too short: the model is asked once whether there is more to say, and keeps to it.
            entries.append({"line": line["line"], "kind": "object", "resolved": True, "text": line["seen"]})
    return {"entries": entries}


def _groups(body: dict[str, Any]) -> dict[str, Any]:
    captions = _section(body, "captions")
    return {"groups": [{"first": number, "last": number} for number in range(len(captions))]}


def _summary(body: dict[str, Any]) -> dict[str, Any]:
    lines = [line for caption in _section(body, "captions") for line in caption["lines"]]
    names = sorted({line.split(" says: ")[0] for line in lines if " says: " in line})
    about = re.sub(r"[^a-z0-9 ]", "", lines[0].split(" says: ")[-1].lower()) if lines else "the day"
    return {"summary": f"{' and '.join([*names, 'I'])} talk at length about how {about}."}


def _nothing_to_correct(_: dict[str, Any]) -> dict[str, Any]:
    return {"corrections": []}


def _parts(_: dict[str, Any]) -> dict[str, Any]:
    return {"summaries": ["I carry the boxes into the shed for the winter."]}


def _translations(body: dict[str, Any]) -> dict[str, Any]:
    rows = _section(body, "rows")
    return {"rows": [{"row": row["row"], "english": f"I put lamp {row['row']} on the table."} for row in rows]}


def _passage(body: dict[str, Any]) -> dict[str, Any]:
    told = [line["seen"] if "seen" in line else f"{line['speaker']} says that {line['said']}" for line in _lines(body)]
    return {"prose": " ".join(told)}


def _lines(body: dict[str, Any]) -> list[dict[str, Any]]:
    return _section(body, "lines")


def _description(body: dict[str, Any]) -> dict[str, Any]:
    return {"sentences": [f"I look at {len(images_of(body))} lamps on the workbench."]}


def _ready(_: dict[str, Any]) -> dict[str, Any]:
    return {"word": "ready"}


_REPLIES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "Ready": _ready,
    "Entries": _entries,
    "Corrections": _nothing_to_correct,
    "Groups": _groups,
    "Summary": _summary,
    "Parts": _parts,
    "Translations": _translations,
    "Passage": _passage,
    "Description": _description,
}
