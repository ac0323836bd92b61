"""``python -m sample_week FOLDER`` writes the sample week into a folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sample_week.generate import SampleWeekError, write_sample_week


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the sample week and say where it is; 0 if all went well, 2 if the folder cannot be used."""
    parser = argparse.ArgumentParser(
        prog="python -m sample_week",
        description="Write the invented sample week (two wearers, three days, forty questions) in EgoLife's layout.",
    )
    parser.add_argument("folder", type=Path, help="where to write it; made if it does not exist")
    folder = parser.parse_args(arguments).folder
    try:
        sample = write_sample_week(folder)
    except (SampleWeekError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(f"corpus     {sample.corpus}\n")
    for wearer, path in sample.questions.items():
        sys.stdout.write(f"questions  {path}  ({wearer})\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
