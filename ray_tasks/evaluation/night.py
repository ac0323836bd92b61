"""The summary of a night: what was built, what its gates found, how it answers, and what changed since the last one.

All of it is plain JSON, so that a night can be read, compared and shown again years later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ray_tasks.evaluation.comparison import compare_outcomes
from ray_tasks.index.memory import CAPTION_VIEW
from ray_tasks.storage.manifests import Manifest

FIGURES: Final = ("n", "accuracy", "hit", "near_hit", "evidence_minutes")
DECISIVE: Final = ("benchmark", "questions_sha256", "method", "settings")
"""What two evaluations must share to be compared question by question: only the memory, or the code, may differ."""

_WORDS: Final = {
    "benchmark": "another benchmark",
    "questions_sha256": "other questions",
    "method": "another method",
    "settings": "other settings of the method",
}


def evaluation_entry(result: Mapping[str, Any], place: str, *, kept: bool) -> dict[str, Any]:
    """What a summary keeps of an evaluation's result; `kept`: an earlier run of the same evaluation had stored it."""
    config = result["config"]
    return {
        **{figure: result[figure] for figure in FIGURES},
        **{name: config[name] for name in (*DECISIVE, "questions", "code", "memory_id")},
        "errors": sum(bool(answer["error"]) for answer in result["answers"]),
        "seconds": result["seconds"],
        "place": place,
        "kept": kept,
        "outcomes": {
            str(answer["id"]): {name: answer[name] for name in ("correct", "hit", "near_hit", "evidence_minutes")}
            for answer in result["answers"]
        },
    }


def memory_facts(manifest: Manifest) -> dict[str, dict[str, Any]]:
    """Hours with captions, captions and atoms by view, of each wearer."""
    return {
        wearer: {
            "hours": len(entry.hours),
            "captions": entry.counts.get(CAPTION_VIEW, 0),
            "atoms": {view: count for view, count in sorted(entry.counts.items()) if view != CAPTION_VIEW},
        }
        for wearer, entry in sorted(manifest.wearers.items())
    }


def compare_nights(before: Mapping[str, Any] | None, now: Mapping[str, Any], why_not: str = "") -> dict[str, Any]:
    """What changed from one summary to the next; `note` says why there is nothing to compare, or that it is damaged."""
    if before is None:
        return {"night": None, "note": why_not}
    try:
        return {
            "night": before["night"],
            "memory_id": before["memory_id"],
            "note": "",
            "totals": {
                name: [_total(before["wearers"], name), _total(now["wearers"], name)]
                for name in ("hours", "captions", "atoms")
            },
            "atoms": _atoms(before["wearers"], now["wearers"]),
            "seconds": {
                part: [before["seconds"].get(part), now["seconds"].get(part)]
                for part in dict.fromkeys([*before["seconds"], *now["seconds"]])
            },
            "evaluations": {
                wearer: _compare_evaluations(before["evaluations"].get(wearer), entry)
                for wearer, entry in now["evaluations"].items()
            },
        }
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        return {"night": None, "note": f"the last night's summary is damaged ({type(error).__name__}: {error})"}


def _total(wearers: Mapping[str, Any], name: str) -> int:
    if name == "atoms":
        return sum(sum(facts["atoms"].values()) for facts in wearers.values())
    return sum(int(facts[name]) for facts in wearers.values())


def _atoms(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, dict[str, list[int]]]:
    """Atoms by wearer and view, before and now, where they differ."""
    changed: dict[str, dict[str, list[int]]] = {}
    for wearer in sorted({*before, *now}):
        was, is_now = (facts.get(wearer, {"atoms": {}})["atoms"] for facts in (before, now))
        views = {
            view: [was.get(view, 0), is_now.get(view, 0)]
            for view in sorted({*was, *is_now})
            if was.get(view, 0) != is_now.get(view, 0)
        }
        if views:
            changed[wearer] = views
    return changed


def _compare_evaluations(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> dict[str, Any]:
    """The changes of one wearer's figures, or why they cannot be compared."""
    if before is None:
        return {"changes": [], "note": "not evaluated the night before"}
    if "fault" in before or "fault" in now:
        return {"changes": [], "note": "one of the two could not be evaluated"}
    differ = [words for name, words in _WORDS.items() if before[name] != now[name]]
    if differ:
        return {"changes": [], "note": f"not compared: {', '.join(differ)}"}
    note = "" if before["code"] == now["code"] else "the code changed as well"
    changes = compare_outcomes(before["outcomes"], now["outcomes"])
    return {"changes": [change.to_json() for change in changes], "note": note}
