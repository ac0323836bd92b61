"""A bundled, invented sample week: two wearers, three days, and forty questions, in the layout of the EgoLife release.

The script is in day1.yaml, day2.yaml, day3.yaml and questions.yaml; `python -m sample_week FOLDER` writes the files.
"""

from sample_week.generate import SampleWeek, SampleWeekError, write_sample_week
from sample_week.oddities import ODDITIES
from sample_week.questions import SAMPLE_QUESTIONS, SampleQuestion

__all__ = ["ODDITIES", "SAMPLE_QUESTIONS", "SampleQuestion", "SampleWeek", "SampleWeekError", "write_sample_week"]
