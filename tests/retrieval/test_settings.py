"""Settings of retrieval: bounds, and changes from text."""

from __future__ import annotations

import json

import pytest

from ray_tasks.retrieval.settings import RetrievalSettings, SettingsError


def test_settings_change_from_text_as_a_command_line_gives_it() -> None:
    changed = RetrievalSettings().changed(
        {"draft": "llm", "k_fine": "10", "decay": "0.98", "use_choices": "no", "views": "action, activity", "rounds": 2}
    )
    assert changed == RetrievalSettings(
        draft="llm", k_fine=10, decay=0.98, use_choices=False, views=("action", "activity"), rounds=2
    )
    again = RetrievalSettings().changed(json.loads(json.dumps(changed.to_json())))
    assert again == changed
    assert hash(again) == hash(changed)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"lambda": "0.9"}, "there is no setting 'lambda'; choose one of decay"),
        ({"decay": "much"}, "decay cannot be 'much'"),
        ({"decay": "1.5"}, r"decay must lie in \(0, 1\]"),
        ({"rounds": "2.5"}, "rounds cannot be '2.5'"),
        ({"use_choices": "perhaps"}, "use_choices cannot be 'perhaps'"),
        ({"draft": "magic"}, "draft must be one of rules, llm"),
        ({"tool_mode": "xml"}, "tool_mode must be one of auto, calls, json"),
        ({"draft_rounds": "0"}, "draft_rounds must lie between 1 and 20"),
        ({"k_fine": "1000"}, "k_fine must lie between 1 and 100"),
        ({"views": "smell"}, "views must be some of action"),
        ({"views": ""}, "views must be some of action"),
        ({"context_tokens": "10"}, "context_tokens must lie between 1000"),
    ],
)
def test_a_wrong_setting_is_named(changes: dict[str, object], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        RetrievalSettings().changed(changes)
