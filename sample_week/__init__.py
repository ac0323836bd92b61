"""A bundled, invented sample week: two wearers, three days, and forty questions, in the layout of the EgoLife release.

The script is in the YAML files of this folder: week.yaml, day1.yaml to day3.yaml, filler.yaml and questions.yaml.
`python -m sample_week FOLDER` writes the files.
"""

from sample_week.generate import SampleWeek, SampleWeekError, write_sample_week
from sample_week.oddities import ODDITIES
from sample_week.questions import SAMPLE_QUESTIONS, SampleQuestion

__all__ = ["ODDITIES", "SAMPLE_QUESTIONS", "SampleQuestion", "SampleWeek", "SampleWeekError", "write_sample_week"]
