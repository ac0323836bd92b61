"""Embedding throughput against plain SentenceTransformer.encode over the same rows, unsorted and with repetitions.

Pairs of runs in turn, so that a change of the machine's speed meets both; the ratio of medians is what counts.

    python -m benchmarks.embedding
    python -m benchmarks.embedding --corpus DIR --wearer A1_JAKE --rows 20000 --pairs 3
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.material import corpus_texts
from ray_tasks.embedding.encoder import SentenceEncoder


def main() -> None:
    """Measures and prints one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="recordings; the sample week by default")
    parser.add_argument("--wearer", help="only this wearer")
    parser.add_argument(
        "--rows", type=int, default=4000, help="rows in a row from the middle; 0 for all (default 4000)"
    )
    parser.add_argument("--pairs", type=int, default=3, help="pairs of runs (default 3)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        texts = corpus_texts(options.corpus, options.wearer, Path(scratch))
    if options.rows:
        middle = max(0, (len(texts) - options.rows) // 2)
        texts = texts[middle : middle + options.rows]
    json.dump(measure(texts, options.pairs), sys.stdout, indent=2)
    sys.stdout.write("\n")


def measure(texts: list[str], pairs: int) -> dict[str, float | int]:
    """Seconds of both, their ratio, and how far the vectors lie apart."""
    plain = SentenceEncoder().model
    plain.encode(texts[:64], normalize_embeddings=True, show_progress_bar=False)
    ours: list[float] = []
    theirs: list[float] = []
    difference = 0.0
    for _ in range(pairs):
        encoder = SentenceEncoder()
        encoder(["warm up"])
        started = time.perf_counter()
        vectors = encoder(texts)
        ours.append(time.perf_counter() - started)
        started = time.perf_counter()
        reference = plain.encode(texts, normalize_embeddings=True, show_progress_bar=False)
        theirs.append(time.perf_counter() - started)
        difference = max(difference, float(np.abs(vectors - reference).max()))
    return {
        "rows": len(texts),
        "distinct": len(set(texts)),
        "seconds": round(statistics.median(ours), 2),
        "plain_seconds": round(statistics.median(theirs), 2),
        "speed_up": round(statistics.median(theirs) / statistics.median(ours), 2),
        "largest_difference": difference,
    }


if __name__ == "__main__":
    main()
