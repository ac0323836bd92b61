"""What Imprint's compression costs and gives: CPU time of a record day by day, entries, sizes, ways to prototypes.

The records of a published memory (built with `records: rules`) are compressed again, their phrases embedded before.
`--set` changes a setting of compression, as `compression:` in a configuration does.

    python -m benchmarks.compression --root memories --wearer A1_JAKE
    python -m benchmarks.compression --root memories --wearer A1_JAKE --set prototype_threshold=0.5
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import numpy as np
import yaml

from ray_tasks.compression.files import INTERACTIONS_FILE, PHRASES_FILE
from ray_tasks.compression.online import Compressor
from ray_tasks.compression.prototypes import Kind
from ray_tasks.compression.settings import CompressionSettings
from ray_tasks.corpus.week_time import day_of
from ray_tasks.embedding.encoder import SentenceEncoder
from ray_tasks.index.opening import open_wearer
from ray_tasks.storage.manifests import current_manifest
from ray_tasks.storage.store import open_store


def main() -> None:
    """Measures and prints one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", required=True, help="where memories are kept")
    parser.add_argument("--wearer", required=True, help="whose records")
    parser.add_argument("--set", action="append", default=[], help="a setting of compression, such as history=3")
    options = parser.parse_args()
    changes = {name: yaml.safe_load(value) for name, _, value in (text.partition("=") for text in options.set)}
    store = open_store(options.root)
    manifest = current_manifest(store)
    memory = open_wearer(store, manifest, options.wearer).interactions
    if memory is None:
        sys.exit(f"error: the memory holds no interactions of {options.wearer}; build it with `records: rules`")
    texts = [f"{record.action} {record.object}".strip() for record in memory.records]
    vectors = SentenceEncoder(manifest.embedding_model)(texts)
    settings = CompressionSettings(**changes)
    compressor = Compressor(vectors.shape[1], settings)
    days = np.array([day_of(int(end)) for end in memory.end_ms])
    by_day: dict[str, dict[str, Any]] = {}
    kinds = np.zeros(len(Kind), np.int64)
    kept = 0
    for day in sorted(set(days.tolist())):
        rows = np.flatnonzero(days == day)
        started = time.process_time()
        made = compressor.feed(vectors[rows], memory.start_ms[rows], memory.end_ms[rows])
        seconds = time.process_time() - started
        kinds += np.bincount(made.kinds, minlength=len(Kind))
        kept += int((made.entries >= 0).sum())
        entries = compressor.state.entry_sums.shape[1] if settings.consolidation else kept
        by_day[f"DAY{day}"] = {
            "records": len(rows),
            "cpu_s": round(seconds, 2),
            "us_each": round(1e6 * seconds / len(rows)),
            "entries_so_far": entries,
        }
    files = manifest.entry(options.wearer).files
    sizes = {name: store.local_path(files[name][0]).stat().st_size for name in (INTERACTIONS_FILE, PHRASES_FILE)}
    json.dump(
        {
            "records": len(memory),
            "kept": kept,
            "entries": entries,
            "records_to_entries": round(kept / max(entries, 1), 2),
            "cpu_s": round(sum(day["cpu_s"] for day in by_day.values()), 1),
            "percent_assigned": {kind.name.lower(): round(100 * int(kinds[kind]) / len(memory), 2) for kind in Kind},
            "by_day": by_day,
            "file_bytes": sizes,
        },
        sys.stdout,
        indent=1,
    )
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
