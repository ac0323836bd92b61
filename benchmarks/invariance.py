"""Whether figures depend on what must not matter: what people are called, and the order of questions and choices.

python -m benchmarks.invariance --corpus recordings --questions A1_JAKE.json --wearer A1_JAKE --root R --scratch S

Everybody is renamed in a copy of the corpus and in the questions; names are read from the corpus: that of the wearer
and those of the speakers. The copy, its memory and all results stay in the scratch folder, so the same command goes on
where it was stopped. Exit code 1: renaming moved a figure too far, or another order moved one at all.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from ray_tasks.corpus.layout import discover
from ray_tasks.corpus.observe import observe
from ray_tasks.extraction.letters import LOWER, UPPER
from ray_tasks.extraction.people import label_names
from ray_tasks.rows import Observation, wearer_name

INVENTED: Final = (
    *("Mara", "Tobi", "Ines", "Nuri", "Pavel", "Greta", "Oskar", "Yara", "Linus", "Edda", "Milo", "Runa"),
    *("Henk", "Vera", "Bruno", "Selma", "Timo", "Alma", "Jonte", "Kira", "Levin", "Mette", "Rasmus", "Svea"),
)
FIGURES: Final = ("accuracy", "hit", "near_hit")
LEAST_CUES: Final = 5
"""A label that fewer lines bear may be a slip of the recogniser."""
LEAST_CAPITAL_SHARE: Final = 0.8
"""A word that is written small more often than this leaves is no name ("Guest", "Boss")."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_NAME: Final = re.compile(rf"[{UPPER}][{LOWER}]+(?: [{UPPER}][{LOWER}]+)?")


def main() -> None:
    """Renames, builds, evaluates three times and prints one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--wearer", required=True)
    parser.add_argument("--root", required=True, help="where the memory of the corpus as it is lies")
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--at-most", type=float, default=1.0, help="points that a figure may move (default 1)")
    options = parser.parse_args()
    files = discover(options.corpus, [options.wearer]).files
    names = new_names(names_in(options.wearer, observe(files).observations))
    renaming = Renaming(names)
    corpus = options.scratch / "corpus"
    rename_files([file.path for file in files], options.corpus, corpus, renaming)
    questions = options.scratch / "questions.json"
    questions.write_text(renaming.apply(options.questions.read_text(encoding="utf-8")), encoding="utf-8")
    wearer = renaming.apply(options.wearer)
    root = str(options.scratch / "root")
    _daybook("build", "--corpus", str(corpus), "--root", root, "--wearer", wearer)
    plain = evaluated(options.root, options.questions, options.wearer, options.scratch / "plain.json")
    renamed = evaluated(root, questions, wearer, options.scratch / "renamed.json")
    shuffled = options.scratch / "shuffled.questions.json"
    shuffled.write_text(json.dumps(in_other_order(json.loads(options.questions.read_text(encoding="utf-8")))), "utf-8")
    reordered = evaluated(options.root, shuffled, options.wearer, options.scratch / "shuffled.json")
    after_renaming, after_shuffling = moved(plain, renamed), moved(plain, reordered)
    document = {"names": names, "plain": figures(plain), "renamed": after_renaming, "shuffled": after_shuffling}
    json.dump(document, sys.stdout, indent=2)
    sys.stdout.write("\n")
    far = max(abs(points) for points in after_renaming["points"].values()) > options.at_most
    if far or any(after_shuffling["points"].values()) or any(after_shuffling["questions"].values()):
        raise SystemExit(1)


class Renaming:
    """People's names for others, the same way everywhere: in texts, glued together, in ids and in names of files."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._new = dict(names) | {old.upper(): new.upper().replace(" ", "_") for old, new in names.items()}
        written = "|".join(re.escape(name) for name in sorted(self._new, key=len, reverse=True))
        # no letter before a name in capitals; a name like "MaraTobi" is two
        self._pattern = re.compile(rf"(?<![{UPPER}])(?:{written})(?![{LOWER}])") if self._new else re.compile(r"(?!)")

    def apply(self, text: str) -> str:
        """A text in which everybody has another name."""
        return self._pattern.sub(lambda match: self._new[match.group()], text)


def names_in(wearer: str, rows: Iterable[Observation]) -> list[str]:
    """The people of a corpus, by how often they speak: the wearer, and speakers whose label is written like a name."""
    speakers: Counter[str] = Counter()
    capital: Counter[str] = Counter()
    small: Counter[str] = Counter()
    for row in rows:
        speakers.update(name for name in label_names(row.speaker) if _NAME.fullmatch(name))
        for word in _WORD.findall(row.text):
            (small if word.islower() else capital)[word.lower()] += 1
    spoken = [name for name, cues in speakers.most_common() if cues >= LEAST_CUES]
    own = wearer_name(wearer)
    return list(dict.fromkeys([own, *(name for name in spoken if _is_name(name, capital, small))]))


def _is_name(label: str, capital: Counter[str], small: Counter[str]) -> bool:
    words = label.lower().split()
    return all(capital[word] >= LEAST_CAPITAL_SHARE * (capital[word] + small[word]) for word in words)


def new_names(names: Iterable[str]) -> dict[str, str]:
    """An invented name for each; none that is somebody's already. Raises SystemExit where there are too few."""
    old = list(names)
    free = [name for name in INVENTED if name not in old]
    if len(free) < len(old):
        raise SystemExit(f"{len(old)} people and only {len(free)} invented names; add to INVENTED")
    return dict(zip(old, free, strict=False))


def rename_files(files: Iterable[Path], source: Path, target: Path, renaming: Renaming) -> None:
    """Copies files below `source` to `target`, with everybody renamed in their text and in their paths."""
    for file in files:
        place = target / renaming.apply(str(file.relative_to(source)))
        place.parent.mkdir(parents=True, exist_ok=True)
        text = renaming.apply(file.read_bytes().decode("utf-8", "surrogateescape"))
        place.write_bytes(text.encode("utf-8", "surrogateescape"))


def evaluated(root: str, questions: Path, wearer: str, out: Path) -> dict[str, Any]:
    """The result of an evaluation, as its JSON has it."""
    _daybook(
        *("evaluate", "--root", root, "--benchmark", "egolifeqa"),
        *("--questions", str(questions), "--wearer", wearer, "--again", "--json", str(out)),
    )
    document: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return document


def in_other_order(entries: list[dict[str, Any]], seed: int = 7) -> list[dict[str, Any]]:
    """The entries of a question file in another order, each with its choices in another order and the key to match."""
    dice = random.Random(seed)
    shuffled: list[dict[str, Any]] = []
    for entry in dice.sample(entries, len(entries)):
        letters = [key[-1] for key in entry if re.fullmatch("choice_[a-z]", key)]
        taken = dice.sample(letters, len(letters))
        choices = {f"choice_{new}": entry[f"choice_{old}"] for new, old in zip(letters, taken, strict=True)}
        key = str(entry["answer"]).strip().lower()
        answer = letters[taken.index(key)].upper() if key in taken else entry["answer"]
        shuffled.append({**entry, **choices, "answer": answer})
    return shuffled


def figures(result: Mapping[str, Any]) -> dict[str, float]:
    """The figures of a result, in percent."""
    return {figure: round(result[figure], 2) for figure in FIGURES}


def moved(plain: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """By how many points each figure moved, and of how many questions it changed."""
    after = {answer["id"]: answer for answer in other["answers"]}
    pairs = [(answer, after[answer["id"]]) for answer in plain["answers"]]
    before, now = figures(plain), figures(other)
    return {
        "points": {figure: round(now[figure] - before[figure], 2) for figure in FIGURES},
        "questions": {key: sum(one[key] != two[key] for one, two in pairs) for key in ("correct", "hit", "near_hit")},
    }


def _daybook(command: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", f"jobs.{command}", *arguments], check=True, stdout=sys.stderr)


if __name__ == "__main__":
    main()
