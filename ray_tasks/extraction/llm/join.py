"""Activities and conversations of a language model that run on across a window's border (EgoCITE B.2).

Two atoms of one view are candidates if they lie in neighbouring half hours of one day, at most thirty seconds apart,
and make no more than ten minutes together; they are joined where the cosine of their embeddings is above 0.9, as in
the paper, and a call writes the sentence of both. What is joined can be seen only from the end of its later part on,
and a piece that was joined once cannot be joined again, since it would last longer than ten minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, pairwise
from typing import Final

import numpy as np

from ray_tasks.corpus.week_time import day_of
from ray_tasks.engines.messages import ChatError, Message, UnreachableError
from ray_tasks.engines.prompts import Prompt
from ray_tasks.engines.steps import as_data, check_taken, gather
from ray_tasks.extraction.atoms import COARSE, adjoin, joined_atom, position_of
from ray_tasks.extraction.join import ALIKE_COSINE
from ray_tasks.extraction.llm.asking import PACKAGE, Asker
from ray_tasks.extraction.llm.faults import Fault, hard
from ray_tasks.extraction.llm.schemas import Summary
from ray_tasks.extraction.llm.sources import Source, stems_of
from ray_tasks.extraction.llm.validate import check_activity, check_conversation
from ray_tasks.extraction.llm.wording import normalise
from ray_tasks.extraction.types import WINDOW_MS, Embed, Extraction
from ray_tasks.extraction.words import distinct
from ray_tasks.ledger import Ledger
from ray_tasks.rows import Atom, wearer_name

Pair = tuple[Atom, Atom]

PURPOSE: Final = "extract-merge"


def candidates(atoms: Sequence[Atom]) -> list[Pair]:
    """Pairs of one view that adjoin across a window's border.

    Sentences that were taken apart share one block, so each of the last block of a window is a candidate with each of
    the first block of the next.
    """
    pairs: list[Pair] = []
    for view in COARSE:
        ordered = sorted((atom for atom in atoms if atom.view == view), key=position_of)
        windows = [list(inside) for _, inside in groupby(ordered, key=lambda atom: atom.start_ms // WINDOW_MS)]
        for before, after in pairwise(windows):
            last = [atom for atom in before if atom.caption_ids == before[-1].caption_ids]
            first = [atom for atom in after if atom.caption_ids == after[0].caption_ids]
            pairs += [(one, other) for one in last for other in first if _across_a_border(one, other)]
    return pairs


def _across_a_border(first: Atom, second: Atom) -> bool:
    neighbours = second.start_ms // WINDOW_MS == first.start_ms // WINDOW_MS + 1
    return neighbours and day_of(first.start_ms) == day_of(second.start_ms) and adjoin(first, second)


def alike(pairs: Sequence[Pair], embed: Embed) -> list[Pair]:
    """The pairs to join: of those above the cosine the likest first, no atom twice."""
    if not pairs:
        return []
    texts = distinct(atom.text for pair in pairs for atom in pair)
    vectors = dict(zip(texts, np.asarray(embed(texts), dtype=np.float64), strict=True))
    scored = [(float(vectors[first.text] @ vectors[second.text]), first, second) for first, second in pairs]
    scored.sort(key=lambda one: (-one[0], position_of(one[1]), position_of(one[2])))
    taken: set[str] = set()
    chosen: list[Pair] = []
    for cosine, first, second in scored:
        if cosine > ALIKE_COSINE and not {first.atom_id, second.atom_id} & taken:
            taken |= {first.atom_id, second.atom_id}
            chosen.append((first, second))
    return chosen


def joined(coarse: dict[str, Atom], merged: Sequence[tuple[Pair, str]], ledger: Ledger) -> Extraction:
    """The atoms of a day with pairs replaced by what they were merged into."""
    kept = dict(coarse)
    for (first, second), text in merged:
        del kept[first.atom_id], kept[second.atom_id]
        whole = joined_atom(first, second, text)
        kept[whole.atom_id] = whole
        ledger.notes[f"joined_{first.view}"] += 1
    ledger.notes = +ledger.notes
    return Extraction(tuple(sorted(kept.values(), key=position_of)), ledger)


async def merge(pairs: Sequence[Pair], asker: Asker) -> list[tuple[Pair, str]]:
    """The sentence of each pair; the first text and then the second where the model gives none that keeps the rules.

    Notes count the atoms of the latter as `fallback_<kind>` and `fallback_rule_<rule>`. Raises as extract_fine does.
    """
    texts = await gather(_merged_text(pair, asker) for pair in pairs)
    check_taken(asker.calls, "join")
    return list(zip(pairs, texts, strict=True))


async def _merged_text(pair: Pair, asker: Asker) -> str:
    first, second = pair
    me = wearer_name(first.wearer)
    sentences = "\n".join(as_data(atom.text) for atom in pair)
    messages = [
        Message("system", Prompt.load(PACKAGE, "merge").text),
        Message("user", Prompt.load(PACKAGE, "merge_data").fill(view=first.view, sentences=sentences)),
    ]
    both = f"{first.text} {second.text}"
    try:
        summary, reply = await asker.ask(messages, Summary, PURPOSE, asker.parameters.sentence_tokens)
    except UnreachableError:
        raise
    except ChatError as error:
        asker.notes[f"fallback_{error.kind}"] += len(pair)
        return both

    def clean(text: str) -> str:
        return normalise(text, me)

    check = _checker(pair, me)
    drafts = await asker.correct(messages, reply.text, {0: clean(summary.summary)}, check, clean)
    wrong = hard(drafts[0].faults)
    if drafts[0].withdrawn or wrong:
        asker.notes[f"fallback_rule_{wrong[0].rule if wrong else 'withdrawn'}"] += len(pair)
        return both
    return drafts[0].text


def _checker(pair: Pair, me: str) -> Callable[[int, str], tuple[Fault, ...]]:
    """The rules of the pair's view: names and words must come from the two texts, people from both must be named."""
    texts = [atom.text for atom in pair]
    people = [name for atom in pair for name in atom.people]
    names = frozenset([me, *people, *(part for name in people for part in name.split())])
    source = Source(me, names, frozenset(stem for text in texts for stem in stems_of(text)), foreign=False)
    named = distinct(name for name in people if any(name in text for text in texts))

    def check(number: int, text: str) -> tuple[Fault, ...]:
        del number
        if pair[0].view == "activity":
            return check_activity(text, source)
        return check_conversation(text, source, named)

    return check
