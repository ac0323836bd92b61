"""What a second worker is worth: the same build with one CPU and with several, one after the other.

python -m benchmarks.parallel --corpus recordings --day 1
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def main() -> None:
    """Builds twice from nothing and prints one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--wearer", action="append", default=[], help="only this wearer; may be repeated")
    parser.add_argument("--day", action="append", default=[], help="only this day; may be repeated")
    parser.add_argument("--cpus", type=int, default=2, help="CPUs of the second build (default 2)")
    options = parser.parse_args()
    chosen = [word for wearer in options.wearer for word in ("--wearer", wearer)]
    chosen += [word for day in options.day for word in ("--day", day)]
    one, many = (build(options.corpus, chosen, cpus) for cpus in (1, options.cpus))
    waves = {wave: speed_up(one["waves"][wave], many["waves"][wave]) for wave in one["waves"]}
    document = {
        "cpus": options.cpus,
        "one": one,
        "many": many,
        "speed_up_by_wave": waves,
        "speed_up_of_all_waves": speed_up(sum(one["waves"].values()), sum(many["waves"].values())),
        "speed_up_of_the_command": speed_up(one["seconds"], many["seconds"]),
        "same_memory": one["memory_id"] == many["memory_id"],
    }
    json.dump(document, sys.stdout, indent=2)
    sys.stdout.write("\n")


def build(corpus: Path, chosen: list[str], cpus: int) -> dict[str, Any]:
    """Seconds of the whole command and of each wave, and the memory that came out."""
    command = [sys.executable, "-m", "jobs.build", "--corpus", str(corpus), *chosen, "--cpus", str(cpus), "--json"]
    with tempfile.TemporaryDirectory() as root:
        started = time.perf_counter()
        done = subprocess.run([*command, "--root", root], stdout=subprocess.PIPE, check=True)
        seconds = time.perf_counter() - started
    summary = json.loads(done.stdout)
    return {"seconds": round(seconds, 1), "waves": summary["wave_seconds"], "memory_id": summary["memory_id"]}


def speed_up(before: float, after: float) -> float:
    """How many times faster."""
    return round(before / max(after, 1e-9), 2)


if __name__ == "__main__":
    main()
