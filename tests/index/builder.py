"""Builds small memories for tests, with a hashing embedder instead of a model."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ray_tasks.corpus.week_time import day_of
from ray_tasks.index.files import load_wearer_memory
from ray_tasks.index.lexical import tokenize
from ray_tasks.index.memory import WearerMemory
from ray_tasks.index.merging import PartFiles, merge_parts
from ray_tasks.index.parts import Part, build_part
from ray_tasks.rows import ATOM_SCHEMA, CAPTION_SCHEMA, Atom, Caption, Line, make_atom_id, to_table


@dataclass(frozen=True)
class BuiltFiles:
    """What a merge made, read into memory."""

    files: Mapping[str, bytes]
    counts: Mapping[str, int]
    day_bounds: Mapping[int, tuple[int, int]]


def merged(parts: Sequence[Part], dimension: int) -> BuiltFiles:
    """The files of a memory of some parts."""
    with tempfile.TemporaryDirectory() as folder:
        sources = [PartFiles(part.files().__getitem__) for part in parts]
        built = merge_parts(sources, dimension, Path(folder))
        files = {name: path.read_bytes() for name, path in built.files.items()}
    return BuiltFiles(files, built.counts, built.day_bounds)


@dataclass
class MemoryBuilder:
    """Captions of 30 seconds with atoms given as texts by view."""

    wearer: str = "B1_MARA"
    dimension: int = 8
    captions: list[Caption] = field(default_factory=list)
    atoms: list[Atom] = field(default_factory=list)

    def add(self, start_ms: int, **texts: list[str]) -> None:
        """A caption that starts at week time start_ms, and its atoms, as view=[text, ...]."""
        end = start_ms + 30_000
        lines = tuple(Line(start_ms, end, "visual", None, text, "en") for group in texts.values() for text in group)
        text = "\n".join(line.text for line in lines)
        key = f"{self.wearer}:{start_ms}"
        self.captions.append(
            Caption(key, self.wearer, day_of(start_ms), start_ms, end, text, len(lines), 0, None, lines)
        )
        for view, group in texts.items():
            for text in group:
                atom_id = make_atom_id(self.wearer, view, start_ms, text)  # type: ignore[arg-type]
                atom = Atom(atom_id, self.wearer, view, start_ms, end, text, (), (key,), "rules", "1")  # type: ignore[arg-type]
                self.atoms.append(atom)

    def embed(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Unit vectors in which texts that share words are alike."""
        vectors = np.full((len(texts), self.dimension), 1e-3, np.float32)
        for row, text in enumerate(texts):
            for token in tokenize(text):
                vectors[row, hashlib.sha256(token.encode()).digest()[0] % self.dimension] += 1
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)

    def part(self) -> Part:
        """Everything as one part."""
        owners = {atom.atom_id: row for row, atom in enumerate(self.atoms)}
        matrix = self.embed([atom.text for atom in self.atoms])
        return build_part(to_table(self.captions, CAPTION_SCHEMA), to_table(self.atoms, ATOM_SCHEMA), owners, matrix)

    def build(self) -> BuiltFiles:
        """The files of the memory."""
        return merged([self.part()], self.dimension)

    def load(self, path_of: Callable[[str], Path]) -> WearerMemory:
        """The memory in the built files."""
        return load_wearer_memory(self.wearer, "Mara", path_of, model=f"hash-{self.dimension}", memory_id="test")
