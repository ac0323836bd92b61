"""Published figures: complete, in the paper's own order, and findable by what they are about."""

from __future__ import annotations

import pytest

from ray_tasks.evaluation.grouped import normalized_cost
from ray_tasks.evaluation.published import PublishedFigure, about_sources, published_figures

TABLES = {
    "EgoCITE": {"2", "3", "4", "5", "10", "11", "12", "13", "14"},
    "Imprint": {"1", "2", "3", "4", "5", "6", "7", "8", "9"},
}


def find(source: str, table: str, method: str, **about: object) -> list[PublishedFigure]:
    return [
        one
        for one in published_figures()
        if (one.source, one.table, one.method) == (source, table, method)
        and all(getattr(one, name) == value for name, value in about.items())
    ]


def value(source: str, table: str, method: str, **about: object) -> float:
    (one,) = find(source, table, method, **about)
    return one.value


def test_every_table_of_both_papers_is_there() -> None:
    found: dict[str, set[str]] = {}
    for one in published_figures():
        found.setdefault(one.source, set()).add(one.table)
    assert found == TABLES
    assert about_sources().keys() == TABLES.keys()


def test_figures_are_found_by_what_they_are_about() -> None:
    gpt = "EgoCITE-GPT"
    assert value("EgoCITE", "2", gpt, benchmark="egolifeqa", category=None) == 63.8
    assert value("EgoCITE", "2", gpt, benchmark="egomem", category="TimeQuery") == 66.7
    assert value("EgoCITE", "2", gpt, benchmark="egor1") == 75.3
    assert value("EgoCITE", "2", gpt, figure="tokens_in") == 32_000
    assert value("EgoCITE", "3", gpt, benchmark="egomem", figure="hit") == 89.6
    assert value("EgoCITE", "5", gpt, time_aware="yes") == 62.6
    assert value("EgoCITE", "11", "EgoCITE-GPT, lambda 0.99", figure="hit") == 67.0
    assert value("EgoCITE", "12", "EgoCITE-Qwen", benchmark="egomem", figure="near_hit") == 75.6
    assert value("EgoCITE", "13", gpt, figure="tokens_in") == 31_670
    assert value("Imprint", "5", "Imprint", until_day=3, figure="accuracy") == 37.0
    assert value("Imprint", "1", "Imprint", figure="grounded_accuracy") == 64.8


def test_a_dash_in_print_is_no_figure() -> None:
    assert [one.figure for one in find("Imprint", "1", "EgoRAG", model="GPT-4o")] == ["accuracy"]


@pytest.mark.parametrize("one", published_figures(), ids=lambda one: f"{one.source}-{one.table}-{one.method}")
def test_every_figure_says_what_it_is(one: PublishedFigure) -> None:
    assert one.method and one.model and one.column and one.title
    assert one.benchmark in {"egolifeqa", "egomem", "egor1", None}
    rates = {"accuracy", "hit", "near_hit", "grounded_accuracy"}
    assert one.figure in rates | {"tokens_in", "tokens_out", "latency_s", "dollars"}
    assert 0 < one.value <= (100 if one.figure in rates else 1e6)
    assert one.to_json()["published"] is True


def test_normalized_cost_gives_the_savings_that_the_paper_states() -> None:
    def cost(method: str) -> float:
        tokens = [value("EgoCITE", "13", method, figure=figure) for figure in ("tokens_in", "tokens_out")]
        found = normalized_cost(tokens[0], tokens[1], method)
        assert found is not None
        return found

    assert cost("GPT-5.4 agent") / cost("EgoCITE-GPT") == pytest.approx(36, abs=0.5)
    assert cost("WorldMM-GPT") / cost("EgoCITE-GPT") == pytest.approx(2, abs=0.1)
