"""Finding source files, whatever their names look like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ray_tasks.corpus.layout import content_hash, discover, plan_sources
from ray_tasks.corpus.problems import CorpusError
from ray_tasks.corpus.week_time import HOUR_MS, MINUTE_MS, week_ms

WriteCorpus = Callable[[Mapping[str, str | bytes]], Path]
CUE = "1\n00:00:01,000 --> 00:00:02,000\nMara: kettle on\n"


def kinds(corpus: Path) -> list[str]:
    return [problem.kind for problem in discover(corpus).problems]


def test_files_of_all_kinds_are_found_in_order_of_wearer_and_time(write_corpus: WriteCorpus) -> None:
    corpus = write_corpus(
        {
            "Transcript/P2_TOBI/DAY2/P2_TOBI_DAY2_09000000.srt": CUE,
            "Transcript/P1_MARA/DAY10/P1_MARA_DAY10_09000000.srt": CUE,
            "Transcript/P1_MARA/DAY2/P1_MARA_DAY2_11000000.srt": CUE,
            "DenseCaption/P1_MARA/DAY2/P1_MARA_DAY2_11000000.srt": CUE,
            "Sync/P1_MARA_DAY2_11000000.json": "[]",
        }
    )
    layout = discover(corpus)
    found = [(file.wearer, file.day, file.hour, file.kind) for file in layout.files]
    assert found == [
        ("P1_MARA", 2, 11, "dense"),
        ("P1_MARA", 2, 11, "sync"),
        ("P1_MARA", 2, 11, "transcript"),
        ("P1_MARA", 10, 9, "transcript"),
        ("P2_TOBI", 2, 9, "transcript"),
    ]
    assert layout.problems == ()
    assert discover(corpus / "EgoLifeCap").files == layout.files
    assert [len(files) for files in plan_sources(layout).values()] == [3, 1, 1]
    assert list(plan_sources(layout)) == [("P1_MARA", 2, 11), ("P1_MARA", 10, 9), ("P2_TOBI", 2, 9)]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("P1_MARA_DAY6_10000000.srt", None),
        ("P1_MARA_DAY6_10000000.mp4.srt", "odd_name"),
        ("DAY6_P1_MARA_10000000.mp4.srt", "odd_name"),
        ("P1_MARA_DAY6_100000.srt", "odd_name"),
        ("P1_MARA_DAY6_10000000.SRT", "odd_name"),
        ("p1_mara_day06_10000000.srt", "odd_name"),
        ("P2_TOBI_DAY6_10000000.srt", "name_disagrees"),
        ("P1_MARA_DAY5_10000000.srt", "name_disagrees"),
        ("10000000.srt", "name_disagrees"),
    ],
)
def test_odd_names_are_read_by_their_folders(write_corpus: WriteCorpus, name: str, problem: str | None) -> None:
    layout = discover(write_corpus({f"Transcript/P1_MARA/DAY6/{name}": CUE}))
    (file,) = layout.files
    assert (file.wearer, file.day, file.hour, file.base_ms) == ("P1_MARA", 6, 10, week_ms(6, 10 * HOUR_MS))
    assert [found.kind for found in layout.problems] == ([problem] if problem else [])
    assert all(name in str(found) for found in layout.problems)


def test_a_file_off_the_hour_counts_from_the_time_in_its_name(write_corpus: WriteCorpus) -> None:
    layout = discover(write_corpus({"Transcript/P1_MARA/DAY1/P1_MARA_DAY1_10300000.srt": CUE}))
    (file,) = layout.files
    assert (file.hour, file.base_ms) == (10, week_ms(1, 10 * HOUR_MS + 30 * MINUTE_MS))
    assert file.hour_end_ms == week_ms(1, 11 * HOUR_MS)
    assert [problem.kind for problem in layout.problems] == ["off_the_hour"]


@pytest.mark.parametrize("wearer", ["P1_MARA", "A12_JÖRG", "x9_Ines-Roth", "P03"])
def test_any_wearer_will_do(write_corpus: WriteCorpus, wearer: str) -> None:
    corpus = write_corpus(
        {f"Transcript/{wearer}/DAY1/{wearer}_DAY1_10000000.srt": CUE, f"Sync/{wearer}_DAY1_10000000.json": "[]"}
    )
    layout = discover(corpus)
    assert {file.wearer for file in layout.files} == {wearer}
    assert layout.problems == ()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("Transcript/P1_MARA/MONDAY/P1_MARA_DAY1_12000000.srt", "unknown_day"),
        ("Transcript/P1_MARA/DAY0/P1_MARA_DAY0_12000000.srt", "unknown_day"),
        ("Transcript/P1_MARA/DAY1/notes.txt", "misplaced"),
        ("Transcript/P1_MARA/DAY1/evening.srt", "unreadable_name"),
        ("Transcript/P1_MARA/DAY1/P1_MARA_DAY1_99000000.srt", "unreadable_name"),
        ("Transcript/P1_MARA_DAY1_12000000.srt", "misplaced"),
        ("Transcript/P1_MARA/P1_MARA_DAY1_12000000.srt", "unknown_day"),
        ("Transcript/P1_MARA/DAY1/P1_MARA_DAY1_12000000.srt/inside.txt", "not_a_file"),
        ("Sync/P1_MARA_12000000.json", "unreadable_name"),
        ("Sync/P1_MARA_DAY0_12000000.json", "unreadable_name"),
        ("Sync/readme.md", "misplaced"),
    ],
)
def test_what_cannot_be_placed_is_named_and_costs_nothing_else(
    write_corpus: WriteCorpus, name: str, problem: str
) -> None:
    layout = discover(write_corpus({"Transcript/P1_MARA/DAY1/P1_MARA_DAY1_11000000.srt": CUE, name: CUE}))
    assert [file.hour for file in layout.files] == [11]
    (found,) = layout.problems
    assert found.kind == problem
    assert found.file.split("/")[-1] in name


def test_hidden_files_are_none_of_ours(write_corpus: WriteCorpus) -> None:
    corpus = write_corpus(
        {
            "Transcript/P1_MARA/DAY1/P1_MARA_DAY1_11000000.srt": CUE,
            "Transcript/P1_MARA/DAY1/._P1_MARA_DAY1_11000000.srt": b"\x00\x05",
            "Transcript/.DS_Store": b"\x00",
        }
    )
    layout = discover(corpus)
    assert (len(layout.files), layout.problems) == (1, ())


@pytest.mark.parametrize(("content", "words"), [(CUE, "the same content as"), (CUE + "\n2\n", "other content than")])
def test_of_two_files_for_an_hour_the_regular_one_is_read(write_corpus: WriteCorpus, content: str, words: str) -> None:
    regular = "Transcript/P1_MARA/DAY1/P1_MARA_DAY1_11000000.srt"
    layout = discover(write_corpus({regular: CUE, regular.replace("_11000000", "_11000000.mp4"): content}))
    assert [file.label for file in layout.files] == [regular]
    duplicate = next(problem for problem in layout.problems if problem.kind == "duplicate_file")
    assert words in duplicate.detail and regular in duplicate.detail


def test_wearers_and_days_can_be_chosen(write_corpus: WriteCorpus) -> None:
    corpus = write_corpus(
        {
            f"Transcript/{wearer}/DAY{day}/{wearer}_DAY{day}_11000000.srt": CUE
            for wearer, day in (("P1_MARA", 1), ("P1_MARA", 2), ("P2_TOBI", 3))
        }
    )
    assert [file.day for file in discover(corpus, ["P1_MARA"]).files] == [1, 2]
    assert [file.day for file in discover(corpus, days=["DAY2", 3]).files] == [2, 3]
    assert [file.day for file in discover(corpus, ["P1_MARA"], [2]).files] == [2]
    with pytest.raises(CorpusError, match="no recordings of P9_INES; there are P1_MARA, P2_TOBI"):
        discover(corpus, ["P9_INES"])
    with pytest.raises(CorpusError, match="no recordings on DAY3; there are DAY1, DAY2"):
        discover(corpus, ["P1_MARA"], [3])
    with pytest.raises(CorpusError, match="not a day label"):
        discover(corpus, days=["Monday"])


def test_problems_of_other_wearers_are_left_out_where_one_is_chosen(write_corpus: WriteCorpus) -> None:
    corpus = write_corpus(
        {f"Transcript/{wearer}/DAY1/{wearer}_DAY1_110000.srt": CUE for wearer in ("P1_MARA", "P2_TOBI")}
    )
    assert kinds(corpus) == ["odd_name", "odd_name"]
    assert [problem.file for problem in discover(corpus, ["P2_TOBI"]).problems] == [
        "Transcript/P2_TOBI/DAY1/P2_TOBI_DAY1_110000.srt"
    ]


def test_a_wrong_folder_is_refused_with_what_is_expected(tmp_path: Path, write_corpus: WriteCorpus) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "hollow" / "Transcript").mkdir(parents=True)
    (tmp_path / "file").write_text("x")
    for name in ("absent", "empty", "hollow", "file"):
        with pytest.raises(CorpusError, match=rf"{name}: no .*Transcript/\{{wearer\}}/DAYn/\*\.srt"):
            discover(tmp_path / name)
    with pytest.raises(CorpusError, match=r"evening\.srt"):
        discover(write_corpus({"Transcript/P1_MARA/DAY1/evening.srt": CUE}))


def test_the_hash_of_a_file_is_that_of_its_bytes(write_corpus: WriteCorpus) -> None:
    corpus = write_corpus(
        {
            "Transcript/P1_MARA/DAY1/P1_MARA_DAY1_11000000.srt": CUE,
            "Transcript/P1_MARA/DAY1/P1_MARA_DAY1_12000000.srt": CUE,
            "Transcript/P1_MARA/DAY1/P1_MARA_DAY1_13000000.srt": CUE + "\n",
        }
    )
    first, second, third = discover(corpus).files
    assert content_hash(first) == content_hash(second) != content_hash(third)
    first.path.unlink()
    with pytest.raises(CorpusError, match=r"P1_MARA_DAY1_11000000\.srt: cannot be read"):
        content_hash(first)
